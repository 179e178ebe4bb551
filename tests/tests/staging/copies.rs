//! Conformance cases of staging.md §21: copy-in (T28 to T30).

use super::memory::{address, core, load};
use loader_core::arch::Arch;
use loader_core::manifest::VarClass;
use loader_core::plan::record::DMem;
use neffload_tests::staging::model::{Hand, pattern};
use neffload_tests::staging::{Rig, audit};
use neuron_drivers::sim::{Fault, Faults};

fn writes_of(len: usize) -> Vec<u64> {
    let mut rig = Rig::new(Arch::Cayman);
    let hand = Hand::cayman().constant("w", &pattern(len, 1), 0).var("out", VarClass::Output, 4);
    let loaded = load(&mut rig, vec![hand]).unwrap();
    let start = address(&core(&loaded, 0), "w");
    let line = |line: String| -> Option<u64> {
        let rest = line.strip_prefix("write 0x")?;
        let (at, rest) = rest.split_once(" len=")?;
        let at = u64::from_str_radix(at, 16).ok()?;
        let inside = (start..start + len as u64).contains(&at);
        inside.then(|| rest.split(' ').next()?.parse().ok()).flatten()
    };
    rig.log().into_iter().filter_map(line).collect()
}

#[test]
fn staging_t28() {
    assert_eq!(writes_of(1), [1]);
    assert_eq!(writes_of(0x3FFF), [0x3FFF]);
    assert_eq!(writes_of(0x4000), [0x2000, 0x2000]);
    assert_eq!(writes_of(0x4001), [0x2000, 0x2000, 1]);
    assert_eq!(writes_of(0x10_0000), [0x8_0000, 0x8_0000]);
    assert_eq!(writes_of(0x10_0001), [0x10_0000, 1]);
    assert_eq!(writes_of(0x28_0000), [0x10_0000, 0x10_0000, 0x8_0000]);
}

#[test]
fn staging_t29() {
    let mut rig = Rig::new(Arch::Cayman);
    let hand = Hand::cayman().var("t", VarClass::TmpBuf, 0).var("out", VarClass::Output, 4);
    let loaded = load(&mut rig, vec![hand]).unwrap();
    assert!(core(&loaded, 0).allocations().iter().all(|block| block.what.get() == DMem::IMAGE));
    assert!(rig.log().iter().all(|line| !line.contains("len=0 ")));
    assert_eq!(loader_core::plan::copy::pieces(0).count(), 0);
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t30() {
    let mut rig = Rig::new(Arch::Cayman);
    let hand = || Hand::cayman().constant("w", &pattern(0x28_0000, 1), 0).var("out", VarClass::Output, 4);
    let before = rig.state();
    // Preambles and postambles of five empty images are written before the constant.
    rig.sim.set_faults(Faults::one(Fault::Write(12)));
    let error = load(&mut rig, vec![hand()]).unwrap_err();
    assert_eq!((error.status().number(), error.id().to_string().as_str()), (1, "D106"));
    assert_eq!(rig.state(), before);
    rig.sim.set_faults(Faults::NONE);
    let loaded = load(&mut rig, vec![hand()]).unwrap();
    audit::check(&rig, &[&loaded]);
}
