//! The container: header, gzip, tar, and whole files under every cutting.

use super::pieces;
use crate::container::{File, GZIP_HEADER, gzip, tar};
use crate::inflaters::agree;
use crate::payload::with_buffers;
use loader_core::container::{Digesting, Entry, Events, Header, HeaderView, Reader, guard};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use sha2::{Digest, Sha256};
use zerocopy::IntoBytes;

/// Limits that keep one execution short.
const LIMITS: Limits = Limits { inflated_bytes: 1 << 20, gzip_layers: 3, ..Limits::DEFAULT };
const POLICY: Policy = Policy { verify_digest: false, report_digest: true, ..Policy::DEFAULT };

/// What a pass reported, in a form that two passes can be compared by.
#[derive(Debug, Default, PartialEq, Eq)]
struct Trace {
    entries: Vec<(Vec<u8>, u64, u64, [u8; 32])>,
    notes: Vec<String>,
    hasher: Sha256Of,
}

#[derive(Debug, Default)]
struct Sha256Of(Sha256);

impl PartialEq for Sha256Of {
    fn eq(&self, other: &Self) -> bool {
        self.0.clone().finalize() == other.0.clone().finalize()
    }
}

impl Eq for Sha256Of {}

impl Events for Trace {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.entries.push((entry.raw_name.to_vec(), entry.size, entry.header_offset, [0; 32]));
        self.hasher = Sha256Of::default();
        Ok(())
    }

    fn data(&mut self, _: u64, bytes: &[u8]) -> Result<(), Error> {
        self.hasher.0.update(bytes);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        if let Some(last) = self.entries.last_mut() {
            last.3 = self.hasher.0.clone().finalize().into();
        }
        Ok(())
    }

    fn note(&mut self, note: Error) {
        self.notes.push(note.to_string());
    }
}

/// Reads a file in [`pieces`].
fn read(file: &[u8], size: Option<u64>, cuts: &[u8]) -> (Trace, Result<(), Error>) {
    feed(pieces(file, cuts), size, &LIMITS)
}

fn feed<'d>(
    pieces: impl Iterator<Item = &'d [u8]>,
    size: Option<u64>,
    limits: &Limits,
) -> (Trace, Result<(), Error>) {
    with_buffers(|buffers| {
        let mut trace = Trace::default();
        let mut reader = Reader::new(size, buffers.workspace(), limits, &POLICY, Digesting::Report);
        for piece in pieces {
            reader.feed(piece, &mut trace);
        }
        let outcome = reader.finish(&mut trace).map(|_| ());
        (trace, outcome)
    })
}

/// Header fields survive being read and written; the guard never panics.
///
/// # Panics
/// If a property fails.
pub fn header(data: &[u8]) {
    let mut raw = [0; 1024];
    for (slot, byte) in raw.iter_mut().zip(data) {
        *slot = *byte;
    }
    let Some(view) = HeaderView::of(&raw) else { return };
    let header = Header::parse(view);
    let mut again = header.emit();
    assert_eq!(again.as_bytes()[..0x22C], raw[..0x22C]);
    again.pad = view.pad;
    assert_eq!(Header::parse(&again), header);
    let _ = guard::enter(-1, guard::RuntimeState::Init, Some(data), &POLICY);
    let _ = header.to_string();
}

/// Deflate data and what follows it, behind a gzip header.
///
/// # Panics
/// If a property fails.
pub fn gzip_stream(data: &[u8]) {
    let payload = [&GZIP_HEADER[..], data].concat();
    equal_ways(&File::new(2, payload).bytes());
    agree(data, data.len().max(1));
}

/// A plain archive.
///
/// # Panics
/// If a property fails.
pub fn tar_archive(data: &[u8]) {
    let mut payload = data.to_vec();
    // A checksum is beyond a fuzzer's reach: every block that has room for one gets the right one, unless
    // its last byte asks for the wrong one.
    for block in payload.chunks_exact_mut(512) {
        if block[511] != 0xEE && block[257..262] == *b"ustar" {
            let mut head = tar::Head([0; 512]);
            head.put(0, block).sign();
            block.copy_from_slice(&head.0);
        }
    }
    equal_ways(&File::raw(payload).bytes());
}

