//! `neffload members` and `cat`: list members, print one.

use crate::Answer;
use crate::inspect::NoNames;
use crate::output::{
    Align, Cell, Columns, Count, Document, Followed, Listing, Output, Paint, Size, Style, cell, shown,
    standard, total, verdict,
};
use crate::trouble::Trouble;
use clap::Args;
use loader_core::container::Events;
use loader_core::error::{ContainerCode, Error, Stage};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::{MemberNames, Source};
use loader_std::container::{Ask, Remarks, Row, Survey, Unpacker, hex, member_json, read, survey, text};
use loader_std::file::{Buffers, Input};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Tools look into files whose digest does not fit, and say so.
pub(crate) const POLICY: Policy = Policy { verify_digest: false, report_digest: true, ..Policy::DEFAULT };

/// Arguments of `members`.
#[derive(Args, Debug)]
pub(crate) struct MembersArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    file: PathBuf,
    /// Also the SHA-256 of every member
    #[arg(long)]
    digests: bool,
}

/// Arguments of `cat`.
#[derive(Args, Debug)]
pub(crate) struct CatArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    file: PathBuf,
    /// The member's name
    member: std::ffi::OsString,
}

pub(crate) fn open(path: &Path) -> Result<Input, Trouble> {
    Input::open(path).map_err(Trouble::at(path))
}

pub(crate) fn look(path: &Path, input: &mut Input, ask: Ask, output: &Output) -> Result<Survey, Trouble> {
    let mut progress = output.progress("reading", input.len());
    let told = |done| progress.set(done);
    survey(input, &mut Buffers::new(), &POLICY, &Limits::DEFAULT, ask, told)
        .map_err(|error| Trouble::Usage(format!("{}: {error}", shown::path(path))))
}

/// Reads a file from its start to its end, and shows how far that is. Returns its refusal, if it is refused.
pub(crate) fn told(
    input: &mut Input,
    events: &mut impl Events,
    output: &Output,
) -> Result<Option<Error>, Error> {
    let mut progress = output.progress("reading", input.len());
    let mut input = Followed::new(input, |done| progress.set(done));
    read(&mut input, &mut Buffers::new(), &POLICY, &Limits::DEFAULT, events)
}

/// Remarks on a file in words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) texts: Vec<String>,
    /// How many more there were.
    lost: u64,
}

impl Said {
    /// The remarks, with the names of the members that they are about.
    pub(crate) fn of(notes: &Remarks, names: &impl MemberNames) -> Self {
        let mut said = Self::default();
        said.add(notes, names);
        said
    }

    /// Adds more.
    pub(crate) fn add(&mut self, notes: &Remarks, names: &impl MemberNames) {
        self.texts.extend(notes.kept().iter().map(|note| note.with_names(names).to_string()));
        self.lost += u64::from(notes.lost());
    }

    /// Prints them.
    pub(crate) fn print(&self, path: &Path, output: &Output) {
        for text in &self.texts {
            output.remark(format_args!("neffload: {}: {text}", shown::path(path)));
        }
        if self.lost > 0 {
            let more = Count(self.lost, "more remark");
            output.remark(format_args!("neffload: {}: and {more}", shown::path(path)));
        }
    }
}

/// Prints remarks on a file that is read all the same.
pub(crate) fn remarks(path: &Path, notes: &Remarks, output: &Output) {
    Said::of(notes, &NoNames).print(path, output);
}

/// Runs `members`.
pub(crate) fn list(arguments: &MembersArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let ask = Ask { members: true, digests: arguments.digests, file_digest: false };
    let survey = look(&arguments.file, &mut open(&arguments.file)?, ask, output)?;
    if output.json() {
        let mut rows = Listing::begin("members", "table", output)?;
        for (name, row) in &survey.table {
            rows.row(&member_json(name, row), output)?;
        }
        let verdict = survey.error.as_ref().map(|error| ("verdict", verdict::refused(error, &NoNames)));
        rows.end(verdict.as_slice(), output)?;
    } else {
        print_list(&survey, output)?;
    }
    remarks(&arguments.file, &survey.notes, output);
    let Some(error) = &survey.error else { return Ok(Answer::Done) };
    if !output.json() {
        said(&arguments.file, error);
    }
    Ok(Answer::Refused)
}

/// A table that is measured before it is printed: a row is made twice rather than kept.
fn print_list(survey: &Survey, output: &mut Output) -> Result<(), Trouble> {
    let mut headings = vec![("size", Align::Right), ("", Align::Right)];
    if survey.table.values().any(|row| row.sha256.is_some()) {
        headings.push(("sha256", Align::Left));
    }
    headings.push(("member", Align::Left));
    let mut columns = Columns::new(&headings);
    for (name, row) in &survey.table {
        columns.fit(&cells(name, row));
    }
    output.headings(&columns)?;
    for (name, row) in &survey.table {
        output.row(&columns, &cells(name, row))?;
    }
    let bytes = total(survey.table.values().map(|row| row.size));
    output.line(format_args!("{}, {}", Count(survey.table.len() as u64, "member"), Size(bytes)))
}

fn cells(name: &[u8], row: &Row) -> Vec<Cell> {
    let mut cells = vec![cell(row.size, Paint::Plain), cell(Size(row.size), Paint::Plain)];
    cells.extend(row.sha256.as_ref().map(|digest| cell(hex(digest), Paint::Plain)));
    cells.push(cell(text(name), Paint::Plain));
    cells
}

/// The reason on standard error.
fn said(file: &Path, error: &Error) {
    let line = verdict::refusal_line(error, &NoNames, Style::PLAIN);
    shown::complain(format_args!("neffload: {}: {line}", shown::path(file)));
}

/// The reason, on standard error and in a document, and the exit status.
pub(crate) fn refusal(
    subcommand: &str,
    file: &Path,
    error: &Error,
    output: &mut Output,
) -> Result<Answer, Trouble> {
    if output.json() {
        let mut document = Document::new(subcommand);
        document.set("file", shown::name(file)).set("verdict", verdict::refused(error, &NoNames));
        document.set("error", error.to_string());
        output.document(&document)?;
    }
    said(file, error);
    Ok(Answer::Refused)
}

/// A member as a document: its text, or its bytes in hexadecimal where they are none.
fn document(file: &Path, name: &[u8], bytes: &[u8]) -> Document {
    let mut document = Document::new("cat");
    document.set("file", shown::name(file)).set("member", text(name)).set("size", bytes.len());
    match str::from_utf8(bytes) {
        Ok(text) => document.set("text", text),
        Err(_) => document.set("hex", hex(bytes)),
    };
    document
}

/// Runs `cat`: the last member of that name, as the loader would take it.
pub(crate) fn cat(arguments: &CatArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let name = arguments.member.as_bytes();
    let mut input = open(&arguments.file)?;
    let mut unpacker = Unpacker::new(|member: &[u8]| member == name);
    let error = told(&mut input, &mut unpacker, output)
        .map_err(|error| Trouble::Usage(format!("{}: {error}", shown::path(&arguments.file))))?;
    match unpacker.members.get(name) {
        Some(bytes) if error.is_none() => {
            if output.json() {
                output.document(&document(&arguments.file, name, bytes))?;
            } else {
                let mut out = standard()?;
                out.write_all(bytes).and_then(|()| out.flush())?;
            }
            remarks(&arguments.file, &unpacker.notes, output);
            Ok(Answer::Done)
        }
        _ => {
            let absent = Error::new(Stage::Tool, ContainerCode::FileNotFound).name(name);
            refusal("cat", &arguments.file, &error.unwrap_or(absent), output)
        }
    }
}
