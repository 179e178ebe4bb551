//! Conformance cases of staging.md §21: rings (T32 to T43), with rulings R9, R28, R29, R33 to R36, R39.

use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::device::{CoreId, DevAddr, Usage};
use loader_core::limits::Limits;
use loader_core::lower::record::RingType;
use loader_core::manifest::{Access, DmaOp, VarClass};
use loader_core::plan::pages::PageTable;
use loader_core::plan::record::{DMem, LoadParams};
use loader_core::plan::ring::{Entry, Half, capacity, control_word, dump, rebase, template};
use loader_core::plan::{CoreView, Request, place, ring};
use loader_core::policy::Policy;
use loader_core::stage::pointers::{RingStorage, rebase_all, relocate};
use loader_core::stage::{SCRATCH_BYTES, stage, unload};
use neffload_tests::lowering::handmade::Move;
use neffload_tests::lowering::memory;
use neffload_tests::staging::hooked::Hooked;
use neffload_tests::staging::model::{Hand, copy, join, pattern, side};
use neffload_tests::staging::{Loaded, Rig, audit, kbins};
use neuron_drivers::sim::{Config, Growing, HostSim};

const SB: u64 = 0x8000_0000_0000;

fn arch(target: u32) -> Arch {
    Arch::from_number(target).unwrap()
}

fn load(rig: &mut Rig, hand: Hand) -> Result<Loaded, loader_core::error::Error> {
    let (sets, members) = join(vec![hand]);
    rig.load(sets, members)
}

/// Source and destination entries of one ring pair.
type Halves = (Vec<Entry>, Vec<Entry>);

/// Loads, audits and gives both halves of every ring with entries.
fn halves(rig: &mut Rig, hand: Hand) -> (Loaded, Vec<Halves>) {
    let loaded = load(rig, hand).unwrap();
    audit::check(rig, &[&loaded]);
    let core = loaded.plan.core(0).unwrap();
    let pairs = (0..core.rings().len() / 2)
        .map(|pair| (audit::entries(rig, &core, 2 * pair), audit::entries(rig, &core, 2 * pair + 1)));
    let pairs = pairs.filter(|(tx, _)| !tx.is_empty()).collect();
    (loaded, pairs)
}

fn address(core: &CoreView<'_>, name: &str) -> u64 {
    let id = core.kbin.var_by_name(name.as_bytes()).unwrap().record.var_id.get();
    core.resolve(id, 0, 0).unwrap().0
}

/// SB 0, w 1 (constant), in 2, out 3, t 4 (tmp-buf), one queue.
fn base(target: u32, kind: RingType, rings: u32) -> Hand {
    Hand::new(target)
        .state_buffer()
        .constant("w", &pattern(200_000, 3), 64)
        .var("in", VarClass::Input, 0x4000)
        .var("out", VarClass::Output, 0x4000)
        .var("t", VarClass::TmpBuf, 0x4000)
        .queue("q", kind, rings)
}

#[test]
fn staging_t32() {
    let linear = [0, 31, 32, 48, 49, 1000, 1008, 1009].map(|entries| capacity(entries, false));
    assert_eq!(linear, [64, 64, 48, 64, 80, 1024, 1024, 1040].map(Some));
}

#[test]
fn staging_t33() {
    let wrapping = [31, 32, 48, 49, 50].map(|entries| capacity(entries, true));
    assert_eq!(wrapping, [64, 64, 64, 128, 128].map(Some));
}

#[test]
fn staging_t35() {
    let marks = |first, last, barrier| ring::Marks { first, last, barrier, ordered: false };
    assert_eq!(control_word(65536, 1, marks(true, false, false)), Some(0x0500_0000));
    assert_eq!(control_word(0x200, 1, marks(false, true, true)), Some(0x4900_0200));
    assert_eq!(control_word(4, 1, marks(true, true, false)), Some(0x0D00_0004));
}

