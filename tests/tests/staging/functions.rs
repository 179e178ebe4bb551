//! Blocks of functions, and what finds them: manifests.md §13.3, staging.md §5.9 and §11.7.

use super::code::{image, load_on, refused};
use loader_core::arch::{Arch, Engine};
use loader_core::lower::input::FileIn;
use loader_core::lower::record::RingType;
use loader_core::manifest::{BlockSource, VarClass};
use loader_core::plan::record::{Target, TargetKind};
use neffload_tests::lowering::handmade::{DmaBlock, Move, member_of};
use neffload_tests::staging::model::slot::{plain, trigger, with};
use neffload_tests::staging::model::{Hand, copy, side};
use neffload_tests::staging::{Rig, audit};

fn row(bytes: u64) -> Vec<Move> {
    vec![copy(side(1, 0, &[bytes], &[1]), side(0, 0, &[bytes], &[1]))]
}

/// SB 0, t 1, out 2 and a queue.
fn queued(kind: RingType) -> Hand {
    Hand::cayman().var("t", VarClass::TmpBuf, 64).var("out", VarClass::Output, 4).queue("q", kind, 1)
}

/// Blocks by id, the function that each starts, and bytes.
fn blocks(all: &[(u32, &str, u64)]) -> Hand {
    let mut hand = queued(RingType::DATA);
    for &(id, function, bytes) in all {
        let function = function.as_bytes().to_vec();
        hand.set.blocks.push(DmaBlock { function, ..DmaBlock::new(id, 0, row(bytes)) });
    }
    hand
}

fn begin(name: &str) -> [u8; 64] {
    with(plain(0xD1), 12, name.as_bytes())
}

const RETURN: u8 = 0xD2;

/// Bytes of the block that each trigger of pool was found to start.
fn started(hand: Hand, slots: &[[u8; 64]]) -> Vec<u64> {
    let mut rig = Rig::new(Arch::Cayman);
    let (loaded, _) = image(&mut rig, hand.stream(Engine::Pool, slots), Engine::Pool);
    audit::check(&rig, &[&loaded]);
    let core = loaded.plan.core(0).unwrap();
    let block = |index: u32| core.blocks()[index as usize].bytes.get();
    core.opaques().iter().filter(|one| one.trigger == 1).map(|one| block(one.block.get())).collect()
}

#[test]
fn a_trigger_starts_the_block_of_the_function_that_it_stands_in() {
    let twice = || blocks(&[(0, "", 8), (1, "", 16), (0, "f", 24), (1, "", 32), (0, "g", 40)]);
    let q = |id| trigger("q", id);
    let slots =
        [q(1), q(0), begin("f"), q(1), q(0), plain(RETURN), begin("g"), q(0), plain(RETURN), begin("f2")];
    assert_eq!(started(twice(), &slots), [16, 8, 32, 24, 40]);
    let missing = |slots: &[[u8; 64]], at: u64| {
        let error = refused(twice().stream(Engine::Pool, slots), "S505");
        assert_eq!(error.at().a, at, "{error}");
    };
    missing(&[q(2)], 0);
    missing(&[begin("g"), q(1)], 1);
    missing(&[begin("h"), q(0)], 1);
    missing(&[begin("f"), q(0), begin("ff"), q(0)], 3);
    // A block of the main code is not one of a function, nor the other way round.
    refused(blocks(&[(0, "", 8)]).stream(Engine::Pool, &[begin("f"), q(0)]), "S505");
    refused(blocks(&[(0, "f", 8)]).stream(Engine::Pool, &[q(0), begin("f")]), "S505");
}

