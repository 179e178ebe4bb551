//! What is listed and what is refused: T54 of staging.md §21, rulings R3, R6, R37, R38 and R40.

use super::code::{base, image, load_on};
use loader_core::arch::{Arch, Engine};
use loader_core::arena::Arena;
use loader_core::device::CoreId;
use loader_core::limits::Limits;
use loader_core::lower::input::{BlobIn, DveIn};
use loader_core::lower::record::RingType;
use loader_core::manifest::{Access, DmaOp, VarClass};
use loader_core::plan::pages::PageTable;
use loader_core::plan::record::{LoadParams, Why};
use loader_core::plan::{Request, place};
use loader_core::policy::Policy;
use neffload_tests::lowering::handmade::Move;
use neffload_tests::lowering::memory;
use neffload_tests::staging::hooked::Hooked;
use neffload_tests::staging::model::slot::{operand, plain, request};
use neffload_tests::staging::model::{Hand, join, pattern};
use neffload_tests::staging::{Rig, kbins};
use neuron_drivers::sim::{Config, Growing, HostSim};

#[test]
fn unknown_operands_are_listed() {
    let known = operand(0, 1, 0x10);
    for (marker, indirect) in [(0xFF, 1), (0x30, 0), (0x14, 0), (0x08, 1), (0x90, 1), (0x38, 1), (0x48, 1)] {
        for stream in [
            vec![request(0, operand(0, 3, marker), known)],
            vec![request(1, known, operand(0, 3, marker)), plain(0xDA)],
        ] {
            let mut rig = Rig::new(Arch::Cayman);
            rig.policy.lower_dge_kinds = true;
            let (loaded, slots) = image(&mut rig, base().stream(Engine::Pool, &stream), Engine::Pool);
            let core = loaded.plan.core(0).unwrap();
            assert_eq!((core.images()[2].opaque.get(), core.opaques().len()), (1, 1), "{marker:#x}");
            assert_eq!(core.opaques()[0].why, Why::OPERAND);
            assert_eq!(core.images()[2].register_indirect.get(), indirect, "R3: {marker:#x}");
            assert_eq!(slots[1..=stream.len()], stream, "byte for byte");
            assert_eq!(core.resolved().len(), 1, "the other operand is found");
            rig.policy.strict = true;
            let error = load_on(&mut rig, base().stream(Engine::Pool, &stream)).unwrap_err();
            assert_eq!(error.id().to_string(), "S508");
            assert_eq!((error.at().a, error.at().b, error.at().c), (0, u64::from(marker), 0xD4), "{error}");
        }
    }
}

#[test]
fn an_address_or_shape_in_a_register_keeps_its_request_opaque() {
    // R6 and R8: only a request without a register operand has a lowering.
    for marker in [0x40, 0x80, 0xC0] {
        let stream = [request(0, operand(7, 0, marker), operand(0, 1, 0x10))];
        let hand = || base().stream(Engine::Pool, &stream);
        let mut rig = Rig::new(Arch::Cayman);
        let (loaded, slots) = image(&mut rig, hand(), Engine::Pool);
        let core = loaded.plan.core(0).unwrap();
        let counts = core.images()[2];
        assert_eq!((counts.opaque.get(), counts.register_indirect.get(), counts.patched.get()), (1, 1, 0));
        assert_eq!((core.opaques()[0].why, core.resolved().len(), slots[1]), (Why::REGISTER, 1, stream[0]));
        rig.policy.strict = true;
        assert_eq!(load_on(&mut rig, hand()).unwrap_err().id().to_string(), "S506", "{marker:#x}");
    }
}

#[test]
fn staging_t54() {
    let stream = [plain(0xA0), plain(0xDE)];
    let mut rig = Rig::new(Arch::Cayman);
    rig.policy.strict = true;
    let error = load_on(&mut rig, base().stream(Engine::Dve, &stream)).unwrap_err();
    assert_eq!(error.id().to_string(), "S506");
    assert_eq!((error.at().a, error.at().b, error.at().name.to_string().as_str()), (1, 0xDE, "dve"));
    assert!(rig.log().is_empty());
    let mut rig = Rig::new(Arch::Cayman);
    let (loaded, slots) = image(&mut rig, base().stream(Engine::Dve, &stream), Engine::Dve);
    let core = loaded.plan.core(0).unwrap();
    assert_eq!(core.opaques().len(), 1);
    assert_eq!(slots[2], stream[1], "R6: kept byte for byte");
}

#[test]
fn strict_names_the_first_slot_and_refuses_what_is_approximate() {
    let refused_as = |hand: Hand, code: &str| {
        let mut rig = Rig::new(Arch::Cayman);
        rig.policy.strict = true;
        let error = load_on(&mut rig, hand).unwrap_err();
        assert_eq!(error.id().to_string(), code, "{error}");
        assert!(rig.log().is_empty(), "before any device call");
        error
    };
    // The act stream comes first in the file, the pe stream first among engines.
    let two = base().stream(Engine::Act, &[plain(0xDE)]).stream(Engine::Pe, &[plain(0xA0), plain(0xC5)]);
    let error = refused_as(two, "S506");
    assert_eq!((error.at().name.to_string().as_str(), error.at().a, error.at().b), ("pe", 1, 0xC5));
    // A slot goes before a table, a table alone is refused too (R37), and nothing else is.
    let table = |mut hand: Hand| {
        let blob = hand.member(&pattern(64, 1));
        hand.set.dve =
            Some(DveIn { tables: [blob, BlobIn::NONE, BlobIn::NONE, BlobIn::NONE], unplaced_control: false });
        hand
    };
    refused_as(table(base().stream(Engine::Sp, &[plain(0xDE)])), "S506");
    refused_as(table(base()), "S412");
    let mut rig = Rig::new(Arch::Cayman);
    rig.policy.strict = true;
    let exact = [plain(0xB1), plain(0xCC), request(0, operand(0, 3, 0x10), operand(0, 1, 0x10))];
    load_on(&mut rig, base().stream(Engine::Pe, &exact)).unwrap();
}