#[test]
fn staging_t34() {
    for (target, data_tx, data_rx) in [
        (2, [0x0500_0000, 0x0100_0000, 0x0100_0000, 0x4900_0D40], 0),
        (3, [0x0500_0000, 0x0100_0000, 0x0100_0000, 0x0900_0D40], 0x2000_0000),
    ] {
        let row = || side(1, 0, &[200_000, 1], &[1, 200_000]);
        let hand = base(target, RingType::DATA, 1).block(
            0,
            0,
            None,
            vec![copy(row(), side(0, 0, &[200_000, 1], &[1, 200_000]))],
        );
        let mut rig = Rig::new(arch(target));
        let (loaded, pairs) = halves(&mut rig, hand);
        let core = loaded.plan.core(0).unwrap();
        let (tx, rx) = &pairs[0];
        let controls: Vec<u32> = tx.iter().map(|entry| entry.control.get()).collect();
        assert_eq!(controls, data_tx);
        let received: Vec<u32> = rx.iter().map(|entry| entry.control.get()).collect();
        assert_eq!(received, data_tx.map(|control| (control & !0x4000_0000) | data_rx));
        assert!(tx.iter().all(|entry| entry.meta.get() == 0x0108_0003));
        assert!(rx.iter().all(|entry| entry.meta.get() == 0));
        let start = address(&core, "w");
        let sources: Vec<u64> = tx.iter().map(|entry| entry.address.get()).collect();
        assert_eq!(sources, [start, start + 65536, start + 131_072, start + 196_608]);
        assert_eq!(rx[3].address.get(), SB + 196_608);
        let ring = core.allocations().iter().find(|block| block.what.get() == DMem::RING).unwrap();
        assert_eq!(ring.size.get(), 1024);
        assert_eq!(Usage::ALL[ring.usage.get() as usize], Usage::DmaRingSpill);
    }
}

#[test]
fn staging_t36() {
    let into = copy(side(2, 0x1000, &[64, 1], &[1, 64]), side(0, 0, &[64, 1], &[1, 64]));
    let (loaded, pairs) =
        halves(&mut Rig::new(Arch::Cayman), base(3, RingType::IN, 1).block(0, 0, None, vec![into]));
    assert_eq!(pairs[0].0[0].address.get(), template(2, 0x1000).unwrap());
    assert_eq!(pairs[0].1[0].address.get(), SB);
    let core = loaded.plan.core(0).unwrap();
    let ring = core.allocations().iter().find(|block| block.what.get() == DMem::RING).unwrap();
    assert_eq!(Usage::ALL[ring.usage.get() as usize], Usage::DmaRingIo);
}

#[test]
fn staging_t38() {
    let out = copy(side(0, 0, &[64, 1], &[1, 64]), side(4, 16, &[64, 1], &[1, 64]));
    let (loaded, pairs) =
        halves(&mut Rig::new(Arch::Cayman), base(3, RingType::OUT, 1).block(0, 0, None, vec![out]));
    let core = loaded.plan.core(0).unwrap();
    assert_eq!(pairs[0].1[0].address.get(), address(&core, "t") + 16);
}

fn refused(hand: Hand, code: &str, status: u32) {
    let mut rig = Rig::new(Arch::Cayman);
    let error = load(&mut rig, hand).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), (code, status), "{error}");
    assert!(rig.log().is_empty(), "before any device call");
}

#[test]
fn staging_t37() {
    let far = 1u64 << 36;
    let mut hand = base(3, RingType::IN, 1);
    hand.set.vars[2].size = Some(far + 4096);
    let into = copy(side(2, far, &[64, 1], &[1, 64]), side(0, 0, &[64, 1], &[1, 64]));
    refused(hand.block(0, 0, None, vec![into]), "S404", 2);
    assert_eq!(template(1 << 19, 0), None);
}

#[test]
fn staging_t39() {
    let over = copy(side(4, 0x4000 - 63, &[64, 1], &[1, 64]), side(0, 0, &[64, 1], &[1, 64]));
    refused(base(3, RingType::DATA, 1).block(0, 0, None, vec![over]), "S205", 2);
    let pattern = copy(side(4, 0, &[64, 3], &[1, 0x2000]), side(0, 0, &[64, 3], &[1, 64]));
    refused(base(3, RingType::DATA, 1).block(0, 0, None, vec![pattern]), "S205", 2);
}

