//! Members on their way to disk. All are written beside their places, as they come, and put there once the whole file
//! was read: a file that is refused, or a process that is ended, leaves nothing that looks like a member.

use crate::replace::rename_fresh;
use loader_core::container::{Entry, Events};
use loader_core::error::{ContainerCode, Error, Stage};
use loader_std::container::Survey;
use loader_std::room;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process;

/// A folder, never through a link.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// What the system's mask leaves of it.
const OPEN_MODE: Mode = Mode::from_raw_mode(0o777);

/// The wanted members of a file that is being read.
pub(super) struct Staging<'p, W> {
    target: &'p Path,
    wanted: W,
    /// Made with the first member.
    place: Option<Place>,
    /// The number of each member's file; of several members of one name the last stays.
    members: BTreeMap<Vec<u8>, u64>,
    /// Names that are no plain relative paths.
    unplain: BTreeSet<Vec<u8>>,
    current: Option<File>,
    notes: Vec<Error>,
    /// The system's refusal, which ended the walk.
    trouble: Option<io::Error>,
}

/// What became of the members.
#[derive(Debug, Default)]
pub(super) struct Settled {
    pub(super) written: u64,
    /// Names that are no plain relative paths; nothing was written for them.
    pub(super) unplain: BTreeSet<Vec<u8>>,
    /// What could not be put into its place, and why.
    pub(super) failed: Vec<(Vec<u8>, io::Error)>,
}

impl<'p, W: Fn(&[u8]) -> bool> Staging<'p, W> {
    /// Nothing yet, for the folder `target`, which is made when a member comes.
    pub(super) const fn new(target: &'p Path, wanted: W) -> Self {
        Self {
            target,
            wanted,
            place: None,
            members: BTreeMap::new(),
            unplain: BTreeSet::new(),
            current: None,
            notes: Vec::new(),
            trouble: None,
        }
    }

    /// True if no member was wanted.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.unplain.is_empty()
    }

    /// Remarks on the file, the first ones.
    pub(super) fn notes(&self) -> &[Error] {
        &self.notes
    }

    /// The system's refusal to hold the members, if that ended the walk.
    pub(super) fn trouble(&mut self) -> Option<io::Error> {
        self.trouble.take()
    }

    /// Puts every member into its place, where nothing may be.
    pub(super) fn settle(mut self) -> Settled {
        let mut settled = Settled { unplain: std::mem::take(&mut self.unplain), ..Settled::default() };
        let Some(place) = &mut self.place else { return settled };
        for (name, number) in std::mem::take(&mut self.members) {
            match place.put(number, &name) {
                Ok(()) => settled.written += 1,
                Err(error) => settled.failed.push((name, error)),
            }
        }
        place.keep = settled.written > 0;
        settled
    }

    fn begin(&mut self, name: &[u8]) -> Result<(), Error> {
        let kept = || room::copy(name).map_err(|full| full.error(Stage::Unpack, "the names of the members"));
        if plain(name).is_none() {
            self.unplain.insert(kept()?);
            return Ok(());
        }
        let next = self.members.len() as u64;
        let number = match self.members.get(name) {
            Some(number) => *number,
            None => *self.members.entry(kept()?).or_insert(next),
        };
        let file = match &self.place {
            Some(place) => place.file(number),
            None => Place::make(self.target).and_then(|place| self.place.insert(place).file(number)),
        };
        self.current = Some(self.or_end(file)?);
        Ok(())
    }

    fn or_end<T>(&mut self, result: io::Result<T>) -> Result<T, Error> {
        result.map_err(|error| {
            self.trouble = Some(error);
            Error::new(Stage::Tool, ContainerCode::StoreFull)
        })
    }
}

impl<W: Fn(&[u8]) -> bool> Events for Staging<'_, W> {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.current = None;
        match entry.table_name().filter(|name| (self.wanted)(name)) {
            Some(name) => self.begin(name),
            None => Ok(()),
        }
    }

    fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let Some(file) = &self.current else { return Ok(()) };
        let written = file.write_all_at(bytes, offset);
        self.or_end(written)
    }

    /// The system's files may have holes too.
    fn hole(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        let Some(file) = &self.current else { return Ok(()) };
        let lengthened = file.set_len(offset.saturating_add(length));
        self.or_end(lengthened)
    }

    fn end(&mut self) -> Result<(), Error> {
        self.current = None;
        Ok(())
    }

    fn note(&mut self, note: Error) {
        if self.notes.len() < Survey::MOST_NOTES {
            self.notes.push(note);
        }
    }
}

