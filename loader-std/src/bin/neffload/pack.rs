//! `neffload pack`: the producer's mirror.

mod producer;
mod source;

use crate::Answer;
use crate::arguments::number;
use crate::output::{Align, Count, Document, Output, Size, Table};
use crate::trouble::Trouble;
use clap::{Args, ValueEnum};
use loader_std::pack::{
    Compression, Dialect, DigestForm, HeaderFields, Options, PackError, Package, Packer, Summary,
    is_debug_member,
};
use serde_json::json;
use source::Source;
use std::fs::File;
use std::io::{self, BufWriter, Cursor, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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
    #[arg(long, value_name = "N", default_value = "10240", value_parser = number)]
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
    /// Logical-core size
    #[arg(long, value_name = "N")]
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

#[derive(Clone, Copy, Debug, ValueEnum)]
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
    let mut source = match Source::open(&arguments.source)? {
        Ok(source) => source,
        Err(refusal) => return refused(arguments, &refusal, output),
    };
    let shared = match arguments.producer.apply(&mut source) {
        Ok(shared) => shared,
        Err(PackError::Io(error)) => return Err(Trouble::at(&arguments.source)(error)),
        Err(refusal) => return refused(arguments, &refusal.to_string(), output),
    };
    let broken = arguments.producer.broken(&source).map_err(Trouble::at(&arguments.source))?;
    if !broken.is_empty() {
        return producer::refused(arguments, &broken, output);
    }
    match write(arguments, source, output) {
        Ok((summary, left_out)) => {
            report(arguments, &summary, left_out, shared, output)?;
            Ok(Answer::Done)
        }
        Err(PackError::Io(error)) => Err(Trouble::at(&arguments.out)(error)),
        Err(refusal) => refused(arguments, &refusal.to_string(), output),
    }
}

fn refused(arguments: &PackArguments, why: &str, output: &mut Output) -> Result<Answer, Trouble> {
    if output.json() {
        output.document(Document::new("pack").set("error", why))?;
    }
    eprintln!("neffload: {}: {why}", arguments.source.display());
    Ok(Answer::Refused)
}

/// Members and bytes that are not written.
#[derive(Clone, Copy, Debug, Default)]
struct LeftOut {
    members: u64,
    bytes: u64,
}

fn write(
    arguments: &PackArguments,
    source: Source,
    output: &Output,
) -> Result<(Summary, LeftOut), PackError> {
    let options = options(arguments, &source)?;
    if arguments.out == Path::new("-") {
        let mut file = Cursor::new(Vec::new());
        let result = write_members(arguments, source, Packer::new(&mut file, options)?, output)?;
        io::stdout().lock().write_all(file.get_ref())?;
        return Ok(result);
    }
    let file = BufWriter::with_capacity(1 << 20, File::create(&arguments.out)?);
    write_members(arguments, source, Packer::new(file, options)?, output)
}

fn write_members<W: Write + Seek>(
    arguments: &PackArguments,
    mut source: Source,
    mut packer: Packer<W>,
    output: &Output,
) -> Result<(Summary, LeftOut), PackError> {
    if let Some(last) = &arguments.last {
        source.members.sort_by_key(|member| member.name == last.as_bytes());
    }
    let mut progress =
        output.progress("packing", Some(source.members.iter().map(|member| member.size).sum()));
    let mut left_out = LeftOut::default();
    let mut done = 0;
    for member in &source.members {
        if arguments.no_debug && is_debug_member(&member.name) {
            left_out.members += 1;
            left_out.bytes += member.size;
        } else {
            packer.member(&member.name, member.size, &mut *member.content()?)?;
        }
        done += member.size;
        progress.set(done);
    }
    Ok((packer.finish()?, left_out))
}

fn options(arguments: &PackArguments, source: &Source) -> Result<Options, PackError> {
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
    options.header.name = if base == b"-" { b"file.neff".to_vec() } else { base.to_vec() };
    if arguments.producer.override_header {
        options.header = HeaderFields::overridden();
    } else if let Some(header) = &source.header {
        options.header = header.clone();
    } else if let Some(info) = source.info()? {
        options.header.apply_info(&info)?;
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

fn report(
    arguments: &PackArguments,
    summary: &Summary,
    left_out: LeftOut,
    shared: LeftOut,
    output: &mut Output,
) -> Result<(), Trouble> {
    let saved = summary.tar_bytes.saturating_sub(summary.payload_bytes);
    if arguments.out == Path::new("-") {
        return Ok(());
    }
    if output.json() {
        let mut document = Document::new("pack");
        document
            .set("file", arguments.out.display().to_string())
            .set("file_bytes", summary.file_bytes())
            .set("members", summary.members)
            .set("tar_bytes", summary.tar_bytes)
            .set("payload_bytes", summary.payload_bytes)
            .set("fill_bytes", summary.fill_bytes)
            .set("digest", hex(&summary.digest))
            .set("uuid", hyphenated(summary.uuid))
            .set(
                "saved",
                json!({
                    "compression": saved, "debug_members": left_out.bytes, "constants": shared.bytes,
                }),
            )
            .set("constants_shared", shared.members)
            .set("debug_members_left_out", left_out.members);
        return output.document(&document);
    }
    output.line(format_args!("{}: {}", arguments.out.display(), Size(summary.file_bytes())))?;
    let mut table = Table::new(&[("", Align::Left), ("", Align::Right), ("", Align::Left)]);
    table.row([
        "  archive",
        &Size(summary.tar_bytes).to_string(),
        &Count(summary.members, "member").to_string(),
    ]);
    table.row(["  payload", &Size(summary.payload_bytes).to_string(), &saving(summary, saved)]);
    if left_out.members > 0 {
        let text = format!("left out: {}", Count(left_out.members, "debug member"));
        table.row(["  saved", &Size(left_out.bytes).to_string(), &text]);
    }
    if shared.members > 0 {
        let text = format!("shared: {}", Count(shared.members, "constant"));
        table.row(["  saved", &Size(shared.bytes).to_string(), &text]);
    }
    table.row(["  digest", "", &hex(&summary.digest)]);
    table.row(["  uuid", "", &hyphenated(summary.uuid)]);
    output.table(&table)
}

fn saving(summary: &Summary, saved: u64) -> String {
    let fill = format!("{} of zero fill", Size(summary.fill_bytes));
    if saved == 0 { fill } else { format!("compression saved {}, {fill}", Size(saved)) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hyphenated(uuid: [u8; 16]) -> String {
    let digits = hex(&uuid);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}
