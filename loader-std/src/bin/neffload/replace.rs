//! Files that are written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

/// Writes a file in the place of the one at `out`, if there is one, which stays as it was until the new one is complete.
/// What is no regular file (a pipe, a terminal, `/dev/full`) is written to as it is, and so is a file in a folder that
/// takes no second one.
///
/// # Errors
/// What `write` says, and the system's refusals. Nothing new is left behind then.
pub(crate) fn replace<T, E: From<io::Error>>(
    out: &Path,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    // A link stays one: what it leads to is replaced.
    let place = fs::canonicalize(out).unwrap_or_else(|_| out.to_path_buf());
    let there = fs::metadata(&place).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return write(&File::create(&place)?);
    }
    let beside = beside(&place);
    let Ok(file) = File::create_new(&beside) else {
        return write(&File::create(&place)?);
    };
    let made = Made { path: &beside, kept: false };
    let result = write(&file)?;
    finish(made, &file, &place, there.map(|there| there.permissions()))?;
    Ok(result)
}

/// Writes a file where there is none.
///
/// # Errors
/// As [`replace`]; that there is one.
pub(crate) fn fresh<T, E: From<io::Error>>(
    out: &Path,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    let file = File::create_new(out)?;
    let mut made = Made { path: out, kept: false };
    let result = write(&file)?;
    made.kept = true;
    Ok(result)
}

fn finish(mut made: Made<'_>, file: &File, place: &Path, was: Option<Permissions>) -> io::Result<()> {
    if let Some(was) = was {
        file.set_permissions(was)?;
    }
    fs::rename(made.path, place)?;
    made.kept = true;
    Ok(())
}

/// A name in the same folder, so that a rename is enough.
fn beside(place: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(format!(".{}.part", process::id()));
    place.with_file_name(name)
}

/// A file that goes away again unless it is kept.
struct Made<'p> {
    path: &'p Path,
    kept: bool,
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        if !self.kept {
            drop(fs::remove_file(self.path));
        }
    }
}
