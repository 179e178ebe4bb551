//! Files that are written whole or not at all.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, open, openat, renameat_with, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process;

/// Links that are followed one after the other before a path is taken to lead nowhere.
const MOST_LINKS: usize = 40;

/// Writes a file at `out`. What may not be written to is refused first. The content goes to a file without a name, so
/// that what is there stays as it was until all of it is there; then the new file takes the old one's place and mode.
///
/// Where more than the content would change, the content is written over the old one's instead, as `>` does: if the old
/// file has several names, or another owner or group than a new one gets; if it cannot be replaced under its name (it is
/// mounted, or in another's sticky folder); if it was reached by way of a descriptor (`/dev/fd/3`) or has no name. What is
/// no regular file (a pipe, a terminal, `/dev/full`) is written to as it is, and so is a file in a folder that takes no
/// second one.
///
/// # Errors
/// What `write` says, and the system's refusals. Nothing new is left behind then.
pub(crate) fn replace<T, E: From<io::Error>>(
    out: &Path,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    let Some(old) = Old::open(out)? else {
        let Ok(new) = New::beside(out, 0o666) else { return write(&File::create(out)?) };
        let result = write(&new.file)?;
        new.take(out)?;
        return Ok(result);
    };
    // Nobody but the owner looks into it before it has the mode of the old one.
    let new = old.place.as_ref().filter(|_| old.facts.is_file()).map(|place| New::beside(place, 0o600));
    let Some(Ok(new)) = new else {
        if old.facts.is_file() {
            old.file.set_len(0)?;
        }
        let result = write(&old.file)?;
        old.keep();
        return Ok(result);
    };
    let result = write(&new.file)?;
    old.become_of(new)?;
    Ok(result)
}

/// What is at a place already.
struct Old {
    /// Open for writing, as it was.
    file: File,
    facts: Metadata,
    /// The name that leads to it by no link, if there is one.
    place: Option<PathBuf>,
    /// It stays whatever its name's place is.
    stays: bool,
    /// It was made just now, at the end of a link, and goes away again unless it is kept.
    made: bool,
}

impl Old {
    /// Opens it as the system lets it be written to; `None` if there is nothing. A link to nothing leads to a new file.
    fn open(out: &Path) -> io::Result<Option<Self>> {
        let made = match fs::metadata(out) {
            Ok(_) => false,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) if fs::symlink_metadata(out).is_err() => return Ok(None),
            Err(_) => true,
        };
        let file = OpenOptions::new().write(true).create(made).truncate(false).open(out)?;
        let facts = file.metadata()?;
        let same = |place: &PathBuf| fs::symlink_metadata(place).is_ok_and(|there| is_same(&there, &facts));
        let place = fs::canonicalize(out).ok().filter(same);
        Ok(Some(Self { file, facts, place, stays: is_descriptor(out), made }))
    }

    /// Gives it the content of a new file: by its place, or byte by byte.
    fn become_of(self, new: New) -> io::Result<()> {
        let fresh = new.file.metadata()?;
        let alike =
            self.facts.nlink() == 1 && (self.facts.uid(), self.facts.gid()) == (fresh.uid(), fresh.gid());
        let place = self.place.as_ref().filter(|_| alike && !self.stays);
        let mut new = new;
        if place.is_none_or(|place| new.put(place, self.facts.permissions()).is_err()) {
            new.file.rewind()?;
            self.file.set_len(0)?;
            io::copy(&mut &new.file, &mut &self.file)?;
        }
        self.keep();
        Ok(())
    }

    fn keep(mut self) {
        self.made = false;
    }
}

