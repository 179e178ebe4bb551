//! Memory beyond the numbered cases: what is granted but not told, scrubs, the order of pages.

use crate::loads::process;
use crate::rig::{Ask, DEVICE, Rig, case, case_on};
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, Device as _, DeviceError, Place, Usage};
use neuron_drivers::abi::record::{HbmScrubStart, HbmScrubWait, PostMetric};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::{self, Direct};
use neuron_drivers::neuron::{HostNeuron, Options, Paths};
use neuron_drivers::simdrv::{Action, Config, Rule, Strictness, What, When};
use std::os::unix::fs::MetadataExt as _;

/// A granted allocation is never made again, whatever came back.
#[test]
fn a_granted_allocation_is_not_repeated() {
    let (host, direct) = process(Config::new(Arch::Cayman), 100);
    let device: HostNeuron<&Direct> =
        HostNeuron::open(&direct, &Paths::LINUX, 0, Options::ALL, Vec::new()).unwrap();
    let rule = Rule { when: When::AllocDevice, nth: 1, action: Action::Late(-4) };
    host.lock().driver.faults_mut().add(rule);
    let spec = AllocSpec {
        core: CoreId(0),
        place: Place::Hbm(0),
        size: 4096,
        align: 0,
        usage: Usage::Weight,
        tag: "t",
        contiguous: false,
    };
    assert_eq!(device.alloc(&spec), Err(DeviceError::Io(4)));
    assert_eq!(host.lock().driver.books().chunks, 1);
    drop(device);
    assert!(host.lock().driver.books().are_empty());
    host.lock().driver.take_violations();
}

/// A scrub fills what is allocated after it, once, and takes no memory for the rest.
#[test]
fn a_scrubbed_hbm() {
    case(|rig| {
        let fd = rig.fd();
        let mut start = HbmScrubStart::default();
        start.init_val.set(0x0403_0201);
        let mut wait = HbmScrubWait::default();
        assert_eq!(rig.call(fd, req::HBM_SCRUB_START, &mut start), 0);
        assert_eq!(rig.call(fd, req::HBM_SCRUB_WAIT, &mut wait), 0);
        let file = |rig: &Rig| {
            let metadata = rig.driver(|driver| driver.device(0).memory().file().metadata().unwrap());
            metadata.blocks() * 512
        };
        assert!(file(rig) < 64 << 20, "{}", file(rig));
        let ask = Ask { size: 3 << 20, ..DEVICE };
        let handle = rig.alloc(fd, ask);
        let place = rig.pa(fd, handle);
        assert_eq!(rig.read(fd, handle, 0, 8), [1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(rig.read(fd, handle, (3 << 20) - 4, 4), [1, 2, 3, 4]);
        rig.write(fd, handle, 4, b"used");
        assert_eq!(rig.free(fd, handle), 0);
        let again = rig.alloc(fd, Ask { size: 4 << 20, ..ask });
        assert_eq!(rig.pa(fd, again), place);
        assert_eq!(rig.read(fd, again, 4, 8), [b'u', b's', b'e', b'd', 1, 2, 3, 4]);
        assert_eq!(rig.read(fd, again, (4 << 20) - 8, 8), [1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(rig.free(fd, again), 0);
        rig.client.close(fd);
    });
}

/// Pages of a contiguous scratchpad go back in reverse order; a paranoid driver says so. A metric is read.
#[test]
fn order_of_scratchpad_pages() {
    let config = Config { strictness: Strictness::Paranoid, ..Config::new(Arch::Cayman) };
    case_on(config, &harness::Options::default(), |rig| {
        let fd = rig.fd();
        let page = Ask { size: 64 << 20, kind: 19, ..DEVICE };
        let (first, second) = (rig.alloc(fd, page), rig.alloc(fd, page));
        assert_eq!(rig.free(fd, first), -5);
        assert_eq!(rig.violations(), [What::ScratchpadOrder]);
        assert_eq!((rig.free(fd, second), rig.free(fd, first)), (0, 0));
        let mut metric = PostMetric::default();
        metric.data_size.set(16);
        metric.data.set(rig.address(0));
        assert_eq!(rig.call(fd, req::POST_METRIC, &mut metric), 0);
        metric.data.set(rig.address(rig.client.scratch().len() - 4));
        assert_eq!(rig.call(fd, req::POST_METRIC, &mut metric), 12);
        rig.client.close(fd);
    });
}
