//! What each choice saved: the file is packed again without it, into nothing, and the sizes compared.

use super::source::Source;
use super::{PackArguments, Stop, write_members};
use crate::output::{Count, Size};
use loader_std::pack::{Compression, Options, Packer, Summary};
use serde_json::{Value, json};
use std::io::{self, Seek, SeekFrom, Write};

/// Members and content bytes that `--no-debug` left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftOut {
    pub(super) members: u64,
    pub(super) bytes: u64,
}

/// What the choices saved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choices {
    pub(super) left_out: LeftOut,
    /// Bytes of the file with gzip, and bytes that a load need not inflate.
    uncompressed: Option<Sizes>,
    /// Bytes of the file with debug members.
    no_debug: Option<Sizes>,
}

/// Sizes of the file in bytes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    with: u64,
    without: u64,
    /// Bytes of the archive.
    archive: u64,
}

impl Sizes {
    /// What the choice took off the file; negative if it made it longer.
    fn saved(self) -> i64 {
        let bytes = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        bytes(self.without) - bytes(self.with)
    }
}

impl Choices {
    /// Packs again without each choice that was made.
    pub(super) fn of(
        arguments: &PackArguments,
        source: &Source,
        options: &Options,
        summary: &Summary,
        left_out: LeftOut,
    ) -> Result<Self, Stop> {
        let sizes = |options: Options, no_debug| -> Result<Sizes, Stop> {
            let packer = Packer::new(Nowhere::default(), options)?;
            let (other, _) = write_members(source, no_debug, packer, |_| {})?;
            Ok(Sizes { with: summary.file_bytes(), without: other.file_bytes(), archive: summary.tar_bytes })
        };
        let gzip = Options { compression: Some(Compression::Gzip(6)), ..options.clone() };
        Ok(Self {
            left_out,
            uncompressed: arguments.uncompressed.then(|| sizes(gzip, arguments.no_debug)).transpose()?,
            no_debug: arguments.no_debug.then(|| sizes(options.clone(), false)).transpose()?,
        })
    }

    /// By choice; null for one that was not made.
    pub(super) fn json(&self) -> Value {
        json!({
            "uncompressed": self.uncompressed.map(|sizes| json!({
                "saved_bytes": sizes.saved(), "file_bytes_without": sizes.without,
                "inflating_saved_bytes": sizes.archive,
            })),
            "no_debug": self.no_debug.map(|sizes| json!({
                "saved_bytes": sizes.saved(), "file_bytes_without": sizes.without,
                "members": self.left_out.members, "content_bytes": self.left_out.bytes,
            })),
        })
    }

    /// One line for people for every choice that was made.
    pub(super) fn lines(&self) -> impl Iterator<Item = [String; 3]> {
        let uncompressed = self.uncompressed.map(|sizes| {
            let inflating = format!("every load is spared inflating {}", Size(sizes.archive));
            ["  --uncompressed".to_owned(), change(sizes), inflating]
        });
        let no_debug = self.no_debug.map(|sizes| {
            let members = Count(self.left_out.members, "debug member");
            let content = Size(self.left_out.bytes);
            ["  --no-debug".to_owned(), change(sizes), format!("left out {members} of {content}")]
        });
        uncompressed.into_iter().chain(no_debug)
    }
}

fn change(sizes: Sizes) -> String {
    let saved = sizes.saved();
    format!("{} {}", if saved < 0 { "costs" } else { "saves" }, Size(saved.unsigned_abs()))
}

/// A file that keeps its length only.
#[derive(Debug, Default)]
struct Nowhere {
    at: u64,
    end: u64,
}

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.at += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Nowhere {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
