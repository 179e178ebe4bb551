//! Runs the `neffload` command as a user would.

use crate::build::edit_json;
use crate::fixtures::{Fixture, named};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// The built command: beside the running test, where cargo puts the binaries of the workspace.
///
/// # Panics
/// If it was not built; `cargo test --workspace` builds it.
#[must_use]
pub fn neffload() -> Command {
    let test = std::env::current_exe().unwrap_or_default();
    let folder = test.parent().and_then(Path::parent).unwrap_or_else(|| Path::new("."));
    let binary = folder.join("neffload");
    assert!(binary.is_file(), "{} is not built; run `cargo test --workspace`", binary.display());
    let mut command = Command::new(binary);
    command.env_remove("NO_COLOR");
    command
}

/// Runs the command with these arguments.
///
/// # Panics
/// If it cannot be started.
pub fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    neffload().args(arguments).output().unwrap_or_else(|error| panic!("neffload: {error}"))
}

/// The exit status; -1 if a signal ended it.
#[must_use]
pub fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

/// The JSON document that a run printed.
///
/// # Panics
/// If it printed something else.
#[must_use]
pub fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let errors = String::from_utf8_lossy(&output.stderr);
        panic!("no document: {error}; standard error: {errors}")
    })
}

/// Runs the command with `input` as its standard input.
///
/// # Panics
/// If it cannot be started.
pub fn run_piped<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>, input: &[u8]) -> Output {
    piped(arguments, input).0
}

/// The same, with the peak of its resident memory in KiB when it had taken all input and waited for more;
/// `None` where the system does not tell.
///
/// # Panics
/// If it cannot be started.
pub fn peak_piped<A: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = A>,
    input: &[u8],
) -> (Output, Option<u64>) {
    piped(arguments, input)
}

fn piped<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>, input: &[u8]) -> (Output, Option<u64>) {
    let mut command = neffload();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("neffload: {error}"));
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        // A command that refuses early need not take everything.
        drop(stdin.write_all(input));
    }
    let peak = settled_peak(child.id());
    drop(stdin);
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("neffload: {error}"));
    (output, peak)
}

/// Most resident memory in KiB of a process that waits for more input, once it grows no further.
fn settled_peak(process: u32) -> Option<u64> {
    let mut last = None;
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(50));
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let now: Option<u64> = field("VmHWM:").and_then(|text| text.strip_suffix("kB")?.trim().parse().ok());
        let waits = field("State:").is_some_and(|state| state.starts_with('S'));
        if waits && now.is_some() && now == last {
            return now;
        }
        last = now;
    }
    last
}

/// Makes the first scratchpad variable of a fixture's first subgraph that many bytes long.
///
/// # Panics
/// If there is none.
pub fn grow_scratchpad(fixture: &mut Fixture, bytes: u64) {
    edit_json(&mut fixture.tree, "sg00/def.json", |def| {
        let mut vars = def["var"].as_object_mut().into_iter().flat_map(|vars| vars.values_mut());
        let Some(var) = vars.find(|var| var["type"] == "virtual") else { panic!("no scratchpad variable") };
        var["size"] = bytes.into();
    });
}

/// A folder that a test may fill; removed when the value goes away.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// A new empty folder.
    ///
    /// # Panics
    /// If the system refuses.
    #[must_use]
    pub fn new(label: &str) -> Self {
        let path = std::env::temp_dir().join(format!("neffload-{label}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(path)
    }

    /// A path inside.
    #[must_use]
    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a fixture with changes to a file inside.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn changed(&self, base: &str, change: impl FnOnce(&mut Fixture)) -> PathBuf {
        let mut fixture = named(base);
        change(&mut fixture);
        let path = self.join("changed.neff");
        std::fs::write(&path, fixture.bytes()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Writes a tree below a folder inside and returns that folder.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn write_tree(&self, folder: &str, tree: &crate::build::Tree) -> PathBuf {
        let root = self.join(folder);
        for (name, bytes) in tree {
            let path = root.join(name);
            let parent = path.parent().unwrap_or(&root);
            std::fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
            std::fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        root
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
