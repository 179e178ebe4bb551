//! `neffload disasm`: the instruction streams of a file, slot by slot.
//!
//! The document has `subgraphs[]` of `engines[]` of `code[]`; every entry of `code` has its slot's `bytes` in whole, so that
//! nothing is lost where a meaning is not known.

mod document;
mod people;

use crate::Answer;
use crate::output::{Document, Followed, Output, shown};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::arch::Engine;
use loader_core::limits::Limits;
use loader_core::source::Source as _;
use loader_std::Refusal;
use loader_std::disasm::{Line, Subgraph, listing, wants};
use loader_std::file::{Buffers, Input};
use loader_std::members::Unpacked;
use std::path::PathBuf;

/// Arguments of `disasm`.
#[derive(Args, Debug)]
pub(crate) struct DisasmArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    file: PathBuf,
    /// Only the subgraph with this name or number
    #[arg(long, value_name = "NAME")]
    subgraph: Option<String>,
    /// Only this engine: pe, act, pool, dve or sp
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    engine: Option<Engine>,
    /// Only pseudo-instructions and their extensions
    #[arg(long)]
    pseudo: bool,
}

fn engine(key: &str) -> Result<Engine, String> {
    Engine::from_key(key.as_bytes()).ok_or_else(|| format!("`{key}` is none of pe, act, pool, dve, sp"))
}

impl DisasmArguments {
    /// The subgraphs and streams that were asked for; there must be such a subgraph.
    fn choose(&self, mut subgraphs: Vec<Subgraph>) -> Result<Vec<Subgraph>, Refusal> {
        let mut number = 0;
        subgraphs.retain(|subgraph| {
            number += 1;
            let named = |wanted: &String| *wanted == subgraph.name || *wanted == (number - 1).to_string();
            self.subgraph.as_ref().is_none_or(named)
        });
        if let (Some(wanted), true) = (&self.subgraph, subgraphs.is_empty()) {
            return Err(Refusal::no_subgraph(wanted));
        }
        for subgraph in &mut subgraphs {
            subgraph.streams.retain(|stream| self.engine.is_none_or(|engine| engine == stream.engine));
        }
        Ok(subgraphs)
    }

    fn shows(&self, line: &Line) -> bool {
        use loader_std::disasm::Class;
        !self.pseudo || matches!(line.meaning.class, Class::Pseudo | Class::Extension)
    }
}

/// Runs `disasm`.
pub(crate) fn run(arguments: &DisasmArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let mut input = Input::open(&arguments.file).map_err(Trouble::at(&arguments.file))?;
    let mut progress = output.progress("reading", input.len());
    let mut input = Followed::new(&mut input, |done| progress.set(done));
    let listed = Unpacked::read(&mut input, &mut Buffers::new(), &Limits::DEFAULT, wants)
        .and_then(|members| listing(&members));
    drop(progress);
    let subgraphs = match listed.and_then(|all| arguments.choose(all)) {
        Ok(subgraphs) => subgraphs,
        Err(refusal) => return refused(arguments, &refusal, output),
    };
    if let (Some(engine), true) = (arguments.engine, subgraphs.iter().all(|one| one.streams.is_empty())) {
        output.remark(format_args!(
            "neffload: {}: no instructions of {}",
            shown::path(&arguments.file),
            engine.key()
        ));
    }
    if output.json() {
        output.document(&document::document(arguments, &subgraphs))?;
    } else {
        people::print(arguments, &subgraphs, output)?;
    }
    Ok(Answer::Done)
}

fn refused(arguments: &DisasmArguments, refusal: &Refusal, output: &mut Output) -> Result<Answer, Trouble> {
    if output.json() {
        let mut document = Document::new("disasm");
        document.set("file", shown::name(&arguments.file)).set("error", document::error(refusal));
        output.document(&document)?;
    } else {
        shown::complain(format_args!("neffload: {}: {refusal}", shown::path(&arguments.file)));
    }
    Ok(Answer::Refused)
}
