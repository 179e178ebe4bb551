//! Files on the command line: several, folders, and one held whole.

use crate::output::Output;
use crate::trouble::Trouble;
use loader_core::source::Source;
use loader_std::file::Input;
use std::fmt;
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

/// Most bytes of a file that a command holds in memory; a pipe may have no end.
const MOST_HELD: u64 = 16 << 30;

/// The whole of `input` in memory.
pub(crate) fn hold(path: &Path, input: &mut Input, output: &Output) -> Result<Vec<u8>, Trouble> {
    let mut progress = output.progress("reading", input.len());
    let trouble = |what: &dyn fmt::Display| Trouble::Usage(format!("{}: {what}", path.display()));
    let mut bytes: Vec<u8> = Vec::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        let count = input.read_at(bytes.len() as u64, &mut piece).map_err(|error| trouble(&error))?;
        if count == 0 {
            return Ok(bytes);
        }
        if (bytes.len() + count) as u64 > MOST_HELD {
            return Err(trouble(
                &"longer than 16 GiB; `verify` and `load --max-memory` read such a file in pieces",
            ));
        }
        bytes.try_reserve(count).map_err(|error| trouble(&error))?;
        bytes.extend_from_slice(&piece[..count]);
        progress.set(bytes.len() as u64);
    }
}
