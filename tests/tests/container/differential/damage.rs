//! Seeded damage to files and to the archives inside them.

use loader_core::container::{Digesting, Entry, Events, Reader};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::file::Buffers;
use neffload_tests::build::filler;
use neffload_tests::container::tar::Tar;
use neffload_tests::container::{File, gzip_level};
use std::path::Path;

/// A seeded sequence of numbers.
pub(super) struct Seeded(pub(super) u32);

impl Seeded {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        let bytes = filler(self.0, 4);
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize % end.max(1)
    }
}

/// One damage: bit flip, byte, cut, deletion, splice, or a length in the header.
pub(super) fn damage(file: &mut Vec<u8>, seeded: &mut Seeded) {
    let whole = seeded.below(10) < 7;
    let end = if whole { file.len() } else { file.len().min(1100) };
    let at = seeded.below(end);
    match seeded.below(20) {
        18 | 19 => {
            let place = [0, 8, 16, 24, 32, 0x220][seeded.below(6)];
            let len = file.len() as u64;
            let values =
                [0, 1, 2, 3, len, len.wrapping_sub(1024), len.wrapping_sub(1025), 1 << 63, u64::MAX, 1 << 27];
            if file.len() > place + 8 {
                file[place..place + 8].copy_from_slice(&values[seeded.below(values.len())].to_le_bytes());
            }
        }
        kind => bytes(file, at, kind, seeded),
    }
}

/// Damage at a byte that knows no format.
fn bytes(file: &mut Vec<u8>, at: usize, kind: usize, seeded: &mut Seeded) {
    if file.is_empty() {
        return;
    }
    match kind {
        0..=9 => file[at] ^= 1 << seeded.below(8),
        10 | 11 => file[at] = [0, 0xFF, 0x80, 0x7F, 0x20, 0x30][seeded.below(6)],
        12 | 13 => file.truncate(at),
        14 | 15 => {
            let end = (at + 1 + seeded.below(600)).min(file.len());
            file.drain(at..end);
        }
        _ => {
            let from = seeded.below(file.len());
            let piece = file[from..(from + 1 + seeded.below(2000)).min(file.len())].to_vec();
            file.splice(at..at, piece);
        }
    }
}

/// Where the header blocks of an archive are: by their magic, or by their checksum, since the oldest have no magic.
fn blocks(tar: &[u8]) -> Vec<usize> {
    let is_header = |block: &[u8]| block[257..].starts_with(b"ustar") || signature(block) == block[148..156];
    (0..tar.len() / 512).map(|block| block * 512).filter(|&at| is_header(&tar[at..at + 512])).collect()
}

/// One damage to an archive: of a header's field, with its checksum made right again more often than not; or of
/// any byte; or members moved, repeated, or made another kind.
pub(super) fn damage_archive(tar: &mut Vec<u8>, seeded: &mut Seeded) {
    let heads = blocks(tar);
    let Some(&head) = heads.get(seeded.below(heads.len())) else {
        // Compressed, or damaged beyond that.
        let at = seeded.below(tar.len());
        return bytes(tar, at, seeded.below(18), seeded);
    };
    match seeded.below(12) {
        0..=6 => {
            let (start, len) = FIELDS[seeded.below(FIELDS.len())];
            let at = head + start + seeded.below(len);
            tar[at] = match seeded.below(4) {
                0 => tar[at] ^ (1 << seeded.below(8)),
                1 => NEAR[seeded.below(NEAR.len())],
                2 => [0, 0x80, 0xFF, 0x7F][seeded.below(4)],
                _ => seeded.below(256) as u8,
            };
        }
        7 => tar[head + 156] = KINDS[seeded.below(KINDS.len())],
        8 => {
            let piece = tar[head..(head + 512 * (1 + seeded.below(6))).min(tar.len())].to_vec();
            let to = heads[seeded.below(heads.len())];
            tar.splice(to..to, piece);
        }
        kind => {
            let at = seeded.below(tar.len());
            return bytes(tar, at, [0, 12, 14][kind - 9], seeded);
        }
    }
    if seeded.below(5) > 0 {
        sign(tar, head);
    }
}

/// Name, mode, size, type, magic, prefix, and the fields of GNU's sparse map.
const FIELDS: [(usize, usize); 9] =
    [(0, 100), (100, 8), (124, 12), (124, 12), (148, 8), (156, 1), (257, 8), (345, 155), (386, 114)];

/// Bytes that mean something in some field.
const NEAR: &[u8] = b"0123456789-+ \0/.";
/// Type flags.
const KINDS: &[u8] = b"01234567xXgLKVADNMS\0Z";

/// Makes the checksum of the header at `head` right.
fn sign(tar: &mut [u8], head: usize) {
    let Some(block) = tar.get_mut(head..head + 512) else { return };
    let right = signature(block);
    block[148..156].copy_from_slice(&right);
}

/// The checksum of a header as most programs write it.
fn signature(block: &[u8]) -> [u8; 8] {
    let field = block[148..156].iter().map(|&byte| u32::from(byte)).sum::<u32>();
    let sum = block.iter().map(|&byte| u32::from(byte)).sum::<u32>() - field + 8 * u32::from(b' ');
    let text = format!("{sum:06o}\0 ");
    text.as_bytes().try_into().unwrap()
}

/// An archive in one of the ways to hold it.
pub(super) fn wrapped(tar: &[u8], number: usize) -> Vec<u8> {
    match number % 4 {
        0 => File::new(1, tar.to_vec()),
        1 => File::raw(tar.to_vec()),
        2 => File::new(2, gzip_level(tar, 0)),
        _ => File::new(2, gzip_level(tar, 1)),
    }
    .bytes()
}

/// The archive inside a file, made again from its members, as far as it is not too long to be damaged often.
pub(super) fn inflated(path: &Path) -> Option<Vec<u8>> {
    const MOST: usize = 1 << 20;
    let file = std::fs::read(path).ok()?;
    let mut buffers = Buffers::new();
    let policy = Policy { verify_digest: false, ..Policy::DEFAULT };
    let size = Some(file.len() as u64);
    let mut reader = Reader::new(size, buffers.workspace(), &Limits::DEFAULT, &policy, Digesting::Skip);
    let mut copy = Copy::default();
    reader.feed(&file, &mut copy);
    reader.finish(&mut copy).ok()?;
    let mut tar = Tar::new();
    for (number, (name, content)) in copy.0.into_iter().enumerate() {
        if tar.0.len() + content.len() > MOST {
            continue;
        }
        if number % 3 == 0 {
            tar.pax(&[("mtime", b"1700000000.25")]);
        }
        tar.file(name, content);
    }
    Some(tar.finish())
}

#[derive(Default)]
struct Copy(Vec<(Vec<u8>, Vec<u8>)>);

impl Events for Copy {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.0.push((entry.raw_name.to_vec(), Vec::new()));
        Ok(())
    }

    fn data(&mut self, _: u64, bytes: &[u8]) -> Result<(), Error> {
        if let Some((_, content)) = self.0.last_mut() {
            content.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
