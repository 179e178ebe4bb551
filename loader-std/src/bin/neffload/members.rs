//! `neffload members`, `cat` and `extract`: list members, print one, unpack safely.

use crate::Answer;
use crate::inspect::NoNames;
use crate::output::{Align, Count, Document, Followed, Output, Size, Style, Table, shown, total, verdict};
use crate::replace::fresh;
use crate::trouble::Trouble;
use clap::Args;
use loader_core::error::{ContainerCode, Error, Stage};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::Source;
use loader_std::container::{Ask, Survey, Unpacker, hex, survey, table_json, text};
use loader_std::file::{Buffers, Input};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Tools look into files whose digest does not fit, and say so.
const POLICY: Policy = Policy { verify_digest: false, report_digest: true, ..Policy::DEFAULT };

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

fn open(path: &Path) -> Result<Input, Trouble> {
    Input::open(path).map_err(Trouble::at(path))
}

fn look(path: &Path, input: &mut Input, ask: Ask, output: &Output) -> Result<Survey, Trouble> {
    let mut progress = output.progress("reading", input.len());
    let told = |done| progress.set(done);
    survey(input, &mut Buffers::new(), &POLICY, &Limits::DEFAULT, ask, told)
        .map_err(|error| Trouble::Usage(format!("{}: {error}", shown::path(path))))
}

/// Runs `members`.
pub(crate) fn list(arguments: &MembersArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let ask = Ask { members: true, digests: arguments.digests, file_digest: false };
    let survey = look(&arguments.file, &mut open(&arguments.file)?, ask, output)?;
    if output.json() {
        let mut document = Document::new("members");
        document.set("table", table_json(&survey));
        if let Some(error) = &survey.error {
            document.set("verdict", verdict::refused(error, &NoNames));
        }
        output.document(&document)?;
    } else {
        print_list(&survey, output)?;
    }
    let Some(error) = &survey.error else { return Ok(Answer::Done) };
    if !output.json() {
        said(&arguments.file, error);
    }
    Ok(Answer::Refused)
}

fn print_list(survey: &Survey, output: &mut Output) -> Result<(), Trouble> {
    let mut columns = vec![("size", Align::Right), ("", Align::Right)];
    let digests = survey.table.values().any(|row| row.sha256.is_some());
    if digests {
        columns.push(("sha256", Align::Left));
    }
    columns.push(("member", Align::Left));
    let mut table = Table::new(&columns);
    for (name, row) in &survey.table {
        let mut cells = vec![row.size.to_string(), Size(row.size).to_string()];
        cells.extend(row.sha256.as_ref().map(|digest| hex(digest)));
        cells.push(shown::text(&text(name)));
        table.row(cells);
    }
    output.table(&table)?;
    let bytes = total(survey.table.values().map(|row| row.size));
    output.line(format_args!("{}, {}", Count(survey.table.len() as u64, "member"), Size(bytes)))
}

/// The reason on standard error.
fn said(file: &Path, error: &Error) {
    let line = verdict::refusal_line(error, &NoNames, Style::PLAIN);
    shown::complain(format_args!("neffload: {}: {line}", shown::path(file)));
}

/// The reason, on standard error and in a document, and the exit status.
fn refusal(subcommand: &str, file: &Path, error: &Error, output: &mut Output) -> Result<Answer, Trouble> {
    if output.json() {
        let mut document = Document::new(subcommand);
        document.set("file", shown::name(file)).set("verdict", verdict::refused(error, &NoNames));
        document.set("error", error.to_string());
        output.document(&document)?;
    }
    said(file, error);
    Ok(Answer::Refused)
}

/// Reads the members that are wanted.
fn read<W: Fn(&[u8]) -> bool>(
    unpacker: &mut Unpacker<W>,
    input: &mut Input,
    output: &Output,
) -> Result<Option<Error>, Error> {
    let mut progress = output.progress("reading", input.len());
    let mut input = Followed::new(input, |done| progress.set(done));
    unpacker.read(&mut input, &mut Buffers::new(), &POLICY, &Limits::DEFAULT)
}

/// Runs `cat`: the last member of that name, as the loader would take it.
pub(crate) fn cat(arguments: &CatArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let name = arguments.member.as_bytes();
    let mut input = open(&arguments.file)?;
    let mut unpacker = Unpacker::new(|member: &[u8]| member == name);
    let unreadable = |error: Error| Trouble::Usage(format!("{}: {error}", shown::path(&arguments.file)));
    let error = read(&mut unpacker, &mut input, output).map_err(unreadable)?;
    match unpacker.members.get(name) {
        Some(bytes) if error.is_none() => {
            let mut out = io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())?;
            Ok(Answer::Done)
        }
        _ => {
            let absent = Error::new(Stage::Tool, ContainerCode::FileNotFound).name(name);
            refusal("cat", &arguments.file, &error.unwrap_or(absent), output)
        }
    }
}

