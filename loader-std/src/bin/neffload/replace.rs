//! Files that are written whole or not at all.

use rustix::fs::{AtFlags, CWD, RenameFlags, linkat, renameat_with, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsFd;
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

/// Writes a file where there is none, which appears there when it is complete.
///
/// # Errors
/// As [`replace`]; that there is one.
pub(crate) fn fresh<T, E: From<io::Error>>(
    out: &Path,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    if fs::symlink_metadata(out).is_ok() {
        return Err(io::Error::from(Errno::EXIST).into());
    }
    let beside = beside(out);
    let file = File::create_new(&beside)?;
    let mut made = Made { path: &beside, kept: false };
    let result = write(&file)?;
    rename_fresh(CWD, beside.as_os_str(), CWD, out.as_os_str())?;
    made.kept = true;
    Ok(result)
}

/// Gives a file another name, which nothing may have.
///
/// # Errors
/// The system's; that something has it.
pub(crate) fn rename_fresh(from: impl AsFd, name: &OsStr, to: impl AsFd, new: &OsStr) -> io::Result<()> {
    match renameat_with(&from, name, &to, new, RenameFlags::NOREPLACE) {
        // Some file systems can only do it in two steps.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            linkat(&from, name, &to, new, AtFlags::empty())?;
            Ok(unlinkat(&from, name, AtFlags::empty())?)
        }
        renamed => Ok(renamed?),
    }
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
