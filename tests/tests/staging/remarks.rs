//! Remarks on what no specification forbids: queues and their semaphores, blocks and their triggers.

use loader_core::arch::{Arch, Engine};
use loader_core::error::NoteList;
use loader_core::lower::input::CarveoutIn;
use loader_core::lower::record::RingType;
use loader_core::manifest::VarClass;
use loader_core::policy::Policy;
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::lowering::handmade::{DmaBlock, Move, Queue, Set, Working, evtaccel};
use neffload_tests::lowering::lower_input;
use neffload_tests::staging::Rig;
use neffload_tests::staging::model::slot::{trigger, with};
use neffload_tests::staging::model::{Hand, copy, join, side};
use neffload_tests::{real_files, skip};
use neuron_drivers::sim::{Config, Content, Growing, HostSim};

/// The remarks about one queue's triggers, given pool's slots.
fn remarks(slots: &[[u8; 64]]) -> Vec<(String, u64, Option<u32>)> {
    let row = || vec![copy(side(1, 0, &[8, 1], &[1, 8]), side(0, 0, &[8, 1], &[1, 8]))];
    let hand = Hand::cayman().var("t", VarClass::TmpBuf, 64).var("out", VarClass::Output, 4).queue(
        "q",
        RingType::DATA,
        1,
    );
    let hand = (0..3).fold(hand, |hand, id| hand.block(0, id, Some(8), row()));
    let (sets, members) = join(vec![hand.stream(Engine::Pool, slots)]);
    let loaded = Rig::new(Arch::Cayman).load(sets, members).unwrap();
    let mut notes = NoteList::<8>::new();
    loaded.plan.core(0).unwrap().check_triggers(&mut notes);
    let kept = notes.kept().iter();
    kept.map(|note| {
        assert!(
            note.at().member.is_some() && note.at().subgraph == Some(0) && note.at().name.as_bytes() == b"q"
        );
        (note.id().to_string(), note.at().a, note.at().element)
    })
    .collect()
}

#[test]
fn blocks_without_a_trigger_and_with_several() {
    let go = |block| trigger("q", block);
    assert_eq!(remarks(&[go(0), go(1), go(2)]), []);
    assert_eq!(remarks(&[go(2)]), [("W611".to_owned(), 2, Some(0))]);
    assert_eq!(remarks(&[go(0), go(2), go(1), go(2), go(2)]), [("W612".to_owned(), 1, Some(2))]);
    let both = [("W611".to_owned(), 2, Some(0)), ("W612".to_owned(), 1, Some(1))];
    assert_eq!(remarks(&[go(1), go(1)]), both);
    let other = with(go(0), 0, &[0xC2]);
    assert_eq!(remarks(&[other]), [], "what c2 starts is not known");
}

/// All remarks on the first core, by code and numbers.
fn all_remarks(hand: Hand, arch: Arch) -> Vec<(String, u64, String)> {
    let (sets, members) = join(vec![hand]);
    let loaded = Rig::new(arch).load(sets, members).unwrap();
    let mut notes = NoteList::<8>::new();
    loaded.plan.core(0).unwrap().remarks(&mut notes);
    let kept = notes.kept().iter();
    kept.map(|note| {
        assert!(note.at().member.is_some() && note.at().subgraph == Some(0));
        (note.id().to_string(), note.at().a, String::from_utf8_lossy(note.at().name.as_bytes()).into_owned())
    })
    .collect()
}

#[test]
fn every_unknown_opcode_is_reported_once_per_engine() {
    use neffload_tests::staging::model::slot::plain;
    let base = || Hand::cayman().var("out", VarClass::Output, 4);
    let known = [0x01, 0x41, 0x53, 0xA0, 0xA8, 0xB1, 0xE8, 0xCC].map(plain);
    assert_eq!(all_remarks(base().stream(Engine::Pool, &known), Arch::Cayman), []);
    // In the main code, between others; in a function; an opcode of zero.
    let odd = [plain(0xFE), plain(0xA0), plain(0x77), plain(0xFE), plain(0x20), plain(0x3F)];
    let function = [with(plain(0xD1), 12, b"f"), plain(0xFE), plain(0xD2)];
    let hand = base().stream(Engine::Pe, &odd).stream(Engine::Dve, &function).stream(Engine::Sp, &[[0; 64]]);
    let found = all_remarks(hand, Arch::Cayman);
    let expected = [
        ("W613", 0x20, "pe"),
        ("W613", 0x3F, "pe"),
        ("W613", 0x77, "pe"),
        ("W613", 0xFE, "pe"),
        ("W613", 0xFE, "dve"),
        ("W613", 0, "sp"),
        ("W615", 1, "sp"),
    ];
    assert_eq!(found, expected.map(|(code, opcode, engine)| (code.to_owned(), opcode, engine.to_owned())));
}