/// A name as a path below the target: no empty part, no `.` or `..`, no leading slash.
pub(super) fn plain(name: &[u8]) -> Option<PathBuf> {
    let mut parts = name.split(|&byte| byte == b'/');
    let fit = parts.all(|part| !matches!(part, b"" | b"." | b"..") && !part.contains(&0));
    fit.then(|| PathBuf::from(OsStr::from_bytes(name)))
}

/// The target, and the folder in it where members wait, one file each.
struct Place {
    path: PathBuf,
    target: OwnedFd,
    waiting: OwnedFd,
    /// Name of the waiting folder.
    name: String,
    /// Files that were made there.
    files: std::cell::Cell<u64>,
    /// The folder of the member that was put last, with its name.
    parent: Option<(Vec<u8>, OwnedFd)>,
    /// The target was there before, or something is in it.
    keep: bool,
}

impl Place {
    fn make(path: &Path) -> io::Result<Self> {
        let keep = path.is_dir();
        fs::create_dir_all(path)?;
        let target = open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let name = format!(".neffload.{}.part", process::id());
        mkdirat(&target, &name, Mode::RWXU)?;
        let waiting = openat(&target, &name, FOLDER, Mode::empty())?;
        let (path, files) = (path.to_path_buf(), std::cell::Cell::new(0));
        Ok(Self { path, target, waiting, name, files, parent: None, keep })
    }

    /// An empty file of that number.
    fn file(&self, number: u64) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.waiting, number.to_string(), flags, Mode::from_raw_mode(0o666))?;
        self.files.set(self.files.get().max(number + 1));
        Ok(File::from(file))
    }

    /// Moves a file to its name, making the folders of the name. Each is opened in the one before, so nobody who puts a
    /// link in the place of one can turn the way aside.
    fn put(&mut self, number: u64, name: &[u8]) -> io::Result<()> {
        let (parent, last) = match name.iter().rposition(|&byte| byte == b'/') {
            Some(at) => (&name[..at], &name[at + 1..]),
            None => (&name[..0], name),
        };
        if self.parent.as_ref().is_none_or(|(known, _)| known != parent) {
            self.parent = Some((parent.to_vec(), self.folder(parent)?));
        }
        let Some((_, folder)) = &self.parent else { return Ok(()) };
        rename_fresh(&self.waiting, OsStr::new(&number.to_string()), folder, OsStr::from_bytes(last))
    }

    fn folder(&self, name: &[u8]) -> io::Result<OwnedFd> {
        let mut folder = self.target.try_clone()?;
        for part in name.split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
            match mkdirat(&folder, part, OPEN_MODE) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            folder = openat(&folder, part, FOLDER, Mode::empty()).map_err(|error| match error {
                Errno::NOTDIR | Errno::LOOP => {
                    let part = part.escape_ascii();
                    io::Error::new(
                        io::ErrorKind::NotADirectory,
                        format!("`{part}` is in the way, and not a folder"),
                    )
                }
                error => error.into(),
            })?;
        }
        Ok(folder)
    }
}

impl Drop for Place {
    /// Takes away what was not put anywhere.
    fn drop(&mut self) {
        for number in 0..self.files.get() {
            // What was put is not there any more.
            let _ = unlinkat(&self.waiting, number.to_string(), AtFlags::empty());
        }
        let _ = unlinkat(&self.target, &self.name, AtFlags::REMOVEDIR);
        if !self.keep {
            drop(fs::remove_dir(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn only_plain_names_are_paths() {
        assert!(plain(b"sg00/def.json").is_some());
        for name in [&b""[..], b"/a", b"../a", b"a/../b", b"a//b", b"./a", b"a/", b"a\0b", b"."] {
            assert!(plain(name).is_none(), "{}", name.escape_ascii());
        }
    }
}
