//! `neffload info`: one getter of the tooling view.

use crate::Answer;
use crate::output::{Document, Output};
use crate::trouble::Trouble;
use clap::Args;
use clap::builder::PossibleValuesParser;
use loader_core::limits::Limits;
use loader_std::file::{Buffers, Input, split_offset};
use loader_std::info::{GETTERS, Selector, WorldSizeRule};
use loader_std::members::Unpacked;
use loader_std::{NeffInfo, Refusal, info};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Arguments of `info`.
#[derive(Args, Debug)]
pub(crate) struct InfoArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    file: PathBuf,
    /// What to ask
    #[arg(value_parser = PossibleValuesParser::new(GETTERS))]
    getter: String,
    /// For findInNeff: a regular expression, searched for in member names
    argument: Option<String>,
    /// Let a pattern end only where the name ends
    #[arg(long)]
    strict: bool,
    /// Count all workers of a topology, not its largest group
    #[arg(long)]
    total_workers: bool,
}

/// Runs `info`.
pub(crate) fn run(arguments: &InfoArguments, output: &mut Output) -> Result<Answer, Trouble> {
    if arguments.getter == "findInNeff" && arguments.argument.is_none() {
        return Err(Trouble::Usage("findInNeff needs a regular expression".to_owned()));
    }
    let answer = match open(arguments)? {
        Ok(view) => ask(&view, arguments),
        Err(refusal) => Err(refusal),
    };
    match answer {
        Ok(answer) => told(arguments, answer, output),
        Err(refusal) => refused(arguments, &refusal, output),
    }
}

/// The view of a file. Standard input and `FILE@OFFSET` have no path to look for.
fn open(arguments: &InfoArguments) -> Result<Result<NeffInfo<Unpacked>, Refusal>, Trouble> {
    let file = arguments.file.as_path();
    let inside = split_offset(file).is_some_and(|(path, _)| path.exists());
    if file == Path::new("-") || inside {
        let mut input = Input::open(file).map_err(Trouble::at(file))?;
        return Ok(unpacked(arguments, &mut input).map(NeffInfo::new));
    }
    let mut trouble = None;
    let view = NeffInfo::parse_file(file, |path| match Input::open(path) {
        Ok(mut input) => unpacked(arguments, &mut input),
        Err(error) => {
            trouble = Some(Trouble::at(path)(error));
            Ok(Unpacked::default())
        }
    });
    trouble.map_or(Ok(view), Err)
}

/// The members, in one pass. Blobs are not kept, except for the one that `findInNeff` may have to print: the
/// first name in byte order that its pattern finds.
fn unpacked(arguments: &InfoArguments, input: &mut Input) -> Result<Unpacked, Refusal> {
    let pattern = arguments.argument.as_deref().filter(|_| arguments.getter == "findInNeff");
    let selector = pattern.and_then(|pattern| Selector::new(pattern, arguments.strict).ok());
    let mut first: Option<Vec<u8>> = None;
    Unpacked::read(input, &mut Buffers::new(), &Limits::DEFAULT, |name| {
        let found = selector.as_ref().is_some_and(|selector| selector.finds(name));
        let found = found && first.as_deref().is_none_or(|first| name <= first);
        if found {
            first = Some(name.to_vec());
        }
        found || name.ends_with(b".json")
    })
}

fn ask(view: &NeffInfo<Unpacked>, arguments: &InfoArguments) -> Result<info::Answer, Refusal> {
    let rule =
        if arguments.total_workers { WorldSizeRule::TotalWorkers } else { WorldSizeRule::LargestGroup };
    let view = view.clone().strict(arguments.strict).world_size_rule(rule);
    view.get(&arguments.getter, arguments.argument.as_deref())
}

fn told(arguments: &InfoArguments, answer: info::Answer, output: &mut Output) -> Result<Answer, Trouble> {
    if output.json() {
        let mut document = Document::new("info");
        document.set("getter", arguments.getter.as_str()).set("value", answer.value);
        document.set("member", answer.member);
        output.document(&document)?;
    } else {
        output.line(text(&answer.value))?;
    }
    Ok(Answer::Done)
}

/// A string bare, everything else as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    }
}

fn refused(arguments: &InfoArguments, refusal: &Refusal, output: &mut Output) -> Result<Answer, Trouble> {
    if output.json() {
        let mut document = Document::new("info");
        document.set("getter", arguments.getter.as_str()).set("error", refusal.text());
        document.set("code", refusal.error.id().to_string());
        document.set("member", refusal.member.clone());
        output.document(&document)?;
    }
    say!("neffload: {}: {refusal}", arguments.file.display());
    Ok(Answer::Refused)
}