/// Runs `extract`.
pub(crate) fn extract(arguments: &ExtractArguments, output: &mut Output) -> Result<Answer, Trouble> {
    if let Some(out) = &arguments.neff {
        if out == Path::new("-") && output.json() {
            return Err(Trouble::Usage(
                "`--json` and `--neff -` both write to standard output; name a file".to_owned(),
            ));
        }
        return cut_out(&arguments.file, out, output);
    }
    let pattern = arguments.pattern.as_ref().map(|pattern| pattern.as_bytes().to_vec());
    let mut input = open(&arguments.file)?;
    let wanted = |member: &[u8]| pattern.as_ref().is_none_or(|pattern| matches(pattern, member));
    let mut unpacker = Unpacker::new(wanted);
    let unreadable = |error: Error| Trouble::Usage(format!("{}: {error}", shown::path(&arguments.file)));
    let error = read(&mut unpacker, &mut input, output).map_err(unreadable)?;
    if let Some(error) = &error {
        return refusal("extract", &arguments.file, error, output);
    }
    if let (Some(pattern), true) = (&pattern, unpacker.members.is_empty()) {
        let absent = Error::new(Stage::Tool, ContainerCode::FileNotFound).name(pattern);
        return refusal("extract", &arguments.file, &absent, output);
    }
    let (mut written, mut refused) = (0u64, Vec::new());
    let size = |bytes: &Vec<u8>| bytes.len() as u64;
    let mut progress = output.progress("writing", Some(total(unpacker.members.values().map(size))));
    let mut done = 0;
    for (name, bytes) in &unpacker.members {
        progress.set(done);
        match plain(name) {
            Some(path) => {
                write_member(&arguments.folder, &path, bytes)?;
                written += 1;
            }
            None => refused.push(text(name)),
        }
        done += size(bytes);
    }
    drop(progress);
    report(arguments, written, &refused, output)?;
    Ok(if refused.is_empty() { Answer::Done } else { Answer::Refused })
}

fn report(
    arguments: &ExtractArguments,
    written: u64,
    refused: &[String],
    output: &mut Output,
) -> Result<(), Trouble> {
    if output.json() {
        let mut document = Document::new("extract");
        document.set("folder", shown::name(&arguments.folder));
        document.set("members", written).set("refused", refused);
        return output.document(&document);
    }
    for name in refused {
        shown::complain(format_args!("not written: `{}` is not a plain relative name", shown::text(name)));
    }
    output.line(format_args!("{} to {}", Count(written, "member"), shown::path(&arguments.folder)))
}

/// A name as a path below the target: no empty part, no `.` or `..`, no leading slash.
fn plain(name: &[u8]) -> Option<PathBuf> {
    let parts: Vec<&[u8]> = name.split(|&byte| byte == b'/').collect();
    let fit = parts.iter().all(|part| !matches!(*part, b"" | b"." | b"..") && !part.contains(&0));
    fit.then(|| PathBuf::from(std::ffi::OsString::from_vec(name.to_vec())))
}

/// Writes one member, never through a link and never over something that is there.
fn write_member(folder: &Path, path: &Path, bytes: &[u8]) -> Result<(), Trouble> {
    fs::create_dir_all(folder).map_err(Trouble::at(folder))?;
    let mut place = folder.to_path_buf();
    let parents: Vec<_> = path.parent().map(|parent| parent.components().collect()).unwrap_or_default();
    for part in parents {
        place.push(part);
        match fs::symlink_metadata(&place) {
            Ok(there) if there.is_dir() => {}
            Ok(_) => {
                let error = io::Error::new(io::ErrorKind::NotADirectory, "in the way, and not a folder");
                return Err(Trouble::at(&place)(error));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&place).map_err(Trouble::at(&place))?;
            }
            Err(error) => return Err(Trouble::at(&place)(error)),
        }
    }
    let target = folder.join(path);
    fresh(&target, |mut file| file.write_all(bytes)).map_err(Trouble::at(&target))
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
    let to_output = to == Path::new("-");
    let copied = if to_output {
        copy(&mut input, end, io::stdout().lock())
    } else {
        fresh(to, |file| copy(&mut input, end, file))
    };
    copied.map_err(|error| match error {
        Uncopied::Read(error) => Trouble::Usage(format!("{}: {error}", shown::path(from))),
        Uncopied::Write(error) if to_output => Trouble::from(error),
        Uncopied::Write(error) => Trouble::at(to)(error),
    })?;
    drop(progress);
    if to_output {
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
fn copy(input: &mut impl Source, end: u64, file: impl Write) -> Result<(), Uncopied> {
    let (mut out, mut at) = (BufWriter::new(file), 0);
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
    use super::{matches, plain};

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

    #[test]
    fn only_plain_names_are_paths() {
        assert!(plain(b"sg00/def.json").is_some());
        for name in [&b""[..], b"/a", b"../a", b"a/../b", b"a//b", b"./a", b"a/", b"a\0b", b"."] {
            assert!(plain(name).is_none(), "{}", name.escape_ascii());
        }
    }
}
