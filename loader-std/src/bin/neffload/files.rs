//! Files on the command line: several, folders, and one held whole.

use crate::output::Output;
use crate::trouble::Trouble;
use loader_core::source::Source;
use loader_std::file::Input;
use loader_std::walk::{files, neff_files};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files that the arguments name: a folder stands for the `.neff` files below it, in name order.
pub(crate) fn expand(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Trouble> {
    named(arguments, neff_files)
}

/// The same for carriers: a folder stands for all plain files below it.
pub(crate) fn expand_all(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Trouble> {
    named(arguments, |path| files(path, |path| fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file())))
}

fn named(
    arguments: &[PathBuf],
    below: impl Fn(&Path) -> io::Result<Vec<PathBuf>>,
) -> Result<Vec<PathBuf>, Trouble> {
    let mut all = Vec::new();
    for argument in arguments {
        all.extend(below(argument).map_err(Trouble::at(argument))?);
    }
    Ok(all)
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
