//! Conformance cases of staging.md §21: instruction streams (T44 to T56), with rulings R2 to R8 and R38.

use loader_core::arch::{Arch, Engine};
use loader_core::error::Error;
use loader_core::lower::record::{PatchSection, PatchType, RingType};
use loader_core::manifest::VarClass;
use loader_core::plan::CoreView;
use loader_core::plan::ring::template;
use neffload_tests::staging::model::slot::{operand, plain, request, trigger, with};
use neffload_tests::staging::model::{Hand, copy, join, pattern, side};
use neffload_tests::staging::{Loaded, Rig, audit, edited, kbins};

pub(crate) fn load_on(rig: &mut Rig, hand: Hand) -> Result<Loaded, Error> {
    let (sets, members) = join(vec![hand]);
    rig.load(sets, members)
}

/// Loads, audits, and gives the slots of an engine's image.
pub(crate) fn image(rig: &mut Rig, hand: Hand, engine: Engine) -> (Loaded, Vec<[u8; 64]>) {
    let loaded = load_on(rig, hand).unwrap_or_else(|error| panic!("{error}"));
    audit::check(rig, &[&loaded]);
    let core = loaded.plan.core(0).unwrap();
    let (_, block) = core.image(engine).unwrap();
    let bytes = rig.read(block);
    let slots = bytes.chunks(64).map(|slot| slot.try_into().unwrap()).collect();
    (loaded, slots)
}

pub(crate) fn patches(core: &CoreView<'_>, engine: Engine) -> Vec<(PatchType, u32, u32, PatchSection)> {
    let all = core.patches(engine).iter();
    all.map(|patch| (patch.kind, patch.count.get(), patch.offset.get(), patch.section)).collect()
}

/// input 0, SB 1, output 2, gradient_in 3, gradient_out 4, table 5 = [0, 3].
pub(crate) fn base() -> Hand {
    Hand::new(3)
        .var("input", VarClass::Input, 128)
        .state_buffer()
        .var("output", VarClass::Output, 128)
        .var("gradient_in", VarClass::TmpBuf, 128)
        .var("gradient_out", VarClass::TmpBuf, 128)
        .table("dge", &[0, 3])
}

fn collective() -> [u8; 64] {
    let slot = with(plain(0xC8), 4, &[4, 10, 19, 22]);
    let slot = with(slot, 12, &[4, 10, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 32]);
    with(slot, 32, &[1])
}

pub(crate) fn refused(hand: Hand, code: &str) -> Error {
    let mut rig = Rig::new(Arch::Cayman);
    let error = load_on(&mut rig, hand).unwrap_err();
    assert_eq!(error.id().to_string(), code, "{error}");
    assert_eq!(error.status().number(), 2);
    assert!(rig.log().is_empty(), "before any device call");
    error
}

#[test]
fn staging_t44() {
    let row = |from, to| vec![copy(side(from, 0, &[128, 1], &[1, 128]), side(to, 0, &[128, 1], &[1, 128]))];
    let last = with(plain(0xA0), 4, &[4, 11, 0, 0]);
    let hand = base()
        .queue("q_gradient_in", RingType::IN, 1)
        .queue("q_gradient_out", RingType::OUT, 1)
        .block(0, 0, Some(10), row(0, 3))
        .block(1, 0, Some(11), row(4, 2))
        .stream(Engine::Pe, &[collective()])
        .stream(Engine::Pool, &[trigger("q_gradient_in", 0), trigger("q_gradient_out", 0), last]);
    let mut rig = Rig::new(Arch::Cayman);
    let (loaded, slots) = image(&mut rig, hand, Engine::Pool);
    let core = loaded.plan.core(0).unwrap();
    assert_eq!(core.images()[0].main.get(), 1);
    assert_eq!(
        patches(&core, Engine::Pe),
        [
            (PatchType::INSERT, 1, 0, PatchSection::PREAMBLE),
            (PatchType::INSERT, 1, 128, PatchSection::POSTAMBLE),
        ]
    );
    assert_eq!(slots[3], last);
    let triggered: Vec<(u16, u32)> =
        core.opaques().iter().map(|opaque| (opaque.queue.get(), opaque.block.get())).collect();
    assert_eq!(triggered, [(0, 0), (1, 1)]);
    assert_eq!(core.images().len(), 5);
    let plan: Vec<(u8, u32, u64)> = core
        .resolved()
        .iter()
        .map(|found| {
            (found.opcode, found.slot.get(), core.word(found.var.get(), found.off.get(), 0).unwrap())
        })
        .collect();
    let [input, output] = [3, 4].map(|var| core.resolve(var, 0, 128).unwrap().0);
    assert_eq!(plan, [(0xC8, 1, input), (0xC8, 1, output)], "the collective's addresses");
}