impl Drop for Old {
    fn drop(&mut self) {
        if self.made
            && let Some(place) = &self.place
        {
            drop(fs::remove_file(place));
        }
    }
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Whether a path leads through a process's descriptor: whoever holds that waits for the content there.
fn is_descriptor(out: &Path) -> bool {
    let mut at = out.to_path_buf();
    for _ in 0..MOST_LINKS {
        let Ok(folder) = fs::canonicalize(folder_of(&at)) else { return false };
        if folder.starts_with("/proc") {
            return true;
        }
        let Ok(to) = fs::read_link(&at) else { return false };
        at = folder.join(to);
    }
    false
}

fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file on its way to its place. Until then it has no name, or, where the system makes no such files, one that goes away.
struct New {
    file: File,
    name: Option<PathBuf>,
}

impl New {
    /// An empty one in the folder of `place`.
    fn beside(place: &Path, mode: u32) -> io::Result<Self> {
        if let Some(file) = nameless(CWD, folder_of(place), mode) {
            return Ok(Self { file, name: None });
        }
        let mode = Mode::from_raw_mode(mode);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (name, file) = beside(place, |path| Ok(File::from(open(&path, flags, mode)?)))?;
        Ok(Self { file, name: Some(name) })
    }

    /// Takes the place of what is there, with that mode; what runs as somebody else (set-user-ID) is not taken over.
    fn put(&mut self, place: &Path, mode: Permissions) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(mode.mode() & 0o777))?;
        self.rename(place)
    }

    /// Takes a place.
    fn take(mut self, place: &Path) -> io::Result<()> {
        self.rename(place)
    }

    fn rename(&mut self, place: &Path) -> io::Result<()> {
        let name = match &mut self.name {
            Some(name) => name,
            none => none.insert(beside(place, |path| name(&self.file, CWD, path.as_os_str()))?.0),
        };
        fs::rename(name, place)?;
        self.name = None;
        Ok(())
    }

    /// Takes a place where nothing is.
    fn take_fresh(mut self, place: &Path) -> io::Result<()> {
        match &self.name {
            None => return name(&self.file, CWD, place.as_os_str()),
            Some(name) => rename_fresh(CWD, name.as_os_str(), CWD, place.as_os_str())?,
        }
        self.name = None;
        Ok(())
    }
}

impl Drop for New {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            drop(fs::remove_file(name));
        }
    }
}

/// A file without a name in a folder. It goes away with the process, however that ends.
pub(crate) fn nameless(from: impl AsFd, folder: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(from, folder, flags, Mode::from_raw_mode(mode)).map(File::from).ok()?;
    // It is named by way of there.
    fs::symlink_metadata(descriptor(&file)).is_ok().then_some(file)
}

fn descriptor(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Gives a nameless file a name that nothing has.
///
/// # Errors
/// The system's; that something has it.
pub(crate) fn name(file: &File, folder: impl AsFd, name: &OsStr) -> io::Result<()> {
    Ok(linkat(CWD, descriptor(file), folder, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Writes a file where there is none, which appears there when it is complete. What is there and is neither a file nor a
/// folder is written to.
///
/// # Errors
/// As [`replace`]; that there is one.
pub(crate) fn fresh<T, E: From<io::Error>>(
    out: &Path,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    if is_special(out) {
        return replace(out, write);
    }
    if fs::symlink_metadata(out).is_ok() {
        return Err(io::Error::from(Errno::EXIST).into());
    }
    let new = New::beside(out, 0o666)?;
    let result = write(&new.file)?;
    new.take_fresh(out)?;
    Ok(result)
}

/// True of a pipe, a terminal, a device: what is neither file nor folder, and may be written to once, in order.
pub(crate) fn is_special(out: &Path) -> bool {
    fs::metadata(out).is_ok_and(|there| !there.is_file() && !there.is_dir())
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

/// Makes something under a name that nobody has, in the same folder so that a rename is enough. The name is short,
/// whatever that of `place`. What an ended process left behind, maybe one of the same number, is in nobody's way.
///
/// # Errors
/// Those of `make`, but that the name is taken.
pub(crate) fn beside<T>(place: &Path, make: impl Fn(PathBuf) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let mut taken = 0u32;
    loop {
        let path = place.with_file_name(format!(".neffload.{}.{taken}.part", process::id()));
        match make(path.clone()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken += 1,
            made => return Ok((path, made?)),
        }
    }
}
