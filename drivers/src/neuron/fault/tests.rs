#![allow(clippy::unwrap_used)]

use super::*;
use crate::abi::request as req;
use alloc::string::ToString as _;

extern crate alloc;

/// Case K6.
#[test]
fn positive_results_are_errors_that_carry_the_number() {
    let fault = Fault::check(req::MEM_BUF_COPY64, 31_072).unwrap_err();
    assert_eq!(fault.positive(), Some(31_072));
    assert_eq!(DeviceError::from(fault), DeviceError::Positive(31_072));
    assert!(fault.to_string().contains("31072"));
}

/// Case K7.
#[test]
fn errno_one_is_no_matter_of_permissions() {
    let fault = Fault::check(req::DMA_QUEUE_INIT, -1).unwrap_err();
    assert_eq!(DeviceError::from(fault), DeviceError::TimeoutOrRing);
    assert!(fault.to_string().contains("device timeout or bad ring"));
    assert!(!fault.to_string().contains("permission"));
}

#[test]
fn a_kernel_without_memory_is_no_full_device() {
    let fault = Fault::check(req::MEM_BUF_COPY64, -12).unwrap_err();
    assert_eq!(DeviceError::from(fault), DeviceError::Io(12));
}
