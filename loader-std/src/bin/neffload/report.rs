//! `neffload report`: one page about a file, for a browser.

mod facts;
mod html;
mod load;
mod map;
mod page;
mod sections;

use crate::Answer;
use crate::files::{alone, apart, is_standard};
use crate::load::check_environment;
use crate::output::{Document, Output, Size, shown};
use crate::replace::replace;
use crate::trouble::Trouble;
use clap::Args;
use loader_core::source::Source;
use loader_std::environment;
use loader_std::file::Input;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    file: PathBuf,
    /// The page to write, one self-contained HTML file; `-` is standard output
    #[arg(long, short, value_name = "OUT.html")]
    out: Option<PathBuf>,
}

/// Runs `report`. `--json` prints the figures of the page; with `-o` too both are made.
pub(crate) fn run(arguments: &ReportArguments, output: &mut Output) -> Result<Answer, Trouble> {
    if arguments.out.is_none() && !output.json() {
        return Err(Trouble::Usage("where to? `neffload report FILE -o OUT.html`".to_owned()));
    }
    let to_output = arguments.out.as_deref().is_some_and(is_standard);
    if let Some(out) = &arguments.out {
        alone("-o", out, output)?;
        apart(out, [arguments.file.as_path()])?;
    }
    check_environment()?;
    environment::page().map_err(|refusal| Trouble::Usage(refusal.to_string()))?;
    let mut input = Input::open(&arguments.file).map_err(Trouble::at(&arguments.file))?;
    let mut progress = output.progress("reading", input.len());
    let document = facts::gather(&arguments.file, &mut input, |done| progress.set(done))?;
    drop(progress);
    if let Some(out) = &arguments.out {
        let page = page::render(&document.clone().into_value());
        if to_output {
            output.exactly(page.trim_end())?;
        } else {
            replace(out, |mut file| file.write_all(page.as_bytes())).map_err(Trouble::at(out))?;
            output.remark(format_args!("{}: {}", shown::path(out), Size(page.len() as u64)));
        }
    }
    if output.json() {
        output.document(&document)?;
    }
    let Some(refusal) = refusal(&document) else { return Ok(Answer::Done) };
    if !output.json() {
        let why = refusal["message"].as_str().unwrap_or_default();
        output.remark(format_args!("neffload: {}: refused: {why}", shown::path(&arguments.file)));
    }
    Ok(Answer::Refused)
}

/// Why the file cannot be read, or not be loaded. The page of such a file says it too; it is still a refusal.
fn refusal(document: &Document) -> Option<Value> {
    let verdicts = [document.get("verdict").clone(), document.get("load")["verdict"].clone()];
    verdicts.into_iter().find(|verdict| verdict["accepted"] != true)
}