#[test]
fn preconditions_of_collectives() {
    // Variable 1 is the state buffer: bits 25 to 31 of an offset in it must be clear.
    let on_chip = |off: u64| with(with(collective(), 16, &[1]), 48, &off.to_le_bytes());
    let bad = [
        (with(collective(), 12, &[1]), 1, "reduce op"),
        (with(collective(), 6, &[0]), 1, "no semaphore"),
        (collective(), 2, "several streams"),
        (on_chip(1 << 25), 1, "off-chip offset"),
        (on_chip((1 << 25) + 1), 1, "off-chip offset"),
        (on_chip(1 << 31), 1, "off-chip offset"),
        (on_chip((1 << 25) - 128), 1, ""),
    ];
    for (slot, streams, what) in bad {
        let mut hand = base().stream(Engine::Pe, &[slot]);
        hand.set.num_streams = streams;
        let error = load_on(&mut Rig::new(Arch::Cayman), hand).err();
        let expected = (!what.is_empty()).then(|| ("S514".to_owned(), what.to_owned()));
        let found = error.as_ref().map(|error| (error.id().to_string(), error.at().name2.to_string()));
        assert_eq!(found, expected, "{error:?}");
    }
    refused(base().stream(Engine::Pe, &[on_chip(1 << 32)]), "S205");
    let pair = |priority| [plain(0xD9), with(plain(0xDA), 41, &[priority])];
    refused(base().stream(Engine::Pe, &pair(5)), "S514");
    let mut rig = Rig::new(Arch::Cayman);
    let (loaded, slots) = image(&mut rig, base().stream(Engine::Pe, &pair(0xF8 | 4)), Engine::Pe);
    assert_eq!(slots.len(), 3, "one slot for the pair");
    let core = loaded.plan.core(0).unwrap();
    assert_eq!(
        (core.device_range(Engine::Pe, 1), core.device_range(Engine::Pe, 2)),
        (Some((64, 1)), Some((128, 0)))
    );
}

#[test]
fn staging_t45() {
    let mut hand = base();
    let blob = hand.member(&pattern(100, 0));
    hand.set.engines[0] = Some(blob);
    refused(hand, "S501");
}

#[test]
fn staging_t46() {
    let missing = with(collective(), 20, &9u32.to_le_bytes());
    refused(base().stream(Engine::Pe, &[missing]), "S207");
}

#[test]
fn staging_t47() {
    refused(base().stream(Engine::Pe, &[plain(0xD9), plain(0xA0)]), "S503");
    refused(base().stream(Engine::Pe, &[plain(0xD9)]), "S503");
    refused(base().stream(Engine::Pe, &[plain(0xDA)]), "S502");
}

#[test]
fn staging_t48() {
    let (source, destination) = (operand(0, 1, 0x10), operand(64, 3, 0x10));
    for (kind, opcode, consumed) in [(0, 0xB8, 1), (1, 0xBB, 2), (2, 0xBD, 2), (3, 0xF1, 2)] {
        let mut stream = vec![request(kind, source, destination)];
        stream.extend((consumed == 2).then(|| plain(0xDA)));
        stream.push(plain(0xA0));
        let mut rig = Rig::new(Arch::Cayman);
        rig.policy.lower_dge_kinds = true;
        let (loaded, slots) = image(&mut rig, base().stream(Engine::Pool, &stream), Engine::Pool);
        let core = loaded.plan.core(0).unwrap();
        assert_eq!(slots[1][0], opcode);
        assert_eq!(slots[1][0x10..0x18], 0x8000_0000_0000u64.to_le_bytes());
        assert_eq!(slots[1][0x28..0x30], (core.resolve(3, 64, 1).unwrap().0).to_le_bytes());
        assert_eq!(slots[2][0], 0xA0);
        assert_eq!(core.device_range(Engine::Pool, 1), Some((64, 1)));
        if consumed == 2 {
            assert_eq!(core.device_range(Engine::Pool, 2), Some((128, 0)));
            let delete = (PatchType::DELETE, 1, 128, PatchSection::MAIN);
            assert!(patches(&core, Engine::Pool).contains(&delete));
        }
    }
}