#[test]
fn main_is_the_main_code() {
    let q = |id| trigger("q", id);
    // It is where a queue's blocks begin, and what they return to after those of a function.
    let all = [(0, "main", 8), (1, "", 16), (0, "f", 24), (2, "main", 32), (3, "", 40)];
    let slots = [q(0), q(1), q(2), q(3), begin("f"), q(0), plain(RETURN)];
    assert_eq!(started(blocks(&all), &slots), [8, 16, 32, 40, 24]);
    // Naming it or not is the same, for a block as for the code.
    assert_eq!(started(blocks(&[(0, "", 8)]), &[begin("main"), q(0)]), [8]);
    assert_eq!(started(blocks(&[(0, "main", 8)]), &[begin("main"), q(0)]), [8]);
    refused(blocks(&[(0, "main", 8)]).stream(Engine::Pool, &[begin("f"), q(0)]), "S505");
    // Names are spelled exactly.
    for other in ["MAIN", "main_", "mai"] {
        refused(blocks(&[(0, other, 8)]).stream(Engine::Pool, &[q(0)]), "S505");
    }
    let error = refused(blocks(&[(0, "", 8), (1, "f", 8), (0, "main", 8)]), "S418");
    assert_eq!((error.at().member.is_some(), error.at().element), (true, Some(0)));
    let mut rig = Rig::new(Arch::Cayman);
    let hand = blocks(&[(0, "main", 8), (0, "f", 16)]).stream(Engine::Pool, &[q(0), begin("f"), q(0)]);
    let loaded = load_on(&mut rig, hand).unwrap();
    let core = loaded.plan.core(0).unwrap();
    let names: Vec<_> = core.blocks().iter().map(|block| core.kbin.text(block.function)).collect();
    assert_eq!(names, [&b""[..], b"f"]);
}

#[test]
fn engines_are_in_functions_of_their_own() {
    let hand = blocks(&[(0, "", 8), (0, "f", 16)]);
    let pool = [begin("f"), trigger("q", 0)];
    let hand = hand.stream(Engine::Sp, &[trigger("q", 0)]).stream(Engine::Pool, &pool);
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = load_on(&mut rig, hand).unwrap();
    let core = loaded.plan.core(0).unwrap();
    let bytes = |block: u32| core.blocks()[block as usize].bytes.get();
    let mut found: Vec<_> = core.opaques().iter().map(|one| (one.engine, bytes(one.block.get()))).collect();
    found.sort_unstable();
    assert_eq!(found, [(2, 16), (4, 8)]);
}

#[test]
fn block_ids_need_not_be_dense() {
    let far = u32::MAX;
    let hand = blocks(&[(far, "", 8), (7, "", 16)]);
    assert_eq!(started(hand, &[trigger("q", 7), trigger("q", far)]), [16, 8]);
    refused(blocks(&[(0, "", 8), (2, "", 8)]).stream(Engine::Pool, &[trigger("q", 1)]), "S505");
}

#[test]
fn a_block_id_stands_once_in_a_function() {
    for all in [
        &[(0, "", 8), (3, "", 8), (0, "", 16)][..],
        &[(0, "f", 8), (0, "", 16)],
        &[(0, "f", 8), (1, "g", 8), (0, "f", 16)],
    ] {
        let error = refused(blocks(all), "S418");
        assert_eq!(error.log().to_string(), "queue q has two blocks 0 in one function");
        let pool = member_of(0, FileIn::Part(BlockSource::Engine(Engine::Pool)));
        assert_eq!(
            (error.at().member, error.at().element, error.at().subgraph),
            (Some(pool), Some(0), Some(0))
        );
    }
    // The same id of two instances is two blocks.
    let mut hand = blocks(&[(0, "", 8), (0, "", 16)]);
    hand.set.queues[0].instances = vec!["a".into(), "b".into()];
    hand.set.blocks[1].instance = 1;
    assert_eq!(started(hand.clone(), &[trigger("b", 0), trigger("a", 0)]), [16, 8]);
    // An instance counts before a set of its name (staging.md §11.7).
    let mut same = hand.clone();
    same.set.queues[0].instances = vec!["c".into(), "q".into()];
    assert_eq!(started(same.clone(), &[trigger("q", 0), trigger("c", 0)]), [16, 8]);
    same.set.blocks.pop();
    refused(same.stream(Engine::Pool, &[trigger("q", 0)]), "S505");
    // A trigger without a block is told by the name that it spells.
    for (name, shown) in [("b", "b"), ("q", "q")] {
        let error = refused(hand.clone().stream(Engine::Pool, &[trigger(name, 1)]), "S505");
        let text = format!("slot 0 of pool triggers block 1 of queue {shown}, which does not exist");
        assert_eq!(error.log().to_string(), text);
    }
}

