//! Numbers of a file that reach beyond what is there: payloads, semaphores, images, variables.

use super::code::{base, image, load_on, refused};
use loader_core::arch::{Arch, Engine};
use loader_core::lower::input::FileIn;
use loader_core::lower::record::RingType;
use loader_core::manifest::{BlockSource, VarClass};
use neffload_tests::lowering::handmade::{DmaBlock, Move, member_of};
use neffload_tests::staging::model::slot::{operand, plain, request, trigger, with};
use neffload_tests::staging::model::{Hand, copy, pattern, side};
use neffload_tests::staging::{Rig, audit};
use zerocopy::little_endian::U32;

/// A constant of 60 bytes whose entry says another size.
fn stated(size: u64) -> Hand {
    let mut hand = Hand::cayman().constant("w", &pattern(60, 1), 0).var("out", VarClass::Output, 4);
    hand.set.vars[1].size = Some(size);
    hand
}

#[test]
fn a_payload_shorter_than_its_entry_says_is_refused() {
    for (size, needed) in [(61, 61), (64, 64), (1 << 40, 1 << 40)] {
        let hand = stated(size);
        let member = hand.set.vars[1].detail;
        let error = refused(hand, "S214");
        assert_eq!((error.at().a, error.at().b, error.at().subgraph), (60, needed, Some(0)));
        assert!(format!("{member:?}").contains(&format!("{:?}", error.at().member.unwrap())));
    }
    // Nothing at all in the file.
    let mut empty = Hand::cayman().constant("w", &[], 0).var("out", VarClass::Output, 4);
    empty.set.vars[1].size = Some(64);
    assert_eq!(refused(empty, "S214").at().a, 0);
    // A longer payload is loaded as it is (manifests.md §7.7), as is one of the stated size.
    for size in [0, 59, 60] {
        let mut rig = Rig::new(Arch::Cayman);
        let loaded = load_on(&mut rig, stated(size)).unwrap();
        assert_eq!(loaded.plan.core(0).unwrap().variables()[1].size.get(), 60, "{size}");
        audit::check(&rig, &[&loaded]);
    }
}

fn row() -> Vec<Move> {
    vec![copy(side(1, 0, &[8, 1], &[1, 8]), side(0, 0, &[8, 1], &[1, 8]))]
}

/// SB 0, t 1, out 2 and a queue.
fn queued() -> Hand {
    Hand::cayman().var("t", VarClass::TmpBuf, 64).var("out", VarClass::Output, 4).queue(
        "q",
        RingType::DATA,
        1,
    )
}

#[test]
fn a_semaphore_is_one_of_its_core() {
    for (number, code) in [(0, ""), (255, ""), (256, "S417"), (0x100_0007, "S417"), (u32::MAX, "S417")] {
        let refused_with = |hand: Hand, element: u32, file| {
            let mut rig = Rig::new(Arch::Cayman);
            match load_on(&mut rig, hand) {
                Ok(loaded) => {
                    assert_eq!(code, "", "{number}");
                    audit::check(&rig, &[&loaded]);
                }
                Err(error) => {
                    assert_eq!((error.id().to_string().as_str(), error.at().a), (code, u64::from(number)));
                    assert_eq!(
                        (error.at().member, error.at().element),
                        (Some(member_of(0, file)), Some(element))
                    );
                    assert!(rig.log().is_empty(), "before any device call");
                }
            }
        };
        let pool = FileIn::Part(BlockSource::Engine(Engine::Pool));
        refused_with(queued().block(0, 0, None, row()).block(0, 1, Some(number), row()), 1, pool);
        let mut set = queued();
        set.set.queues[0].semaphores = vec![8.into(), number.into()];
        refused_with(set, 0, FileIn::DEFINITION);
        let mut remote = queued();
        let mut block = DmaBlock::new(0, 0, row());
        block.remote_semaphores = vec![U32::new(5), number.into()];
        remote.set.blocks.push(block);
        refused_with(remote, 0, pool);
    }
}

fn label(id: u32) -> [u8; 64] {
    with(plain(0xCC), 12, &id.to_le_bytes())
}

fn branch(id: u64) -> [u8; 64] {
    with(plain(0xA9), 48, &id.to_le_bytes())
}

fn named(opcode: u8, name: &[u8]) -> [u8; 64] {
    with(plain(opcode), 12, name)
}

