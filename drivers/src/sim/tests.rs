//! The simulated device by itself.

extern crate std;

use super::*;
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, Device, DeviceError, Granted, Place, Usage};
use std::string::ToString;
use std::vec;
use std::vec::Vec;

mod index;
mod order;
mod planted;

struct Memory {
    slots: Vec<Slot>,
    frames: Vec<Frame>,
    events: Vec<Event>,
}

fn memory() -> Memory {
    Memory { slots: vec![Slot::EMPTY; 64], frames: vec![Frame::EMPTY; 64], events: vec![Event::EMPTY; 256] }
}

fn start<'a>(memory: &'a mut Memory, profile: Profile, content: Content) -> LocalSim<'a> {
    let config = Config { profile, content, ..Config::flat(Arch::Cayman) };
    LocalSim::new(config, Fixed::new(&mut memory.slots, &mut memory.frames, &mut memory.events))
}

fn spec(size: u64, align: u64) -> AllocSpec<'static> {
    let usage = Usage::Weight;
    AllocSpec { core: CoreId(0), place: Place::Hbm(0), size, align, usage, tag: "t", contiguous: false }
}

fn take(sim: &LocalSim<'_>, size: u64, align: u64) -> Granted {
    sim.alloc(&spec(size, align)).unwrap()
}

#[test]
fn first_fit_reuses_the_lowest_gap() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Full);
    let a = take(&sim, 1, 0);
    let b = take(&sim, 4097, 64);
    let c = take(&sim, 10, 0x8000);
    assert_eq!((a.base.0, b.base.0, c.base.0), (0x100_0000, 0x100_1000, 0x100_8000));
    assert_eq!((a.bytes, b.bytes), (4096, 8192));
    sim.free(b.handle).unwrap();
    assert_eq!(take(&sim, 100, 0).base.0, 0x100_1000);
    assert_eq!(take(&sim, 0x6000, 0).base.0, 0x100_2000);
    sim.audit().unwrap();
}

#[test]
fn memory_is_fresh_then_dead() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Full);
    let block = take(&sim, 5000, 0);
    sim.write(block.handle, 4090, &[1; 10]).unwrap();
    let mut out = [0; 12];
    sim.read(block.handle, 4089, &mut out).unwrap();
    assert_eq!(out, [0xCD, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0xCD]);
    sim.free(block.handle).unwrap();
    let again = take(&sim, 5000, 0);
    sim.write(again.handle, 0, &[7]).unwrap();
    sim.read(again.handle, 4089, &mut out).unwrap();
    assert_eq!(out, [0xDD; 12]);
    sim.audit().unwrap();
}

/// What only loads grants, refuses and sums up as the whole device does with digests for contents.
#[test]
fn a_plain_device_is_the_same_device() {
    fn history(sim: &impl Device) -> Vec<Result<Granted, DeviceError>> {
        let first = sim.alloc(&spec(5000, 0)).unwrap();
        let second = sim.alloc(&spec(1, 0x8000)).unwrap();
        sim.write(second.handle, 0, &[9]).unwrap();
        sim.free(first.handle).unwrap();
        let third = sim.alloc(&spec(100, 64));
        sim.write(third.unwrap().handle, 3, b"content").unwrap();
        assert_eq!(sim.read(second.handle, 0, &mut [0]), Err(DeviceError::ReadRefused));
        assert_eq!(sim.write(first.handle, 0, &[1]), Err(DeviceError::BadHandle));
        vec![Ok(first), Ok(second), third, sim.alloc(&spec(0, 0)), sim.alloc(&spec(1, 3))]
    }
    let mut memory = memory();
    let whole = start(&mut memory, Profile::Flat, Content::Digest);
    let mut slots = vec![Slot::EMPTY; 64];
    let plain = PlainSim::new(*whole.config(), Plain::new(&mut slots));
    assert_eq!(history(&plain), history(&whole));
    assert_eq!(plain.hash(), whole.hash());
    // Both hold the stale handle against their caller.
    let found = plain.audit().unwrap_err();
    assert_eq!((found.invariant, Err(found)), (3, whole.audit()));
    // It has no memory for bytes.
    let full = Config { content: Content::Full, ..*whole.config() };
    let full = PlainSim::new(full, Plain::new(&mut slots));
    let block = full.alloc(&spec(1, 0)).unwrap();
    assert_eq!(full.write(block.handle, 0, &[1]), Err(DeviceError::HostMemory));
}

