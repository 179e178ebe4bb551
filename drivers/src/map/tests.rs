use super::*;

/// driver-abi.md §A.5.
#[test]
fn quick_arithmetic() {
    let cookie = core_cookie(Arch::Cayman, 3) + EVENT_BASE;
    assert_eq!(cookie, 0x20_0E70_0000);
    assert_eq!(semaphore_increment(Arch::Cayman, 3, 5), 0x70_0270_1814);
    assert_eq!(hbm_base(Arch::Sunda, 1), 0x10_0000_0000);
}

#[test]
fn v2_core_windows_are_the_documented_ones() {
    assert_eq!(core_base(Arch::Sunda, 1), 0xFFF_C400_0000);
    assert_eq!(top_sp_base(Arch::Sunda, 5), 0xFFF_D140_0000);
    assert_eq!(top_sp_base(Arch::Cayman, 15), 0x8082_8000_0000 + 7 * 0x4000_0000);
}

#[test]
fn host_bit_is_told_from_neighbour_routes() {
    assert!(is_host(Arch::Sunda, host_base(Arch::Sunda) + 0x100_0000));
    assert!(!is_host(Arch::Sunda, 0x10_0000_0000));
    assert!(!is_host(Arch::Sunda, core_base(Arch::Sunda, 0)));
    assert!(is_host(Arch::Cayman, host_base(Arch::Cayman)));
    assert!(!is_host(Arch::Cayman, hbm_base(Arch::Cayman, 3)));
}
