//! Files on the command line: several, folders, and one held whole.

use crate::output::{Output, Progress, shown};
use crate::trouble::Trouble;
use loader_core::source::Source;
use loader_std::file::{Input, split_offset};
use loader_std::walk::{Found, Unread, files, neff_files};
use rustix::fs::{FileType, fstat};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that the arguments name, or something that a folder among them holds in a file's place.
#[derive(Debug)]
pub(crate) struct Named {
    /// Its path.
    pub(crate) path: PathBuf,
    /// It was found in a folder.
    found: bool,
    /// Why it cannot be read, if that is known: a folder that cannot be listed, a pipe in a folder.
    unread: Option<io::Error>,
}

impl Named {
    /// Opens it. What was found in a folder is opened only as the regular file that it was then.
    pub(crate) fn open(&mut self) -> Result<Input, Trouble> {
        if let Some(error) = self.unread.take() {
            return Err(Trouble::at(&self.path)(error));
        }
        let opened = if self.found { Input::open_found(&self.path) } else { Input::open(&self.path) };
        opened.map_err(Trouble::at(&self.path))
    }

    /// Bytes of the file, as far as the system tells.
    pub(crate) fn size(&self) -> u64 {
        fs::metadata(&self.path).ok().filter(fs::Metadata::is_file).map_or(0, |facts| facts.len())
    }
}

/// What the arguments name: a folder stands for the `.neff` files below it, in name order, and for what of it cannot
/// be read.
pub(crate) fn expand(arguments: &[PathBuf]) -> Vec<Named> {
    named(arguments, neff_files, "no `.neff` file below it")
}

/// The same for carriers: a folder stands for all plain files below it.
pub(crate) fn expand_all(arguments: &[PathBuf]) -> Vec<Named> {
    let plain = |path: &Path| fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file());
    named(arguments, |path| files(path, plain), "no file below it")
}

const AGAIN: &str = "standard input was named before, and is read once";

/// Whether that argument is standard input, and one before it was.
fn is_again(arguments: &[PathBuf], at: usize) -> bool {
    arguments[at] == Path::new("-") && arguments[..at].contains(&arguments[at])
}

/// Refuses standard input as more than one of the files.
pub(crate) fn once(arguments: &[PathBuf]) -> Result<(), Trouble> {
    if (0..arguments.len()).any(|at| is_again(arguments, at)) {
        return Err(Trouble::at(Path::new("-"))(io::Error::other(AGAIN)));
    }
    Ok(())
}

/// A folder without a file is what cannot be read: nobody who names one is asking about nothing.
fn named(arguments: &[PathBuf], below: impl Fn(&Path) -> Found, nothing: &str) -> Vec<Named> {
    let mut all = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        if is_again(arguments, at) {
            let again = io::Error::other(AGAIN);
            all.push(Named { path: argument.clone(), found: false, unread: Some(again) });
            continue;
        }
        let found = argument.is_dir();
        let Found { files, unread } = below(argument);
        let files = files.into_iter().map(|path| Named { path, found, unread: None });
        let unread =
            unread.into_iter().map(|Unread { path, error }| Named { path, found, unread: Some(error) });
        let mut here: Vec<Named> = files.chain(unread).collect();
        if here.is_empty() {
            let unread = Some(io::Error::new(io::ErrorKind::NotFound, nothing));
            here.push(Named { path: argument.clone(), found, unread });
        }
        here.sort_by(|a, b| a.path.cmp(&b.path));
        all.extend(here);
    }
    all
}

/// What a path names, whatever other names it has: device and number of a regular file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let facts = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((facts.dev(), facts.ino()))
}

/// The same of what is read: standard input for `-`, the carrier for `FILE@OFFSET`.
fn identity_read(path: &Path) -> Option<(u64, u64)> {
    if path == Path::new("-") {
        return identity(Path::new("/dev/stdin"));
    }
    identity(path).or_else(|| identity(&split_offset(path)?.0))
}

/// Whether an output is standard output: `-`, a name that the system has for it, or the file that it leads to. What is
/// written there goes through it, behind what is there and before what follows.
pub(crate) fn is_standard(out: &Path) -> bool {
    let named =
        ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| out == Path::new(name));
    let own = || {
        let facts = fstat(io::stdout()).ok()?;
        FileType::from_raw_mode(facts.st_mode).is_file().then_some((facts.st_dev, facts.st_ino))
    };
    named || identity(out).is_some_and(|written| own() == Some(written))
}

/// Refuses a document on a standard output that something else is written to.
pub(crate) fn alone(option: &str, out: &Path, output: &Output) -> Result<(), Trouble> {
    if output.json() && is_standard(out) {
        let out = shown::path(out);
        let what = if option.is_empty() { format!("`{out}`") } else { format!("`{option} {out}`") };
        return Err(Trouble::Usage(format!(
            "`--json` and {what} both write to standard output; name a file"
        )));
    }
    Ok(())
}

/// Refuses to write over what is read.
pub(crate) fn apart<'p>(out: &Path, inputs: impl IntoIterator<Item = &'p Path>) -> Result<(), Trouble> {
    let written = if out == Path::new("-") { None } else { identity(out) };
    let same = |input: &&Path| written.is_some() && identity_read(input) == written;
    match inputs.into_iter().find(same) {
        None => Ok(()),
        Some(input) => Err(Trouble::Usage(format!(
            "{} would be written over {}, which is read; name another file",
            shown::path(out),
            shown::path(input)
        ))),
    }
}

/// The same for the files of a dump in that folder.
pub(crate) fn apart_from_dump(folder: &Path, inputs: &[PathBuf]) -> Result<(), Trouble> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let endings: [&[u8]; 2] = [b".bin", b".txt"];
        if name == "report.json" || endings.iter().any(|ending| name.as_bytes().ends_with(ending)) {
            apart(&entry.path(), inputs.iter().map(PathBuf::as_path))?;
        }
    }
    Ok(())
}

/// A bar over all of them, and the bytes before each.
pub(crate) struct Tour {
    progress: Progress,
    /// Bytes before each file.
    starts: Vec<u64>,
}

impl Tour {
    /// A bar that appears when the work lasts.
    pub(crate) fn new(label: &'static str, files: &[Named], output: &Output) -> Self {
        let mut total = 0u64;
        let mut starts = Vec::with_capacity(files.len());
        for file in files {
            starts.push(total);
            total = total.saturating_add(file.size());
        }
        // Of a pipe, nobody knows the length.
        let total = Some(total).filter(|total| *total > 0 || files.len() != 1);
        Self { progress: output.progress(label, total), starts }
    }

    /// Takes the bar away, for a line in its place.
    pub(crate) fn hide(&mut self) {
        self.progress.hide();
    }

    /// The bar, for the file of that number, counted from 0.
    pub(crate) fn file(&mut self, at: usize) -> &mut Progress {
        let before = self.starts.get(at).copied().unwrap_or(0);
        self.progress.begin(at + 1, self.starts.len(), before);
        &mut self.progress
    }
}

/// Most bytes of a file that a command holds in memory; a pipe may have no end.
const MOST_HELD: u64 = 16 << 30;

/// The whole of `input` in memory.
pub(crate) fn hold(path: &Path, input: &mut Input, output: &Output) -> Result<Vec<u8>, Trouble> {
    let mut progress = output.progress("reading", input.len());
    let trouble = |what: &dyn fmt::Display| Trouble::Usage(format!("{}: {what}", shown::path(path)));
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
