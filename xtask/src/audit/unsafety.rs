//! (vi) Every `unsafe` says why it is sound.

use super::Offenders;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Looks at every Rust file that is checked in.
pub(crate) fn check(root: &Path) -> Result<Offenders> {
    let output = Command::new("git").args(["ls-files", "*.rs"]).current_dir(root).output();
    let listed = output.context("git ls-files")?;
    let mut offenders = Offenders::new();
    for name in String::from_utf8_lossy(&listed.stdout).lines() {
        let Ok(text) = fs::read_to_string(root.join(name)) else { continue };
        offenders
            .extend(unexplained(&text).map(|line| format!("{name}:{line}: unsafe without a SAFETY line")));
    }
    Ok(offenders)
}

/// Lines with an `unsafe` block, implementation or function that nothing explains.
pub(crate) fn unexplained(text: &str) -> impl Iterator<Item = usize> + '_ {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len())
        .filter(move |&at| needs_reason(lines[at]) && !has_reason(&lines[..at], lines[at]))
        .map(|at| at + 1)
}

fn needs_reason(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let words = ["unsafe {", "unsafe impl ", "unsafe fn ", "unsafe extern \"C\" fn "];
    words.iter().any(|word| {
        code.match_indices(word).any(|(at, _)| {
            // Not in a text, and not a pointer to an unsafe function.
            let before = &code[..at];
            before.matches('"').count().is_multiple_of(2) && !before.trim_end().ends_with([':', '<', '('])
        })
    })
}

/// A reason stands in a comment above, where attributes and the start of the statement may lie between. A trait's
/// method has its contract where the trait is.
fn has_reason(above: &[&str], line: &str) -> bool {
    let owner = || above.iter().rev().find(|line| line.starts_with("impl"));
    if line.starts_with("    unsafe fn ") && owner().is_some_and(|owner| owner.contains(" for ")) {
        return true;
    }
    let near = above.iter().rev().take(12).chain([&line]);
    near.into_iter().any(|line| line.contains("SAFETY:") || line.contains("# Safety"))
}
