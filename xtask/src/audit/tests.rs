//! Each of the seven checks fails on an offender that was planted, and names it.

use super::{Audited, allocators, dependencies, heap, links_without_panics, lists, panics, stack, unsafety};
use crate::image::build::Variant;
use loader_core::error::Error;
use loader_core::source::Source;
use neffload_tests::command::Scratch;
use neffload_tests::unsafety::lines;
use neffload_tests::{fixture, workspace};
use std::fs;
use std::hint::black_box;
use std::sync::OnceLock;

const PLANTED: [&str; 5] =
    ["planted-allocator", "planted-panic", "planted-recursion", "planted-frame", "planted-bulk"];

/// One image with five offenders: a build each would take minutes.
fn mutant() -> &'static Audited {
    static MUTANT: OnceLock<Audited> = OnceLock::new();
    MUTANT
        .get_or_init(|| Audited::build("agent-256k", Variant { features: &PLANTED, package: None }).unwrap())
}

fn names(offenders: &[String], name: &str) {
    assert!(offenders.iter().any(|offender| offender.contains(name)), "{name} is not named: {offenders:#?}");
}

#[test]
fn mutant_1_a_dependency_with_std() {
    let scratch = Scratch::new("mutant-dependency");
    fs::create_dir_all(scratch.join("src")).unwrap();
    fs::write(scratch.join("src/lib.rs"), "").unwrap();
    let manifest = scratch.join("Cargo.toml");
    let text = "[package]\nname = \"loader-core\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\nserde = \"1\"\n[workspace]\n";
    fs::write(&manifest, text).unwrap();
    names(&dependencies::check(&manifest).unwrap(), "serde v1");
    assert!(dependencies::check(&workspace().join("Cargo.toml")).unwrap().is_empty());
}

#[test]
fn mutant_2_an_allocator() {
    names(
        &allocators(&mutant().elf),
        "planted::allocator::Nothing as core::alloc::global::GlobalAlloc>::alloc",
    );
}

#[test]
fn mutant_3_a_panic() {
    names(&panics::against_the_list(&mutant().code).unwrap(), "planted_panic can panic");
    names(&links_without_panics(&["planted-panic"]).unwrap(), "planted_panic");
}

#[test]
fn mutant_4_recursion_and_a_large_frame() {
    let found = stack(&mutant().layout, &mutant().ledger);
    names(&found, "recursion: neffload_image::planted::recursion::planted_recursion");
    names(&found, "planted_frame");
}

/// A source that keeps a list of what it was asked for.
struct Listing<'f>(&'f [u8], Vec<u64>);

impl Source for Listing<'_> {
    fn len(&self) -> Option<u64> {
        Source::len(&self.0)
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        self.1.push(black_box(offset));
        self.0.read_at(offset, out)
    }
}

#[test]
fn mutant_5_an_allocation_in_a_load() {
    let file = fs::read(fixture("cayman-2core")).unwrap();
    assert!(heap::counted(&mut Listing(&file, Vec::new())).unwrap() > 0);
    assert_eq!(heap::counted(&mut file.as_slice()).unwrap(), 0);
    assert!(heap::check().unwrap().is_empty());
}

#[test]
fn mutant_6_unsafe_without_a_reason() {
    let planted = "fn f(p: *const u8) -> u8 {\n    unsafe { *p }\n}\n";
    assert_eq!(lines(planted).collect::<Vec<_>>(), [(2, false)]);
    let explained = "fn f(p: *const u8) -> u8 {\n    // SAFETY: the caller owns it.\n    unsafe { *p }\n}\n";
    assert_eq!(lines(explained).collect::<Vec<_>>(), [(3, true)]);
    let offenders = unsafety::check().unwrap();
    assert!(offenders.is_empty(), "{offenders:#?}");
}

#[test]
fn mutant_7_an_image_that_grew() {
    names(&lists::sizes(&mutant().layout, &mutant().ledger).unwrap(), "agent-256k rodata");
}

#[test]
fn a_boundary_is_where_a_name_begins() {
    for inside in [
        "miniz_oxide::inflate::core::transfer",
        "<&mut serde_json_core::de::Deserializer as serde_core::de::Deserializer>::deserialize_str",
        "<core::num::dec2flt::decimal_seq::DecimalSeq>::left_shift",
        "<f64 as core::str::traits::FromStr>::from_str",
        "loader_core::boundary::md5",
    ] {
        assert!(panics::is_boundary(inside), "{inside}");
    }
    for outside in [
        "loader_core::container::digest::take::<md5::Md5>",
        "<loader_core::json::Text as serde_core::de::Deserialize>::deserialize",
        "core::ptr::drop_in_place::<miniz_oxide::inflate::core::DecompressorOxide>",
    ] {
        assert!(!panics::is_boundary(outside), "{outside}");
    }
}
