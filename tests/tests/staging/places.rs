//! Every refusal of planning says where. `Rig::place` checks each one that any test makes; here those that are hard to
//! come by, with the member and the element that they must name.

use loader_core::arch::{Arch, Engine};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::lower::input::FileIn;
use loader_core::lower::record::RingType;
use loader_core::manifest::{BlockSource, VarClass};
use loader_core::source::MemberId;
use neffload_tests::lowering::handmade::member_of;
use neffload_tests::staging::Rig;
use neffload_tests::staging::model::slot::{operand, plain, request, trigger, with};
use neffload_tests::staging::model::{Hand, copy, join, side};

/// SB 0, t 1, in 2, out 3 and a queue.
fn base(kind: RingType) -> Hand {
    Hand::cayman()
        .var("t", VarClass::TmpBuf, 64 << 20)
        .var("in", VarClass::Input, 64)
        .var("out", VarClass::Output, 64)
        .queue("q", kind, 1)
}

fn refuse(rig: &mut Rig, hand: Hand) -> Error {
    let (sets, members) = join(vec![hand]);
    let error = rig.load(sets, members).unwrap_err();
    assert!(rig.log().is_empty(), "before any device call: {error}");
    error
}

/// Code, member, element and subgraph.
fn place(error: &Error) -> (String, Option<MemberId>, Option<u32>, Option<u8>) {
    (error.id().to_string(), error.at().member, error.at().element, error.at().subgraph)
}

const POOL: FileIn = FileIn::Part(BlockSource::Engine(Engine::Pool));

fn at(code: &str, file: FileIn, element: u32) -> (String, Option<MemberId>, Option<u32>, Option<u8>) {
    (code.to_owned(), Some(member_of(0, file)), Some(element), Some(0))
}

#[test]
fn a_block_is_named_by_its_file_and_id() {
    let good = || vec![copy(side(1, 0, &[8, 1], &[1, 8]), side(0, 0, &[8, 1], &[1, 8]))];
    let with = |odd| base(RingType::DATA).block(0, 0, None, good()).block(0, 1, None, vec![odd]);
    let cases = [
        ("S205", copy(side(1, 64 << 20, &[8, 1], &[1, 8]), side(0, 0, &[8, 1], &[1, 8]))),
        ("S402", copy(side(1, 0, &[8, 1], &[1, 8]), side(0, 0, &[4, 1], &[1, 4]))),
        ("S411", copy(side(2, 0, &[8, 1], &[1, 8]), side(0, 0, &[8, 1], &[1, 8]))),
        // One entry more than a ring half holds.
        ("S401", copy(side(1, 0, &[1, 16_777_201], &[1, 2]), side(0, 0, &[1, 16_777_201], &[1, 2]))),
    ];
    for (code, odd) in cases {
        assert_eq!(place(&refuse(&mut Rig::new(Arch::Cayman), with(odd))), at(code, POOL, 1));
    }
    let mut rig = Rig::new(Arch::Cayman);
    rig.limits = Limits { ring_entries: 1, ..Limits::DEFAULT };
    let second = with(good().remove(0));
    let error = refuse(&mut rig, second.clone());
    assert_eq!((place(&error), error.at().a), (at("S410", POOL, 1), 1));
    let mut rig = Rig::new(Arch::Cayman);
    rig.policy.strict = true;
    let cast = neffload_tests::lowering::handmade::Move { cast: true, ..good().remove(0) };
    let error = refuse(&mut rig, with(cast));
    assert!(["S403", "S408"].contains(&error.id().to_string().as_str()), "{error}");
    assert_eq!(place(&error), at(&error.id().to_string(), POOL, 1));
}

#[test]
fn a_template_that_is_too_wide_is_named() {
    let far = 1 << 36;
    let mut hand = base(RingType::IN);
    hand.set.vars[2].size = Some(far + 64);
    let moved = copy(side(2, far, &[8, 1], &[1, 8]), side(0, 0, &[8, 1], &[1, 8]));
    let error = refuse(&mut Rig::new(Arch::Cayman), hand.block(0, 0, None, vec![moved]));
    assert_eq!(place(&error), at("S404", POOL, 0));
}

