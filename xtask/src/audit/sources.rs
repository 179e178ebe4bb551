//! (i), (ii) What the sources say of a heap, apart from features and symbols: an allocator that is inlined leaves no
//! name, and code of large builds is in no small image.

use super::Offenders;
use anyhow::{Context, Result};
use neffload_tests::rust_text::without;
use neffload_tests::unsafety::sources;
use neffload_tests::workspace;
use std::fs;
use std::path::{Path, PathBuf};

/// Attributes of items that are in no core and in no image.
const APART: [&str; 7] = [
    "#[cfg(test)]",
    "#[cfg(all(test, feature = \"std\"))]",
    "#[cfg(feature = \"std\")]",
    "#[cfg(feature = \"simdrv\")]",
    "#[cfg(feature = \"harness\")]",
    "#[cfg(feature = \"libc\")]",
    "#[cfg(feature = \"planted-allocator\")]",
];

/// Sources of what images are made of, the core first.
pub(crate) const PACKAGES: [&str; 5] =
    ["loader-core", "drivers", "memory-layouts/agent", "memory-layouts/image", "memory-layouts/embed"];

/// Looks at the sources of these packages.
pub(crate) fn check(packages: &[&str]) -> Result<Offenders> {
    let mut offenders = Offenders::new();
    for package in packages {
        let folder = workspace().join(package).join("src");
        let mut files = Vec::new();
        sources(&folder, &mut files)?;
        let (mut read, mut apart) = (Vec::new(), Vec::new());
        for file in files {
            let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            let (code, modules) = without(&text, &APART);
            apart.extend(modules.iter().map(|module| beside(&file).join(module)));
            read.push((file, code));
        }
        // A command of the package's own is a program of hosts.
        apart.push(folder.join("bin"));
        for (file, code) in read {
            if !apart.iter().any(|apart| file.with_extension("").starts_with(apart)) {
                let name = file.strip_prefix(workspace()).unwrap_or(&file).display().to_string();
                offenders.extend(heap_words(&code).map(|(line, word)| format!("{name}:{line}: {word}")));
            }
        }
    }
    Ok(offenders)
}

/// Where the files of a source's modules are.
fn beside(file: &Path) -> PathBuf {
    let is_root = file.file_stem().is_some_and(|stem| stem == "lib" || stem == "main" || stem == "mod");
    if is_root { file.parent().unwrap_or(file).to_path_buf() } else { file.with_extension("") }
}

/// Lines of code that name a crate with a heap, from 1 on.
pub(crate) fn heap_words(code: &str) -> impl Iterator<Item = (usize, &'static str)> {
    (1..).zip(code.lines()).filter_map(|(line, code)| Some((line, heap_word(code)?)))
}

fn heap_word(code: &str) -> Option<&'static str> {
    if code.contains("global_allocator") {
        return Some("global_allocator");
    }
    if code.contains("extern crate") {
        return Some("extern crate");
    }
    ["alloc", "std"].into_iter().find(|root| names_crate(code, root))
}

/// Whether a path or a `use` in a line of code, or in the name of a symbol, begins with a crate.
pub(crate) fn names_crate(text: &str, root: &str) -> bool {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    text.match_indices(root).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + root.len()..]);
        let leads = after.starts_with("::") && !after.starts_with("::<");
        let is_used = before.trim_end().ends_with("use") && !after.starts_with(is_word);
        // `::std::` begins a path; `core::alloc::`, `self.alloc::` and `<T>::alloc::` do not.
        let outer = before.strip_suffix("::").unwrap_or(before);
        (leads || is_used) && !outer.ends_with(|sign| is_word(sign) || matches!(sign, '.' | '>' | ':'))
    })
}