#[test]
fn a_branch_leads_to_a_slot_of_the_image() {
    let nop = plain(0xA0);
    let on = |stream: &[[u8; 64]]| base().stream(Engine::Pe, stream);
    // Behind the last slot of the last function.
    let error = refused(on(&[nop, branch(5), named(0xD1, b"g"), nop, label(5)]), "S516");
    assert_eq!((error.at().a, error.at().name2.to_string().as_str()), (1, "label"));
    let error = refused(on(&[nop, named(0xD3, b"g"), named(0xD1, b"g")]), "S516");
    assert_eq!((error.at().a, error.at().name2.to_string().as_str()), (1, "g"));
    // At the end of the main code the postamble follows, behind an empty function another one.
    image(&mut Rig::new(Arch::Cayman), on(&[nop, branch(5), label(5)]), Engine::Pe);
    let two = [nop, named(0xD3, b"g"), named(0xD1, b"g"), named(0xD1, b"h"), nop];
    image(&mut Rig::new(Arch::Cayman), on(&two), Engine::Pe);
    // Without a postamble an exit has nowhere to go, and the end of the main code is the end.
    let exit = with(plain(0xDF), 12, &[1]);
    for stream in [vec![nop, exit], vec![nop, branch(5), label(5)]] {
        let mut rig = Rig::new(Arch::Cayman);
        rig.policy.postamble_slots = 0;
        let error = load_on(&mut rig, on(&stream)).unwrap_err();
        assert_eq!((error.id().to_string().as_str(), error.at().a), ("S516", 1));
    }
}

#[test]
fn a_branch_names_its_label_with_all_its_bits() {
    let on = |id| base().stream(Engine::Pe, &[plain(0xA0), label(5), branch(id), plain(0xA0)]);
    image(&mut Rig::new(Arch::Cayman), on(5), Engine::Pe);
    let error = refused(on(1 << 32 | 5), "S507");
    assert_eq!((error.at().a, error.at().element), (2, Some(2)));
}

#[test]
fn a_second_definition_is_named_by_its_own_slot() {
    let nop = plain(0xA0);
    let labels = [label(4), nop, label(5), nop, branch(5), label(5), nop];
    let error = refused(base().stream(Engine::Act, &labels), "S515");
    assert_eq!((error.at().a, error.at().element), (5, Some(5)));
    let functions =
        [named(0xD3, b"g"), named(0xD1, b"f"), nop, named(0xD1, b"g"), nop, nop, named(0xD1, b"g"), nop];
    let error = refused(base().stream(Engine::Act, &functions), "S515");
    assert_eq!((error.at().a, error.at().name2.to_string().as_str()), (6, "g"));
}

#[test]
fn what_is_opaque_is_kept_in_functions_too() {
    let held = |slot: [u8; 64]| with(slot, 3, &[0x40]);
    let sources = [
        held(plain(0xCE)),
        held(trigger("q", 0)),
        held(request(0, operand(0, 0, 0x28), operand(0, 1, 0x10))),
        held(request(0, operand(0, 3, 0x14), operand(0, 1, 0x10))),
        held(request(0, operand(0, 3, 0x10), operand(0, 1, 0x10))),
        with(plain(0xDA), 1, &[0, 7, 0x40]),
        held(plain(0xA0)),
    ];
    let mut stream = vec![plain(0xA0), named(0xD1, b"f"), plain(0xA0)];
    stream.extend(sources);
    let moves = vec![copy(side(3, 0, &[8, 1], &[1, 8]), side(1, 0, &[8, 1], &[1, 8]))];
    let hand = base().queue("q", RingType::DATA, 1).block(0, 0, None, moves);
    let mut hand = hand.stream(Engine::Pool, &stream);
    hand.set.blocks[0].function = b"f".to_vec();
    let (loaded, slots) = image(&mut Rig::new(Arch::Cayman), hand, Engine::Pool);
    // Preamble, a slot of main code, postamble, the first slot of the function.
    assert_eq!(slots[4..10], sources[..6], "byte for byte, the extension's data too");
    assert_eq!((slots[3][3], slots[10][3]), (1, 0x41), "instructions are marked (staging.md §11.5)");
    assert_eq!(loaded.plan.core(0).unwrap().images()[2].opaque.get(), 5);
}

