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
        assert_eq!((error.at.a, error.at.b, error.at.subgraph), (60, needed, Some(0)));
        assert!(format!("{member:?}").contains(&format!("{:?}", error.at.member.unwrap())));
    }
    // Nothing at all in the file.
    let mut empty = Hand::cayman().constant("w", &[], 0).var("out", VarClass::Output, 4);
    empty.set.vars[1].size = Some(64);
    assert_eq!(refused(empty, "S214").at.a, 0);
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
                    assert_eq!((error.id().to_string().as_str(), error.at.a), (code, u64::from(number)));
                    assert_eq!(
                        (error.at.member, error.at.element),
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
