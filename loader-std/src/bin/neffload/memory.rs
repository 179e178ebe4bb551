//! `neffload memory`: how much device memory files will need.

mod people;
mod staged;

use crate::Answer;
use crate::arguments::number;
use crate::files::{Named, Tour, expand};
use crate::load::check_environment;
use crate::output::{Count, Document, Followed, Output, Progress, shown, verdict};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::error::{ContainerCode, Error, Stage};
use loader_core::limits::Limits;
use loader_std::environment;
use loader_std::file::{Buffers, Input};
use loader_std::members::Unpacked;
use loader_std::memory::{Estimate, Page, Together, analyser_line};
use loader_std::{LoadError, Refusal};
use serde_json::{Value, json};
use staged::{Staged, Stager};
use std::path::PathBuf;

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
    path: PathBuf,
    file: String,
    estimate: Result<Estimate, Refusal>,
    /// What the system refused: the file could not be read.
    unread: Option<String>,
    /// With `--staged`.
    staged: Option<Result<Staged, LoadError>>,
}

impl Measured {
    const fn is_refused(&self) -> bool {
        self.unread.is_none() && (self.estimate.is_err() || matches!(self.staged, Some(Err(_))))
    }

    /// Says why there is no estimate: in the analyser's words, and with the code and what to do.
    fn complain(&self) {
        match (&self.unread, &self.estimate) {
            (Some(unread), _) => shown::complain(format_args!("neffload: {unread}")),
            (None, Err(refusal)) => {
                let line = shown::text(&analyser_line(&self.file, refusal));
                shown::complain(format_args!("neffload: {line}\n  {refusal}"));
            }
            (None, Ok(_)) => {}
        }
    }
}

/// Runs `memory`.
pub(crate) fn run(arguments: &MemoryArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let page = page(arguments)?;
    let one = arguments.files.len() == 1 && !arguments.files[0].is_dir();
    let mut measured = measure(arguments, page, output);
    if arguments.staged {
        stage(&mut measured, page, output)?;
    }
    measured.iter().for_each(Measured::complain);
    let sum = together(&measured);
    match (output.json(), &measured[..]) {
        (true, [file]) if one => output.document(&single(file))?,
        (true, files) => output.document(&set(files, &sum))?,
        (false, files) => people::print(files, &sum, output)?,
    }
    let unread = measured.iter().filter(|file| file.unread.is_some()).count();
    if unread > 0 {
        return Err(Trouble::Usage(format!("{} could not be read", Count(unread as u64, "file"))));
    }
    let refused = measured.iter().any(Measured::is_refused) || sum.is_err();
    Ok(if refused { Answer::Refused } else { Answer::Done })
}

/// Loads every file that could be measured; all stay loaded until the last one is.
fn stage(measured: &mut [Measured], page: Page, output: &Output) -> Result<(), Trouble> {
    check_environment()?;
    let mut stager = Stager::new(page);
    for file in measured.iter_mut().filter(|file| file.estimate.is_ok()) {
        let staged = stager.load(&file.path, output)?;
        if let Err(refused) = &staged {
            shown::complain(format_args!("neffload: {}: {refused}", shown::path(&file.path)));
        }
        file.staged = Some(staged);
    }
    Ok(())
}

fn page(arguments: &MemoryArguments) -> Result<Page, Trouble> {
    let page = match arguments.page_size {
        Some(bytes) => Page::of(bytes).and_then(environment::page_of),
        None => environment::page(),
    };
    page.map_err(|refusal| Trouble::Usage(refusal.to_string()))
}

fn measure(arguments: &MemoryArguments, page: Page, output: &Output) -> Vec<Measured> {
    let mut files = expand(&arguments.files);
    let mut tour = Tour::new("measuring", &files, output);
    let mut buffers = Buffers::new();
    let one = |(at, file): (usize, &mut Named)| {
        let progress = tour.file(at);
        progress.set(0);
        one(file, arguments.staged, page, &mut buffers, progress)
    };
    files.iter_mut().enumerate().map(one).collect()
}

/// Measures a file. That it cannot be read does not keep the others from being measured.
fn one(
    file: &mut Named,
    staged: bool,
    page: Page,
    buffers: &mut Buffers,
    progress: &mut Progress,
) -> Measured {
    let opened = file.open();
    let path = file.path.clone();
    let told = |trouble: &Trouble| Some(trouble.to_string());
    let (estimate, unread) = match opened {
        Ok(Input::Pipe(_)) if staged => {
            let why = format!("{}: --staged reads a file twice; a pipe cannot be", shown::path(&path));
            (Err(Error::new(Stage::Tool, ContainerCode::NotSeekable).into()), Some(why))
        }
        Ok(mut input) => {
            let mut input = Followed::new(&mut input, |done| progress.set(done));
            let estimate = Unpacked::read(&mut input, buffers, &Limits::DEFAULT, Estimate::wants)
                .and_then(|members| Estimate::of(&members, page));
            let failed = |refusal: &Refusal| refusal.error.code() == ContainerCode::Read.into();
            let failed = estimate.as_ref().err().filter(|refusal| failed(refusal));
            let unread = failed.map(|refusal| format!("{}: {refusal}", shown::path(&path)));
            (estimate, unread)
        }
        Err(trouble) => (Err(trouble.refusal()), told(&trouble)),
    };
    Measured { file: shown::name(&path), path, estimate, unread, staged: None }
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

fn set(files: &[Measured], sum: &Result<Together, Refusal>) -> Document {
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
    match sum {
        Ok(sum) => document.set("together", json!(sum)),
        Err(refusal) => document.set("together", Value::Null).set("error", error("together", refusal)),
    };
    document
}

/// The readable files, loaded together.
fn together(files: &[Measured]) -> Result<Together, Refusal> {
    Together::of(files.iter().filter_map(|file| file.estimate.as_ref().ok()))
}

fn error(file: &str, refusal: &Refusal) -> Value {
    json!({
        "code": refusal.error.id().to_string(),
        "log": refusal.text(),
        "line": analyser_line(file, refusal),
        "member": refusal.member,
        "offset": refusal.error.at().offset,
        "message": refusal.to_string(),
    })
}
