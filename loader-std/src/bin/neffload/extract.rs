//! `neffload extract`: unpack safely, or cut a NEFF out of its carrier.

mod staging;

use crate::Answer;
use crate::files::{alone, is_standard};
use crate::members::{look, open, refusal, remarks, told};
use crate::output::{Count, Document, Followed, Output, Size, shown, standard};
use crate::replace::fresh;
use crate::trouble::Trouble;
use clap::Args;
use loader_core::error::{ContainerCode, Error, Stage};
use loader_core::source::Source;
use loader_std::container::{Ask, text};
use loader_std::file::Buffers;
use serde_json::{Value, json};
use staging::{Settled, Staging};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Arguments of `extract`.
#[derive(Args, Debug)]
pub(crate) struct ExtractArguments {
    /// File, `FILE@OFFSET`, or `-` for standard input
    file: PathBuf,
    /// Only members whose name matches; `*` stands for any bytes, `?` for one
    pattern: Option<std::ffi::OsString>,
    /// Folder to write to; made if it is not there
    #[arg(short = 'C', long = "into", value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Cut the NEFF itself out of its carrier, to that file; `-` is standard output
    #[arg(long, value_name = "OUT", conflicts_with_all = ["pattern", "folder"])]
    neff: Option<PathBuf>,
}

/// Runs `extract`.
pub(crate) fn run(arguments: &ExtractArguments, output: &mut Output) -> Result<Answer, Trouble> {
    if let Some(out) = &arguments.neff {
        alone("--neff", out, output)?;
        return cut_out(&arguments.file, out, output);
    }
    let pattern = arguments.pattern.as_ref().map(|pattern| pattern.as_bytes());
    let mut input = open(&arguments.file)?;
    let wanted = |member: &[u8]| pattern.is_none_or(|pattern| matches(pattern, member));
    let mut staging = Staging::new(&arguments.folder, wanted);
    let error = told(&mut input, &mut staging, output);
    if let Some(trouble) = staging.trouble() {
        return Err(Trouble::at(&arguments.folder)(trouble));
    }
    let error =
        error.map_err(|error| Trouble::Usage(format!("{}: {error}", shown::path(&arguments.file))))?;
    let absent = |pattern: &[u8]| Error::new(Stage::Tool, ContainerCode::FileNotFound).name(pattern);
    if let Some(error) = error.or(pattern.filter(|_| staging.is_empty()).map(absent)) {
        return refusal("extract", &arguments.file, &error, output);
    }
    remarks(&arguments.file, staging.notes(), output);
    report(arguments, &staging.settle(), output)
}

fn report(arguments: &ExtractArguments, settled: &Settled, output: &mut Output) -> Result<Answer, Trouble> {
    let failed = settled.failed.len() as u64;
    if output.json() {
        let names: Vec<String> = settled.unplain.iter().map(|name| text(name)).collect();
        let failure = |(name, error): &(Vec<u8>, io::Error)| -> Value {
            json!({ "name": text(name), "error": error.to_string() })
        };
        let mut document = Document::new("extract");
        document.set("folder", shown::name(&arguments.folder));
        document.set("members", settled.written).set("refused", names);
        document.set("failed", settled.failed.iter().map(failure).collect::<Vec<_>>());
        output.document(&document)?;
    } else if settled.written > 0 || failed == 0 {
        let to = shown::path(&arguments.folder);
        output.line(format_args!("{} to {to}", Count(settled.written, "member")))?;
    }
    for name in &settled.unplain {
        shown::complain(format_args!("not written: `{}` is not a plain relative name", text(name)));
    }
    for (name, error) in &settled.failed {
        let there = "is there already, and `extract` writes over nothing";
        match error.kind() {
            io::ErrorKind::AlreadyExists => {
                shown::complain(format_args!("not written: `{}` {there}", text(name)));
            }
            _ => shown::complain(format_args!("not written: `{}`: {error}", text(name))),
        }
    }
    match (failed, settled.unplain.is_empty()) {
        (0, true) => Ok(Answer::Done),
        (0, false) => Ok(Answer::Refused),
        _ => {
            let all = failed + settled.unplain.len() as u64;
            Err(Trouble::Usage(format!("{} could not be written", Count(all, "member"))))
        }
    }
}

/// `*` for any bytes, `?` for one.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from, mut star) = (0, 0, None);
    while from < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[from] => (at, from) = (at + 1, from + 1),
            _ => match star {
                Some((back, tried)) => {
                    star = Some((back, tried + 1));
                    (at, from) = (back + 1, tried + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

/// Copies header and payload, without what the carrier has around them.
fn cut_out(from: &Path, to: &Path, output: &mut Output) -> Result<Answer, Trouble> {
    let mut input = open(from)?;
    if input.len().is_none() {
        return Err(Trouble::Usage("--neff reads a file twice; a pipe cannot be".to_owned()));
    }
    let survey = look(from, &mut input, Ask::default(), output)?;
    let header = match (&survey.header, &survey.error) {
        (Some(header), None) => header,
        (_, error) => {
            let absent = Error::new(Stage::Tool, ContainerCode::HeaderSize);
            return refusal("extract", from, error.as_ref().unwrap_or(&absent), output);
        }
    };
    let end = header.payload_end();
    let mut progress = output.progress("writing", Some(end));
    let mut input = Followed::new(&mut input, |done| progress.set(done));
    let to_standard = is_standard(to);
    let copied = if to_standard {
        standard().map_err(Uncopied::Write).and_then(|out| copy(&mut input, end, out))
    } else {
        fresh(to, |file| copy(&mut input, end, file))
    };
    copied.map_err(|error| match error {
        Uncopied::Read(error) => Trouble::Usage(format!("{}: {error}", shown::path(from))),
        Uncopied::Write(error) if to_standard => Trouble::from(error),
        Uncopied::Write(error) if error.kind() == io::ErrorKind::AlreadyExists => Trouble::Usage(format!(
            "{} is there already, and `extract` writes over nothing; name another file, or take it away",
            shown::path(to)
        )),
        Uncopied::Write(error) => Trouble::at(to)(error),
    })?;
    drop(progress);
    if to_standard {
        return Ok(Answer::Done);
    }
    if output.json() {
        output.document(Document::new("extract").set("neff", shown::name(to)).set("bytes", end))?;
    } else {
        output.line(format_args!("{} to {}", Size(end), shown::path(to)))?;
    }
    Ok(Answer::Done)
}

/// Which side of a copy refused.
enum Uncopied {
    Read(Error),
    Write(io::Error),
}

impl From<Error> for Uncopied {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}

impl From<io::Error> for Uncopied {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// The first `end` bytes of what is read.
fn copy(input: &mut impl Source, end: u64, out: impl Write) -> Result<(), Uncopied> {
    let (mut out, mut at) = (BufWriter::new(out), 0);
    let mut piece = vec![0; Buffers::INPUT];
    while at < end {
        let left = usize::try_from(end - at).map_or(piece.len(), |left| left.min(piece.len()));
        let count = input.read_at(at, &mut piece[..left])?;
        if count == 0 {
            return Err(Error::new(Stage::Tool, ContainerCode::Changed).into());
        }
        out.write_all(&piece[..count])?;
        at += count as u64;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (pattern, name) in
            [("*", ""), ("sg*.bin", "sg00/PE.bin"), ("a?c", "abc"), ("*b*d", "abxcd"), ("a", "a")]
        {
            assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("a?c", "ac"), ("*.bin", "a.json"), ("a", "ab")] {
            assert!(!matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }
}
