#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use super::*;

#[test]
fn the_two_spaces_differ() {
    assert_eq!(public(b"bfloat16"), Some((6, 2)));
    assert_eq!(descriptor(b"bfloat16"), Some((7, 2)));
    assert_eq!(descriptor_to_public(7), Some(6));
}

#[test]
fn packed_types_and_absent_ones() {
    assert_eq!(descriptor(b"float8_e4m3fn_x4"), Some((10, 4)));
    assert_eq!(descriptor_to_public(10), Some(9));
    assert_eq!(descriptor(b"float8_e5m2"), None);
    assert_eq!(descriptor(b"float4_e2m1fn"), None);
    assert_eq!(public(b"float8e4"), None);
}

#[test]
fn every_descriptor_code_has_a_public_one() {
    for code in 1..=15 {
        let public = descriptor_to_public(code).unwrap();
        assert!((1..=15).contains(&public));
        assert!(descriptor_bytes(code).is_some());
    }
    assert_eq!(descriptor_to_public(0), None);
    assert_eq!(descriptor_to_public(16), None);
}