#[test]
fn requests_are_bound_patched_or_kept() {
    let stream = [
        request(0, operand(16, 0, 0x20), operand(8, 1, 0x20)),
        request(0, operand(60, 1, 0x28), operand(0, 1, 0x10)),
        plain(0xDA),
        request(0, operand(0, 2, 0x10), operand(0, 4, 0x10)),
        plain(0xDA),
    ];
    let mut rig = Rig::new(Arch::Cayman);
    let (loaded, slots) = image(&mut rig, base().stream(Engine::Act, &stream), Engine::Act);
    let core = loaded.plan.core(0).unwrap();
    let counts = core.images()[1];
    assert_eq!((counts.bound.get(), counts.patched.get()), (1, 1));
    assert_eq!((counts.register_indirect.get(), counts.opaque.get()), (1, 2));
    assert_eq!((counts.pseudo_count(0xD4), counts.pseudo_count(0xDA)), (3, 2));
    assert_eq!(slots[1][0x10..0x18], template(0, 16).unwrap().to_le_bytes());
    assert_eq!(slots[2..6], stream[1..5], "kept byte for byte");
    assert_eq!(core.tally().relocated_variables.get(), 1);
    refused(base().stream(Engine::Act, &[request(0, operand(0, 7, 0x20), operand(0, 1, 0x10))]), "S509");
    refused(base().stream(Engine::Act, &[request(0, operand(128, 3, 0x10), operand(0, 1, 0x10))]), "S205");
    refused(base().stream(Engine::Act, &[request(0, operand(0, 99, 0x10), operand(0, 1, 0x10))]), "S207");
}

#[test]
fn remote_operands_lead_to_the_other_core() {
    let owner = Hand::cayman().constant("w", &pattern(4096, 1), 64).var("out", VarClass::Output, 4);
    let stream = [request(0, operand(64, 1, 0x10), operand(0, 0, 0x10))];
    let reader =
        Hand::cayman().remote("w{0}", 0, 1).var("out", VarClass::Output, 4).stream(Engine::Sp, &stream);
    let (sets, members) = join(vec![owner, reader]);
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = rig.load(sets, members).unwrap();
    audit::check(&rig, &[&loaded]);
    let (first, second) = (loaded.plan.core(0).unwrap(), loaded.plan.core(1).unwrap());
    let (_, block) = second.image(Engine::Sp).unwrap();
    let word = first.resolve(1, 64, 1).unwrap().0;
    assert_eq!(rig.read(block)[64 + 0x10..64 + 0x18], word.to_le_bytes());
}

#[test]
fn staging_t49() {
    let (_, core, slots) = labelled();
    assert_eq!((slots[10][0], slots[11][0]), (0xA0, 0xA2));
    assert!(patches(&core, Engine::Pool).contains(&(PatchType::DELETE, 1, 704, PatchSection::MAIN)));
    assert_eq!(core.source_position(Engine::Pool, 640), Some(1));
    assert_eq!(core.source_position(Engine::Pool, 704), Some(3));
}

#[test]
fn staging_t50() {
    let (_, _, slots) = labelled();
    assert_eq!((slots[12][0], &slots[12][48..56]), (0xA9, &0xFFFF_FFC0u64.to_le_bytes()[..]));
}

/// MAIN at 640: a real slot, a label, a real slot at 704, and at 768 a branch to the label.
fn labelled() -> (Loaded, CoreView<'static>, Vec<[u8; 64]>) {
    let mut rig = Rig::new(Arch::Cayman);
    (rig.policy.preamble_slots, rig.policy.postamble_slots) = (10, 7);
    let label = with(plain(0xCC), 12, &5u32.to_le_bytes());
    let branch = with(plain(0xA9), 48, &5u64.to_le_bytes());
    let hand = base().stream(Engine::Pool, &[plain(0xA0), label, plain(0xA2), branch]);
    let (loaded, slots) = image(&mut rig, hand, Engine::Pool);
    let core = loaded.plan.core(0).unwrap();
    (loaded, core, slots)
}

/// A call of a function and an exit with a hint bit, as the stream of the tensor engine.
fn branches(callee: &str) -> Hand {
    let named = |opcode, name: &str| with(plain(opcode), 12, name.as_bytes());
    let exit = with(with(plain(0xDF), 12, &[1]), 3, &[4]);
    let stream = [plain(0xA0), named(0xD3, callee), exit, named(0xD1, "f"), plain(0xA2), plain(0xD2)];
    base().stream(Engine::Pe, &stream)
}

#[test]
fn staging_t51() {
    let mut rig = Rig::new(Arch::Cayman);
    let (loaded, slots) = image(&mut rig, branches("f"), Engine::Pe);
    let core = loaded.plan.core(0).unwrap();
    let counts = core.images()[0];
    assert_eq!((counts.main.get(), counts.function.get(), slots.len()), (3, 2, 7));
    // preamble 0, main 1 to 3, postamble 4, function from 5 on.
    assert_eq!((slots[2][0], slots[2][48]), (0xA9, 3 * 64));
    assert_eq!((slots[5][0], slots[5][3] & 1, slots[6][3] & 1), (0xA2, 1, 1));
    let modified = patches(&core, Engine::Pe).iter().filter(|patch| patch.0 == PatchType::MODIFY).count();
    assert_eq!(modified, 2);
    assert_eq!(counts.approximate.get(), 2, "the call's frame and the return are not encoded");
    assert_eq!(core.source_position(Engine::Pe, 5 * 64), Some(5));
    assert_eq!(core.model.functions[0].off.get(), 5 * 64);
    refused(branches("g"), "S507");
    // The case's own numbers: the call at 704, the function at 4096.
    let mut rig = Rig::new(Arch::Cayman);
    (rig.policy.preamble_slots, rig.policy.postamble_slots) = (10, 51);
    let (_, slots) = image(&mut rig, branches("f"), Engine::Pe);
    assert_eq!(slots[11][48..56], 3392u64.to_le_bytes());
}

