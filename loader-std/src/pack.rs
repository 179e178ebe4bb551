//! The producer's mirror: writes NEFF files (container.md §15).
//!
//! The output is a function of the members and the [`Options`] alone: no clock, user, host or random
//! number enters it. Members are written in the order given; [`tree::collect`] sorts by name bytes,
//! as compilers do.
//!
//! ```
//! use loader_std::pack::{Options, pack};
//!
//! let members = [("neff.json", &b"{}\n"[..])];
//! let file = pack(members, &Options::default()).unwrap();
//! assert_eq!(file.len(), 1024 + 10240);
//! ```

pub mod check;
pub mod dedup;
mod gzip;
mod header;
mod tar;
pub mod tree;
mod window;

pub use header::HeaderFields;
pub use tar::{Dialect, PaxTimes};

use crate::chain::{self, Graph};
use crate::members::Members;
use crate::refusal::Refusal;
use gzip::GzipWriter;
use std::fmt;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use window::Window;

/// Bytes of a NEFF header (container.md §3).
pub const HEADER_SIZE: u64 = 1024;

/// The header's `pkg_version`: which digest it holds (container.md §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Package {
    /// Version 1: SHA-256, 32 bytes.
    Sha256,
    /// Version 2: MD5, 16 bytes.
    Md5,
}

impl Package {
    /// The number in the header.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Sha256 => 1,
            Self::Md5 => 2,
        }
    }
}

/// Byte order of the stored digest (container.md §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestForm {
    /// As computed.
    Plain,
    /// Each 4-byte word reversed, as compilers from 2.21 on store the MD5. There is no such form of a SHA-256: package 1
    /// stores it as computed.
    Swapped,
}

/// How the tar becomes the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// The tar itself.
    None,
    /// gzip at a level from 0 (stored blocks) to 10.
    Gzip(u8),
}

/// Everything about a file except its members. `Default` follows container.md §15.
#[derive(Clone, Debug)]
pub struct Options {
    /// Digest algorithm.
    pub package: Package,
    /// Byte order of the digest.
    pub digest_form: DigestForm,
    /// Compression of the payload; `None` follows the package: gzip 6 for MD5, none for SHA-256.
    pub compression: Option<Compression>,
    /// Tar dialect.
    pub dialect: Dialect,
    /// Writes a pax record with these times before every member.
    pub pax_times: Option<PaxTimes>,
    /// User and group name of every member, at most 31 bytes.
    pub owner: Vec<u8>,
    /// The finished payload is zero-filled to a multiple of this.
    pub payload_align: u64,
    /// The tar is zero-filled to a multiple of this before compression.
    pub tar_align: u64,
    /// Values of the header that do not follow from the payload.
    pub header: HeaderFields,
}

impl Options {
    /// Zero fill of compilers' payloads (container.md §15).
    pub const PAYLOAD_ALIGN: u64 = 10240;

    /// The compression in force.
    #[must_use]
    pub fn compression(&self) -> Compression {
        self.compression.unwrap_or(match self.package {
            Package::Md5 => Compression::Gzip(6),
            Package::Sha256 => Compression::None,
        })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            package: Package::Md5,
            digest_form: DigestForm::Plain,
            compression: None,
            dialect: Dialect::Pax,
            pax_times: None,
            owner: b"nobody".to_vec(),
            payload_align: Self::PAYLOAD_ALIGN,
            tar_align: 512,
            header: HeaderFields::default(),
        }
    }
}