/// A whole file.
///
/// # Panics
/// If a property fails.
pub fn whole(data: &[u8]) {
    equal_ways(data);
}

/// The first bytes say how the rest is cut.
///
/// # Panics
/// If a property fails.
pub fn chunking(data: &[u8]) {
    let (cuts, file) = data.split_at(data.len().min(8));
    let whole = read(file, Some(file.len() as u64), &[]);
    assert_eq!(read(file, Some(file.len() as u64), cuts), whole);
}

/// One edge at a given place.
///
/// # Panics
/// If it makes a difference.
pub fn two_pieces(file: &[u8], edge: usize) {
    assert_eq!(feed([&file[..edge], &file[edge..]].into_iter(), None, &LIMITS), read(file, None, &[]));
}

/// A file in one piece and in pieces of one size, within limits. Returns the refusal's code, if there is one.
///
/// # Panics
/// If it makes a difference.
pub fn chunking_within(file: &[u8], piece: usize, limits: &Limits) -> Option<String> {
    let size = Some(file.len() as u64);
    let whole = feed([file].into_iter(), size, limits);
    assert_eq!(feed(file.chunks(piece), size, limits), whole, "pieces of {piece}");
    whole.1.err().map(|error| error.id().to_string())
}

/// In one piece, in pieces, and without a known size.
fn equal_ways(file: &[u8]) {
    let size = Some(file.len() as u64);
    let whole = read(file, size, &[]);
    assert_eq!(read(file, size, &[3, 0, 60]), whole);
    let pipe = read(file, None, &[90]);
    assert_eq!(pipe.1, whole.1);
}

pub(super) fn header_seeds() -> Vec<Vec<u8>> {
    vec![File::base().bytes()[..1024].to_vec(), vec![0; 1024], vec![0xFF; 1024]]
}

pub(super) fn gzip_seeds() -> Vec<Vec<u8>> {
    let archive = tar::base().finish();
    let stream = |data: &[u8]| gzip(data)[10..].to_vec();
    vec![
        stream(&archive),
        [stream(&archive[..700]), gzip(&archive[700..])].concat(),
        [stream(&archive), vec![0; 20]].concat(),
        stream(&gzip(&archive)),
    ]
}

pub(super) fn tar_seeds() -> Vec<Vec<u8>> {
    let mut pax = tar::Tar::new();
    pax.pax(&[("path", b"long/name"), ("size", b"3"), ("hdrcharset", b"BINARY")]).file("m", b"abc");
    let mut sparse = tar::Tar::new();
    sparse.pax(&[("GNU.sparse.map", b"0,4,10,4"), ("GNU.sparse.realsize", b"14")]).file("s", b"AAAABBBB");
    let mut text = tar::Tar::new();
    text.pax(&[("GNU.sparse.major", b"1"), ("GNU.sparse.minor", b"0"), ("GNU.sparse.realsize", b"4")]);
    let mut body = b"1\n0\n4\n".to_vec();
    body.resize(512, 0);
    body.extend(b"AAAA");
    text.file("t", &body);
    let mut long = tar::Tar::new();
    long.entry(b"L", b'L', b"long name\0").head(&tar::Head::gnu(b"x", b'0', 0));
    [tar::base(), pax, sparse, text, long].map(|tar| tar.finish()).to_vec()
}

pub(super) fn whole_seeds() -> Vec<Vec<u8>> {
    vec![
        File::base().bytes(),
        File::raw(tar::base().finish()).bytes(),
        File::new(1, tar::base().finish()).bytes(),
    ]
}

pub(super) fn chunking_seeds() -> Vec<Vec<u8>> {
    let cuts: [[u8; 8]; 3] = [[0; 8], [1, 2, 3, 50, 90, 0, 7, 9], [255; 8]];
    cuts.iter().flat_map(|cuts| whole_seeds().into_iter().map(|file| [&cuts[..], &file].concat())).collect()
}