#[test]
fn stale_handles_and_ranges_are_refused_and_counted() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Full);
    let block = take(&sim, 100, 0);
    assert_eq!(sim.write(block.handle, 4090, &[0; 7]), Err(DeviceError::OutOfRange));
    assert_eq!(sim.write(block.handle, u64::MAX, &[0; 7]), Err(DeviceError::OutOfRange));
    sim.free(block.handle).unwrap();
    assert_eq!(sim.free(block.handle), Err(DeviceError::BadHandle));
    let other = take(&sim, 100, 0);
    assert_eq!(other.handle.slot, block.handle.slot);
    assert_eq!(sim.write(block.handle, 0, &[0]), Err(DeviceError::BadHandle));
    let count = sim.counters();
    assert_eq!((count.out_of_range, count.double_frees, count.stale_handles), (2, 1, 1));
    assert_eq!(sim.audit().unwrap_err().invariant, 3);
}

#[test]
fn stray_writes_break_i8() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Full);
    let block = take(&sim, 100, 0);
    sim.write(block.handle, 96, &[0; 5]).unwrap();
    assert_eq!(sim.audit().unwrap_err().invariant, 8);
}

#[test]
fn hash_ignores_history_and_sees_content() {
    for content in [Content::Full, Content::Digest] {
        let mut memory = memory();
        let sim = start(&mut memory, Profile::Flat, content);
        let empty = sim.hash();
        let block = take(&sim, 100, 0);
        let blank = sim.hash();
        assert_ne!(empty, blank);
        sim.write(block.handle, 3, b"abcdefghijklmnopqrstuvwxyz").unwrap();
        let whole = sim.hash();
        assert_ne!(blank, whole);
        sim.free(block.handle).unwrap();
        assert_eq!(sim.hash(), empty);
    }
}

#[test]
fn digest_does_not_depend_on_cuts() {
    let bytes: Vec<u8> = (0..200u8).collect();
    let whole = digest::hash(0x100_0003, &bytes);
    for cut in 0..bytes.len() {
        let (a, b) = bytes.split_at(cut);
        let sum = digest::add(digest::hash(0x100_0003 + cut as u64, b), digest::hash(0x100_0003, a));
        assert_eq!(sum, whole, "cut {cut}");
    }
}

#[test]
fn contiguous_pages_grow_down_and_fit_together() {
    // Under FLAT_GUARD the gap of 4 KiB, aligned to 4 MiB, is above the first page alone (R41).
    for (profile, top) in [
        (Profile::Flat, 24 << 30),
        (Profile::FlatGuard, (24 << 30) - (4 << 20)),
        (Profile::Driver, 23 << 30),
        (Profile::Tiny(1 << 30), (16 << 20) + (1 << 30)),
    ] {
        let mut memory = memory();
        let sim = start(&mut memory, profile, Content::Discard);
        let page = AllocSpec { usage: Usage::Scratchpad, contiguous: true, ..spec(64 << 20, 0x40_0000) };
        let low = take(&sim, 1, 0);
        let pages: Vec<_> = (0..4).map(|_| sim.alloc(&page).unwrap()).collect();
        for (number, page) in (1..).zip(&pages) {
            assert_eq!(page.base.0, top - number * (64 << 20), "{profile:?} page {number}");
        }
        // The last one is given back and taken again; another core's range is one of its own.
        sim.free(pages[3].handle).unwrap();
        assert_eq!(sim.alloc(&page).unwrap().base, pages[3].base, "{profile:?}");
        let other = AllocSpec { core: CoreId(1), ..page };
        let [first, second] = [(); 2].map(|()| sim.alloc(&other).unwrap().base.0);
        let guard = if profile == Profile::FlatGuard { 4 << 20 } else { 0 };
        assert_eq!(
            (first, second),
            (pages[3].base.0 - guard - (64 << 20), first - (64 << 20)),
            "{profile:?}"
        );
        sim.free(low.handle).unwrap();
        sim.audit().unwrap();
    }
}

