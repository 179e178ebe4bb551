//! Members on their way to disk. All are written into files without a name, as they come, and put into their places once
//! the whole file was read: a file that is refused, or a process that is ended, leaves nothing. Of a file with more members
//! than a process may have files open, the rest wait in a folder; what a process that is killed leaves of that is in
//! nobody's way.

use crate::limits;
use crate::replace::{beside, name as link, nameless, rename_fresh};
use loader_core::container::{Entry, Events};
use loader_core::error::{ContainerCode, Error, Notes, Stage};
use loader_std::container::Remarks;
use loader_std::room;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files without a name that are kept open, at most.
const MOST_OPEN: usize = 512;
/// Files that are open beside them, at most.
const OTHERS: usize = 16;

/// A folder, never through a link.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::PATH).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// What the system's mask leaves of it.
const OPEN_MODE: Mode = Mode::from_raw_mode(0o777);

/// The wanted members of a file that is being read.
pub(super) struct Staging<'p, W> {
    target: &'p Path,
    wanted: W,
    /// Made with the first member.
    place: Option<Place>,
    /// Each member's file; of several members of one name the last stays.
    members: BTreeMap<Vec<u8>, Waiting>,
    /// Names that are no plain relative paths.
    unplain: BTreeSet<Vec<u8>>,
    current: Option<Arc<File>>,
    notes: Remarks,
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
            notes: Remarks::new(),
            trouble: None,
        }
    }

    /// True if no member was wanted.
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty() && self.unplain.is_empty()
    }

    /// Remarks on the file.
    pub(super) fn notes(&self) -> &Remarks {
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
        for (name, waiting) in std::mem::take(&mut self.members) {
            match place.put(&waiting, &name) {
                Ok(()) => settled.written += 1,
                Err(error) => settled.failed.push((name, error)),
            }
        }
        if settled.written > 0 {
            place.fresh.keep();
        }
        settled
    }

    fn begin(&mut self, name: &[u8]) -> Result<(), Error> {
        let kept = || room::copy(name).map_err(|full| full.error(Stage::Unpack, "the names of the members"));
        if plain(name).is_none() {
            self.unplain.insert(kept()?);
            return Ok(());
        }
        let place = match &mut self.place {
            Some(place) => Ok(place),
            none => Place::make(self.target).map(|place| none.insert(place)),
        };
        let file = place.and_then(|place| {
            let (waiting, file) = place.file()?;
            Ok((place, waiting, file))
        });
        let (place, waiting, file) = match file {
            Ok(made) => made,
            Err(error) => return self.or_end(Err(error)),
        };
        // A file of its own: to empty the one before may take the system as long as to write it out.
        if let Some(before) = self.members.insert(kept()?, waiting) {
            place.forget(&before);
        }
        self.current = Some(file);
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
        self.notes.note(note);
    }
}

/// A name as a path below the target: no empty part, no `.` or `..`, no leading slash.
pub(super) fn plain(name: &[u8]) -> Option<PathBuf> {
    let mut parts = name.split(|&byte| byte == b'/');
    let fit = parts.all(|part| !matches!(part, b"" | b"." | b"..") && !part.contains(&0));
    fit.then(|| PathBuf::from(OsStr::from_bytes(name)))
}

/// Folders that were made, the innermost first, to be taken away again unless something came into them.
struct Fresh(Vec<PathBuf>);

impl Fresh {
    /// Makes a folder and those above it that are missing.
    fn make(path: &Path) -> io::Result<Self> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && fs::symlink_metadata(path).is_err();
        let fresh = Self(path.ancestors().take_while(missing).map(Path::to_path_buf).collect());
        fs::create_dir_all(path).map(|()| fresh)
    }

    /// Leaves them where they are.
    fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // A folder that somebody else used meanwhile is not empty, and stays.
        self.0.iter().for_each(|path| drop(fs::remove_dir(path)));
    }
}

/// Where a member's content is until it has its name.
enum Waiting {
    /// In a file without one.
    Open(Arc<File>),
    /// In a file of the waiting folder, by its number.
    Numbered(u64),
}

