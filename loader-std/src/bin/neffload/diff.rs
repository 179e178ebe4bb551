//! `neffload diff`: what differs between two files.

mod people;

use crate::Answer;
use crate::output::{Document, Output, shown, verdict};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::source::Source;
use loader_std::diff::{Comparison, Snapshot, compare};
use loader_std::file::{Input, split_offset};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Arguments of `diff`.
#[derive(Args, Debug)]
pub(crate) struct DiffArguments {
    /// The first file, `FILE@OFFSET`, or `-` for standard input
    a: PathBuf,
    /// The second one
    b: PathBuf,
    /// Exit with status 1 if the files differ, not only if one is refused
    #[arg(long)]
    exit_code: bool,
}

/// Runs `diff`.
pub(crate) fn run(arguments: &DiffArguments, output: &mut Output) -> Result<Answer, Trouble> {
    if arguments.a == Path::new("-") && arguments.b == Path::new("-") {
        return Err(Trouble::Usage("standard input is read once: it cannot be both files".to_owned()));
    }
    let (a, b) = (read(&arguments.a, output)?, read(&arguments.b, output)?);
    let comparison = compare(&a, &b);
    if output.json() {
        output.document(&document(arguments, [&a, &b], &comparison))?;
    } else {
        people::print(arguments, [&a, &b], &comparison, output)?;
    }
    let refused = a.refusal.is_some() || b.refusal.is_some();
    let differ = arguments.exit_code && !comparison.equal;
    Ok(if refused || differ { Answer::Refused } else { Answer::Done })
}

/// One pass over the file; what is compared is all that is kept of it.
fn read(path: &Path, output: &Output) -> Result<Snapshot, Trouble> {
    let mut input = Input::open(path).map_err(Trouble::at(path))?;
    let mut progress = output.progress("reading", input.len());
    let snapshot = Snapshot::of(&mut input, |done| progress.set(done))
        .map_err(|error| Trouble::Usage(format!("{}: {error}", shown::path(path))))?;
    let in_carrier = split_offset(path).is_some() && !path.exists();
    Ok(if in_carrier { snapshot.in_carrier() } else { snapshot })
}

fn document(arguments: &DiffArguments, files: [&Snapshot; 2], comparison: &Comparison) -> Document {
    let mut document = Document::new("diff");
    let paths = [&arguments.a, &arguments.b];
    for ((key, path), file) in ["a", "b"].into_iter().zip(paths).zip(files) {
        let verdict = match &file.refusal {
            Some(refused) => verdict::refused(refused, refused),
            None => verdict::accepted(),
        };
        let name = shown::name(path);
        document.set(key, json!({ "name": name, "file": file.file, "verdict": verdict }));
    }
    if let Value::Object(sections) = json!(comparison) {
        for (key, value) in sections {
            document.set(&key, value);
        }
    }
    document
}