#[test]
fn data_rings_move_no_inputs() {
    let into = copy(side(2, 0, &[64, 1], &[1, 64]), side(0, 0, &[64, 1], &[1, 64]));
    refused(base(3, RingType::DATA, 1).block(0, 0, None, vec![into]), "S411", 2);
}

#[test]
fn staging_t41() {
    // 16,777,201 runs of one byte: one more than a ring half holds.
    let runs = 16_777_201;
    let hand = base(3, RingType::DATA, 1).block(
        0,
        0,
        None,
        vec![copy(side(0, 0, &[1, runs], &[1, 1]), side(0, 0, &[1, runs], &[1, 1]))],
    );
    refused(hand, "S401", 7);
}

/// A ring entry that moves 64 bytes to or from an address.
fn entry(address: u64) -> Entry {
    Entry { control: 0x0D00_0040.into(), meta: 0.into(), address: address.into() }
}

#[test]
fn staging_t40() {
    let real: Vec<Entry> = (0..10).map(|at| entry(0x1000 + at * 64)).collect();
    for (half, meta) in [(Half::Tx, 0x0108_0003), (Half::Rx, 0)] {
        let mut out = vec![Entry::default(); 20];
        assert_eq!(dump(&real, 16, half, DevAddr(0x5000), &mut out).unwrap(), 16);
        assert_eq!(out[..10], real);
        for padding in &out[10..16] {
            assert_eq!((padding.bytes(), padding.address.get(), padding.meta.get()), (4, 0x5000, meta));
            assert!(padding.is_first() && padding.is_last(), "a packet of its own");
        }
        assert!(out[16..].iter().all(|entry| *entry == Entry::default()), "and no more");
        let error = dump(&real, 8, half, DevAddr(0x5000), &mut out).unwrap_err();
        assert_eq!((error.id().to_string().as_str(), error.at().a, error.at().b), ("S416", 10, 8));
    }
}

#[test]
fn staging_t42() {
    let storage = RingStorage { tx: Some(DevAddr(0x10_0000)), rx: Some(DevAddr(0x20_0000)) };
    let (to_tx, to_rx) = (0x4000_0000_0000_0000u64, 0x8000_0000_0000_0000);
    let mut entries = [entry(to_tx | 0x40), entry(0x3000), entry(to_rx | 0x80), entry(to_rx)];
    assert_eq!(relocate(&mut entries, &storage).unwrap(), 3);
    assert_eq!(entries.map(|entry| entry.address.get()), [0x10_0040, 0x3000, 0x20_0080, 0x20_0000]);
    let empty = RingStorage { tx: None, ..storage };
    let error = relocate(&mut [entry(to_rx), entry(to_tx)], &empty).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), ("S414", 2));
    let both = entry(to_tx | to_rx | 8);
    let error = relocate(&mut [both], &storage).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), ("S413", 2));

    // In a load: a device whose windows carry both tags is caught by the pass, and nothing stays behind.
    let moved = copy(side(1, 0, &[64, 1], &[1, 64]), side(0, 0, &[64, 1], &[1, 64]));
    let hand = base(3, RingType::INDIRECT_MEMCPY, 1).block(0, 0, Some(8), vec![moved]);
    let (loaded, pairs) = halves(&mut Rig::new(Arch::Cayman), hand.clone());
    assert_eq!((pairs[0].0.len(), loaded.plan.core(0).unwrap().tally().relocated_rings.get()), (2, 0));
    let (sets, mut members) = join(vec![hand]);
    let kbins = kbins(sets).unwrap();
    let sim = HostSim::new(Config::flat(Arch::Cayman), Growing::new(false));
    let device = Hooked { window: Some(to_tx | to_rx), ..Hooked::new(sim, |_| Ok(())) };
    let state = device.sim.hash();
    let request = Request {
        name: b"m",
        core: CoreId(0),
        vcore_size: 1,
        h_model: 1,
        params: LoadParams::default(),
        owned: (0, 8),
        policy: &Policy::DEFAULT,
        limits: &Limits::DEFAULT,
    };
    let mut slots = [None; 8];
    let mut pages = PageTable::new(&mut slots);
    let mut arena = Arena::new(memory(1 << 20)).unwrap();
    let plan = place(&mut members, &kbins, &device, &request, &mut pages, &mut arena).unwrap();
    let mut scratch = vec![0; SCRATCH_BYTES];
    let error = stage(&mut members, &plan, &device, &Policy::DEFAULT, &mut scratch).unwrap_err();
    assert_eq!(error.id().to_string(), "S413", "{error}");
    unload(&plan, &device, &mut pages);
    assert_eq!(device.sim.hash(), state);
}