/// A folder in the target where members wait, one file each.
struct Room {
    folder: OwnedFd,
    name: OsString,
    /// Files that were made there.
    files: u64,
}

/// The target, and what waits in it.
struct Place {
    target: OwnedFd,
    /// Files without a name that may still be made.
    open: usize,
    /// Made when it is needed.
    room: Option<Room>,
    /// The folder of the member that was put last, with its name.
    parent: Option<(Vec<u8>, OwnedFd)>,
    /// The target and what is above it, as far as they are new. Dropped last, when nothing waits any more.
    fresh: Fresh,
}

impl Place {
    fn make(path: &Path) -> io::Result<Self> {
        let fresh = Fresh::make(path)?;
        let target = open(path, OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let open = limits::open_files().saturating_sub(OTHERS).min(MOST_OPEN);
        Ok(Self { target, open, room: None, parent: None, fresh })
    }

    /// An empty file.
    fn file(&mut self) -> io::Result<(Waiting, Arc<File>)> {
        let file = if self.open > 0 { nameless(&self.target, Path::new("."), 0o666) } else { None };
        if let Some(file) = file.map(Arc::new) {
            self.open -= 1;
            return Ok((Waiting::Open(Arc::clone(&file)), file));
        }
        let room = match &mut self.room {
            Some(room) => room,
            none => none.insert(Room::make(&self.target)?),
        };
        let (number, file) = room.file()?;
        Ok((Waiting::Numbered(number), Arc::new(file)))
    }

    /// Takes a file away that was to have a name.
    fn forget(&mut self, waiting: &Waiting) {
        match (waiting, &self.room) {
            (Waiting::Open(_), _) => self.open += 1,
            (Waiting::Numbered(number), Some(room)) => room.forget(*number),
            (Waiting::Numbered(_), None) => {}
        }
    }

    /// Moves a file to its name, making the folders of the name. Each is opened in the one before, so nobody who puts a
    /// link in the place of one can turn the way aside.
    fn put(&mut self, waiting: &Waiting, name: &[u8]) -> io::Result<()> {
        let (parent, last) = match name.iter().rposition(|&byte| byte == b'/') {
            Some(at) => (&name[..at], &name[at + 1..]),
            None => (&name[..0], name),
        };
        if self.parent.as_ref().is_none_or(|(known, _)| known != parent) {
            self.parent = Some((parent.to_vec(), self.folder(parent)?));
        }
        let (Some((_, folder)), last) = (&self.parent, OsStr::from_bytes(last)) else { return Ok(()) };
        match (waiting, &self.room) {
            (Waiting::Open(file), _) => link(file, folder, last),
            (Waiting::Numbered(number), Some(room)) => room.rename(*number, folder, last),
            (Waiting::Numbered(_), None) => Ok(()),
        }
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
        let Some(room) = self.room.take() else { return };
        // What was put is not there any more.
        (0..room.files).for_each(|number| room.forget(number));
        let _ = unlinkat(&self.target, &room.name, AtFlags::REMOVEDIR);
    }
}

impl Room {
    fn make(target: &OwnedFd) -> io::Result<Self> {
        let make = |path: PathBuf| {
            let name = path.file_name().unwrap_or_default().to_owned();
            mkdirat(target, &name, Mode::RWXU)?;
            Ok(name)
        };
        let (_, name) = beside(Path::new("neffload"), make)?;
        match openat(target, &name, FOLDER, Mode::empty()) {
            Ok(folder) => Ok(Self { folder, name, files: 0 }),
            Err(error) => {
                let _ = unlinkat(target, &name, AtFlags::REMOVEDIR);
                Err(error.into())
            }
        }
    }

    /// An empty file, and its number.
    fn file(&mut self) -> io::Result<(u64, File)> {
        let number = self.files;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.folder, number.to_string(), flags, Mode::from_raw_mode(0o666))?;
        self.files += 1;
        Ok((number, File::from(file)))
    }

    fn forget(&self, number: u64) {
        let _ = unlinkat(&self.folder, number.to_string(), AtFlags::empty());
    }

    fn rename(&self, number: u64, folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
        rename_fresh(&self.folder, OsStr::new(&number.to_string()), folder, name)
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
