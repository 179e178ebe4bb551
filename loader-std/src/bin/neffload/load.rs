//! `neffload load`: loads files into one device and says what is where.
//!
//! One file gives the document of `load --json`. Several files stay on the device together until all are loaded; their
//! document has `files[]`, one such document per file, in order, with the name of the file as `file`, and a `verdict`
//! that is the first refusal or else accepts.

mod asked;
mod device;
mod document;
mod people;
mod rounds;
mod target;
mod watch;

pub(crate) use asked::{Asked, check_environment};
pub(crate) use device::SimSpec;
pub(crate) use document::{refusal, surroundings};

use crate::Answer;
use crate::arguments::number;
use crate::output::{Document, Output, shown};
use crate::trouble::Trouble;
use clap::Args;
use document::Outcome;
use loader_core::device::DeviceError;
use loader_core::error::Stage;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Arguments of `load`.
#[derive(Args, Debug)]
pub(crate) struct LoadArguments {
    /// Files, `FILE@OFFSET`, or `-` for standard input; several are loaded into the device together
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    asked: Asked,
    /// Load from the file in a stream, all buffers together within N bytes
    #[arg(long, value_name = "N", value_parser = number)]
    max_memory: Option<u64>,
    /// Write the report and every block of device memory into this folder; of several files, into 0, 1, … below it.
    /// Files of an earlier dump in it are removed
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Load and unload everything N times; times are the best of them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Print every operation of a simulated device, every request to a real one, on standard error
    #[arg(long)]
    trace: bool,
}

impl LoadArguments {
    /// The folder for the dump of file `index`.
    fn folder(&self, index: usize) -> Option<PathBuf> {
        let folder = self.dump.as_ref()?;
        Some(if self.files.len() == 1 { folder.clone() } else { folder.join(index.to_string()) })
    }
}

/// Runs `load`.
pub(crate) fn run(arguments: &LoadArguments, output: &mut Output) -> Result<Answer, Trouble> {
    arguments.asked.check()?;
    if arguments.dump.is_some() && !arguments.asked.device.keeps_content() {
        return Err(Trouble::Usage(format!("--dump: {}", DeviceError::ReadRefused.at(Stage::Tool))));
    }
    let outcomes = rounds::run(arguments, output)?;
    let requests = watch::requests();
    for outcome in &outcomes {
        if let Outcome::Refused(refused) = outcome
            && let Some(table) = refused.usage_table()
        {
            shown::complain(table);
        }
    }
    let document = |outcome: &Outcome| outcome.document(&arguments.asked);
    let mut documents: Vec<Document> = outcomes.iter().map(document).collect();
    if let ([document], Some(requests)) = (&mut documents[..], &requests) {
        document.set("ioctls", requests.clone());
    }
    for (index, document) in documents.iter().enumerate() {
        if let Some(folder) = arguments.folder(index) {
            let path = folder.join("report.json");
            fs::write(&path, format!("{document}\n")).map_err(Trouble::at(&path))?;
        }
    }
    match (output.json(), &documents[..]) {
        (true, [document]) => output.document(document)?,
        (true, _) => output.document(&together(&arguments.files, documents, requests))?,
        (false, _) => {
            for (index, document) in documents.iter().enumerate() {
                people::print(arguments, index, document, output)?;
            }
        }
    }
    let loaded = outcomes.iter().all(|outcome| matches!(outcome, Outcome::Loaded(_)));
    Ok(if loaded { Answer::Done } else { Answer::Refused })
}

/// The document of several files.
fn together(files: &[PathBuf], documents: Vec<Document>, requests: Option<Value>) -> Document {
    let refused = documents.iter().find(|document| document.get("verdict")["accepted"] != true);
    let verdict = refused.or(documents.first()).map(|document| document.get("verdict").clone());
    let entry = |(file, mut document): (&PathBuf, Document)| {
        document.set("file", shown::name(file));
        Value::from(document)
    };
    let mut all = Document::new("load");
    all.set("verdict", verdict);
    all.set("files", files.iter().zip(documents).map(entry).collect::<Vec<Value>>());
    if let Some(requests) = requests {
        all.set("ioctls", requests);
    }
    all
}