#[test]
fn staging_t43() {
    let addresses = [0xFFF, 0x1000, 0x1FFF, 0x2000];
    let moved = addresses.map(|at| rebase(at, 0x1000, 0x1000, 0x1100));
    assert_eq!(moved, [0xFFF, 0x1100, 0x20FF, 0x2000]);
    let mut entries = addresses.map(entry);
    assert_eq!(rebase_all(&mut entries, 0x1000, 0x1000, 0x1100), 2);
    assert_eq!(entries.map(|entry| entry.address.get()), moved);
}

#[test]
fn runs_go_round_the_instances_and_end_with_semaphores() {
    let moves = vec![
        copy(side(1, 0, &[64, 3], &[1, 128]), side(0, 0, &[64, 3], &[1, 0x4_0000])),
        copy(side(1, 4096, &[64, 2], &[1, 64]), side(0, 512, &[64, 2], &[1, 0x4_0000])),
    ];
    let hand = base(3, RingType::DATA, 4).block(0, 0, Some(9), moves.clone()).block(
        0,
        1,
        Some(10),
        vec![moves[1].clone()],
    );
    let mut rig = Rig::new(Arch::Cayman);
    let (loaded, pairs) = halves(&mut rig, hand);
    let core = loaded.plan.core(0).unwrap();
    let lengths: Vec<usize> = pairs.iter().map(|(tx, _)| tx.len()).collect();
    // Block 0: five runs over four instances, each with a semaphore; block 1: two runs from instance 0 on.
    assert_eq!(lengths, [2 + 1 + 1 + 1, 1 + 1 + 1 + 1, 1 + 1, 1 + 1]);
    let start = address(&core, "w");
    let word = core.semaphore_word().unwrap().address().0;
    let first: Vec<(u32, u64, u64)> = pairs[0]
        .0
        .iter()
        .zip(&pairs[0].1)
        .map(|(tx, rx)| (tx.bytes(), tx.address.get(), rx.address.get()))
        .collect();
    let semaphore = |number: u64| 0xA000_0270_1800 + 4 * number;
    assert_eq!(
        first,
        [
            (64, start, SB),
            (64, start + 4160, SB + 512 + 0x4_0000),
            (4, word, semaphore(9)),
            (64, start + 4096, SB + 512),
            (4, word, semaphore(10)),
        ]
    );
    assert_eq!(pairs[0].0[2].control.get(), 0x0D00_0004);
    assert_eq!(pairs[0].1[2].control.get(), 0x0D00_0004, "semaphore copies are not strongly ordered");
    assert_eq!(rig.read(core.semaphore_word().unwrap()), 1u32.to_le_bytes());
    let blocks: Vec<_> = core
        .blocks()
        .iter()
        .map(|block| (block.id.get(), block.descriptors.get(), block.bytes.get()))
        .collect();
    assert_eq!(blocks, [(0, 2, 320), (1, 1, 128)]);
}