#[test]
fn a_slot_is_named_by_its_member() {
    let slot = |code: &str, engine, slots: &[[u8; 64]], element| {
        let row = vec![copy(side(1, 0, &[8, 1], &[1, 8]), side(0, 0, &[8, 1], &[1, 8]))];
        let hand = base(RingType::DATA).table("dge", &[0, 1]).block(0, 0, None, row).stream(engine, slots);
        let member = hand.set.engines[engine.index()].unwrap().member;
        let error = refuse(&mut Rig::new(Arch::Cayman), hand);
        assert_eq!(place(&error), (code.to_owned(), Some(member), Some(element), Some(0)));
    };
    let nop = plain(0xA0);
    let bad = |bad: [u8; 8]| request(0, bad, operand(0, 1, 0x10));
    slot("S502", Engine::Pe, &[nop, plain(0xDA)], 1);
    slot("S503", Engine::Pe, &[plain(0xD9), nop], 0);
    slot("S504", Engine::Pool, &[nop, trigger("nowhere", 0)], 1);
    slot("S505", Engine::Pool, &[nop, nop, trigger("q", 4)], 2);
    slot("S507", Engine::Act, &[nop, with(plain(0xD3), 12, b"f")], 1);
    slot("S509", Engine::Act, &[bad(operand(0, 7, 0x20))], 0);
    slot("S205", Engine::Act, &[bad(operand(u32::MAX, 1, 0x10))], 0);
    slot("S207", Engine::Act, &[nop, bad(operand(0, 99, 0x10))], 1);
    let mut hand = base(RingType::DATA);
    let blob = hand.member(&[0; 100]);
    hand.set.engines[Engine::Pe.index()] = Some(blob);
    let error = refuse(&mut Rig::new(Arch::Cayman), hand);
    assert_eq!(place(&error), ("S501".to_owned(), Some(blob.member), Some(0), Some(0)));
}

#[test]
fn tables_and_variables_are_named() {
    let definition = |code: &str, hand, element| {
        assert_eq!(place(&refuse(&mut Rig::new(Arch::Cayman), hand)), at(code, FileIn::DEFINITION, element));
    };
    definition("S211", base(RingType::DATA).table("dge", &[0]).table("more", &[0]), 5);
    definition("S213", base(RingType::DATA).table("dge", &[0]).pointer("p", 4), 5);
    let mut hand = base(RingType::DATA);
    let (bkt, ctl) = (hand.member(&[1; 64]), hand.member(&[2; 64]));
    hand.set.act_sets.push((b"set".to_vec(), bkt, ctl, 1));
    let mut rig = Rig::new(Arch::Cayman);
    rig.policy.strict = true;
    let error = refuse(&mut rig, hand);
    let act = member_of(0, FileIn::Part(BlockSource::Engine(Engine::Act)));
    assert_eq!(place(&error), ("S412".to_owned(), Some(act), None, Some(0)));
}

#[test]
fn a_scratchpad_with_too_many_pages_names_the_variable_that_reaches_furthest() {
    let hand = base(RingType::DATA).scratch("low", 0, 64).scratch("high", 1 << 50, 64).scratch("mid", 64, 64);
    let error = refuse(&mut Rig::new(Arch::Cayman), hand);
    assert_eq!(place(&error), at("L907", FileIn::DEFINITION, 5));
    assert_eq!(
        (error.at().name.to_string().as_str(), error.at().a, error.at().b),
        ("high", (1 << 21) + 1, 1024)
    );
}

#[test]
fn a_device_that_is_too_small_names_the_variable() {
    let mut rig = Rig::new(Arch::Cayman);
    let (sets, members) = join(vec![base(RingType::DATA).var("huge", VarClass::TmpBuf, 1 << 50)]);
    let error = rig.load(sets, members).unwrap_err();
    assert_eq!(error.id().letter, 'D', "{error}");
    let (_, member, element, subgraph) = place(&error);
    assert_eq!((member, element, subgraph), (Some(member_of(0, FileIn::DEFINITION)), Some(4), Some(0)));
    assert_eq!(error.at().name2.to_string(), "huge");
}