/// staging.md §11.1, real-files.md §5: byte 1 is 0x10 in every slot but an extension.
#[test]
fn slots_of_another_length_are_told() {
    use neffload_tests::staging::model::slot::{operand, plain, request};
    let base = || Hand::cayman().var("t", VarClass::TmpBuf, 64).var("out", VarClass::Output, 4);
    let place = operand(0, 1, 0x10);
    let pair = [request(1, place, place), with(plain(0xDA), 1, &[0])];
    assert_eq!(all_remarks(base().stream(Engine::Act, &pair), Arch::Cayman), []);
    let long = |slot| with(slot, 1, &[0x11]);
    let stream =
        [plain(0xA0), long(plain(0xA0)), long(plain(0xCC)), with(plain(0xD1), 12, b"f"), long(plain(0xA0))];
    let found = all_remarks(base().stream(Engine::Act, &stream), Arch::Cayman);
    assert_eq!(found, [("W615".to_owned(), 3, "act".to_owned())]);
}

#[test]
fn a_carve_out_that_is_not_the_event_accelerators_is_told() {
    let right = evtaccel();
    let changed = |change: &dyn Fn(&mut CarveoutIn)| {
        let mut carveout = evtaccel();
        change(&mut carveout);
        carveout
    };
    let wrong = [
        changed(&|one| one.num_partitions = 1),
        changed(&|one| one.offset = 0),
        changed(&|one| one.size = 16),
        changed(&|one| one.start_partition = 1),
    ];
    let with = |carveouts: &[CarveoutIn]| {
        let mut hand = Hand::cayman().var("out", VarClass::Output, 4);
        hand.set.carveouts = Some(carveouts.to_vec());
        all_remarks(hand, Arch::Cayman).into_iter().map(|(code, ..)| code).collect::<Vec<_>>()
    };
    for one in &wrong {
        assert_eq!(with(std::slice::from_ref(one)), ["W614"]);
        assert_eq!(with(&[*one, right]), Vec::<String>::new());
    }
    assert_eq!(with(&wrong), ["W614"]);
    assert_eq!(with(&[right]), Vec::<String>::new());
    assert_eq!(with(&[]), Vec::<String>::new(), "nothing was reserved for it");
}

#[test]
fn semaphores_that_do_not_fit_their_queue() {
    let queue = |num_queues, semaphores: &[u32]| Queue {
        num_queues,
        semaphores: semaphores.iter().map(|&one| one.into()).collect(),
        ..Queue::new("q", RingType::DATA)
    };
    let noted = |queue: Queue, semaphore| {
        let block = DmaBlock { semaphore, ..DmaBlock::new(0, 0, vec![Move::copy(0, 1, 64)]) };
        let set = Set { queues: vec![queue], blocks: vec![block], ..Set::base() };
        let mut input = Working::new(vec![set]);
        let lowered = lower_input(&input.clone(), &mut input, &Policy::DEFAULT).unwrap();
        lowered.notes.iter().map(|note| note.id().to_string()).filter(|id| id != "W601").collect::<Vec<_>>()
    };
    assert_eq!(noted(queue(2, &[4, 5]), Some(5)), Vec::<String>::new());
    assert_eq!(noted(queue(1, &[]), Some(5)), Vec::<String>::new());
    assert_eq!(noted(queue(1, &[4]), None), Vec::<String>::new());
    assert_eq!(noted(queue(3, &[4, 5]), Some(4)), ["W609"]);
    assert_eq!(noted(queue(2, &[4, 5]), Some(9)), ["W610"]);
}

#[test]
fn real_files_give_none_of_these_remarks() {
    let files = real_files();
    if files.is_empty() {
        skip!("no shared data");
    }
    for path in files.iter().filter(|path| !path.to_string_lossy().contains("inf1")) {
        let neff = std::fs::read(path).unwrap();
        let arch = [Arch::Sunda, Arch::Cayman, Arch::Mariana];
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let arch = arch.into_iter().find(|arch| name.starts_with(arch.name())).unwrap();
        let config = Config { content: Content::Digest, ..Config::flat(arch) };
        let loader = Loader::new(HostSim::new(config, Growing::new(false)));
        let mut memory = Memory::with_arena(16 << 20);
        let model = loader.load(&neff, &mut memory, &LoadOptions::default()).unwrap();
        let odd = ["W609", "W610", "W611", "W612"];
        let notes = &model.facts().notes;
        assert!(!notes.iter().any(|note| odd.contains(&note.id().to_string().as_str())), "{name}: {notes:?}");
    }
}
