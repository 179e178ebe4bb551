//! NEFFs inside other files, found by structure alone (no knowledge of the carrier's format).
//!
//! A header is recognised by what every writer puts into it: package 1 or 2, a `header_size` of 0x400, a
//! major version of at most 2, a payload that fits the file, and at 0x400 a gzip or tar header. Memory is
//! one window, whatever the file's size.

use loader_core::container::{HEADER_BYTES, Header, HeaderView, gates};
use loader_core::source::Source;

/// Bytes of the carrier in memory at a time.
const WINDOW: usize = 256 << 10;
/// What a candidate is judged by: its header and the first tar block of its payload.
const NEEDED: usize = HEADER_BYTES + 512;
/// Blocks that are passed over together when they hold no candidate.
const BLOCK: usize = 64;
/// The second byte of `header_size` is 4, and lies that far into a header.
const MARK: (usize, u8) = (9, 4);

/// A NEFF inside a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// File offset of its header.
    pub offset: u64,
    /// Its bytes: header and payload.
    pub size: u64,
}

/// How often a carrier's bytes may be read for what turns out to be no whole NEFF, beside [`FREE`].
const TIMES: u64 = 4;
/// Bytes that may be read so however small the carrier is.
const FREE: u64 = 64 << 20;

/// Calls `found` for every place where a NEFF begins, in file order, with the bytes that were read already for
/// refused ones if those are too many: headers that overlap would else be judged by all bytes behind each of them.
/// Its answer says whether what was found is whole, and is passed over; otherwise the search goes on right behind its
/// first byte.
///
/// # Errors
/// The source's refusal to be read, or `found`'s.
pub fn find<E: From<loader_core::error::Error>>(
    source: &mut impl Source,
    mut found: impl FnMut(Found, Option<u64>) -> Result<bool, E>,
    mut progress: impl FnMut(u64),
) -> Result<(), E> {
    let size = source.len().unwrap_or(0);
    let mut window = vec![0; WINDOW + NEEDED];
    let (mut at, mut refused) = (0u64, 0u64);
    let most = size.saturating_mul(TIMES).saturating_add(FREE);
    while at < size {
        let have = fill(source, at, &mut window)?;
        let (end, mut from) = (have.min(WINDOW), 0);
        let mut next = at + end as u64;
        // What a candidate is judged by is in memory, and no byte is read again for a false one.
        while let Some(near) = candidate(&window[..have], from, end) {
            let offset = at + near as u64;
            let neff = judge(&window[near..have], size - offset).map(|size| Found { offset, size });
            if let Some(neff) = neff {
                let spent = Some(refused).filter(|&refused| refused > most);
                if found(neff, spent)? {
                    next = offset + neff.size;
                    break;
                }
                refused = refused.saturating_add(if spent.is_none() { neff.size } else { 0 });
            }
            from = near + 1;
        }
        at = next;
        progress(at);
        if have == 0 {
            break;
        }
    }
    Ok(())
}

fn fill(source: &mut impl Source, at: u64, window: &mut [u8]) -> Result<usize, loader_core::error::Error> {
    let mut have = 0;
    while have < window.len() {
        match source.read_at(at + have as u64, &mut window[have..])? {
            0 => break,
            count => have += count,
        }
    }
    Ok(have)
}

/// The first position from `from` on and below `end` whose 16 bytes begin a header.
fn candidate(window: &[u8], from: usize, end: usize) -> Option<usize> {
    let marks = window.get(from + MARK.0..)?;
    for (index, block) in marks.chunks(BLOCK).enumerate() {
        if !block.iter().fold(false, |any, &byte| any | (byte == MARK.1)) {
            continue;
        }
        let start = from + index * BLOCK;
        let near = (start..start + block.len()).find(|&at| begins_header(&window[at..]));
        if near.is_some() {
            return near.filter(|&at| at < end);
        }
    }
    None
}

fn begins_header(bytes: &[u8]) -> bool {
    matches!(bytes, [1 | 2, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, ..])
}

/// The size of the NEFF that the bytes begin, if they do; `left` bytes of the carrier remain.
fn judge(bytes: &[u8], left: u64) -> Option<u64> {
    let header = Header::parse(HeaderView::of(bytes)?);
    let payload = bytes.get(HEADER_BYTES..)?;
    let plausible = begins_header(bytes)
        && header.neff_version_major <= gates::MAX_MAJOR
        && header.data_size > 0
        && header.payload_end() <= left
        && (payload.starts_with(&[0x1F, 0x8B, 8]) || is_tar(payload));
    plausible.then(|| header.payload_end())
}

/// A tar header by its magic.
fn is_tar(payload: &[u8]) -> bool {
    payload.get(257..262) == Some(b"ustar")
}

#[cfg(test)]
mod tests {
    use super::{begins_header, candidate, judge};

    fn header() -> Vec<u8> {
        let mut header = vec![0; 1024];
        (header[0], header[9], header[24]) = (2, 4, 1);
        header[16] = 20;
        header.extend([0x1F, 0x8B, 8]);
        header.resize(1024 + 20, 0);
        header
    }

    #[test]
    fn candidates_are_found_wherever_they_lie() {
        for at in [0, 1, 54, 55, 63, 64, 65, 200] {
            let mut file = vec![4; at];
            file.extend(header());
            assert_eq!(candidate(&file, 0, file.len()), Some(at));
            assert_eq!(candidate(&file, at, file.len()), Some(at));
            assert_eq!(candidate(&file, at + 1, file.len()), None);
        }
        assert_eq!(candidate(&[4; 1000], 0, 1000), None);
    }

    #[test]
    fn a_false_header_is_none() {
        let good = header();
        assert!(begins_header(&good));
        assert_eq!(judge(&good, good.len() as u64), Some(1044));
        assert_eq!(judge(&good, 1043), None);
        for (at, byte) in [(24, 3), (1024, 0), (16, 0), (0, 3)] {
            let mut bad = good.clone();
            bad[at] = byte;
            assert_eq!(judge(&bad, bad.len() as u64), None, "byte {at}");
        }
    }
}
