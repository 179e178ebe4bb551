//! J. Queues and descriptors.

use crate::rig::{Ask, BUFFER, DEVICE, Rig, case, no};
use loader_core::arch::Arch;
use neuron_drivers::abi::errno::{E2BIG, EINVAL, EPERM};
use neuron_drivers::abi::record::{
    DmaCopyDescriptors64, DmaQueueCopyStart, DmaQueueInitBatch, DmaQueueRelease,
};
use neuron_drivers::abi::request as req;
use neuron_drivers::map;
use neuron_drivers::neuron::Fd;
use neuron_drivers::simdrv::What;

/// First, last, ring id 1.
const TX: u32 = 0x0D00_0000;
/// Ring id 1.
const RX: u32 = 0x0100_0000;
/// A plain copy.
const PLAIN: u32 = 0x0108_0003;

fn descriptor(control: u32, meta: u32, address: u64) -> [u8; 16] {
    let mut out = [0; 16];
    out[..4].copy_from_slice(&control.to_le_bytes());
    out[4..8].copy_from_slice(&meta.to_le_bytes());
    out[8..].copy_from_slice(&address.to_le_bytes());
    out
}

/// Two rings of 64 entries, and the queue over them.
fn rings(rig: &Rig, fd: Fd) -> (u64, u64) {
    let (tx, rx) = (rig.alloc(fd, DEVICE), rig.alloc(fd, DEVICE));
    assert_eq!(rig.send(fd, req::DMA_QUEUE_INIT, &rig.queue(1, 2, (tx, 64), (rx, 64))), 0);
    (tx, rx)
}

fn fill(rig: &Rig, fd: Fd, ring: u64, side: u32, entries: &[[u8; 16]]) -> i64 {
    rig.put(BUFFER, entries.as_flattened());
    let mut raw = DmaCopyDescriptors64::default();
    raw.mem_handle.set(ring);
    raw.buffer.set(rig.address(BUFFER));
    raw.num_descs.set(entries.len() as u32);
    raw.queue_type.set(side);
    rig.send(fd, req::DMA_COPY_DESCRIPTORS64, &raw)
}

fn start(rig: &Rig, fd: Fd, tx: u32, rx: u32) -> i64 {
    let mut raw = DmaQueueCopyStart::default();
    raw.eng_id.set(1);
    raw.qid.set(2);
    raw.tx_desc_count.set(tx);
    raw.rx_desc_count.set(rx);
    rig.send(fd, req::DMA_QUEUE_COPY_START, &raw)
}

/// Runs one pair of descriptors between two chunks of 128 KiB; gives the destination.
fn run(rig: &Rig, fd: Fd, tx_control: u32, rx_control: u32) -> u64 {
    let (tx, rx) = rings(rig, fd);
    let big = Ask { size: 128 << 10, ..DEVICE };
    let (src, dst) = (rig.alloc(fd, big), rig.alloc(fd, big));
    rig.write(fd, src, 0, &[7; 70_000]);
    let (from, to) = (rig.pa(fd, src), rig.pa(fd, dst));
    assert_eq!(fill(rig, fd, tx, 0, &[descriptor(tx_control, PLAIN, from)]), 0);
    assert_eq!(fill(rig, fd, rx, 1, &[descriptor(rx_control, 0, to)]), 0);
    assert_eq!(start(rig, fd, 1, 1), 0);
    dst
}

fn queue_bases(rig: &Rig, engine: u32, queue: u32) -> (u64, u64) {
    rig.driver(|driver| driver.device(0).queue(engine, queue).map(|(tx, rx, _)| (tx, rx))).unwrap()
}

#[test]
fn driver_j1() {
    case(|rig| {
        let fd = rig.fd();
        let (tx, rx) = rings(rig, fd);
        assert_eq!(queue_bases(rig, 1, 2), (rig.pa(fd, tx), rig.pa(fd, rx)));
    });
}

fn counts(rig: &Rig, tx: u32, rx: u32) -> i64 {
    rig.send(rig.fd(), req::DMA_QUEUE_INIT, &rig.queue(1, 2, (0, tx), (0, rx)))
}

#[test]
fn driver_j2() {
    case(|rig| assert_eq!(counts(rig, 40, 64), no(EPERM)));
}

#[test]
fn driver_j3() {
    case(|rig| assert_eq!(counts(rig, 16, 64), no(EINVAL)));
}

#[test]
fn driver_j4() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(rig.send(fd, req::DMA_QUEUE_INIT, &rig.queue(132, 0, (0, 64), (0, 64))), no(EINVAL));
        assert_eq!(rig.send(fd, req::DMA_QUEUE_INIT, &rig.queue(0, 16, (0, 64), (0, 64))), no(EINVAL));
    });
}

#[test]
fn driver_j5() {
    case(|rig| {
        let fd = rig.fd();
        let completion = rig.alloc(fd, DEVICE);
        for (count, expected) in [(64, no(EPERM)), (512, no(EINVAL))] {
            let mut raw = rig.queue(1, 2, (0, 64), (0, count));
            raw.rxc_handle.set(completion);
            assert_eq!(rig.send(fd, req::DMA_QUEUE_INIT, &raw), expected);
        }
    });
}