/// Why a file could not be written.
#[derive(Debug)]
pub enum PackError {
    /// The operating system refused.
    Io(io::Error),
    /// A member's name or size does not fit the tar dialect.
    DoesNotFit {
        /// The member.
        name: Vec<u8>,
    },
    /// No reader would find the member under its name.
    Unreadable {
        /// The member.
        name: Vec<u8>,
    },
    /// A header value is longer than its field.
    TooLong {
        /// The field.
        field: &'static str,
        /// Bytes the field holds.
        limit: usize,
    },
    /// A member gave another number of bytes than announced.
    SizeChanged {
        /// The member.
        name: Vec<u8>,
    },
    /// Something that is neither a regular file nor a folder.
    NotAFile {
        /// Its path below the tree's root.
        name: Vec<u8>,
    },
    /// `info.json` or another description of the header is not usable.
    BadInfo(&'static str),
    /// A manifest that something was asked about is not there or cannot be read.
    Unread(Refusal),
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::DoesNotFit { name } => {
                write!(f, "{}: does not fit a header of this tar dialect", name.escape_ascii())
            }
            Self::Unreadable { name } => write!(
                f,
                "{}: no reader would find a member of this name; names are not empty, end with no slash, hold no NUL and are shorter than 1 MiB",
                shortened(name)
            ),
            Self::TooLong { field, limit } => write!(f, "{field}: at most {limit} bytes"),
            Self::SizeChanged { name } => {
                write!(f, "{}: its size changed while it was read", name.escape_ascii())
            }
            Self::NotAFile { name } => {
                write!(f, "{}: only regular files and folders can be packed", name.escape_ascii())
            }
            Self::BadInfo(what) => f.write_str(what),
            Self::Unread(refusal) => refusal.fmt(f),
        }
    }
}

/// The beginning of a name that may be long.
fn shortened(name: &[u8]) -> String {
    const MOST: usize = 200;
    match name.get(..MOST) {
        Some(start) => format!("{}...", start.escape_ascii()),
        None => name.escape_ascii().to_string(),
    }
}

impl std::error::Error for PackError {}

impl From<io::Error> for PackError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Refusal> for PackError {
    fn from(refusal: Refusal) -> Self {
        Self::Unread(refusal)
    }
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Members.
    pub members: u64,
    /// Bytes of the tar, its own zero fill included.
    pub tar_bytes: u64,
    /// Bytes of the payload as stored: `data_size`.
    pub payload_bytes: u64,
    /// Zero bytes at the payload's end.
    pub fill_bytes: u64,
    /// The computed digest, in plain order.
    pub digest: Vec<u8>,
    /// The header's identity.
    pub uuid: [u8; 16],
}

impl Summary {
    /// Size of the whole file in bytes.
    #[must_use]
    pub const fn file_bytes(&self) -> u64 {
        HEADER_SIZE + self.payload_bytes
    }
}

enum Coder<W: Write> {
    Raw(Window<W>),
    Gzip(Box<GzipWriter<Window<W>>>),
}

impl<W: Write> Write for Coder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Raw(window) => window.write(bytes),
            Self::Gzip(gzip) => gzip.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Raw(window) => window.flush(),
            Self::Gzip(gzip) => gzip.flush(),
        }
    }
}

/// Writes one NEFF file, member after member, without holding it in memory.
pub struct Packer<W: Write + Seek> {
    coder: Coder<W>,
    options: Options,
    start: u64,
    tar_bytes: u64,
    members: u64,
}

impl<W: Write + Seek> Packer<W> {
    /// Begins a file at the present position of `out`.
    ///
    /// # Errors
    /// [`PackError::TooLong`] for a header value, [`PackError::Io`].
    pub fn new(mut out: W, options: Options) -> Result<Self, PackError> {
        options.header.check()?;
        if options.owner.len() > tar::OWNER_LIMIT {
            return Err(PackError::TooLong { field: "owner", limit: tar::OWNER_LIMIT });
        }
        let start = out.stream_position()?;
        out.write_all(&[0; HEADER_SIZE as usize])?;
        let window = Window::new(out, options.package);
        let coder = match options.compression() {
            Compression::None => Coder::Raw(window),
            Compression::Gzip(level) => Coder::Gzip(Box::new(GzipWriter::new(window, level)?)),
        };
        Ok(Self { coder, options, start, tar_bytes: 0, members: 0 })
    }

    /// Adds a member of `size` bytes read from `content`.
    ///
    /// # Errors
    /// [`PackError::DoesNotFit`], [`PackError::Unreadable`], [`PackError::SizeChanged`], [`PackError::Io`].
    pub fn member(&mut self, name: &[u8], size: u64, mut content: &mut dyn Read) -> Result<(), PackError> {
        let head = tar::member_head(name, size, &self.options)?;
        self.tar_write(&head)?;
        let copied = io::copy(&mut Read::take(&mut content, size), &mut self.coder)?;
        if copied != size || io::copy(&mut content.take(1), &mut io::sink())? != 0 {
            return Err(PackError::SizeChanged { name: name.to_vec() });
        }
        self.tar_bytes += size;
        self.fill(tar::BLOCK)?;
        self.members += 1;
        Ok(())
    }

