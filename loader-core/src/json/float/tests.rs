#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]

extern crate std;
use super::read;
use std::format;

/// The core library's reader is the judge.
fn same(text: &str) {
    let expected: f64 = text.parse().unwrap();
    assert_eq!(read(text.as_bytes()).to_bits(), expected.to_bits(), "{text}");
}

#[test]
fn reads_as_the_core_library_does() {
    for text in [
        "0",
        "-0",
        "0.0",
        "1",
        "-1.5",
        "0.1",
        "1e0",
        "1E+2",
        "12e-2",
        "9007199254740993",
        "9007199254740992.5",
        "9007199254740993.0000000000000000000000000000000000000000000000000000000000000001",
        "1e22",
        "1e23",
        "8.5e-23",
        "5e-324",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "-1e400",
        "1e-400",
        "1e999999999999",
        "1e-999999999999",
        "0e999999999999",
        "6.02214076e23",
        "123456789012345678901234567890e-30",
        "0.000001e310",
        "1000000e-330",
    ] {
        same(text);
    }
}

#[test]
fn long_texts_are_rounded_by_every_digit() {
    // Halfway between two neighbours, with a digit far behind that decides, and without.
    let half = "1.00000000000000011102230246251565404236316680908203125";
    for zeros in [0, 1, 700, 760, 1400] {
        let zeros = "0".repeat(zeros);
        same(&format!("{half}{zeros}"));
        same(&format!("{half}{zeros}1"));
        same(&format!("0.{zeros}{}", "9".repeat(80)));
        same(&format!("1{zeros}e-{}", zeros.len()));
        same(&format!("{}{zeros}.5e-600", "7".repeat(30)));
    }
    same(&format!("{}e-300", "1234567890".repeat(60)));
    same(&format!("4.{}e-324", "9".repeat(1400)));
}

#[test]
fn doubles_come_back() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..if cfg!(miri) { 20 } else { 4000 } {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = f64::from_bits(state ^ state.rotate_left(29));
        if value.is_finite() {
            for text in [format!("{value:e}"), format!("{value:.3e}"), format!("{value:.40e}")] {
                same(&text);
            }
        }
    }
}
