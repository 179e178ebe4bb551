//! Digests of constants as they are on a device: without the header of an `.npy` file (manifests.md §15.2).

use loader_core::container::{Entry, Events, zeros};
use loader_core::error::Error;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Bytes before the text of an `.npy` header: magic, version, length.
const FIXED: usize = 10;

/// Takes the events of a pass and digests the arrays in it.
#[derive(Default)]
pub(super) struct Arrays {
    current: Option<Array>,
    done: BTreeMap<Vec<u8>, [u8; 32]>,
}

struct Array {
    name: Vec<u8>,
    head: Vec<u8>,
    /// Bytes of the header's text still to come; `None` as long as its length is not known.
    skip: Option<usize>,
    hasher: Sha256,
}

impl Array {
    fn take(&mut self, mut bytes: &[u8]) {
        let room = FIXED - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        bytes = rest;
        let Some(&[low, high]) = self.head.get(FIXED - 2..) else { return };
        let skip = self.skip.get_or_insert(usize::from(u16::from_le_bytes([low, high])));
        let over = bytes.len().min(*skip);
        *skip -= over;
        self.hasher.update(&bytes[over..]);
    }
}

impl Arrays {
    /// By member, for every member that is an array by its name.
    pub(super) fn digests(self) -> BTreeMap<Vec<u8>, [u8; 32]> {
        self.done
    }
}

impl Events for Arrays {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        let name = entry.table_name().filter(|name| name.ends_with(b".npy"));
        let array = |name: &[u8]| Array {
            name: name.to_vec(),
            head: Vec::with_capacity(FIXED),
            skip: None,
            hasher: Sha256::new(),
        };
        self.current = name.map(array);
        Ok(())
    }

    fn data(&mut self, _: u64, bytes: &[u8]) -> Result<(), Error> {
        if let Some(array) = &mut self.current {
            array.take(bytes);
        }
        Ok(())
    }

    fn hole(&mut self, offset: u64, length: u64) -> Result<(), Error> {
        if self.current.is_none() {
            return Ok(());
        }
        zeros(offset, length, |at, bytes| self.data(at, bytes))
    }

    fn end(&mut self) -> Result<(), Error> {
        if let Some(array) = self.current.take() {
            self.done.insert(array.name, array.hasher.finalize().into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Array;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_header_does_not_count_however_it_is_cut() {
        let bytes = [&b"\x93NUMPY\x01\x00\x03\x00abc"[..], b"content"].concat();
        for cut in 0..bytes.len() {
            let mut array = Array { name: Vec::new(), head: Vec::new(), skip: None, hasher: Sha256::new() };
            array.take(&bytes[..cut]);
            array.take(&bytes[cut..]);
            assert_eq!(array.hasher.finalize(), Sha256::digest(b"content"), "{cut}");
        }
    }
}
