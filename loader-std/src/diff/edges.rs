//! The bytes of a file that no field of a header and no member holds: behind the ends of texts, in the pad, after the
//! payload.

use crate::container::hex;
use loader_core::container::{HEADER_BYTES, Header, HeaderView};
use loader_core::error::Error;
use loader_core::source::Source;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::mem::offset_of;

/// A source that keeps its header and a digest of what follows its payload while it is read from start to end.
pub(super) struct Watched<'s, S> {
    source: &'s mut S,
    at: u64,
    head: Vec<u8>,
    after: Sha256,
    after_bytes: u64,
}

impl<'s, S: Source> Watched<'s, S> {
    pub(super) fn new(source: &'s mut S) -> Self {
        Self { source, at: 0, head: Vec::new(), after: Sha256::new(), after_bytes: 0 }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = HEADER_BYTES - self.head.len();
        self.head.extend_from_slice(&bytes[..room.min(bytes.len())]);
        let end = self.header().map_or(u64::MAX, |header| header.payload_end());
        let before = usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(bytes.len());
        self.after.update(&bytes[before..]);
        self.after_bytes += (bytes.len() - before) as u64;
        self.at += bytes.len() as u64;
    }

    fn header(&self) -> Option<Header> {
        HeaderView::of(&self.head).map(Header::parse)
    }

    /// `container`: what follows the payload.
    pub(super) fn container(&self) -> Value {
        json!({ "trailing_bytes": self.after_bytes, "trailing_sha256": hex(&self.after.clone().finalize()) })
    }

    /// Bytes of the header that are not zero, as the file offset of the first and all up to the last in hexadecimal; a
    /// key only where there are some.
    pub(super) fn hidden(&self) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |key: &str, from: usize, end: usize| {
            let bytes = &self.head[from..end];
            let first = bytes.iter().position(|&byte| byte != 0);
            let last = bytes.iter().rposition(|&byte| byte != 0);
            if let Some((first, last)) = first.zip(last) {
                let bytes = format!("{:#x}: {}", from + first, hex(&bytes[first..=last]));
                map.insert(key.to_owned(), bytes.into());
            }
        };
        if let Some(header) = self.header() {
            let build = offset_of!(HeaderView, neff_build_version);
            let after = build + header.neff_build_version.as_bytes().len();
            put("neff_build_version_after_nul", after, offset_of!(HeaderView, num_tpb));
            let after = offset_of!(HeaderView, name) + header.name.as_bytes().len();
            put("name_after_nul", after, offset_of!(HeaderView, requested_tpb_count));
            put("pad", offset_of!(HeaderView, pad), self.head.len());
        }
        map
    }
}

impl<S: Source> Source for Watched<'_, S> {
    fn len(&self) -> Option<u64> {
        self.source.len()
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        let count = self.source.read_at(offset, out)?;
        if offset == self.at {
            self.take(&out[..count]);
        }
        Ok(count)
    }
}
