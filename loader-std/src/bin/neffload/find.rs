//! `neffload find`: NEFFs inside other files.

use crate::Answer;
use crate::files::{Named, expand_all, hold};
use crate::inspect::NoNames;
use crate::output::{Align, Columns, Count, Listing, Output, Paint, Size, cell, shown, verdict};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::error::{ContainerCode, Error, Stage};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::Source;
use loader_std::container::{Ask, Survey, survey};
use loader_std::file::{Buffers, FileSource};
use loader_std::find::{Found, find};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Arguments of `find`.
#[derive(Args, Debug)]
pub(crate) struct FindArguments {
    /// Any files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Runs `find`. What is found is printed at once, so that no carrier fills the memory with it.
pub(crate) fn run(arguments: &FindArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let files = expand_all(&arguments.files);
    let count = files.len() as u64;
    let mut rows = Rows::begin(&files, output)?;
    let mut unread: Vec<Value> = Vec::new();
    for mut file in files {
        let path = file.path.clone();
        let trouble = match search(&mut file, &mut rows, output) {
            Ok(()) => continue,
            Err(Stop::Print(trouble)) => return Err(trouble),
            Err(Stop::Open(trouble)) => trouble,
            Err(Stop::Read(error)) => Trouble::Usage(format!("{}: {error}", shown::path(&path))),
        };
        shown::complain(format_args!("neffload: {trouble}"));
        unread.push(json!({ "path": shown::name(&path), "error": trouble.to_string() }));
    }
    let failed = unread.len() as u64;
    rows.end(count, unread, output)?;
    if failed > 0 {
        return Err(Trouble::Usage(format!("{} could not be read", Count(failed, "file"))));
    }
    Ok(Answer::Done)
}

/// What was found, on its way out.
struct Rows {
    /// The document, if one was asked for.
    listing: Option<Listing>,
    columns: Columns,
    all: u64,
}

impl Rows {
    fn begin(files: &[Named], output: &mut Output) -> Result<Self, Trouble> {
        let listing = output.json().then(|| Listing::begin("find", "found", output)).transpose()?;
        let mut columns = Columns::new(&[
            ("offset", Align::Right),
            ("size", Align::Right),
            ("", Align::Left),
            ("where", Align::Left),
        ]);
        let farthest = files.iter().map(Named::size).max().unwrap_or(0);
        columns.fit(
            &[farthest.to_string(), "1023.9 KiB".into(), "not judged".into()]
                .map(|widest| cell(widest, Paint::Plain)),
        );
        Ok(Self { listing, columns, all: 0 })
    }

    fn add(&mut self, path: &Path, found: Found, seen: Seen<'_>, output: &mut Output) -> Result<(), Trouble> {
        self.all += 1;
        if let Some(listing) = &mut self.listing {
            return listing.row(&row(path, found, seen), output);
        }
        if self.all == 1 {
            output.headings(&self.columns)?;
        }
        let (word, paint) = match seen {
            Ok(seen) if seen.accepted() => ("accepted", Paint::Good),
            Ok(_) => ("refused", Paint::Bad),
            Err(_) => ("not judged", Paint::Bad),
        };
        let place = format!("{}@{}", shown::path(path), found.offset);
        let cells = [
            cell(found.offset, Paint::Plain),
            cell(Size(found.size), Paint::Plain),
            cell(word, paint),
            cell(place, Paint::Plain),
        ];
        output.row(&self.columns, &cells)
    }

    fn end(self, files: u64, unread: Vec<Value>, output: &mut Output) -> Result<(), Trouble> {
        match self.listing {
            Some(listing) => listing.end(&[("unreadable", unread.into())], output),
            None if self.all == 0 => output.line(format_args!("nothing in {}", Count(files, "file"))),
            None if files > 1 => {
                output.line(format_args!("{} in {}", Count(self.all, "NEFF"), Count(files, "file")))
            }
            None => Ok(()),
        }
    }
}

/// What was found out about a place, or why nothing was.
type Seen<'s> = Result<&'s Survey, &'s Error>;

fn row(path: &Path, found: Found, seen: Seen<'_>) -> Value {
    let error = match seen {
        Ok(seen) => seen.error.as_ref(),
        Err(unjudged) => Some(unjudged),
    };
    json!({
        "path": shown::name(path),
        "offset": found.offset,
        "size": found.size,
        "name": seen.ok().and_then(|seen| seen.header.as_ref()).map(|header| header.name.to_string()),
        "verdict": error.map_or_else(verdict::accepted, |error| verdict::refused(error, &NoNames)),
    })
}

fn search(file: &mut Named, rows: &mut Rows, output: &mut Output) -> Result<(), Stop> {
    let standard = file.path == Path::new("-");
    if standard || fs::metadata(&file.path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
        // It has no length and no second reading: nothing would be found in it, whatever it holds.
        let why = format!("{}: find looks into plain files", shown::path(&file.path));
        return Err(Stop::Open(Trouble::Usage(why)));
    }
    // What cannot be read, or is no file any more, is refused here.
    let mut input = file.open().map_err(Stop::Open)?;
    let path = file.path.as_path();
    if file.size() == 0 {
        // A file without a length, as those of `/proc` are, may have content all the same.
        let held = hold(path, &mut input, output).map_err(Stop::Open)?;
        let inside = |found: Found| {
            let at = |offset: u64| usize::try_from(offset).ok();
            let range = at(found.offset).zip(at(found.offset.saturating_add(found.size)));
            Ok(range.and_then(|(from, to)| held.get(from..to)).unwrap_or_default())
        };
        return search_in(path, &mut held.as_slice(), inside, rows, output);
    }
    let open = |base| {
        let opened = File::open(path).and_then(|file| FileSource::new(file, base));
        opened.map_err(|error| Stop::Open(Trouble::at(path)(error)))
    };
    search_in(path, &mut open(0)?, |found| Ok(open(found.offset)?.cut(found.size)), rows, output)
}

/// Searches a carrier; `inside` opens what was found in it.
fn search_in<S: Source>(
    path: &Path,
    source: &mut impl Source,
    inside: impl Fn(Found) -> Result<S, Stop>,
    rows: &mut Rows,
    output: &mut Output,
) -> Result<(), Stop> {
    let progress = RefCell::new(output.progress("searching", source.len()));
    let mut buffers = Buffers::new();
    let judged = |found: Found, spent: Option<u64>| {
        if let Some(spent) = spent {
            progress.borrow_mut().hide();
            let unjudged = Error::new(Stage::Tool, ContainerCode::Unjudged).numbers(spent, 0);
            rows.add(path, found, Err(&unjudged), output).map_err(Stop::Print)?;
            return Ok(false);
        }
        let mut inside = inside(found)?;
        let (policy, limits) = (Policy::DEFAULT, Limits::DEFAULT);
        let told = |done| progress.borrow_mut().set(found.offset.saturating_add(done));
        let seen = survey(&mut inside, &mut buffers, &policy, &limits, Ask::default(), told)?;
        progress.borrow_mut().hide();
        rows.add(path, found, Ok(&seen), output).map_err(Stop::Print)?;
        Ok(seen.accepted())
    };
    find(source, judged, |done| progress.borrow_mut().set(done))
}

/// What ends the search of a carrier.
enum Stop {
    /// It cannot be opened; others can.
    Open(Trouble),
    /// It cannot be read to its end.
    Read(Error),
    /// Nothing can be printed.
    Print(Trouble),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}