/// staging.md §3.3 B5, §5.9, §11.7: what a trigger adds to the tails of each hardware instance, and how many packets.
#[test]
fn a_block_knows_what_it_adds_to_every_instance() {
    let run = |bytes: u64| copy(side(4, 0, &[bytes], &[1]), side(0, 0, &[bytes], &[1]));
    let hand = |blocks: &[(Option<u32>, &[u64])]| {
        let mut hand = base(3, RingType::DATA, 3);
        hand.set.vars[4].size = Some(61 * 65536);
        (0..).zip(blocks).fold(hand, |hand, (id, (semaphore, runs))| {
            hand.block(0, id, *semaphore, runs.iter().map(|&bytes| run(bytes)).collect())
        })
    };
    // A run of 70,000 bytes takes two entries in one packet, a semaphore copy one entry in its own; 61 entries take two
    // packets on arch 3.
    let blocks: &[(Option<u32>, &[u64])] = &[
        (Some(8), &[70_000, 5]),
        (Some(9), &[5, 70_000]),
        (None, &[61 * 65536]),
        (Some(8), &[1, 2, 3, 70_000]),
    ];
    let mut rig = Rig::new(Arch::Cayman);
    let (loaded, pairs) = halves(&mut rig, hand(blocks));
    let core = loaded.plan.core(0).unwrap();
    let counts: Vec<Vec<(u32, u32)>> = core
        .blocks()
        .iter()
        .map(|block| core.counts(block).map(|count| (count.pairs.get(), count.packets.get())).collect())
        .collect();
    let expected = [
        [(3, 2), (2, 2), (0, 0)],
        [(2, 2), (3, 2), (0, 0)],
        [(61, 2), (0, 0), (0, 0)],
        [(1 + 2 + 1, 3), (2, 2), (2, 2)],
    ];
    assert_eq!(counts, expected);
    // Together they are the entries of the rings, and the packets that begin in them.
    for (instance, (tx, _)) in pairs.iter().enumerate() {
        let sum = |of: fn((u32, u32)) -> u32| counts.iter().map(|block| of(block[instance])).sum::<u32>();
        assert_eq!(tx.len() as u32, sum(|count| count.0), "instance {instance}");
        let begun = tx.iter().filter(|entry| entry.is_first()).count() as u32;
        assert_eq!(begun, sum(|count| count.1), "instance {instance}");
    }
}

#[test]
fn sides_are_cut_where_either_ends() {
    let moved = copy(side(1, 0, &[128, 1], &[1, 128]), side(0, 0, &[4, 32], &[1, 0x4_0000]));
    let (_, pairs) =
        halves(&mut Rig::new(Arch::Cayman), base(3, RingType::DATA, 1).block(0, 0, None, vec![moved]));
    assert_eq!(pairs[0].0.len(), 32);
    assert!(pairs[0].0.iter().all(|entry| entry.bytes() == 4));
    let uneven = copy(side(1, 0, &[8, 3], &[1, 64]), side(0, 0, &[6, 4], &[1, 0x4_0000]));
    let (_, pairs) =
        halves(&mut Rig::new(Arch::Cayman), base(3, RingType::DATA, 1).block(0, 0, None, vec![uneven]));
    let lengths: Vec<u32> = pairs[0].0.iter().map(Entry::bytes).collect();
    assert_eq!(lengths, [6, 2, 4, 4, 2, 6]);
    let short = copy(side(1, 0, &[8, 3], &[1, 64]), side(0, 0, &[6, 3], &[1, 64]));
    refused(base(3, RingType::DATA, 1).block(0, 0, None, vec![short]), "S402", 2);
}

#[test]
fn long_runs_start_new_packets() {
    // 61 chunks of 65,536 bytes: one more than a packet of arch 3 holds.
    let bytes = 61 * 65536;
    let mut hand = base(3, RingType::DATA, 1);
    hand.set.vars[4].size = Some(bytes);
    let moved =
        copy(side(4, 0, &[bytes, 1], &[1, bytes as i64]), side(0, 0, &[bytes, 1], &[1, bytes as i64]));
    let (_, pairs) = halves(&mut Rig::new(Arch::Cayman), hand.block(0, 0, None, vec![moved]));
    let marks: Vec<usize> = (0..61).filter(|&at| pairs[0].0[at].is_first()).collect();
    assert_eq!(marks, [0, 60]);
    assert!(pairs[0].0[59].is_last() && pairs[0].0[60].is_last());
}

#[test]
fn gathers_put_their_sources_side_by_side() {
    let typed = |var, off, step| Access::new(var, off, Some(5), &[64, 2], &[1, step]).expect("a walk");
    let sources = vec![typed(1, 0, 64), typed(1, 4096, 64)];
    let gather = Move { op: DmaOp::Add, from: sources, to: typed(0, 0, 0x4_0000), ..Move::copy(0, 0, 1) };
    let (loaded, pairs) =
        halves(&mut Rig::new(Arch::Cayman), base(3, RingType::DATA, 2).block(0, 0, None, vec![gather]));
    let core = loaded.plan.core(0).unwrap();
    let start = address(&core, "w");
    assert_eq!(pairs.len(), 2);
    let (tx, rx) = &pairs[1];
    let ends: Vec<(u64, u64)> =
        tx.iter().zip(rx).map(|(tx, rx)| (tx.address.get(), rx.address.get())).collect();
    assert_eq!(ends, [(start + 64, SB + 0x4_0000), (start + 4160, SB + 0x4_0000)]);
    assert!(tx[0].is_first() && !tx[0].is_last() && tx[1].is_last());
    assert_eq!(core.tally().approximate.get(), 1);
}

