//! The container layer for hosts: a growable store, and surveys of whole files for tools.

pub(crate) mod both;
mod hashing;
mod json;
mod survey;
mod unpacker;

pub use json::{digest_json, features_json, file_json, header_json, hex, log, member_json, table_json, text};
pub use survey::{Ask, Row, Survey, survey, survey_with};
pub use unpacker::{Unpacker, read};

use crate::room;
use loader_core::container::{Store, StoreFull};
use loader_core::error::NoteList;

/// The remarks on one file, in order: the first 64, and how many there were beyond.
pub type Remarks = NoteList<64>;

/// Member bytes in one growing block, within a limit.
#[derive(Debug, Default)]
pub struct VecStore {
    bytes: Vec<u8>,
    most: Option<usize>,
}

impl VecStore {
    /// An empty store that grows as the machine allows.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), most: None }
    }

    /// An empty store of at most `most` bytes.
    #[must_use]
    pub const fn with_limit(most: usize) -> Self {
        Self { bytes: Vec::new(), most: Some(most) }
    }

    /// The bytes as a block of their own.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Store for VecStore {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreFull> {
        let len = self.bytes.len().checked_add(bytes.len()).ok_or(StoreFull)?;
        if self.most.is_some_and(|most| len > most) {
            return Err(StoreFull);
        }
        room::append(&mut self.bytes, bytes).map_err(|_| StoreFull)
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
