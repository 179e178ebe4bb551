#![allow(clippy::unwrap_used)]
extern crate std;
use super::{Placed, resolve};
use crate::device::DevAddr;
use crate::lower::record::MrType;
use std::string::ToString;

fn var(size: u64, address: u64) -> Placed<'static> {
    Placed { name: b"v", mr_type: MrType::TMP_BUF, size, address: DevAddr(address) }
}

#[test]
fn sums_are_checked_on_both_sides() {
    assert_eq!(resolve(&var(64, 0), 60, 4).unwrap(), DevAddr(60));
    assert_eq!(resolve(&var(u64::MAX, 2), u64::MAX - 1, 1).unwrap_err().id().to_string(), "L902");
    assert_eq!(resolve(&var(64, u64::MAX), 0, 1).unwrap_err().id().to_string(), "L903");
}