/// 16 sources of four chunks make 64 pairs, more than a packet holds; it is cut between chunks, because the
/// sources of a destination stay in one packet (R33, R35).
#[test]
fn packets_of_a_gather_keep_the_sources_of_a_chunk_together() {
    let bytes = 200_000;
    let wide = |var| Access::new(var, 0, Some(8), &[bytes, 1], &[1, bytes as i64]).expect("a walk");
    let gather = Move { op: DmaOp::Add, from: vec![wide(1); 16], to: wide(0), ..Move::copy(0, 0, 1) };
    let hand = base(3, RingType::DATA, 1).block(0, 0, None, vec![gather]);
    let (_, pairs) = halves(&mut Rig::new(Arch::Cayman), hand);
    let (tx, rx) = &pairs[0];
    let at = |wanted: fn(&Entry) -> bool| (0..64).filter(|&at| wanted(&tx[at])).collect::<Vec<_>>();
    assert_eq!((tx.len(), at(Entry::is_first), at(Entry::is_last)), (64, vec![0, 48], vec![47, 63]));
    assert!(rx.chunks(16).all(|chunk| chunk.iter().all(|entry| entry.address == chunk[0].address)));
}

#[test]
fn casts_move_elements() {
    // 50,000 elements of 2 bytes become 4 bytes each: chunks of 16,384 elements.
    let typed = |var, bytes: u64, dtype| {
        Access::new(var, 0, Some(dtype), &[bytes, 1], &[1, bytes as i64]).expect("a walk")
    };
    let from = vec![typed(4, 100_000, 7)];
    let cast = Move { cast: true, from, to: typed(0, 200_000, 5), ..Move::copy(0, 0, 1) };
    let mut hand = base(3, RingType::DATA, 1);
    hand.set.vars[4].size = Some(100_000);
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = load(&mut rig, hand.block(0, 0, None, vec![cast])).unwrap();
    let core = loaded.plan.core(0).unwrap();
    let lengths = |row| audit::entries(&rig, &core, row).iter().map(Entry::bytes).collect::<Vec<_>>();
    assert_eq!(lengths(0), [32768, 32768, 32768, 1696]);
    assert_eq!(lengths(1), [65536, 65536, 65536, 3392]);
    assert!(core.blocks()[0].is_approximate());
}

#[test]
fn rings_follow_the_order_of_r31() {
    let row = |from, to| copy(side(from, 0, &[64, 1], &[1, 64]), side(to, 0, &[64, 1], &[1, 64]));
    let mut hand = base(3, RingType::IN, 1).queue("z", RingType::DATA, 2);
    hand = hand.block(0, 0, Some(8), vec![row(2, 0)]).block(1, 0, Some(9), vec![row(1, 0)]);
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = load(&mut rig, hand).unwrap();
    let core = loaded.plan.core(0).unwrap();
    let order: Vec<(u32, u32)> =
        core.allocations().iter().map(|block| (block.what.get(), block.index.get())).collect();
    let expected = [
        (DMem::VARIABLE, 1),
        (DMem::VARIABLE, 4),
        (DMem::SEMAPHORE, 0),
        (DMem::RING, 2),
        (DMem::RING, 3),
        (DMem::RING, 0),
        (DMem::RING, 1),
        (DMem::IMAGE, 0),
        (DMem::IMAGE, 1),
        (DMem::IMAGE, 2),
        (DMem::IMAGE, 3),
        (DMem::IMAGE, 4),
    ];
    assert_eq!(order, expected);
    assert_eq!(core.rings().len(), 6);
    assert!(core.rings()[4].block.is_null() && core.rings()[4].capacity.get() == 0, "R32");
}
