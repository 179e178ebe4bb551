//! Files that are written whole or not at all.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, open, renameat_with, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
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
    let permissions = there.map(|there| there.permissions());
    if let Some(file) = nameless(&place) {
        let result = write(&file)?;
        let (beside, ()) = beside(&place, |path| name(&file, &path))?;
        finish(Made { path: &beside, kept: false }, &file, &place, permissions)?;
        return Ok(result);
    }
    let Ok((beside, file)) = beside(&place, File::create_new) else {
        return write(&File::create(&place)?);
    };
    let made = Made { path: &beside, kept: false };
    let result = write(&file)?;
    finish(made, &file, &place, permissions)?;
    Ok(result)
}

/// A file without a name in the folder of another one. It goes away with the process, however that ends.
fn nameless(place: &Path) -> Option<File> {
    let parent = place.parent().filter(|parent| !parent.as_os_str().is_empty());
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file =
        open(parent.unwrap_or(Path::new(".")), flags, Mode::from_raw_mode(0o666)).map(File::from).ok()?;
    // It is named by way of there.
    fs::symlink_metadata(descriptor(&file)).is_ok().then_some(file)
}

fn descriptor(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Gives a nameless file a name that nothing has.
fn name(file: &File, path: &Path) -> io::Result<()> {
    Ok(linkat(CWD, descriptor(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
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
    if let Some(file) = nameless(out) {
        let result = write(&file)?;
        name(&file, out)?;
        return Ok(result);
    }
    let (beside, file) = beside(out, File::create_new)?;
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

/// Makes something under a name that nobody has, in the same folder so that a rename is enough. What an ended process
/// left behind, maybe one of the same number, is in nobody's way.
///
/// # Errors
/// Those of `make`, but that the name is taken.
pub(crate) fn beside<T>(place: &Path, make: impl Fn(PathBuf) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let mut taken = 0u32;
    loop {
        let mut name = OsString::from(".");
        name.push(place.file_name().unwrap_or_default());
        name.push(format!(".{}.{taken}.part", process::id()));
        let path = place.with_file_name(name);
        match make(path.clone()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken += 1,
            made => return Ok((path, made?)),
        }
    }
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
