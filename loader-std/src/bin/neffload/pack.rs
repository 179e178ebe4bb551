//! `neffload pack`: the producer's mirror.

mod choices;
mod producer;
mod report;
mod source;

use crate::Answer;
use crate::arguments::number;
use crate::files::{alone, apart, is_standard};
use crate::output::{Document, Output, shown, standard, total};
use crate::replace::{is_special, replace};
use crate::trouble::Trouble;
use choices::{Choices, LeftOut};
use clap::{Args, ValueEnum};
use loader_std::pack::{
    Compression, Dialect, DigestForm, HeaderFields, Options, PackError, Package, Packer, Summary,
    is_debug_member,
};
use source::Source;
use std::io::{self, BufWriter, Cursor, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Arguments of `pack`.
#[derive(Args, Debug)]
pub(crate) struct PackArguments {
    /// Folder with the members, or another NEFF
    #[arg(value_name = "DIR|FILE")]
    source: PathBuf,
    /// File to write; `-` is standard output
    out: PathBuf,
    /// Write the tar as it is: larger, but loads without inflating
    #[arg(long, conflicts_with = "level")]
    uncompressed: bool,
    /// Leave out members that no stage of a load and no tool asks for
    #[arg(long)]
    no_debug: bool,
    /// Effort of the compression, 0 (stored) to 10
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=10))]
    level: Option<u8>,
    /// 1: SHA-256, not compressed; 2: MD5, gzip
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    package: u8,
    /// Byte order of the stored digest; plain, or that of the file that is packed again
    #[arg(long, value_enum)]
    digest_order: Option<Order>,
    /// Dialect of the tar
    #[arg(long, value_enum, default_value_t = TarFormat::Pax)]
    tar_format: TarFormat,
    /// Zero-fill the payload to a multiple of this many bytes
    #[arg(long, value_name = "N", default_value = "10240", value_parser = pad)]
    pad: u64,
    /// Member that comes last, as current compilers put neff.json
    #[arg(long, value_name = "NAME")]
    last: Option<String>,
    #[command(flatten)]
    producer: producer::ProducerArguments,
    #[command(flatten)]
    header: HeaderArguments,
}

/// Header values; those not given come from the file that is packed again or from the folder's `info.json`,
/// else from the defaults.
#[derive(Args, Debug)]
struct HeaderArguments {
    /// Model name
    #[arg(long)]
    name: Option<String>,
    /// Identity, as 32 hexadecimal digits with or without hyphens
    #[arg(long, value_parser = uuid)]
    uuid: Option<[u8; 16]>,
    /// Feature mask
    #[arg(long, value_name = "MASK", value_parser = number)]
    features: Option<u64>,
    /// Logical-core size, 1 or 2
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2))]
    lnc: Option<u32>,
    /// Format version, major
    #[arg(long, value_name = "N")]
    major: Option<u64>,
    /// Format version, minor
    #[arg(long, value_name = "N")]
    minor: Option<u64>,
    /// Compiler build
    #[arg(long)]
    build: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    Plain,
    Swapped,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum TarFormat {
    Ustar,
    Pax,
    Gnu,
}

/// Most bytes that a payload is filled up to a multiple of.
const MOST_PAD: u64 = 1 << 30;

fn pad(text: &str) -> Result<u64, String> {
    let bytes = number(text)?;
    if bytes > MOST_PAD { Err(format!("at most {MOST_PAD} bytes")) } else { Ok(bytes) }
}

fn uuid(text: &str) -> Result<[u8; 16], String> {
    let digits: String = text.chars().filter(|character| *character != '-').collect();
    let number = (digits.len() == 32 && digits.is_ascii()).then(|| u128::from_str_radix(&digits, 16));
    match number {
        Some(Ok(number)) => Ok(number.to_be_bytes()),
        _ => Err(format!("`{text}` is not 32 hexadecimal digits")),
    }
}

/// Runs `pack`.
pub(crate) fn run(arguments: &PackArguments, output: &mut Output) -> Result<Answer, Trouble> {
    if arguments.package == 1 && arguments.digest_order == Some(Order::Swapped) {
        let text = "--digest-order swapped is a form of the MD5 in package 2; package 1 stores its SHA-256 as computed";
        return Err(Trouble::Usage(text.to_owned()));
    }
    alone("", &arguments.out, output)?;
    let mut source = match Source::open(&arguments.source, output)? {
        Ok(source) => source,
        Err(refusal) => return refused(arguments, &refusal, output),
    };
    apart(&arguments.out, [arguments.source.as_path()].into_iter().chain(source.files()))?;
    let broken = arguments.producer.broken(&source).map_err(Trouble::at(&arguments.source))?;
    if !broken.is_empty() {
        return producer::refused(arguments, &broken, output);
    }
    let shared = match arguments.producer.apply(&mut source) {
        Ok(shared) => shared,
        Err(PackError::Io(error)) => return Err(Trouble::at(&arguments.source)(error)),
        Err(refusal) => return refused(arguments, &refusal.to_string(), output),
    };
    if let Some(last) = arguments.last.as_ref().filter(|last| !source.has(last.as_bytes())) {
        return refused(arguments, &format!("no member is named `{last}`, as --last has it"), output);
    }
    match packed(arguments, source, shared, output) {
        Ok(()) => Ok(Answer::Done),
        Err(Stop::Trouble(trouble)) => Err(trouble),
        Err(Stop::Pack(PackError::Io(error))) if is_standard(&arguments.out) => Err(Trouble::from(error)),
        Err(Stop::Pack(PackError::Io(error))) => Err(Trouble::at(&arguments.out)(error)),
        Err(Stop::Pack(refusal)) => refused(arguments, &refusal.to_string(), output),
    }
}

