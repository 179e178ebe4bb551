//! The newcomer's transcript in the README: real commands with their real output, written by `cargo xtask readme` and
//! held to by a test.

use crate::workspace;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The marks between which the transcript stands.
pub const MARKS: [&str; 2] = ["<!-- transcript: cargo xtask readme -->\n", "<!-- end of transcript -->\n"];

/// A question and the command that answers it.
const STEPS: [(&str, &str); 6] = [
    ("Is it intact?", "neffload verify tests/fixtures/cayman-2core.neff"),
    ("What is it?", "neffload inspect tests/fixtures/cayman-2core.neff"),
    ("Will it fit?", "neffload memory tests/fixtures/cayman-2core.neff"),
    ("Load it.", "neffload load tests/fixtures/cayman-2core.neff"),
    (
        "What changed?",
        "neffload pack tests/fixtures/cayman-2core.neff - --no-debug | neffload diff tests/fixtures/cayman-2core.neff -",
    ),
    ("Show me.", "neffload report tests/fixtures/cayman-2core.neff -o target/report.html"),
];

/// Runs every command with the given `neffload` and gives the transcript.
///
/// # Panics
/// If a command cannot be run or fails.
#[must_use]
pub fn transcript(neffload: &Path) -> String {
    let folder = neffload.parent().unwrap_or_else(|| Path::new("."));
    let path = std::env::var("PATH").unwrap_or_default();
    let target = workspace().join("target");
    std::fs::create_dir_all(&target).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
    let mut text = String::new();
    for (question, command) in STEPS {
        let output = Command::new("sh")
            .args(["-c", &format!("{{ {command}; }} 2>&1")])
            .env("PATH", format!("{}:{path}", folder.display()))
            .current_dir(workspace())
            .output()
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{command}: {said}");
        let _ = write!(text, "{question}\n\n```\n$ {command}\n{}\n```\n\n", said.trim_end());
    }
    text
}

/// A transcript without what differs from run to run: times.
#[must_use]
pub fn settled(transcript: &str) -> String {
    let words = transcript.split_inclusive([' ', '\n']);
    let words: Vec<&str> = words.collect();
    let is_time = |at: usize| {
        let number = words[at].trim().parse::<f64>().is_ok();
        number
            && words
                .get(at + 1)
                .is_some_and(|unit| ["ms", "s", "µs"].contains(&unit.trim().trim_end_matches(',')))
    };
    (0..words.len()).map(|at| if is_time(at) { "_ " } else { words[at] }).collect()
}

/// The README cut at the marks: before, between, after.
///
/// # Panics
/// If the marks are not there.
#[must_use]
pub fn parts(readme: &str) -> [&str; 3] {
    let [open, close] = MARKS;
    let start =
        readme.find(open).map(|at| at + open.len()).unwrap_or_else(|| panic!("README.md lacks {open}"));
    let end = readme.find(close).unwrap_or_else(|| panic!("README.md lacks {close}"));
    [&readme[..start], &readme[start..end], &readme[end..]]
}
