//! The members of a folder on disk.

use super::PackError;
use std::fs;
use std::os::unix::ffi::OsStrExt;
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
