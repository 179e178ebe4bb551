//! `neffload report`: one page about a file, for a browser.

mod facts;
mod html;
mod load;
mod map;
mod page;
mod sections;

use crate::Answer;
use crate::output::{Document, Output, Size, shown};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::source::Source;
use loader_std::file::Input;
use std::fs;
use std::path::PathBuf;

/// Arguments of `report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    file: PathBuf,
    /// The page to write, one self-contained HTML file
    #[arg(long, short, value_name = "OUT.html")]
    out: Option<PathBuf>,
}

/// Runs `report`. `--json` prints the figures of the page; with `-o` too both are made.
pub(crate) fn run(arguments: &ReportArguments, output: &mut Output) -> Result<Answer, Trouble> {
    if arguments.out.is_none() && !output.json() {
        return Err(Trouble::Usage("where to? `neffload report FILE -o OUT.html`".to_owned()));
    }
    let mut input = Input::open(&arguments.file).map_err(Trouble::at(&arguments.file))?;
    let mut progress = output.progress("reading", input.len());
    let document = facts::gather(&arguments.file, &mut input, |done| progress.set(done))?;
    drop(progress);
    if let Some(out) = &arguments.out {
        let page = page::render(&document.clone().into_value());
        fs::write(out, &page).map_err(Trouble::at(out))?;
        output.remark(format_args!("{}: {}", shown::path(out), Size(page.len() as u64)));
    }
    if output.json() {
        output.document(&document)?;
    }
    Ok(answer(&document))
}

/// The page of a refused file says why; that is still a refusal.
fn answer(document: &Document) -> Answer {
    if document.get("verdict")["accepted"] == true { Answer::Done } else { Answer::Refused }
}