#[test]
fn cores_and_blocks_lie_apart_in_every_profile() {
    let profiles =
        [Profile::Flat, Profile::FlatGuard, Profile::Driver, Profile::NoAlign, Profile::Tiny(u64::MAX)];
    for arch in [Arch::Sunda, Arch::Cayman, Arch::Mariana] {
        for profile in profiles {
            let mut memory = memory();
            let storage = Fixed::new(&mut memory.slots, &mut memory.frames, &mut memory.events);
            let config = Config { cores: 16, profile, content: Content::Discard, ..Config::flat(arch) };
            let sim = LocalSim::new(config, storage);
            let known = if arch == Arch::Sunda { 2 } else { 8 };
            let cores = if profile == Profile::Driver { known } else { 16 };
            assert_eq!((sim.cores(), sim.config().cores), (cores, cores));
            let on = |core| AllocSpec { core: CoreId(core), ..spec(1, 0) };
            assert!(sim.alloc(&on(cores - 1)).is_ok());
            assert_eq!(sim.alloc(&on(cores)), Err(DeviceError::BadRequest), "{arch:?} {profile:?}");
            // On-chip windows, registers and channels, each as first address and bytes.
            let mut ranges: Vec<_> = (0..sim.config().channels())
                .map(|channel| {
                    let ends = region::range_of(sim.config(), 1 + 2 * usize::from(channel));
                    (ends.0, region::range_of(sim.config(), 2 + 2 * usize::from(channel)).1 - ends.0)
                })
                .collect();
            for core in (0..cores).map(CoreId) {
                let window = sim.state_buffer(core);
                ranges.push((window.0.0, window.1));
                ranges.push((sim.semaphore_increment(core, 0).0, 256 * 4));
            }
            ranges.sort_unstable();
            let apart = ranges.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0);
            assert!(apart, "{arch:?} {profile:?}: {ranges:x?}");
        }
    }
}

#[test]
fn a_tiny_channel_ends_with_its_window() {
    let most = (64u64 << 30) - (16 << 20);
    assert_eq!(Profile::MOST_TINY, most);
    for bytes in [most, most + 1, 1 << 40, u64::MAX] {
        let mut memory = memory();
        let sim = start(&mut memory, Profile::Tiny(bytes), Content::Discard);
        assert_eq!(sim.config().profile, Profile::Tiny(most));
        let whole = |channel| AllocSpec { place: Place::Hbm(channel), ..spec(most, 0) };
        let blocks: Vec<_> = (0..4).map(|channel| sim.alloc(&whole(channel)).unwrap().base.0).collect();
        assert_eq!(blocks, [0, 1, 2, 3].map(|channel| (channel << 36) + (16 << 20)));
        assert_eq!(sim.alloc(&spec(1, 0)), Err(DeviceError::OutOfMemory));
        sim.audit().unwrap();
    }
}

#[test]
fn driver_keeps_small_objects_apart() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Driver, Content::Discard);
    assert_eq!(take(&sim, 512 << 10, 0).base.0, 23 << 30);
    assert_eq!(take(&sim, (512 << 10) + 1, 0).base.0, 0x100_0000);
    let host = AllocSpec { place: Place::Host, ..spec(1, 64) };
    assert_eq!(sim.alloc(&host), Err(DeviceError::BadRequest));
    assert_eq!(sim.alloc(&AllocSpec { place: Place::Hbm(4), ..spec(1, 0) }), Err(DeviceError::BadRequest));
    assert_eq!(sim.alloc(&AllocSpec { core: CoreId(8), ..spec(1, 0) }), Err(DeviceError::BadRequest));
}

