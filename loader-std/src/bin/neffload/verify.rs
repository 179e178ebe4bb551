//! `neffload verify`: is a file intact.

mod checks;

use crate::Answer;
use crate::files::{Named, Tour, expand};
use crate::inspect::{NoNames, arch};
use crate::members::Said;
use crate::output::{Count, Followed, Listing, Output, Paint, Progress, Size, shown, verdict};
use crate::trouble::Trouble;
use checks::{Check, checks};
use clap::Args;
use loader_core::arch::Arch;
use loader_core::container::{Streamed, scan};
use loader_core::error::{Error, Ignored, Notes};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::Source;
use loader_core::{lower, manifest};
use loader_std::container::{Ask, Remarks, Survey, digest_json, log, survey};
use loader_std::environment;
use loader_std::file::{Buffers, Input};
use loader_std::growing::{is_full, with_arena};
use loader_std::sidecars;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Arguments of `verify`.
#[derive(Args, Debug)]
pub(crate) struct VerifyArguments {
    /// Files, `FILE@OFFSET`, folders, or `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Also read every manifest and lower it into records
    #[arg(long)]
    deep: bool,
    /// Judge for this architecture
    #[arg(long, value_parser = arch)]
    arch: Option<Arch>,
    /// Judge for a host with this logical-core size
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2))]
    lnc: Option<u32>,
    /// Take the plainly stored digest only
    #[arg(long)]
    strict_digest: bool,
}

impl VerifyArguments {
    fn policy(&self) -> Policy {
        Policy {
            verify_digest: true,
            strict_digest: self.strict_digest,
            host_arch: self.arch,
            lnc: self.lnc,
            ..environment::policy()
        }
    }
}

/// A file's answers.
struct Verified {
    survey: Survey,
    /// What `--deep` refused.
    deep: Option<(Error, Value)>,
    /// All remarks, in the order in which a load makes them.
    remarks: Said,
}

impl Verified {
    fn error(&self) -> Option<&Error> {
        self.survey.error.as_ref().or(self.deep.as_ref().map(|(error, _)| error))
    }

    /// The refusal in words, with the name of the member where there is a table to look in.
    fn why(&self) -> Option<String> {
        let deep = self.deep.as_ref().and_then(|(_, verdict)| verdict["message"].as_str());
        self.survey.error.map(|error| error.to_string()).or(deep.map(str::to_owned))
    }
}

/// What became of the files so far.
#[derive(Debug, Default)]
struct Tally {
    files: u64,
    refused: u64,
    unread: u64,
    /// Of the files that were read.
    bytes: u64,
}

impl Tally {
    fn count(&mut self, verified: &Result<Verified, Trouble>) {
        self.files += 1;
        match verified {
            Ok(verified) => {
                self.refused += u64::from(verified.error().is_some());
                self.bytes += verified.survey.size;
            }
            Err(_) => self.unread += 1,
        }
    }

    fn json(&self) -> Value {
        let Self { files, refused, unread, bytes } = *self;
        json!({ "files": files, "accepted": files - unread - refused, "refused": refused, "unreadable": unread, "bytes": bytes })
    }

    fn print(&self, output: &mut Output) -> Result<(), Trouble> {
        let (files, bytes) = (Count(self.files, "file"), Size(self.bytes));
        output.line(format_args!("{files}, {bytes}, {} refused, {} unreadable", self.refused, self.unread))
    }

    fn answer(&self) -> Result<Answer, Trouble> {
        match (self.unread, self.refused) {
            (0, 0) => Ok(Answer::Done),
            (0, _) => Ok(Answer::Refused),
            (unread, _) => Err(Trouble::Usage(format!("{} could not be read", Count(unread, "file")))),
        }
    }
}

/// Runs `verify`.
pub(crate) fn run(arguments: &VerifyArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let mut files = expand(&arguments.files);
    let (several, mut tour) = (files.len() > 1, Tour::new("verifying", &files, output));
    let mut buffers = Buffers::new();
    let mut rows = output.json().then(|| Listing::begin("verify", "files", output)).transpose()?;
    let mut tally = Tally::default();
    for (at, file) in files.iter_mut().enumerate() {
        let verified = verify(arguments, file, &mut buffers, tour.file(at));
        tour.hide();
        tally.count(&verified);
        let path = file.path.as_path();
        if let Err(trouble) = &verified {
            shown::complain(format_args!("neffload: {trouble}"));
        }
        match (&mut rows, &verified) {
            (Some(rows), Ok(verified)) => rows.row(&row(path, arguments, verified), output)?,
            (Some(rows), Err(trouble)) => {
                let name = shown::name(path);
                rows.row(&json!({ "path": name, "file": name, "error": trouble.to_string() }), output)?;
            }
            (None, Ok(verified)) => print(path, arguments, verified, output)?,
            (None, Err(_)) => {}
        }
    }
    drop(tour);
    match rows {
        Some(rows) => rows.end(&[("summary", tally.json())], output)?,
        None if several => tally.print(output)?,
        None => {}
    }
    tally.answer()
}