/// What ends the packing.
enum Stop {
    Pack(PackError),
    Trouble(Trouble),
}

impl From<PackError> for Stop {
    fn from(error: PackError) -> Self {
        Self::Pack(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Pack(PackError::Io(error))
    }
}

fn packed(
    arguments: &PackArguments,
    mut source: Source,
    shared: LeftOut,
    output: &mut Output,
) -> Result<(), Stop> {
    if let Some(last) = &arguments.last {
        source.members.sort_by_key(|member| member.name == last.as_bytes());
    }
    let options = options(arguments, &source, output)?;
    let (summary, left_out) = write(arguments, &source, &options, output)?;
    if is_standard(&arguments.out) {
        return Ok(());
    }
    let choices = Choices::of(arguments, &source, &options, &summary, left_out)?;
    report::print(arguments, &summary, &choices, shared, output).map_err(Stop::Trouble)
}

fn refused(arguments: &PackArguments, why: &str, output: &mut Output) -> Result<Answer, Trouble> {
    if output.json() {
        output.document(Document::new("pack").set("error", why))?;
    }
    shown::complain(format_args!("neffload: {}: {why}", shown::path(&arguments.source)));
    Ok(Answer::Refused)
}

fn write(
    arguments: &PackArguments,
    source: &Source,
    options: &Options,
    output: &Output,
) -> Result<(Summary, LeftOut), Stop> {
    let sizes = source.members.iter().map(|member| member.size);
    let mut progress = output.progress("packing", Some(total(sizes)));
    let told = |done| progress.set(done);
    let to_standard = is_standard(&arguments.out);
    // The header comes first and is known last: for what is written to once, in order, the file is held.
    if to_standard || is_special(&arguments.out) {
        let mut file = Cursor::new(Vec::new());
        let packer = Packer::new(&mut file, options.clone())?;
        let result = write_members(source, arguments.no_debug, packer, told)?;
        if to_standard {
            let mut out = standard()?;
            out.write_all(file.get_ref()).and_then(|()| out.flush())?;
        } else {
            replace(&arguments.out, |mut out| out.write_all(file.get_ref()))?;
        }
        return Ok(result);
    }
    replace(&arguments.out, |file| {
        let file = BufWriter::with_capacity(1 << 20, file);
        write_members(source, arguments.no_debug, Packer::new(file, options.clone())?, told)
    })
}

fn write_members<W: Write + Seek>(
    source: &Source,
    no_debug: bool,
    mut packer: Packer<W>,
    mut progress: impl FnMut(u64),
) -> Result<(Summary, LeftOut), Stop> {
    let mut left_out = LeftOut::default();
    let mut done = 0;
    for member in &source.members {
        if no_debug && is_debug_member(&member.name) {
            left_out.members += 1;
            left_out.bytes += member.size;
        } else {
            let content = member.content().map_err(|error| Stop::Trouble(member.trouble(error)))?;
            let mut content = Told { content, done, told: &mut progress };
            packer.member(&member.name, member.size, &mut content)?;
        }
        done += member.size;
        progress(done);
    }
    Ok((packer.finish()?, left_out))
}

/// Content that tells how many bytes of all members were read.
struct Told<'m, F> {
    content: Box<dyn Read + 'm>,
    done: u64,
    told: F,
}

impl<F: FnMut(u64)> Read for Told<'_, F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(out)?;
        self.done = self.done.saturating_add(count as u64);
        (self.told)(self.done);
        Ok(count)
    }
}

fn options(arguments: &PackArguments, source: &Source, output: &Output) -> Result<Options, PackError> {
    let mut options = Options {
        package: if arguments.package == 1 { Package::Sha256 } else { Package::Md5 },
        digest_form: match arguments.digest_order {
            Some(Order::Plain) => DigestForm::Plain,
            Some(Order::Swapped) => DigestForm::Swapped,
            None => source.digest_form,
        },
        compression: match (arguments.uncompressed, arguments.level) {
            (true, _) => Some(Compression::None),
            (false, level) => level.map(Compression::Gzip),
        },
        dialect: match arguments.tar_format {
            TarFormat::Ustar => Dialect::Ustar,
            TarFormat::Pax => Dialect::Pax,
            TarFormat::Gnu => Dialect::Gnu,
        },
        payload_align: arguments.pad,
        ..Options::default()
    };
    let base = arguments.out.file_name().map_or(&b"file.neff"[..], OsStrExt::as_bytes);
    options.header.name = if is_standard(&arguments.out) { b"file.neff".to_vec() } else { base.to_vec() };
    if arguments.producer.override_header {
        options.header = HeaderFields::overridden();
    } else if let Some(header) = &source.header {
        options.header = header.clone();
    } else {
        if let Some(info) = source.info()? {
            options.header.apply_info(&info)?;
        }
        match source.cores().filter(|_| arguments.header.lnc.is_none()) {
            Some(cores @ 2) => options.header.set_logical_core(cores),
            None | Some(1) => {}
            Some(cores) => output.remark(format_args!(
                "{}: {cores} subgraphs fit no logical core of 1 or 2; give --lnc and --features",
                shown::path(&arguments.source)
            )),
        }
    }
    arguments.header.apply(&mut options);
    Ok(options)
}

impl HeaderArguments {
    fn apply(&self, options: &mut Options) {
        let header = &mut options.header;
        if let Some(name) = &self.name {
            header.name = name.clone().into_bytes();
        }
        if let Some(build) = &self.build {
            header.build = build.clone().into_bytes();
        }
        header.uuid = self.uuid.or(header.uuid);
        header.major = self.major.or(header.major);
        header.minor = self.minor.unwrap_or(header.minor);
        header.feature_bits = self.features.unwrap_or(header.feature_bits);
        header.lnc_size = self.lnc.unwrap_or(header.lnc_size);
    }
}
