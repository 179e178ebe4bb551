//! What makes two files the same one to the parse cache.

use loader_core::container::Header;

/// How much of the header two files must have in common to share a parse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyPolicy {
    /// The UUID alone, as in the reference (Confirmed): of two different files with one UUID that are loaded
    /// at the same time, the second silently gets the content of the first.
    UuidOnly,
    /// The UUID, the digest field and `data_size`: the safe variant of container.md §12, and the default.
    #[default]
    UuidAndContent,
}

/// The cache key of one file. An all-zero UUID is a key like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    uuid: [u8; 16],
    content: Option<([u8; 32], u64)>,
}

impl Key {
    /// A key from the header fields `uuid`, `hash` and `data_size` (bytes).
    #[must_use]
    pub fn new(policy: KeyPolicy, uuid: [u8; 16], hash: [u8; 32], data_size: u64) -> Self {
        let content = match policy {
            KeyPolicy::UuidOnly => None,
            KeyPolicy::UuidAndContent => Some((hash, data_size)),
        };
        Self { uuid, content }
    }

    /// The key of a file by its header.
    #[must_use]
    pub fn of(policy: KeyPolicy, header: &Header) -> Self {
        Self::new(policy, header.uuid, header.hash, header.data_size)
    }
}