fn verify(
    arguments: &VerifyArguments,
    file: &mut Named,
    buffers: &mut Buffers,
    progress: &mut Progress,
) -> Result<Verified, Trouble> {
    let policy = arguments.policy();
    let mut input = file.open()?;
    let unreadable = |error: Error| Trouble::Usage(format!("{}: {error}", shown::path(&file.path)));
    let told = |done| progress.set(done);
    let survey =
        survey(&mut input, buffers, &policy, &Limits::DEFAULT, Ask::default(), told).map_err(unreadable)?;
    let mut remarks = Said::of(&survey.notes, &NoNames);
    let deep = if arguments.deep && survey.accepted() {
        deep(&mut input, &policy, &mut remarks, progress)?
    } else {
        None
    };
    Ok(Verified { survey, deep, remarks })
}

/// S2 and S3 over a file that passed S1, streamed. Its remarks, and those on what no load needs, go to `remarks`.
fn deep(
    input: &mut Input,
    policy: &Policy,
    remarks: &mut Said,
    progress: &mut Progress,
) -> Result<Option<(Error, Value)>, Trouble> {
    if input.len().is_none() {
        return Err(Trouble::Usage(
            "--deep reads a file more than once, which what comes through a pipe cannot be".to_owned(),
        ));
    }
    let input = &mut Followed::new(input, |done| progress.set(done));
    let (mut first, mut again) = (Buffers::new(), Buffers::new());
    let policy = Policy { verify_digest: false, ..*policy };
    let limits = Limits::DEFAULT;
    let mut refusal = None;
    let before = remarks.clone();
    let outcome = with_arena(|arena| {
        refusal = None;
        let mut notes = Remarks::new();
        let keep = loader_core::container::KEEP_BYTES;
        let container = scan(input, first.workspace(), keep, arena, &limits, &policy, &mut Ignored)?;
        let mut payload = Streamed::new(input, again.workspace(), container, &limits)?;
        let policy = policy.of_file(container.header.lnc_size);
        let outcome =
            manifest::parse(&mut payload, arena, &limits, &policy, &mut notes).and_then(|manifest| {
                lower::lower(&mut payload, &manifest, arena, &limits, &policy, &mut notes).map(|_| ())
            });
        let aside = [sidecars::info(&payload, &limits), sidecars::statistics(&payload, &limits).err()];
        aside.into_iter().flatten().for_each(|note| notes.note(note));
        *remarks = before.clone();
        remarks.add(&notes, &container.table);
        match outcome {
            Err(error) if is_full(&error) => Err(error),
            Err(error) => {
                refusal = Some((error, verdict::refused(&error, &container.table)));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    });
    Ok(outcome.err().map(|error| (error, verdict::refused(&error, &NoNames))).or(refusal))
}

fn row(path: &Path, arguments: &VerifyArguments, verified: &Verified) -> Value {
    let survey = &verified.survey;
    let verdict = match (&survey.error, &verified.deep) {
        (Some(error), _) => {
            let mut verdict = verdict::refused(error, &NoNames);
            verdict["log"] = log(error, survey.header.as_ref()).into();
            verdict
        }
        (None, Some((_, verdict))) => verdict.clone(),
        (None, None) => verdict::accepted(),
    };
    let check = |check: Check| json!({ "name": check.name, "passed": check.passed });
    json!({
        "path": shown::name(path),
        "size": survey.size,
        "verdict": verdict,
        "checks": checks(survey, verified.deep.as_ref().map(|(error, _)| error), arguments.deep).map(check).collect::<Vec<_>>(),
        "digest": digest_json(survey),
        "entries": survey.entries,
        "content_bytes": survey.content,
        "warnings": verified.remarks.texts,
    })
}

/// One line: the verdict, the file, and every check by name.
fn print(
    path: &Path,
    arguments: &VerifyArguments,
    verified: &Verified,
    output: &mut Output,
) -> Result<(), Trouble> {
    let style = output.style();
    let deep = verified.deep.as_ref().map(|(error, _)| error);
    let mut words = Vec::new();
    for check in checks(&verified.survey, deep, arguments.deep) {
        words.push(match check.passed {
            Some(true) => style.paint(Paint::Good, check.words),
            Some(false) => style.paint(Paint::Bad, format_args!("{}!", check.name)),
            None => style.paint(Paint::Dim, format_args!("({})", check.name)),
        });
    }
    let (word, paint) =
        if verified.error().is_none() { ("ok", Paint::Good) } else { ("refused", Paint::Bad) };
    let size = Size(verified.survey.size);
    output.line(format_args!(
        "{} {}  {size}  {}",
        style.paint(paint, format_args!("{word:<8}")),
        shown::path(path),
        words.join(" ")
    ))?;
    if let Some(why) = verified.why() {
        output.line(format_args!("         {why}"))?;
    }
    verified.remarks.print(path, output);
    Ok(())
}
