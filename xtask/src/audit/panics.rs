//! (iii) Who can reach the panic machinery: nobody but the named boundary crates, each by name.

use super::{Offenders, folder};
use crate::image::code::Code;
use anyhow::Result;
use std::collections::BTreeSet;
use std::fs;

/// Crates, and one module of ours, whose code may panic: the inflater, the JSON binder with its framework, the
/// core library's reader of floating-point numbers, its sort, the ends of digests, and the functions that call them,
/// which contain what the compiler inlined of them.
const BOUNDARY: [&str; 7] = [
    "miniz_oxide",
    "serde_json_core",
    "serde_core",
    "core::num::dec2flt",
    "md5::",
    "sha2::",
    "loader_core::boundary",
];

/// What the panic handler of the image with stubs calls, which does not exist.
pub(crate) const MISSING: &str = "neffload_a_panic_can_be_reached";

/// Crates of ours, and of digests: none of their functions may panic.
const OURS: [&str; 6] =
    ["loader_core", "neuron_drivers", "neffload_", "digest::", "block_buffer", "heapless"];

/// Recursion that is bounded otherwise: in the boundary crates, by the depth of what they are given
/// (`the_binder_never_goes_deep`), and in the core library's formatting. No function of ours is on its way.
pub(crate) fn is_bounded_recursion(cycle: &[String]) -> bool {
    let bounded = |name: &String| name.starts_with("core::") || is_boundary(name);
    cycle.iter().all(bounded)
}

/// A symbol of a boundary crate, be it a function or a method. What a function of ours is an instance for does not
/// count: only the path that the name begins with.
pub(crate) fn is_boundary(name: &str) -> bool {
    let mut path = name;
    while let Some(rest) = ["<", "&", "[", "mut ", "dyn "].iter().find_map(|sign| path.strip_prefix(sign)) {
        path = rest;
    }
    BOUNDARY.iter().any(|part| path.starts_with(part))
        || name.starts_with("<f64 as core::str::traits::FromStr>")
}

/// A function of a named crate, not of the core library.
fn is_named(name: &str) -> bool {
    is_boundary(name) || OURS.iter().any(|part| name.contains(part))
}

/// Where every panic ends.
fn is_end(name: &str) -> bool {
    name.starts_with("core::panicking::panic_") || name.starts_with("__rustc::rust_begin_unwind")
}

/// Functions of named crates that can panic, by themselves or by what they call of the core library: a function
/// of the core library hands on what its caller gave it.
pub(crate) fn callers(code: &Code) -> BTreeSet<String> {
    let mut panicking: BTreeSet<u64> =
        code.functions.iter().filter(|(_, function)| is_end(&function.name)).map(|(&at, _)| at).collect();
    loop {
        let before = panicking.len();
        for (&at, function) in code.functions.iter().filter(|(_, function)| !is_named(&function.name)) {
            if !panicking.contains(&at) && !function.calls.is_disjoint(&panicking) {
                panicking.insert(at);
            }
        }
        if panicking.len() == before {
            break;
        }
    }
    let named = code.functions.values().filter(|function| is_named(&function.name));
    named
        .filter(|function| !function.calls.is_disjoint(&panicking))
        .map(|function| function.name.clone())
        .collect()
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