#[test]
fn a_pattern_that_goes_below_its_variable_is_told_by_where_it_begins() {
    for (off, size, step, code) in
        [(8, 2, -8, None), (7, 2, -8, Some("S217")), (8, 2, i64::MIN, Some("S217"))]
    {
        let mut hand = queued(RingType::DATA);
        let moved = copy(side(1, off, &[4, size], &[1, step]), side(0, 0, &[4, size], &[1, 4]));
        hand.set.blocks.push(DmaBlock::new(0, 0, vec![moved]));
        let error = load_on(&mut Rig::new(Arch::Cayman), hand).err();
        assert_eq!(error.map(|error| error.id().to_string()).as_deref(), code, "{off} {step}");
        if let Some(error) = error {
            let text =
                format!("an access pattern from byte {off} of t on goes below its start, or beyond 2^64");
            assert_eq!(error.log().to_string(), text);
        }
    }
}

#[test]
fn a_static_queue_has_a_block_for_each_of_its_triggers() {
    let slots = [trigger("q", 0)];
    for kind in [RingType::DATA, RingType::IN, RingType::OUT, RingType::INDIRECT_MEMCPY] {
        refused(queued(kind).stream(Engine::Pool, &slots), "S505");
        // Blocks of another queue are not its own.
        let mut other = queued(kind).queue("r", RingType::DATA, 1);
        other.set.blocks.push(DmaBlock::new(0, 1, row(8)));
        refused(other.stream(Engine::Pool, &slots), "S505");
    }
    // Descriptors that the device makes are in no file.
    for (dynamic, dge) in [(true, false), (false, true)] {
        let mut hand = queued(RingType::DATA);
        (hand.set.queues[0].dynamic, hand.set.queues[0].dge) = (dynamic, dge);
        assert_eq!(started(hand.stream(Engine::Sp, &[]), &slots), [0; 0]);
    }
}

/// staging.md §11.3, §5.10: what a function's beginning says is kept; what resets semaphores is not known.
#[test]
fn a_function_keeps_what_its_beginning_says() {
    for (reset, registers) in [(0, [0, 0]), (0, [5, 6]), (1, [5, 6]), (1, [0, 0])] {
        let [first, second] = registers;
        let stream = [with(begin("f"), 48, &[reset, first, second]), plain(0xA0)];
        let hand = || queued(RingType::DATA).stream(Engine::Pool, &stream);
        let mut rig = Rig::new(Arch::Cayman);
        let (loaded, _) = image(&mut rig, hand(), Engine::Pool);
        let core = loaded.plan.core(0).unwrap();
        let targets: &[Target] = loaded.plan.head().slice(core.model.targets).unwrap();
        assert_eq!((targets.len(), targets[0].kind), (1, TargetKind::FUNCTION));
        assert_eq!((targets[0].reset_semaphores, targets[0].return_registers), (reset, registers));
        assert_eq!(core.images()[2].approximate.get(), u32::from(reset));
        assert_eq!(core.tally().approximate.get(), u32::from(reset));
        rig.policy.strict = true;
        let strict = load_on(&mut rig, hand()).err();
        let refused = strict.map(|error| (error.id().to_string(), error.at().a, error.at().b));
        assert_eq!(refused, (reset == 1).then(|| ("S506".to_owned(), 0, 0xD1)));
    }
}
