//! Where the workspace uses `unsafe`, and whether each use says why it is sound.

use crate::rust_text::{Layers, layers};
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

/// The lines of a source that use it, from 1 on, and whether each is argued for. A line stands once for each use.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, bool)> {
    let Layers { code, comments } = layers(text);
    let (code, comments): (Vec<&str>, Vec<&str>) = (code.lines().collect(), comments.lines().collect());
    let mut found = Vec::new();
    for (at, line) in code.iter().enumerate() {
        let count = uses_in(line);
        // The first use of a line may have a reason; who uses it again there gives another line.
        found.extend(
            (0..count).map(|use_of_line| (at + 1, use_of_line == 0 && is_argued(&code, &comments, at))),
        );
    }
    found.into_iter()
}

/// Every Rust source below a folder.
///
/// # Errors
/// The system's, for a folder that cannot be read.
pub fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
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

/// Uses in a line of code. An exported name and a naked function's mark are no operations: what they belong to
/// says `unsafe` again, or has the contract of the C interface, which the module states.
fn uses_in(code: &str) -> usize {
    let operations = code.replace("#[unsafe(", "#[(");
    operations.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| *word == "unsafe").count()
}

/// Whether a comment before `at` argues for it: a `SAFETY:` line, or the `# Safety` section of a function's page.
/// Attributes, comments, and the start of the statement it stands in may lie between, but no other use.
fn is_argued(code: &[&str], comments: &[&str], at: usize) -> bool {
    let reason = |line: usize| comments[line].contains("SAFETY:") || comments[line].contains("# Safety");
    let above = (0..at).rev().take(11).take_while(|&line| uses_in(code[line]) == 0);
    if reason(at) || above.clone().any(reason) {
        return true;
    }
    // A trait's method has its contract where the trait is.
    let open = (0..at).rev().map(|line| code[line]).take_while(|line| !line.starts_with('}'));
    let of_trait = open.clone().find(|line| line.starts_with("impl") || line.starts_with("unsafe impl"));
    code[at].starts_with("    unsafe fn ") && of_trait.is_some_and(|line| line.contains(" for "))
}