#[test]
fn faults_hit_exactly_their_operation() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Discard);
    sim.set_faults(Faults::one(Fault::Operation(3)));
    let block = take(&sim, 10, 0);
    sim.write(block.handle, 0, &[1]).unwrap();
    assert_eq!(sim.write(block.handle, 0, &[1]), Err(DeviceError::Io(5)));
    sim.write(block.handle, 0, &[1]).unwrap();
    assert_eq!(sim.operations(), 4);
    sim.set_faults(Faults::one(Fault::Usage(Usage::Cc)).and(Fault::AfterBytes(2)));
    assert!(sim.alloc(&AllocSpec { usage: Usage::Cc, ..spec(1, 0) }).is_err());
    sim.write(block.handle, 0, &[1, 2]).unwrap();
    assert!(sim.alloc(&spec(1, 0)).is_err());
}

#[test]
fn log_lines_read_as_specified() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Full);
    let block = take(&sim, 10, 64);
    sim.write(block.handle, 2, b"a").unwrap();
    sim.free(block.handle).unwrap();
    let lines: Vec<_> = sim.with(|state| state.events().iter().map(ToString::to_string).collect());
    assert_eq!(
        lines,
        [
            "alloc core=0 usage=WEIGHT size=10 align=64 tag=t -> 0x1000000",
            "write 0x1000002 len=1 fnv=e40c292c",
            "free 0x1000000",
        ]
    );
}

#[test]
fn unaligned_profile_refuses_and_tiny_ends() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::NoAlign, Content::Discard);
    assert_eq!(sim.alloc(&spec(1, 2)), Err(DeviceError::AlignmentUnsupported));
    take(&sim, 1, 1);
    let sim = start(&mut memory, Profile::Tiny(8192), Content::Discard);
    take(&sim, 4096, 0);
    take(&sim, 4096, 0);
    assert_eq!(sim.alloc(&spec(1, 0)), Err(DeviceError::OutOfMemory));
}

/// Where first fit puts a block between these, which are (base, bytes) in address order.
fn first_fit(blocks: &[(u64, u64)], start: u64, bytes: u64, align: u64) -> u64 {
    let mut cursor = start;
    for &(base, reserved) in blocks {
        let found = cursor.next_multiple_of(align);
        if found + bytes <= base {
            return found;
        }
        cursor = base + reserved;
    }
    cursor.next_multiple_of(align)
}

#[test]
fn a_search_that_begins_late_finds_what_a_whole_search_finds() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Discard);
    let (mut live, mut state): (Vec<Granted>, u64) = (Vec::new(), 7);
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for step in 0..20_000 {
        if live.len() == 60 || (!live.is_empty() && random(3) == 0) {
            let at = usize::try_from(random(live.len() as u64)).unwrap();
            sim.free(live.remove(at).handle).unwrap();
            continue;
        }
        let (bytes, align) = (4096 * (1 + random(5)), 4096 << random(4));
        let blocks: Vec<(u64, u64)> = live.iter().map(|block| (block.base.0, block.bytes)).collect();
        let block = take(&sim, bytes, align);
        assert_eq!(block.base.0, first_fit(&blocks, 0x100_0000, bytes, align), "step {step}");
        live.push(block);
        live.sort_by_key(|block| block.base.0);
    }
    sim.audit().unwrap();
}

#[cfg(feature = "std")]
#[test]
fn many_blocks_take_linear_time() {
    let time = |count: u64| {
        let begin = std::time::Instant::now();
        let sim = HostSim::new(Config::flat(Arch::Cayman), Growing::new(false));
        let blocks: Vec<Granted> = (0..count).map(|_| sim.alloc(&spec(4, 64)).unwrap()).collect();
        blocks.iter().rev().for_each(|block| sim.free(block.handle).unwrap());
        begin.elapsed()
    };
    let (few, many) = (time(10_000), time(80_000));
    std::println!("10,000 blocks in {few:?}, 80,000 in {many:?}");
    assert!(many < few * 24 + std::time::Duration::from_millis(100), "{many:?} against {few:?}");
}
