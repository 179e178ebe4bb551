//! The members of a folder on disk.

use super::PackError;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A file below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Path below the folder with `/` between parts: the member's name.
    pub name: Vec<u8>,
    /// Where it is.
    pub path: PathBuf,
    /// Its bytes when it was seen.
    pub size: u64,
}

/// Opens a file that [`collect`] found, as the regular file that it was then: what stands in its place now is not waited
/// for if it is a pipe, and not followed if it is a link.
///
/// # Errors
/// The system's; that it is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file any more"));
    }
    Ok(file)
}

/// Every regular file below `root`, sorted by name bytes.
///
/// # Errors
/// [`PackError::NotAFile`] for links and special files, [`PackError::Io`].
pub fn collect(root: &Path) -> Result<Vec<TreeFile>, PackError> {
    let mut found = Vec::new();
    let mut open = vec![(root.to_path_buf(), Vec::new())];
    while let Some((folder, prefix)) = open.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = [&prefix[..], entry.file_name().as_bytes()].concat();
            let kind = entry.file_type()?;
            if kind.is_dir() {
                open.push((entry.path(), [&name[..], b"/"].concat()));
            } else if kind.is_file() {
                found.push(TreeFile { name, path: entry.path(), size: entry.metadata()?.len() });
            } else {
                return Err(PackError::NotAFile { name });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::{Options, PackError, Packer};
    use super::{collect, open};
    use rustix::fs::{CWD, Mode, mkfifoat};
    use std::fs;
    use std::io::Cursor;

    #[test]
    fn what_took_a_files_place_is_not_read() {
        let root = std::env::temp_dir().join(format!("neffload-tree-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        for name in ["link", "pipe", "plain"] {
            fs::write(root.join(name), b"12345").unwrap();
        }
        let found = collect(&root).unwrap();
        for name in ["link", "pipe"] {
            fs::remove_file(root.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("plain", root.join("link")).unwrap();
        mkfifoat(CWD, root.join("pipe"), Mode::RUSR).unwrap();
        let opened: Vec<bool> = found.iter().map(|file| open(&file.path).is_ok()).collect();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(opened, [false, false, true]);
    }

    #[test]
    fn a_file_that_grew_is_not_packed_in_part() {
        for (announced, fits) in [(4, false), (5, true), (6, false)] {
            let mut packer = Packer::new(Cursor::new(Vec::new()), Options::default()).unwrap();
            match packer.member(b"m", announced, &mut &b"12345"[..]) {
                Ok(()) => assert!(fits),
                Err(PackError::SizeChanged { name }) => assert!(!fits && name == b"m"),
                Err(other) => panic!("{other}"),
            }
        }
    }
}