    /// Adds a member that is in memory.
    ///
    /// # Errors
    /// As [`Packer::member`].
    pub fn bytes(&mut self, name: &[u8], mut content: &[u8]) -> Result<(), PackError> {
        self.member(name, content.len() as u64, &mut content)
    }

    fn tar_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.tar_bytes += bytes.len() as u64;
        self.coder.write_all(bytes)
    }

    fn fill(&mut self, align: u64) -> io::Result<()> {
        let missing = self.tar_bytes.next_multiple_of(align.max(1)) - self.tar_bytes;
        self.tar_bytes += missing;
        io::copy(&mut io::repeat(0).take(missing), &mut self.coder).map(drop)
    }

    /// Ends the archive, fills the payload and writes the header in front.
    ///
    /// # Errors
    /// [`PackError::Io`].
    pub fn finish(mut self) -> Result<Summary, PackError> {
        self.tar_write(&[0; 2 * tar::BLOCK as usize])?;
        self.fill(self.options.tar_align)?;
        let mut window = match self.coder {
            Coder::Raw(window) => window,
            Coder::Gzip(gzip) => gzip.finish()?,
        };
        let coded = window.len();
        window.fill(self.options.payload_align)?;
        let (mut out, payload_bytes, digest) = window.finish();
        let uuid = self.options.header.uuid_for(&digest);
        let header = self.options.header.emit(&self.options, payload_bytes, &digest, uuid);
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(self.start))?;
        out.write_all(&header)?;
        out.seek(SeekFrom::Start(end))?;
        out.flush()?;
        Ok(Summary {
            members: self.members,
            tar_bytes: self.tar_bytes,
            payload_bytes,
            fill_bytes: payload_bytes - coded,
            digest,
            uuid,
        })
    }
}

/// Packs members that are in memory into a file in memory.
///
/// # Errors
/// Any [`PackError`] except [`PackError::Io`].
pub fn pack<N: AsRef<[u8]>, B: AsRef<[u8]>>(
    members: impl IntoIterator<Item = (N, B)>,
    options: &Options,
) -> Result<Vec<u8>, PackError> {
    let mut file = Cursor::new(Vec::new());
    let mut packer = Packer::new(&mut file, options.clone())?;
    for (name, content) in members {
        packer.bytes(name.as_ref(), content.as_ref())?;
    }
    packer.finish()?;
    Ok(file.into_inner())
}

/// The subgraphs of a tree, which may lack its graph manifest: a packager can leave it out, and names its descriptor
/// `kelf-0.json`.
fn graphs(members: &impl Members) -> Result<Vec<Graph>, Refusal> {
    const KELF: &str = "kelf-0.json";
    let there = |name: &str| members.size(name.as_bytes()).is_some();
    let bare = !there("neff.json") && !there("kelp.json") && there(KELF);
    if bare { chain::graphs_of(members, KELF) } else { chain::graphs(members) }
}

/// How many subgraphs the members' manifests describe; `None` where they do not say.
#[must_use]
pub fn subgraphs(members: &impl Members) -> Option<usize> {
    chain::graphs(members).ok().map(|graphs| graphs.len())
}

/// True for members that no stage and no tool view asks for (container.md §11.2): compiler debug
/// output, assembler text, debug dumps and the wave graph.
#[must_use]
pub fn is_debug_member(name: &[u8]) -> bool {
    const FOLDERS: [&[u8]; 1] = [b"debug_info/"];
    const ENDINGS: [&[u8]; 5] =
        [b".dbg", b".asm", b"wavegraph-bin.json", b".debuginfo.json", b"kernel_debug_info.json"];
    FOLDERS.iter().any(|folder| name.starts_with(folder)) || ENDINGS.iter().any(|end| name.ends_with(end))
}
