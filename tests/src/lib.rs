//! Shared helpers of the workspace-level tests: where data lies, how a test says that it skips, a
//! builder of NEFF trees ([`build`]) and the project's own files made with it ([`fixtures`]).

pub mod build;
pub mod capi;
pub mod command;
pub mod container;
pub mod errors_page;
pub mod fixtures;
pub mod fuzz;
pub mod generated;
pub mod inflaters;
pub mod json;
pub mod lowering;
pub mod payload;
pub mod places;
pub mod rust_text;
pub mod staging;
pub mod transcript;
pub mod trees;
pub mod unsafety;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Root of the workspace.
#[must_use]
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The folder of test data that is not part of the project: `$NEFFLOAD_SHARED`, or `shared` beside
/// the workspace. `None` where there is none; use [`skip!`] then.
#[must_use]
pub fn shared() -> Option<PathBuf> {
    let named = std::env::var_os("NEFFLOAD_SHARED").map(PathBuf::from);
    let beside = || workspace().parent().map(|parent| parent.join("shared"));
    named.or_else(beside).filter(|folder| folder.is_dir())
}

/// True if the long sweeps are asked for (`cargo xtask test --full`).
#[must_use]
pub fn full() -> bool {
    std::env::var_os("NEFFLOAD_FULL").is_some()
}

/// Every file that loads: the project's own and the real ones.
#[must_use]
pub fn loadable_files() -> Vec<PathBuf> {
    let all = fixture_files().into_iter().chain(real_files());
    all.filter(|file| !file_stem(file).starts_with("inf1")).collect()
}

/// The name of a file without folder and ending.
#[must_use]
pub fn file_stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The real files, sorted by name; empty where there is no shared data.
#[must_use]
pub fn real_files() -> Vec<PathBuf> {
    shared().map(|folder| neff_files(&folder.join("real"))).unwrap_or_default()
}

/// Folder of the project's own small NEFF files.
#[must_use]
pub fn fixtures_dir() -> PathBuf {
    workspace().join("tests").join("fixtures")
}

/// A committed fixture by its name without the ending.
#[must_use]
pub fn fixture(name: &str) -> PathBuf {
    fixtures_dir().join(format!("{name}.neff"))
}

/// All committed fixtures, sorted by name.
#[must_use]
pub fn fixture_files() -> Vec<PathBuf> {
    neff_files(&fixtures_dir())
}

fn neff_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "neff"))
        .collect();
    files.sort();
    files
}

/// A Python 3 interpreter: `$PYTHON`, or the first of `python3` and `python` that runs.
#[must_use]
pub fn python() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let search = || {
        let named = std::env::var_os("PYTHON").map(PathBuf::from);
        let mut candidates = named.into_iter().chain(["python3", "python"].map(PathBuf::from));
        candidates.find(|candidate| is_python3(candidate))
    };
    FOUND.get_or_init(search).clone()
}

fn is_python3(program: &Path) -> bool {
    let probe = "import sys; sys.exit(sys.version_info < (3, 9))";
    Command::new(program).args(["-c", probe]).status().is_ok_and(|status| status.success())
}

/// The independent container tool of the shared data with the interpreter that runs it.
#[must_use]
pub fn neffpack() -> Option<Command> {
    let script = shared()?.join("tools").join("neffpack.py");
    let mut command = Command::new(python()?);
    script.is_file().then(|| {
        command.arg(script);
        command
    })
}

/// The program that asks the independent container tool about many files at once: `tests/judge_neffpack.py` with
/// the tool as its first argument.
#[must_use]
pub fn neffpack_judge() -> Option<Command> {
    let script = shared()?.join("tools").join("neffpack.py");
    let mut command = Command::new(python()?);
    script.is_file().then(|| {
        command.arg(workspace().join("tests/judge_neffpack.py")).arg(script);
        command
    })
}

/// Ends a test early and prints why.
///
/// ```
/// let Some(folder) = neffload_tests::shared() else { neffload_tests::skip!("no shared data") };
/// assert!(folder.is_dir());
/// ```
#[macro_export]
macro_rules! skip {
    ($($reason:tt)*) => {{
        eprintln!("skipped: {}", format_args!($($reason)*));
        return;
    }};
}
