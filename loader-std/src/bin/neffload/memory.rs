//! `neffload memory`: how much device memory files will need.

mod people;
mod staged;

use crate::Answer;
use crate::arguments::number;
use crate::output::{Document, Output, verdict};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::limits::Limits;
use loader_std::file::{Buffers, Input};
use loader_std::members::Unpacked;
use loader_std::memory::{Estimate, Page, Together, analyser_line};
use loader_std::walk::neff_files;
use loader_std::{LoadError, Refusal};
use serde_json::{Value, json};
use staged::{Staged, Stager};
use std::io;
use std::path::{Path, PathBuf};

/// Arguments of `memory`.
#[derive(Args, Debug)]
pub(crate) struct MemoryArguments {
    /// Files, `FILE@OFFSET`, `-`, or folders to search for *.neff; all are taken to be loaded together
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Scratchpad page; without it the environment's, else 64M
    #[arg(long, value_name = "N", value_parser = number)]
    page_size: Option<u64>,
    /// Also load them, together, into a simulated device, and say what each core takes
    #[arg(long)]
    staged: bool,
}

/// What came of one file.
#[derive(Debug)]
struct Measured {
    file: String,
    estimate: Result<Estimate, Refusal>,
    /// With `--staged`.
    staged: Option<Result<Staged, LoadError>>,
}

impl Measured {
    const fn is_refused(&self) -> bool {
        self.estimate.is_err() || matches!(self.staged, Some(Err(_)))
    }
}

/// Runs `memory`.
pub(crate) fn run(arguments: &MemoryArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let page = page(arguments)?;
    let one = arguments.files.len() == 1 && !arguments.files[0].is_dir();
    let mut measured = measure(arguments, page, output)?;
    if arguments.staged {
        stage(&mut measured, page)?;
    }
    for refused in measured.iter().filter_map(|file| Some((file, file.estimate.as_ref().err()?))) {
        say!("neffload: {}", analyser_line(&refused.0.file, refused.1));
    }
    match (output.json(), &measured[..]) {
        (true, [file]) if one => output.document(&single(file))?,
        (true, files) => output.document(&set(files))?,
        (false, files) => people::print(files, output)?,
    }
    let refused = measured.iter().any(Measured::is_refused);
    Ok(if refused { Answer::Refused } else { Answer::Done })
}

/// Loads every file that could be measured; all stay loaded until the last one is.
fn stage(measured: &mut [Measured], page: Page) -> Result<(), Trouble> {
    let mut stager = Stager::new(page);
    for file in measured.iter_mut().filter(|file| file.estimate.is_ok()) {
        let staged = stager.load(Path::new(&file.file))?;
        if let Err(refused) = &staged {
            say!("neffload: {}: {refused}", file.file);
        }
        file.staged = Some(staged);
    }
    Ok(())
}

fn page(arguments: &MemoryArguments) -> Result<Page, Trouble> {
    let page = match arguments.page_size {
        Some(bytes) => Page::of(bytes),
        None => Page::from_environment(|name| std::env::var(name).ok()),
    };
    page.map_err(|refusal| Trouble::Usage(refusal.text()))
}

fn measure(arguments: &MemoryArguments, page: Page, output: &Output) -> Result<Vec<Measured>, Trouble> {
    let names = &arguments.files;
    let mut files = Vec::new();
    for name in names {
        files.extend(neff_files(name).map_err(Trouble::at(name))?);
    }
    let size = |file: &PathBuf| std::fs::metadata(file).map_or(0, |facts| facts.len());
    let total = files.iter().map(size).sum();
    let mut progress = output.progress("measuring", Some(total));
    let (mut buffers, mut done, mut measured) = (Buffers::new(), 0, Vec::new());
    for file in &files {
        let input = Input::open(file);
        if arguments.staged && matches!(input, Ok(Input::Pipe(_))) {
            return Err(Trouble::Usage("--staged reads a file twice; a pipe cannot be".to_owned()));
        }
        measured.push(one(file, input, page, &mut buffers, names.contains(file))?);
        done += size(file);
        progress.set(done);
    }
    Ok(measured)
}

/// Measures a file. That a named file cannot be opened ends the command; one that was found in a
/// folder is only reported.
fn one(
    file: &Path,
    input: io::Result<Input>,
    page: Page,
    buffers: &mut Buffers,
    named: bool,
) -> Result<Measured, Trouble> {
    let estimate = match input {
        Ok(mut input) => Unpacked::read(&mut input, buffers, &Limits::DEFAULT, Estimate::wants)
            .and_then(|members| Estimate::of(&members, page)),
        Err(error) if named => return Err(Trouble::at(file)(error)),
        Err(error) => Err(Refusal::unreadable(&error)),
    };
    Ok(Measured { file: file.display().to_string(), estimate, staged: None })
}

fn single(file: &Measured) -> Document {
    let mut document = Document::new("memory");
    document.set("file", file.file.as_str());
    match &file.estimate {
        Ok(estimate) => document.set("memory", json!(estimate)),
        Err(refusal) => document.set("error", error(&file.file, refusal)),
    };
    match &file.staged {
        Some(Ok(staged)) => document.set("breakdown", staged.breakdown.clone()),
        Some(Err(refused)) => document.set("verdict", verdict::refused(refused, refused)),
        None => &mut document,
    };
    document
}

fn set(files: &[Measured]) -> Document {
    let entry = |file: &Measured| match &file.estimate {
        Ok(estimate) => {
            let mut entry = json!(estimate);
            entry["file"] = file.file.as_str().into();
            match &file.staged {
                Some(Ok(staged)) => entry["breakdown"] = staged.breakdown.clone(),
                Some(Err(refused)) => entry["verdict"] = verdict::refused(refused, refused),
                None => {}
            }
            entry
        }
        Err(refusal) => json!({ "file": file.file, "error": error(&file.file, refusal) }),
    };
    let mut document = Document::new("memory");
    document.set("files", files.iter().map(entry).collect::<Vec<Value>>());
    document.set("together", json!(together(files)));
    document
}

/// The readable files, loaded together.
fn together(files: &[Measured]) -> Together {
    Together::of(files.iter().filter_map(|file| file.estimate.as_ref().ok()))
}

fn error(file: &str, refusal: &Refusal) -> Value {
    json!({
        "code": refusal.error.id().to_string(),
        "log": refusal.text(),
        "line": analyser_line(file, refusal),
        "member": refusal.member,
        "offset": refusal.error.at.offset,
        "message": refusal.to_string(),
    })
}
