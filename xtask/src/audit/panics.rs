//! (iii) Who can reach the panic machinery: nobody but the named boundary crates, each by name.

use super::{Offenders, folder};
use crate::image::code::Code;
use anyhow::Result;
use std::collections::BTreeSet;
use std::fs;

/// Crates, and one module of ours, whose code may panic: the inflater, the JSON binder with its framework, the
/// core library's reader of floating-point numbers, and the functions that call them, which contain what the
/// compiler inlined of them.
const BOUNDARY: [&str; 5] =
    ["miniz_oxide", "serde_json_core", "serde_core", "core::num::dec2flt", "loader_core::boundary"];

/// Recursion that is bounded otherwise: over the loader's own shapes of JSON objects, which are constants, not
/// input, and nest twice at most; and in the core library's formatting.
pub(crate) fn is_bounded_recursion(name: &str) -> bool {
    name.contains("loader_core::json::shape::") || name.starts_with("core::fmt::") || is_boundary(name)
}

/// A symbol of a boundary crate, be it a function, a method or an instance.
pub(crate) fn is_boundary(name: &str) -> bool {
    BOUNDARY.iter().any(|part| name.contains(part)) || name.starts_with("<f64 as core::str::traits::FromStr>")
}

/// Functions of the core library that end in a panic.
fn is_machinery(name: &str) -> bool {
    const PARTS: [&str; 9] = [
        "core::panicking::",
        "core::option::unwrap_failed",
        "core::option::expect_failed",
        "core::result::unwrap_failed",
        "core::slice::index::slice_",
        "core::slice::copy_from_slice_impl::len_mismatch",
        "core::str::slice_error_fail",
        "core::cell::panic_",
        "__rustc::rust_begin_unwind",
    ];
    PARTS.iter().any(|part| name.starts_with(part))
}

/// Callers into the machinery from outside of it.
pub(crate) fn callers(code: &Code) -> BTreeSet<String> {
    let reaches = |calls: &BTreeSet<u64>| calls.iter().any(|&callee| is_machinery(code.name(callee)));
    let functions = code.functions.values().filter(|function| !is_machinery(&function.name));
    functions.filter(|function| reaches(&function.calls)).map(|function| function.name.clone()).collect()
}

fn list() -> std::path::PathBuf {
    folder().join("panics.txt")
}

/// Compares with the checked-in list, and that list with the boundary crates.
pub(crate) fn against_the_list(code: &Code) -> Result<Offenders> {
    let text = fs::read_to_string(list())?;
    let listed: BTreeSet<String> =
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_string).collect();
    let found = callers(code);
    let outside = found.iter().filter(|name| !is_boundary(name));
    let mut offenders: Offenders =
        outside.map(|name| format!("{name} can panic, and is in no boundary crate")).collect();
    let new = found.difference(&listed).filter(|name| is_boundary(name));
    offenders.extend(new.map(|name| format!("{name} can panic, and is not in the list")));
    Ok(offenders)
}

/// Renews the list.
pub(crate) fn write(code: &Code) -> Result<()> {
    let mut text = String::from(
        "# Functions of the image that can reach a panic, by symbol; written by `cargo xtask audit --write`.\n",
    );
    callers(code).iter().for_each(|name| text += &format!("{name}\n"));
    Ok(fs::write(list(), text)?)
}

/// The functions in which the linker missed the name that does not exist.
pub(crate) fn refused_by_the_linker(message: &str) -> Offenders {
    let name = "neffload_a_panic_can_be_reached";
    if !message.contains(name) {
        return vec![message.to_string()];
    }
    let inside =
        message.lines().filter_map(|line| line.rsplit_once(":(")).map(|(_, rest)| rest.trim_end_matches(')'));
    let mut found: Offenders =
        inside.map(|function| format!("{function} reaches a panic ({name})")).collect();
    found.sort();
    found.dedup();
    if found.is_empty() { vec![name.to_string()] } else { found }
}