/// A sum over variables 3 and 4, of 128 bytes each.
fn collective(elements: u64, kind: u8, offsets: [u64; 2]) -> [u8; 64] {
    let slot = with(with(plain(0xC8), 4, &[4, 10, 19, 22]), 12, &[4, kind, 0, 0, 3, 0, 0, 0, 4]);
    let slot = with(with(slot, 24, &elements.to_le_bytes()), 32, &[1]);
    with(with(slot, 48, &offsets[0].to_le_bytes()), 56, &offsets[1].to_le_bytes())
}

#[test]
fn a_collective_lies_in_its_variables() {
    // Public codes: 10 is float32, 6 bfloat16, 14 an eight-bit float; 0xFF is none and counts one byte.
    let cases = [
        (32, 10, [0, 0], true),
        (33, 10, [0, 0], false),
        (64, 6, [0, 0], true),
        (65, 6, [0, 0], false),
        (128, 14, [0, 0], true),
        (128, 0xFF, [0, 0], true),
        (129, 0xFF, [0, 0], false),
        (u64::MAX, 10, [0, 0], false),
        (0, 10, [128, 128], true),
        (0, 10, [129, 0], false),
        // A gather or scatter holds all elements on one side only, and at least one on the other.
        (32, 10, [124, 0], true),
        (32, 10, [0, 125], false),
        (2, 10, [124, 124], false),
        (1, 10, [124, 124], true),
    ];
    for (elements, kind, offsets, fits) in cases {
        let hand = base().stream(Engine::Pe, &[collective(elements, kind, offsets)]);
        let error = load_on(&mut Rig::new(Arch::Cayman), hand).err();
        let code = error.map(|error| (error.id().to_string(), error.status().number()));
        let expected = (!fits).then(|| ("S205".to_owned(), 2));
        assert_eq!(code, expected, "{elements} elements of type {kind} at {offsets:?}");
    }
}

#[test]
fn a_trigger_with_its_own_count_needs_no_block() {
    let counted = |block| with(trigger("q", block), 44, &1u32.to_le_bytes());
    let of = |slot| queued().block(0, 0, None, row()).stream(Engine::Pool, &[slot]);
    let (loaded, slots) = image(&mut Rig::new(Arch::Cayman), of(counted(9)), Engine::Pool);
    let core = loaded.plan.core(0).unwrap();
    assert_eq!((core.opaques().len(), core.opaques()[0].trigger, slots[1]), (1, 0, counted(9)));
    // Without the flag, and with a queue that nobody knows, it is refused.
    refused(of(trigger("q", 9)), "S505");
    refused(of(with(trigger("x", 0), 44, &[1])), "S504");
    // A block that is there is noted.
    let (loaded, _) = image(&mut Rig::new(Arch::Cayman), of(counted(0)), Engine::Pool);
    assert_eq!(loaded.plan.core(0).unwrap().opaques()[0].trigger, 1);
}

#[test]
fn functions_of_libraries_are_counted() {
    let sunda = |counts: &[usize]| {
        let mut hand = Hand::new(2).state_buffer().var("out", VarClass::Output, 4);
        for (index, &count) in counts.iter().enumerate() {
            hand = hand.library(&format!("{index}.so"), &pattern(64, 1));
            let functions = (0..count).map(|n| (format!("f{n}").into_bytes(), 0x40, n as i32)).collect();
            hand.set.libraries[index].functions = functions;
        }
        hand
    };
    load_on(&mut Rig::new(Arch::Sunda), sunda(&[97])).unwrap();
    load_on(&mut Rig::new(Arch::Sunda), sunda(&[50, 47])).unwrap();
    for (counts, sum) in [(&[98][..], 98), (&[50, 48][..], 98), (&[127][..], 127)] {
        let mut rig = Rig::new(Arch::Sunda);
        let error = load_on(&mut rig, sunda(counts)).unwrap_err();
        assert_eq!((error.id().to_string().as_str(), error.at().a, error.at().b), ("S216", sum, 97));
        assert!(rig.log().is_empty());
    }
    // Functions of the extended instruction set have a limit of their own (lowering.md G-9).
    let mut extended = sunda(&[19]);
    extended.set.libraries[0].opcode = 0x85;
    assert_eq!(load_on(&mut Rig::new(Arch::Sunda), extended).unwrap_err().id().to_string(), "L505");
}