#[test]
fn a_device_that_runs_code_takes_none_that_is_untranslated() {
    let stream = [plain(0xA0), plain(0xDE)];
    only_if_allowed(base().stream(Engine::Dve, &stream), "S506", 0xDE);
    // What is approximate is refused like what is opaque: slots, blocks and tables.
    only_if_allowed(base().stream(Engine::Dve, &[plain(0xA0), plain(0xC5)]), "S506", 0xC5);
    let access = |var| Access::new(var, 0, Some(5), &[64, 1], &[1, 64]).expect("a walk");
    let sum =
        Move { op: DmaOp::Add, from: vec![access(3), access(4)], to: access(1), ..Move::copy(3, 1, 64) };
    only_if_allowed(base().queue("q", RingType::DATA, 1).block(0, 0, None, vec![sum]), "S408", 0);
    let mut table = base();
    let blob = table.member(&pattern(64, 1));
    table.set.act_sets.push((b"set".to_vec(), blob, blob, 1));
    only_if_allowed(table, "S412", 0);
}

/// Refused on a device that is no simulation, with nothing done to it, unless the caller takes what is not exact.
fn only_if_allowed(hand: Hand, code: &str, second: u64) {
    let (sets, mut members) = join(vec![hand]);
    let kbins = kbins(sets).unwrap();
    let sim = HostSim::new(Config::flat(Arch::Cayman), Growing::new(true));
    let device = Hooked { simulated: false, ..Hooked::new(sim, |_| Ok(())) };
    let mut place_with = |policy: Policy| {
        let request = Request {
            name: b"m",
            core: CoreId(0),
            vcore_size: 1,
            h_model: 1,
            params: LoadParams::default(),
            owned: (0, 8),
            policy: &policy,
            limits: &Limits::DEFAULT,
        };
        let mut slots = [None; 8];
        let mut pages = PageTable::new(&mut slots);
        let mut arena = Arena::new(memory(1 << 20)).unwrap();
        place(&mut members, &kbins, &device, &request, &mut pages, &mut arena).map(|plan| plan.len())
    };
    let error = place_with(Policy::DEFAULT).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().b), (code, second));
    let remedy = error.remedy().to_string();
    assert!(remedy.contains("--allow-opaque"), "{remedy}");
    assert_eq!(device.sim.operations(), 0, "before the first allocation");
    assert_eq!(place_with(Policy { allow_opaque: true, ..Policy::DEFAULT }).unwrap(), 1);
    assert!(device.sim.operations() > 0);
    let both = Policy { allow_opaque: true, strict: true, ..Policy::DEFAULT };
    assert!(place_with(both).is_err(), "strict is stronger");
}

#[test]
fn some_opcodes_are_for_some_places() {
    let jpeg = || Hand::new(3).var("out", VarClass::Output, 4).stream(Engine::Pool, &[plain(0xD7)]);
    let (sets, members) = join(vec![jpeg(), jpeg()]);
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = rig.load(sets, members).unwrap();
    let [first, second] = [0, 1].map(|core| loaded.plan.core(core).unwrap());
    assert_eq!((first.opaques().len(), second.opaques()[0].why), (0, Why::GATED));
    let mut sunda = jpeg();
    sunda.set.target = 2;
    let loaded = load_on(&mut Rig::new(Arch::Sunda), sunda).unwrap();
    assert_eq!(loaded.plan.core(0).unwrap().opaques()[0].why, Why::GATED);
}

#[test]
fn a_section_start_of_several_queues_is_approximate() {
    // manifests.md §13.3: "place on the first queue of the set"; what of the block, it does not say.
    for (queues, marked, approximate) in [(1, true, false), (4, false, false), (4, true, true)] {
        let mut rig = Rig::new(Arch::Cayman);
        let make = || {
            let rows = vec![Move::copy(1, 0, 8), Move::copy(1, 0, 16)];
            let hand = Hand::cayman().var("t", VarClass::TmpBuf, 64).var("out", VarClass::Output, 4);
            let mut hand = hand.queue("q", RingType::DATA, queues).block(0, 0, Some(8), rows);
            hand.set.blocks[0].section_start = marked;
            hand
        };
        let loaded = load_on(&mut rig, make()).unwrap();
        let core = loaded.plan.core(0).unwrap();
        assert_eq!(core.blocks()[0].is_approximate(), approximate, "{queues} {marked}");
        assert_eq!(core.tally().approximate.get(), u32::from(approximate));
        let mut rig = Rig::new(Arch::Cayman);
        rig.policy.strict = true;
        let refused = load_on(&mut rig, make()).err().map(|error| error.id().to_string());
        assert_eq!(refused.as_deref(), approximate.then_some("S408"), "{queues} {marked}");
    }
}
