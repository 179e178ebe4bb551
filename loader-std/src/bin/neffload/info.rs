//! `neffload info`: one getter of the tooling view.

use crate::Answer;
use crate::output::{Document, Followed, Output, shown};
use crate::trouble::Trouble;
use clap::Args;
use clap::builder::PossibleValuesParser;
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::source::Source as _;
use loader_std::file::{Buffers, Input, split_offset};
use loader_std::info::{GETTERS, Selector, WorldSizeRule};
use loader_std::members::Unpacked;
use loader_std::{NeffInfo, Refusal, info};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
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
    match (arguments.getter.as_str(), &arguments.argument) {
        ("findInNeff", None) => {
            return Err(Trouble::Usage("findInNeff needs a regular expression".to_owned()));
        }
        ("findInNeff", Some(_)) | (_, None) => {}
        (getter, Some(_)) => return Err(Trouble::Usage(format!("{getter} takes no argument"))),
    }
    for flag in idle(arguments) {
        let getter = &arguments.getter;
        output.remark(format_args!("neffload: {flag} changes nothing about {getter}"));
    }
    let answer = open(arguments, output)?.and_then(|view| {
        let depth = usize::from(output.json());
        let strict = view.clone().strict(arguments.strict);
        let text = strict.text(&arguments.getter, depth)?;
        let remarks = match arguments.getter.as_str() {
            "getAliasInfo" => strict.alias_remarks()?,
            _ => Vec::new(),
        };
        Ok(Heard { answer: ask(&view, arguments)?, text, remarks })
    });
    match answer {
        Ok(heard) => told(arguments, heard, output),
        Err(refusal) => refused(arguments, &refusal, output),
    }
}

/// Getters whose member is found by a pattern.
const SELECTING: [&str; 8] = [
    "findInNeff",
    "getDefJson",
    "getTensorMapJson",
    "getTensorMap",
    "getAliasInfo",
    "hasMustAlias",
    "hasCC",
    "getCCRankWorldSize",
];

/// Options that were given and that the getter does not look at.
fn idle(arguments: &InfoArguments) -> impl Iterator<Item = &'static str> {
    let getter = arguments.getter.as_str();
    let strict = arguments.strict && !SELECTING.contains(&getter);
    let workers = arguments.total_workers && getter != "getCCRankWorldSize";
    [(strict, "--strict"), (workers, "--total-workers")]
        .into_iter()
        .filter_map(|(idle, flag)| idle.then_some(flag))
}

/// The view of a file. Standard input and `FILE@OFFSET` have no path to look for.
fn open(arguments: &InfoArguments, output: &Output) -> Result<Result<NeffInfo<Unpacked>, Refusal>, Trouble> {
    let file = arguments.file.as_path();
    let inside = split_offset(file).is_some_and(|(path, _)| path.exists());
    if file == Path::new("-") || inside {
        let mut input = Input::open(file).map_err(Trouble::at(file))?;
        return Ok(unpacked(arguments, &mut input, output).map(NeffInfo::new));
    }
    let mut trouble = None;
    let view = NeffInfo::parse_file(file, |path| match Input::open(path) {
        Ok(mut input) => unpacked(arguments, &mut input, output),
        Err(error) => {
            trouble = Some(Trouble::at(path)(error));
            Ok(Unpacked::default())
        }
    });
    trouble.map_or(Ok(view), Err)
}

/// The members, in one pass. Blobs are not kept, except for the one that `findInNeff` may have to print: the
/// first name in byte order that its pattern finds.
fn unpacked(arguments: &InfoArguments, input: &mut Input, output: &Output) -> Result<Unpacked, Refusal> {
    let pattern = arguments.argument.as_deref().filter(|_| arguments.getter == "findInNeff");
    let selector = pattern.and_then(|pattern| Selector::new(pattern, arguments.strict).ok());
    let mut first: Option<Vec<u8>> = None;
    let mut progress = output.progress("reading", input.len());
    let mut input = Followed::new(input, |done| progress.set(done));
    Unpacked::read(&mut input, &mut Buffers::new(), &Limits::DEFAULT, |name| {
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

/// The document, its value as the text that the view gave, if it gave one.
#[derive(Serialize)]
struct Told<'a> {
    schema: &'a str,
    getter: &'a str,
    value: &'a RawValue,
    member: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// What the getter answered, with its text and remarks.
struct Heard {
    answer: info::Answer,
    text: Option<String>,
    remarks: Vec<Error>,
}

fn told(arguments: &InfoArguments, heard: Heard, output: &mut Output) -> Result<Answer, Trouble> {
    let Heard { answer, text, remarks } = heard;
    for remark in &remarks {
        output.remark(format_args!("neffload: {remark}"));
    }
    if output.json() {
        let text = text.unwrap_or_else(|| format!("{:#}", answer.value).replace('\n', "\n  "));
        let broken = |error: serde_json::Error| Trouble::Usage(error.to_string());
        let value = RawValue::from_string(text).map_err(broken)?;
        let told = Told {
            schema: "neffload.info/1",
            getter: &arguments.getter,
            value: &value,
            member: answer.member.as_deref(),
            encoding: answer.encoding,
            warnings: remarks.iter().map(|remark| remark.log().to_string()).collect(),
        };
        output.exactly(&serde_json::to_string_pretty(&told).map_err(broken)?)?;
    } else {
        // A string bare, everything else as JSON.
        match (text, &answer.value) {
            (Some(text), _) => output.content(&text)?,
            (None, Value::String(text)) => output.content(text)?,
            (None, other) => output.content(&format!("{other:#}"))?,
        }
    }
    Ok(Answer::Done)
}

fn refused(arguments: &InfoArguments, refusal: &Refusal, output: &mut Output) -> Result<Answer, Trouble> {
    if output.json() {
        let mut document = Document::new("info");
        document.set("getter", arguments.getter.as_str()).set("error", refusal.text());
        document.set("code", refusal.error.id().to_string());
        document.set("member", refusal.member.clone());
        output.document(&document)?;
    }
    shown::complain(format_args!("neffload: {}: {refusal}", shown::path(&arguments.file)));
    Ok(Answer::Refused)
}
