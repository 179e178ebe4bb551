//! The files below a folder, such as a compiler's cache.
//!
//! One folder that cannot be listed, or one thing in it that is no file, does not end the walk: it is named beside
//! the files, and all the rest is found.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Something below a folder that cannot be read.
#[derive(Debug)]
pub struct Unread {
    /// A folder that cannot be listed, or an entry that is no regular file.
    pub path: PathBuf,
    /// Why.
    pub error: io::Error,
}

/// What a path names.
#[derive(Debug, Default)]
pub struct Found {
    /// Files in the order of their paths.
    pub files: Vec<PathBuf>,
    /// What cannot be read, in the order of the paths.
    pub unread: Vec<Unread>,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
    /// A link to a folder, which is not followed, so that the walk ends.
    Passage,
    /// A pipe, a socket or a device: to open one may wait for ever.
    Special(&'static str),
}

impl Kind {
    fn of(kind: fs::FileType) -> Self {
        use std::os::unix::fs::FileTypeExt;
        match kind {
            kind if kind.is_dir() => Self::Folder,
            kind if kind.is_fifo() => Self::Special("a pipe"),
            kind if kind.is_socket() => Self::Special("a socket"),
            kind if kind.is_block_device() || kind.is_char_device() => Self::Special("a device"),
            _ => Self::File,
        }
    }

    /// A link counts as what it leads to; one that leads nowhere as a file, so that its opening says so.
    fn of_entry(entry: &fs::DirEntry) -> io::Result<Self> {
        let kind = entry.file_type()?;
        if !kind.is_symlink() {
            return Ok(Self::of(kind));
        }
        let behind = fs::metadata(entry.path()).map(|facts| Self::of(facts.file_type()));
        Ok(match behind {
            Ok(Self::Folder) => Self::Passage,
            Ok(kind) => kind,
            Err(_) => Self::File,
        })
    }
}

/// Lists one folder: every entry with what it is, or why that is not known.
type Listing = Vec<(PathBuf, io::Result<Kind>)>;

fn list(folder: &Path) -> io::Result<Listing> {
    let mut listing = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        listing.push((entry.path(), Kind::of_entry(&entry)));
    }
    Ok(listing)
}

/// What a path names: itself if it is no folder, else every file ending in `.neff` below it.
/// Links to folders are not followed, so the walk ends.
#[must_use]
pub fn neff_files(path: &Path) -> Found {
    files(path, |path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("neff")))
}

/// The same, with every file below a folder that `wanted` takes.
#[must_use]
pub fn files(path: &Path, wanted: impl Fn(&Path) -> bool) -> Found {
    if !path.is_dir() {
        return Found { files: vec![path.to_path_buf()], unread: Vec::new() };
    }
    walk(path, wanted, list)
}

/// Walks with `list` for the system's part.
fn walk(path: &Path, wanted: impl Fn(&Path) -> bool, list: impl Fn(&Path) -> io::Result<Listing>) -> Found {
    let (mut folders, mut found) = (vec![path.to_path_buf()], Found::default());
    while let Some(folder) = folders.pop() {
        let listing = match list(&folder) {
            Ok(listing) => listing,
            Err(error) => {
                found.unread.push(Unread { path: folder, error });
                continue;
            }
        };
        for (path, kind) in listing {
            match kind {
                Ok(Kind::Folder) => folders.push(path),
                Ok(Kind::File) if wanted(&path) => found.files.push(path),
                Ok(Kind::Special(what)) if wanted(&path) => {
                    let error = io::Error::other(format!("{what}, not a regular file"));
                    found.unread.push(Unread { path, error });
                }
                Ok(_) => {}
                Err(error) => found.unread.push(Unread { path, error }),
            }
        }
    }
    found.files.sort();
    found.unread.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

#[cfg(test)]
mod tests {
    use super::{Kind, Listing, walk};
    use std::io;
    use std::path::{Path, PathBuf};

    /// A tree with a folder that may not be listed, one whose name is too long, and things that are no files.
    fn tree(folder: &Path) -> io::Result<Listing> {
        let entry = |name: &str, kind| (folder.join(name), Ok(kind));
        match folder.to_str() {
            Some("top") => Ok(vec![
                entry("b.neff", Kind::File),
                entry("closed", Kind::Folder),
                entry("deep", Kind::Folder),
                entry("open", Kind::Folder),
                entry("passage.neff", Kind::Passage),
                entry("notes.txt", Kind::File),
                entry("p.neff", Kind::Special("a pipe")),
                entry("p.log", Kind::Special("a pipe")),
                (folder.join("gone.neff"), Err(io::Error::from_raw_os_error(2))),
            ]),
            Some("top/open") => Ok(vec![entry("a.neff", Kind::File)]),
            Some("top/closed") => Err(io::Error::from_raw_os_error(13)),
            Some("top/deep") => Err(io::Error::from_raw_os_error(36)),
            other => panic!("{other:?} was not to be listed"),
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_and_the_rest_is_found() {
        let neff = |path: &Path| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("neff"));
        let found = walk(Path::new("top"), neff, tree);
        assert_eq!(found.files, ["top/b.neff", "top/open/a.neff"].map(PathBuf::from));
        let unread: Vec<_> =
            found.unread.iter().map(|unread| (unread.path.to_str(), unread.error.raw_os_error())).collect();
        assert_eq!(
            unread,
            [
                (Some("top/closed"), Some(13)),
                (Some("top/deep"), Some(36)),
                (Some("top/gone.neff"), Some(2)),
                (Some("top/p.neff"), None),
            ]
        );
        assert_eq!(found.unread[3].error.to_string(), "a pipe, not a regular file");
    }
}
