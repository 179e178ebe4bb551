//! The index of live blocks against a plain list, and its speed.

use super::{memory, spec, start};
use crate::sim::digest::mix;
use crate::sim::fit::Wanted;
use crate::sim::state::SimState;
use crate::sim::{Config, Content, Growing, HostSim, Plain, PlainSim, Profile, Sim, Slot, Storage};
use core::cell::RefCell;
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, Device, Granted};
use std::time::Instant;
use std::vec::Vec;

/// The same rule over a list: the place of a request, lowest or highest.
fn listed(live: &[(u64, u64)], range: (u64, u64), wanted: Wanted, down: bool) -> Option<u64> {
    let mut sorted = live.to_vec();
    sorted.sort_unstable();
    let starts = core::iter::once(range.0).chain(sorted.iter().map(|&(base, bytes)| base + bytes));
    let ends = sorted.iter().map(|&(base, _)| base).chain([range.1]);
    let mut gaps: Vec<_> = starts.zip(ends).collect();
    if down {
        gaps.reverse();
    }
    gaps.into_iter()
        .find_map(|(from, to)| if down { wanted.highest(from, to) } else { wanted.lowest(from, to) })
}

/// Takes and gives back blocks of all sizes, and holds each place against the list's.
fn hold_to_the_list<S: Storage>(sim: &Sim<S, RefCell<SimState<S>>>, guard: u64) {
    let mut live: Vec<Granted> = Vec::new();
    for step in 0..4000u64 {
        let draw = mix(step ^ guard);
        if live.len() == 60 || (!live.is_empty() && draw.is_multiple_of(3)) {
            let gone = live.swap_remove((draw >> 8) as usize % live.len());
            sim.free(gone.handle).unwrap();
            continue;
        }
        let (size, align) = (1 + (draw >> 16) % 40_000, 1 << ((draw >> 40) % 18));
        let contiguous = (draw >> 50).is_multiple_of(5);
        let wanted = Wanted { bytes: size.next_multiple_of(4096), align: align.max(4096), guard };
        let blocks: Vec<_> = live.iter().map(|block| (block.base.0, block.bytes)).collect();
        let expected = listed(&blocks, (16 << 20, 24 << 30), wanted, contiguous);
        let granted = sim.alloc(&AllocSpec { contiguous, ..spec(size, align) }).unwrap();
        assert_eq!(Some(granted.base.0), expected, "step {step}");
        live.push(granted);
        let inside = sim.with(|state| state.block_at(granted.base.0 + granted.bytes - 1).unwrap().handle);
        assert_eq!(inside, granted.handle);
    }
    sim.audit().unwrap();
}

/// With a tree, and without one.
#[test]
fn places_are_those_of_a_plain_list() {
    for guard in [0, 4096] {
        let profile = if guard == 0 { Profile::Flat } else { Profile::FlatGuard };
        let mut memory = memory();
        let sim = start(&mut memory, profile, Content::Discard);
        hold_to_the_list(&sim, guard);
        let mut slots = [Slot::EMPTY; 64];
        hold_to_the_list(&PlainSim::new(*sim.config(), Plain::new(&mut slots)), guard);
    }
}

/// Seconds to take and give back `count` blocks of mixed sizes, the gaps of every other one refilled in between. Alignments
/// are mixed from 1 to `most`; with large ones nearly every gap is long enough, and none is aligned.
fn seconds(count: u64, most: u32) -> f64 {
    let config = Config { content: Content::Discard, ..Config::flat(Arch::Cayman) };
    let sim = HostSim::new(config, Growing::new(false));
    let begin = Instant::now();
    let align = |at: u64| 1 << if most > 16 { most } else { (mix(at) % 16) as u32 };
    let take = |at: u64| sim.alloc(&spec(1 + mix(at) % 20_000, align(at))).unwrap().handle;
    let mut live: Vec<_> = (0..count).map(take).collect();
    for at in (0..live.len()).step_by(2) {
        sim.free(live[at]).unwrap();
        live[at] = take(at as u64 + count);
    }
    live.into_iter().rev().for_each(|handle| sim.free(handle).unwrap());
    begin.elapsed().as_secs_f64()
}

#[test]
fn time_grows_with_the_number_of_blocks_and_not_with_its_square() {
    for most in [15, 17] {
        let ratio =
            (0..3).map(|_| seconds(60_000, most) / seconds(6_000, most)).fold(f64::INFINITY, f64::min);
        assert!(ratio < 30.0, "alignments to 2^{most}: ten times the blocks took {ratio:.1} times as long");
    }
}
