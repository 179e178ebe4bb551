//! What is kept of a member while it streams by: documents whole, blobs not.
//!
//! A file names its documents as it likes, and the name may come after the document, so the content decides. JSON
//! has no control bytes but white space, and no byte that UTF-8 never has; a reader of what is kept fails at the
//! same byte as a reader of all.

use crate::room::{Full, append, grow};

/// How much is kept of a member whose content is not wanted: enough for a NumPy header's length.
const START: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Everything is kept.
    All,
    /// Nothing but white space so far.
    Blank,
    /// A document so far.
    Document,
    /// No document: no more is kept.
    Done,
}

/// The bytes of one member that are kept.
#[derive(Debug)]
pub(super) struct Sieve {
    bytes: Vec<u8>,
    state: State,
}

impl Sieve {
    /// Keeps all bytes, or as many as a document or its first bytes have.
    pub(super) const fn new(all: bool) -> Self {
        Self { bytes: Vec::new(), state: if all { State::All } else { State::Blank } }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// They would have to be kept, and the host has no memory for them.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), Full> {
        match self.state {
            State::All => append(&mut self.bytes, bytes),
            State::Done => self.start(bytes),
            State::Blank | State::Document => match self.end_of_document(bytes) {
                None => append(&mut self.bytes, bytes),
                Some(at) => {
                    let (document, rest) = bytes.split_at(at + 1);
                    append(&mut self.bytes, document)?;
                    self.state = State::Done;
                    self.start(rest)?;
                    self.bytes.shrink_to_fit();
                    Ok(())
                }
            },
        }
    }

    /// Takes zero bytes.
    ///
    /// # Errors
    /// As [`Sieve::take`].
    pub(super) fn zeros(&mut self, count: u64) -> Result<(), Full> {
        let most = if self.state == State::All { u64::MAX } else { START as u64 };
        let count = usize::try_from(count.min(most)).unwrap_or(usize::MAX);
        if self.state != State::All {
            return self.take(&[0; START][..count]);
        }
        grow(&mut self.bytes, count)?;
        self.bytes.resize(self.bytes.len() + count, 0);
        Ok(())
    }

    /// What was kept.
    pub(super) fn kept(self) -> Vec<u8> {
        self.bytes
    }

    fn start(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let room = START.saturating_sub(self.bytes.len()).min(bytes.len());
        append(&mut self.bytes, &bytes[..room])
    }

    /// Where a byte stands that no document has there.
    fn end_of_document(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut from = 0;
        if self.state == State::Blank {
            from = bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
            // An object, a list, or a byte-order mark before one.
            if !matches!(bytes[from], b'{' | b'[' | 0xEF) {
                return Some(from);
            }
            self.state = State::Document;
        }
        bytes[from..].iter().position(|&byte| is_foreign(byte)).map(|at| from + at)
    }
}

/// True for bytes that JSON never has.
const fn is_foreign(byte: u8) -> bool {
    matches!(byte, 0..=8 | 11 | 12 | 14..=0x1F | 0xC0 | 0xC1 | 0xF5..=0xFF)
}

#[cfg(test)]
mod tests {
    use super::Sieve;

    fn kept(all: bool, pieces: &[&[u8]]) -> Vec<u8> {
        let mut sieve = Sieve::new(all);
        pieces.iter().for_each(|piece| sieve.take(piece).unwrap());
        sieve.kept()
    }

    #[test]
    fn documents_are_kept_and_blobs_are_not() {
        let json = b" \n{\"a\": [1, \"\xC3\xA9\"]}\n";
        let blob: Vec<u8> = (0..=255).cycle().skip(1).take(5000).collect();
        let text = [&b"{\"a\": "[..], &[b'x'; 500], &[0], &[b'y'; 500]].concat();
        for cut in [1, 2, 3, 7, 16, 100, 4000] {
            let pieces = |bytes: &'static [u8]| bytes;
            assert_eq!(kept(false, &pieces(json).chunks(cut).collect::<Vec<_>>()), json);
            assert_eq!(kept(false, &blob.chunks(cut).collect::<Vec<_>>()), blob[..16]);
            assert_eq!(kept(true, &blob.chunks(cut).collect::<Vec<_>>()), blob);
            // Up to the byte at which a reader of all of it fails too.
            assert_eq!(kept(false, &text.chunks(cut).collect::<Vec<_>>()), text[..507]);
        }
        assert_eq!(kept(false, &[b"pe.asm says something"]), b"pe.asm says some");
        assert_eq!(kept(false, &[b"\xEF\xBB\xBF{}"]), b"\xEF\xBB\xBF{}");
        assert_eq!(kept(false, &[b"", b" ", b""]), b" ");
    }

    #[test]
    fn holes_cost_nothing_unless_they_are_wanted() {
        let mut sieve = Sieve::new(false);
        assert!(sieve.zeros(u64::MAX).is_ok() && sieve.kept() == [0; 16]);
        let mut sieve = Sieve::new(true);
        assert!(sieve.zeros(100).is_ok() && sieve.zeros(u64::MAX).is_err());
        assert_eq!(sieve.kept(), [0; 100]);
    }
}
