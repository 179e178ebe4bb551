#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use loader_core::arch::Arch;

fn driver() -> Driver<Pages> {
    Driver::new(Config::new(Arch::Cayman), |_| Pages::default())
}

#[test]
fn pages_forget_exactly_what_they_are_told() {
    let mut pages = Pages::default();
    pages.write(0xFFF0, &[7; 0x3_0020]);
    pages.forget(0x1_0000, 0x1_0008);
    let mut out = [9u8; 4];
    pages.read(0xFFFE, &mut out);
    assert_eq!(out, [7, 7, 0, 0]);
    pages.read(0x2_0006, &mut out);
    assert_eq!(out, [0, 0, 7, 7]);
}

#[test]
fn handles_are_reused_last_first_and_go_down_for_good() {
    let mut handles = Handles::new(2);
    assert_eq!((handles.mint(10), handles.mint(20)), (Some(1), Some(2)));
    handles.release(1);
    assert_eq!(handles.mint(30), Some(1));
    assert_eq!(handles.get(1), Some(30));
    assert_eq!(handles.mint(40), None);
    assert!(handles.is_down() && handles.get(1).is_none());
}

#[test]
fn own_chunks_are_host_memory_of_the_driver() {
    let driver = driver();
    assert!(driver.device(0).chunks().all(|chunk| chunk.life == Life::Device && chunk.tgid == 0));
    assert_eq!(driver.device(0).chunks().count(), 2 + 8 * 3 + 16);
    assert!(driver.books().are_empty());
}

#[test]
fn every_fault_point_is_a_rule_a_state_or_external() {
    let rules = FaultPoint::all().filter(|point| point.rule(1).is_some()).count();
    let external = FaultPoint::all().filter(|point| point.is_external()).count();
    assert_eq!((FaultPoint::all().count(), rules, external), (36, 27, 3));
}

#[test]
fn flush_frees_what_the_process_holds() {
    let mut driver = driver();
    let me = Caller::process(7);
    let fd = driver.open(me, 0, OpenFlags::ReadWrite).unwrap();
    assert_eq!(driver.device(0).attached(7), Some(1));
    assert!(driver.flush(me, fd));
    driver.release(fd);
    assert!(driver.books().are_empty());
}