#[test]
fn staging_t52() {
    let mut rig = Rig::new(Arch::Cayman);
    (rig.policy.preamble_slots, rig.policy.postamble_slots) = (9, 7);
    let exit = with(with(plain(0xDF), 12, &[1]), 3, &[4]);
    let mut stream = vec![plain(0xA0); 9];
    stream[2] = exit;
    // The exit at 704, the postamble at 1152.
    let (_, slots) = image(&mut rig, base().stream(Engine::Pe, &stream), Engine::Pe);
    assert_eq!((slots[11][0], &slots[11][48..56]), (0xA9, &448u64.to_le_bytes()[..]));
    assert_eq!(slots[11][3] & 4, 4);
}

#[test]
fn staging_t53() {
    refused(base().stream(Engine::Pool, &[trigger("nowhere", 0)]), "S504");
    let row = vec![copy(side(3, 0, &[8, 1], &[1, 8]), side(1, 0, &[8, 1], &[1, 8]))];
    let hand = base().queue("q", RingType::DATA, 1).block(0, 0, None, row);
    let error = refused(hand.stream(Engine::Pool, &[trigger("q", 1)]), "S505");
    assert_eq!(error.log().to_string(), "slot 0 of pool triggers block 1 of queue q, which does not exist");
}

#[test]
fn every_pseudo_opcode_is_translated_or_listed() {
    let opaque = [0xC3, 0xC4, 0xC6, 0xC9, 0xCD, 0xCE, 0xCF, 0xD0, 0xD5, 0xD8, 0xDE, 0xDF];
    let approximate = [0xC5, 0xC7, 0xCA, 0xCB, 0xD2, 0xD6, 0xD7, 0xDB, 0xDC, 0xDD];
    for opcode in opaque.into_iter().chain(approximate) {
        let mut rig = Rig::new(Arch::Cayman);
        let (loaded, slots) = image(&mut rig, base().stream(Engine::Sp, &[plain(opcode)]), Engine::Sp);
        let counts = loaded.plan.core(0).unwrap().images()[4];
        let kept = opaque.contains(&opcode);
        assert_eq!(
            (counts.opaque.get(), counts.approximate.get()),
            (u32::from(kept), u32::from(!kept)),
            "{opcode:x}"
        );
        assert_eq!((counts.main.get(), counts.pseudo_count(opcode)), (1, 1));
        assert_eq!(slots[1][0] == opcode, kept, "{opcode:x}");
    }
    for opcode in (0..=255).filter(|opcode| *opcode != 0xA9 && !(0xC1..=0xDF).contains(opcode)) {
        let slot = with(plain(opcode), 8, &pattern(56, opcode));
        let mut rig = Rig::new(Arch::Cayman);
        let (_, slots) = image(&mut rig, base().stream(Engine::Sp, &[slot]), Engine::Sp);
        assert_eq!(slots[1], slot, "R5: {opcode:x} is copied");
    }
}

#[test]
fn staging_t55() {
    let mut rig = Rig::new(Arch::Cayman);
    let stream = vec![plain(0xA0); 0x8040 / 64 - 2];
    let loaded = load_on(&mut rig, base().stream(Engine::Pe, &stream)).unwrap();
    let core = loaded.plan.core(0).unwrap();
    let (_, block) = core.image(Engine::Pe).unwrap();
    assert_eq!((block.size.get(), block.align.get()), (0x8040, 0x8000));
    let mut rig = Rig::new(Arch::Cayman);
    rig.policy.engine_block = 0xC000;
    let error = load_on(&mut rig, base()).unwrap_err();
    assert_eq!(error.id().to_string(), "S513");
    assert!(rig.log().is_empty());
}

#[test]
fn staging_t56() {
    let (sets, members) = join(vec![base()]);
    let kbins = kbins(sets).unwrap();
    let wrong = edited(&kbins, kbins.kbin(0).unwrap().record(), |kbin| kbin.engine.swap(3, 4));
    let mut rig = Rig::new(Arch::Cayman);
    let error = rig.load_kbins(&wrong, members).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), ("S105", 1));
    assert!(rig.log().is_empty());
}