#[test]
fn driver_j6() {
    case(|rig| {
        let fd = rig.fd();
        assert_eq!(rig.send(fd, req::DMA_QUEUE_INIT, &rig.queue(1, 2, (999, 64), (0, 64))), 0);
        assert_eq!(queue_bases(rig, 1, 2).0, 0);
        assert_eq!(rig.violations(), [What::ForeignHandle]);
    });
}

#[test]
fn driver_j7() {
    case(|rig| {
        let mut raw = Box::<DmaQueueInitBatch>::default();
        raw.count.set(256);
        assert_eq!(rig.call(rig.fd(), req::DMA_QUEUE_INIT_BATCH, &mut *raw), no(E2BIG));
    });
}

#[test]
fn driver_j8() {
    case(|rig| {
        let fd = rig.fd();
        let ring = rig.alloc(fd, DEVICE);
        let mut raw = Box::<DmaQueueInitBatch>::default();
        raw.count.set(3);
        raw.entries[0] = rig.queue(0, 0, (ring, 64), (ring, 64));
        raw.entries[1] = rig.queue(0, 1, (ring, 40), (ring, 64));
        raw.entries[2] = rig.queue(0, 2, (ring, 64), (ring, 64));
        assert_eq!(rig.call(fd, req::DMA_QUEUE_INIT_BATCH, &mut *raw), no(EPERM));
        let pa = rig.pa(fd, ring);
        assert_eq!((queue_bases(rig, 0, 0), queue_bases(rig, 0, 2)), ((pa, pa), (0, 0)));
        assert_eq!(rig.driver(|driver| driver.device(0).queue(0, 2).unwrap().2), 0);
    });
}

#[test]
fn driver_j9() {
    case(|rig| {
        let fd = rig.fd();
        let ring = rig.alloc(fd, Ask { size: 128 << 10, ..DEVICE });
        let inside = rig.pa(fd, ring);
        let mut entries = vec![descriptor(TX | 64, PLAIN, inside); 6000];
        entries[5000] = descriptor(TX | 64, PLAIN, 1 << 46 | 0x7_0000_0000);
        assert_eq!(fill(rig, fd, ring, 0, &entries), no(EINVAL));
        let written = rig.read(fd, ring, 0, 16 * 4097);
        assert_eq!(written[16 * 4095..16 * 4096], entries[4095]);
        assert_eq!(written[16 * 4096..], [0; 16]);
    });
}

#[test]
fn driver_j10() {
    case(|rig| {
        let fd = rig.fd();
        let ring = rig.alloc(fd, DEVICE);
        let entry = descriptor(TX | 64, PLAIN, rig.pa(fd, ring));
        assert_eq!(fill(rig, fd, ring, 2, &[entry]), no(EPERM));
        assert_eq!(fill(rig, fd, ring, 2, &[]), 0);
    });
}

#[test]
fn driver_j11() {
    case(|rig| {
        let fd = rig.fd();
        let dst = run(rig, fd, TX | 100, RX | 100);
        let bytes = rig.read(fd, dst, 0, 101);
        assert_eq!((&bytes[..100], bytes[100]), (&[7u8; 100][..], 0));
        assert_eq!(rig.violations(), []);
    });
}

#[test]
fn driver_j12() {
    case(|rig| {
        let fd = rig.fd();
        let dst = run(rig, fd, TX, RX);
        let bytes = rig.read(fd, dst, 0, 65_537);
        assert!(bytes[..65_536].iter().all(|byte| *byte == 7));
        assert_eq!(bytes[65_536], 0);
    });
}

#[test]
fn driver_j13() {
    case(|rig| {
        let fd = rig.fd();
        let dst = run(rig, fd, 0x0E00_0000 | 100, RX | 100);
        assert_eq!(rig.read(fd, dst, 0, 1), [0]);
        assert!(rig.driver(|driver| driver.device(0).engine_aborted(1)));
        assert_eq!(rig.violations(), [What::WrongRingId]);
    });
}

#[test]
fn driver_j14() {
    case(|rig| {
        let fd = rig.fd();
        rings(rig, fd);
        assert_eq!(start(rig, fd, 65, 1), no(EPERM));
    });
}

#[test]
fn driver_j15() {
    case(|rig| {
        let fd = rig.fd();
        let (tx, rx) = rings(rig, fd);
        let one = rig.alloc(fd, DEVICE);
        rig.write(fd, one, 0, &1u32.to_le_bytes());
        let register = map::semaphore_increment(Arch::Cayman, 0, 40);
        let from = descriptor(TX | 4, PLAIN, rig.pa(fd, one));
        assert_eq!(fill(rig, fd, tx, 0, &[from, from]), 0);
        assert_eq!(fill(rig, fd, rx, 1, &[descriptor(RX | 4, 0, register); 2]), 0);
        assert_eq!(start(rig, fd, 2, 2), 0);
        assert_eq!(rig.driver(|driver| driver.device(0).semaphore(0, 40)), Some(2));
    });
}

#[test]
fn driver_j16() {
    case(|rig| {
        let fd = rig.fd();
        rings(rig, fd);
        let before = queue_bases(rig, 1, 2);
        let mut raw = DmaQueueRelease::default();
        raw.eng_id.set(1);
        raw.qid.set(2);
        assert_eq!(rig.send(fd, req::DMA_QUEUE_RELEASE, &raw), 0);
        assert_eq!(queue_bases(rig, 1, 2), before);
    });
}
