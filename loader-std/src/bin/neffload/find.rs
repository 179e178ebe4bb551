//! `neffload find`: NEFFs inside other files.

use crate::Answer;
use crate::files::{Named, expand_all};
use crate::inspect::NoNames;
use crate::output::{Align, Count, Document, Output, Paint, Size, Table, shown, verdict};
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
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Arguments of `find`.
#[derive(Args, Debug)]
pub(crate) struct FindArguments {
    /// Any files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Runs `find`.
pub(crate) fn run(arguments: &FindArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let (mut rows, mut count): (Vec<Value>, u64) = (Vec::new(), 0);
    let (mut all, json) = (0, output.json());
    let columns =
        [("offset", Align::Right), ("size", Align::Right), ("", Align::Left), ("where", Align::Left)];
    let mut table = Table::new(&columns);
    let files = expand_all(&arguments.files);
    let mut unread: Vec<Value> = Vec::new();
    for mut file in files {
        let path = file.path.clone();
        count += 1;
        let searched = search(&mut file, output, |found, seen| {
            all += 1;
            if json {
                rows.push(row(&path, found, seen));
                return;
            }
            let (word, paint) = match seen {
                Ok(seen) if seen.accepted() => ("accepted", Paint::Good),
                Ok(_) => ("refused", Paint::Bad),
                Err(_) => ("not judged", Paint::Bad),
            };
            let place = format!("{}@{}", shown::path(&path), found.offset);
            table.row([found.offset.to_string(), Size(found.size).to_string(), word.to_owned(), place]);
            table.paint(2, paint);
        });
        if let Err(trouble) = searched {
            shown::complain(format_args!("neffload: {trouble}"));
            unread.push(json!({ "path": shown::name(&path), "error": trouble.to_string() }));
        }
    }
    let failed = unread.len();
    if output.json() {
        output.document(Document::new("find").set("found", rows).set("unreadable", unread))?;
    } else if all == 0 {
        output.line(format_args!("nothing in {}", Count(count, "file")))?;
    } else {
        output.table(&table)?;
        if count > 1 {
            let found = Count(all, "NEFF");
            output.line(format_args!("{found} in {}", Count(count, "file")))?;
        }
    }
    if failed > 0 {
        return Err(Trouble::Usage(format!("{} could not be read", Count(failed as u64, "file"))));
    }
    Ok(Answer::Done)
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

fn search(file: &mut Named, output: &Output, mut report: impl FnMut(Found, Seen<'_>)) -> Result<(), Trouble> {
    if fs::metadata(&file.path).is_ok_and(|facts| !facts.is_file() && !facts.is_dir()) {
        // It has no length and no second reading: nothing would be found in it, whatever it holds.
        return Err(Trouble::Usage(format!("{}: find looks into plain files", shown::path(&file.path))));
    }
    // What cannot be read, or is no file any more, is refused here.
    drop(file.open()?);
    let path = file.path.as_path();
    let open =
        |base| File::open(path).and_then(|file| FileSource::new(file, base)).map_err(Trouble::at(path));
    let mut source = open(0)?;
    let mut progress = output.progress("searching", source.len());
    let mut buffers = Buffers::new();
    let unreadable = |error: Error| Unreadable::from(error).at(path);
    let judged = |found: Found, spent: Option<u64>| -> Result<bool, Unreadable> {
        if let Some(spent) = spent {
            report(found, Err(&Error::new(Stage::Tool, ContainerCode::Unjudged).numbers(spent, 0)));
            return Ok(false);
        }
        let mut inside = open(found.offset)?;
        let seen =
            survey(&mut inside, &mut buffers, &Policy::DEFAULT, &Limits::DEFAULT, Ask::default(), |_| {})?;
        report(found, Ok(&seen));
        Ok(seen.accepted())
    };
    find(&mut source, judged, |done| progress.set(done)).map_err(|error| match error {
        Unreadable::File(error) => unreadable(error),
        Unreadable::System(trouble) => trouble,
    })
}

/// What can stop a search.
enum Unreadable {
    File(Error),
    System(Trouble),
}

impl Unreadable {
    fn at(self, path: &Path) -> Trouble {
        match self {
            Self::File(error) => Trouble::Usage(format!("{}: {error}", shown::path(path))),
            Self::System(trouble) => trouble,
        }
    }
}

impl From<Error> for Unreadable {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl From<Trouble> for Unreadable {
    fn from(trouble: Trouble) -> Self {
        Self::System(trouble)
    }
}
