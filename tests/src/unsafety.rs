//! Where the workspace uses `unsafe`, and whether each use says why it is sound.

use crate::workspace;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The file, from the workspace's root on.
    pub file: String,
    /// The line, from 1 on.
    pub line: usize,
    /// It is argued for.
    pub explained: bool,
}

/// Every use in the sources of the workspace.
///
/// # Errors
/// The system's, for a source that cannot be read.
pub fn uses() -> io::Result<Vec<Use>> {
    let (root, mut files, mut uses) = (workspace(), Vec::new(), Vec::new());
    for folder in ["loader-core", "loader-std", "drivers", "xtask", "tests", "memory-layouts"] {
        sources(&root.join(folder), &mut files)?;
    }
    for path in files {
        let text = fs::read_to_string(&path)?;
        let file = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        uses.extend(lines(&text).map(|(line, explained)| Use { file: file.clone(), line, explained }));
    }
    Ok(uses)
}

/// The lines of a source that use it, from 1 on, and whether each is argued for.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, bool)> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len())
        .filter(|at| uses_unsafe(&code(lines[*at])))
        .map(|at| (at + 1, is_argued(&lines, at)))
        .collect::<Vec<_>>()
        .into_iter()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "target" && name != ".git" {
            sources(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// The code of a line: no comment, no text in quotes.
fn code(line: &str) -> String {
    let mut parts = line.split('"');
    let outside: String = parts.by_ref().step_by(2).collect();
    outside.split("//").next().unwrap_or("").to_owned()
}

/// An exported name is no operation: its contract is that of the C interface, which the module states.
fn uses_unsafe(code: &str) -> bool {
    code.trim_start() != "#[unsafe(no_mangle)]"
        && code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
}

/// Whether the lines before `at` argue for it: a `SAFETY:` comment, or the `# Safety` section of a function's page.
/// Attributes, comments, and the start of the statement it stands in may lie between.
fn is_argued(lines: &[&str], at: usize) -> bool {
    let above = || lines[..=at].iter().rev();
    let argued = above().take(12).any(|line| line.contains("SAFETY:") || line.contains("# Safety"));
    // A trait's method has its contract where the trait is.
    let of_trait =
        || above().find(|line| line.starts_with("impl")).is_some_and(|line| line.contains(" for "));
    argued || lines[at].starts_with("    unsafe fn ") && of_trait()
}
