//! The C interface as programs find it: `lib/libnrt.so.1` and `include/nrt/*.h` below one folder.

use crate::workspace;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The sources of the C interface.
#[must_use]
pub fn capi() -> PathBuf {
    workspace().join("loader-std").join("capi")
}

/// Builds the shared library for release and gives its path.
///
/// # Errors
/// The system's refusal, or what cargo printed.
pub fn build() -> io::Result<PathBuf> {
    built(&["build", "--release", "--package", "neffload-capi"], "libnrt.so")
}

/// The shared library as the tests of its package have it; built if it is not there yet.
///
/// # Errors
/// The system's refusal, or what cargo printed.
pub fn of_tests() -> io::Result<PathBuf> {
    built(&["test", "--no-run", "--workspace", "--test", "capi"], "libnrt.so")
}

/// Runs cargo with these arguments and gives the file of that name that it made or had made before.
///
/// # Errors
/// The system's refusal, or what cargo printed.
pub fn built(arguments: &[&str], name: &str) -> io::Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(arguments).args(["--quiet", "--message-format", "json"]);
    let built = cargo.current_dir(workspace()).output()?;
    if !built.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&built.stderr).into_owned()));
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    let files = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let files = files.flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default());
    let mut paths = files.filter_map(|file| file.as_str().map(PathBuf::from));
    let found = paths.find(|path| path.file_name().is_some_and(|file| file == name));
    found.ok_or_else(|| io::Error::other(format!("cargo built no {name}")))
}

/// The library that cargo built for the running test of its package.
///
/// # Panics
/// In any other program.
#[must_use]
pub fn beside() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    let library = test.parent().map(|folder| folder.join("libnrt.so")).unwrap_or_default();
    assert!(library.is_file(), "{} was not built", library.display());
    library
}

/// Puts a library and the headers below `folder`, as an installed runtime has them.
///
/// # Errors
/// The system's refusal.
pub fn install(library: &Path, folder: &Path) -> io::Result<()> {
    let (lib, headers) = (folder.join("lib"), folder.join("include").join("nrt"));
    fs::create_dir_all(&lib)?;
    fs::create_dir_all(&headers)?;
    // A program may have the old one open: a new file takes its name.
    let _ = fs::remove_file(lib.join("libnrt.so.1"));
    fs::copy(library, lib.join("libnrt.so.1"))?;
    let _ = fs::remove_file(lib.join("libnrt.so"));
    std::os::unix::fs::symlink("libnrt.so.1", lib.join("libnrt.so"))?;
    for header in fs::read_dir(capi().join("include").join("nrt"))? {
        let header = header?;
        fs::copy(header.path(), headers.join(header.file_name()))?;
    }
    Ok(())
}

/// One line of `facts/interface.txt`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A status and its number.
    Status(String, i64),
    /// A constant and its number.
    Constant(String, i64),
    /// A type and its bytes.
    Size(String, i64),
    /// A function and its header.
    Function(String, String),
}

/// What the public interface says, from the checked-in list.
///
/// # Panics
/// If the list is not there or a line is not of its form.
#[must_use]
pub fn facts() -> Vec<Fact> {
    let path = capi().join("facts").join("interface.txt");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| fact(line).unwrap_or_else(|| panic!("{}: `{line}`", path.display()))).collect()
}

fn fact(line: &str) -> Option<Fact> {
    let mut words = line.split(' ');
    let (kind, name, value) = (words.next()?, words.next()?.to_owned(), words.next()?);
    Some(match kind {
        "status" => Fact::Status(name, value.parse().ok()?),
        "constant" => Fact::Constant(name, value.parse().ok()?),
        "size" => Fact::Size(name, value.parse().ok()?),
        "function" => Fact::Function(name, value.to_owned()),
        _ => return None,
    })
}
