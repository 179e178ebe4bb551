//! Each of the seven checks fails on an offender that was planted, and names it.

use super::{
    Audited, IMAGES, allocators, dependencies, heap, is_allocator, links, lists, panics, sources, stack,
    unsafety,
};
use crate::image::build::Variant;
use loader_core::error::Error;
use loader_core::source::Source;
use memory_layouts::Layout;
use neffload_tests::command::Scratch;
use neffload_tests::rust_text::without;
use neffload_tests::unsafety::lines;
use neffload_tests::{fixture, workspace};
use std::fs;
use std::hint::black_box;
use std::path::Path;
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
    names(&dependencies::check(&manifest, "loader-core", &[]).unwrap(), "serde v1");
    // Behind a feature that nobody switches on here.
    let text = text.replace("serde = \"1\"", "serde = { version = \"1\", optional = true }");
    fs::write(&manifest, text).unwrap();
    assert!(dependencies::check(&manifest, "loader-core", &[]).unwrap().is_empty());
    names(&dependencies::check(&manifest, "loader-core", &["--all-features"]).unwrap(), "serde v1");
    assert_eq!(dependencies::of_the_core().unwrap(), [""; 0]);
}

#[test]
fn mutant_1_a_heap_in_the_source() {
    let found = |code: &str| sources::heap_words(&without(code, &["#[cfg(test)]"]).0).collect::<Vec<_>>();
    assert_eq!(found("#[cfg(not(small))]\nextern crate alloc;\n"), [(2, "extern crate")]);
    assert_eq!(found("use core::fmt;\nfn f() { ::std::vec::Vec::<u8>::new(); }\n"), [(2, "std")]);
    assert_eq!(found("let all = alloc::vec::Vec::from([1]);"), [(1, "alloc")]);
    assert_eq!(found("use std;"), [(1, "std")]);
    let fine = "// std::vec\nlet a = arena.alloc::<u8>(1) + emit::alloc::<u8>() + alloc::<u8>();\nuse core::alloc::Layout;\n";
    assert_eq!(found(fine), []);
    assert_eq!(found("#[cfg(test)]\nmod tests { use std::vec::Vec; }\nfn f() {}\n"), []);
    assert_eq!(sources::check(&sources::PACKAGES).unwrap(), [""; 0]);
}

#[test]
fn mutant_2_an_allocator() {
    names(
        &allocators(&mutant().elf),
        "planted::allocator::Nothing as core::alloc::global::GlobalAlloc>::alloc",
    );
    // Names of other compilers, and a heap that is inlined whole: only its source tells.
    for name in
        ["__rustc::__rust_alloc", "_RNvCs1_7___rustc11___rg_alloc", "<alloc::vec::Vec<u8>>::push", "malloc"]
    {
        assert!(is_allocator(name), "{name}");
    }
    for name in ["<loader_core::arena::Arena>::alloc::<u8>", "loader_core::lower::emit::alloc::<u8>"] {
        assert!(!is_allocator(name), "{name}");
    }
    let planted = fs::read_to_string(workspace().join("memory-layouts/image/src/planted.rs")).unwrap();
    let words: Vec<&str> = sources::heap_words(&without(&planted, &[]).0).map(|(_, word)| word).collect();
    assert!(words.contains(&"global_allocator") && words.contains(&"extern crate"), "{words:?}");
}

#[test]
fn mutant_3_a_panic() {
    names(&panics::against_the_list(&mutant().code).unwrap(), "planted_panic can panic");
    names(&links(Path::new(IMAGES[0]), &["planted-panic"]).unwrap(), "planted_panic");
}

/// What the image of the whole core must call: every stage in both forms, and what prints.
#[test]
fn the_whole_core_is_called() {
    let text = fs::read_to_string(workspace().join("memory-layouts/audit/whole.rs")).unwrap();
    let code = without(&text, &[]).0;
    for call in [
        "= unpack(",
        "Resident::new(",
        "= scan(",
        "Streamed::new(",
        "manifest::parse(",
        "visit_blocks(",
        "= lower(",
        "= place_explained(",
        "= stage(",
        "unload(",
        "ModelNode::of(",
        "\"{kbin}\"",
        "\"{core}\"",
        "\"{error}",
    ] {
        let text = if call.starts_with('"') { &text } else { &code };
        assert!(text.contains(call), "{call}");
    }
    assert!(code.contains("load(&mut payload") && code.matches("load(&mut payload").count() == 2);
    let layout = Layout::read(&workspace().join("memory-layouts/audit/whole.toml")).unwrap();
    assert_eq!(layout.number("core", "small"), Some(0));
}

#[test]
fn mutant_4_recursion_and_a_large_frame() {
    let found = stack(&mutant().layout, &mutant().ledger);
    names(&found, "recursion: neffload_image::planted::recursion::planted_recursion");
    names(&found, "planted_frame");
    names(&found, "recursion: neffload_image::planted::recursion::planted_table");
    names(&found, "recursion: <neffload_image::planted::recursion::PlantedText as core::fmt::Display>::fmt");
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
    assert!(heap::counted(&mut Listing(&file, Vec::new())).unwrap().0 > 0);
    assert_eq!(heap::counted(&mut file.as_slice()).unwrap(), (0, true));
    // A load that ends early counts nothing, and says so.
    assert!(!heap::counted(&mut &file[..4096]).unwrap().1);
    assert!(heap::check().unwrap().is_empty());
}

#[test]
fn mutant_6_unsafe_without_a_reason() {
    let planted = "fn f(p: *const u8) -> u8 {\n    unsafe { *p }\n}\n";
    assert_eq!(lines(planted).collect::<Vec<_>>(), [(2, false)]);
    let explained = "fn f(p: *const u8) -> u8 {\n    // SAFETY: the caller owns it.\n    unsafe { *p }\n}\n";
    assert_eq!(lines(explained).collect::<Vec<_>>(), [(3, true)]);
    // A sign in quotes, a reason that is another's or a text, a comment in a comment, a function of no trait.
    for (planted, uses) in [
        (
            "fn f(p: *const u8) -> bool {\n    let sign = '\"'; unsafe { *p == sign as u8 }\n}\n",
            &[(2, false)][..],
        ),
        ("// SAFETY: ours.\nlet x = unsafe { *p };\nunsafe { *q = x };\n", &[(2, true), (3, false)]),
        ("println!(\"SAFETY: a text\");\nunsafe { *p }\n", &[(2, false)]),
        ("fn f(p: *const u8) -> u8 { /* // */ unsafe { *p } }\n", &[(1, false)]),
        ("impl A for B {\n}\nmod m {\n    unsafe fn f() {}\n}\n", &[(4, false)]),
        ("// SAFETY: both.\nf(unsafe { *p }, unsafe { *q });\n", &[(2, true), (2, false)]),
    ] {
        assert_eq!(lines(planted).collect::<Vec<_>>(), uses, "{planted}");
    }
    let offenders = unsafety::check().unwrap();
    assert!(offenders.is_empty(), "{offenders:#?}");
}

#[test]
fn mutant_7_an_image_that_grew() {
    names(&lists::sizes(&mutant().layout, &mutant().ledger).unwrap(), "agent-256k rodata");
    // The stages of a printed ledger are held to what was measured.
    let (printed, first) = (mutant().ledger.to_string(), mutant().ledger.stages[0].code);
    assert_eq!(lists::stages(&printed, &mutant().ledger).next(), None);
    let other = printed.replace(&first.to_string(), &(first * 2).to_string());
    assert_eq!(lists::stages(&other, &mutant().ledger).collect::<Vec<_>>(), ["S1 unpack"]);
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
