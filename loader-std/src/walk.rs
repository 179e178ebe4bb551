//! The files below a folder, such as a compiler's cache.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a path names: itself if it is no folder, else every file ending in `.neff` below it, sorted.
/// Links to folders are not followed, so the walk ends.
///
/// # Errors
/// The system's refusal to list a folder.
pub fn neff_files(path: &Path) -> io::Result<Vec<PathBuf>> {
    files(path, |path| path.extension().is_some_and(|ending| ending == "neff"))
}

/// The same, with every file below a folder that `wanted` takes.
///
/// # Errors
/// The system's refusal to list a folder.
pub fn files(path: &Path, wanted: impl Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let (mut folders, mut files) = (vec![path.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if wanted(&entry.path()) {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
