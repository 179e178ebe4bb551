//! Several files or folders on the command line.

use crate::trouble::Trouble;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that the arguments name: a folder stands for the `.neff` files below it, in name order.
/// Links inside a folder are not followed.
pub(crate) fn expand(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Trouble> {
    let mut files = Vec::new();
    for argument in arguments {
        if argument.is_dir() {
            below(argument, &mut files)?;
        } else {
            files.push(argument.clone());
        }
    }
    Ok(files)
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Trouble> {
    let mut folders = vec![folder.to_path_buf()];
    let first = files.len();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(Trouble::at(&folder))? {
            let entry = entry.map_err(Trouble::at(&folder))?;
            let kind = entry.file_type().map_err(Trouble::at(&folder))?;
            let path = entry.path();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "neff") {
                files.push(path);
            }
        }
    }
    files[first..].sort();
    Ok(())
}
