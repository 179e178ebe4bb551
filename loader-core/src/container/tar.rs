//! The tar walk as a push parser: 512-byte blocks in, entries out (container.md §10).
//!
//! v7, ustar, GNU and pax headers may be mixed. What special headers say about the next member is gathered
//! in [`special`], pax records are cut in [`pax`], one member's sizes and kind are decided in [`member`].

mod block;
mod body;
mod member;
mod names;
mod number;
mod pax;
mod sparse;
mod special;
mod walk;

pub use sparse::Extent;
pub(crate) use walk::Tar;

use crate::error::{ContainerCode, Error, Id, Stage};

fn refuse(code: ContainerCode) -> Error {
    Error::new(Stage::Unpack, code)
}

/// True for what the archive itself is at fault for, or asks too much with; anything else comes from
/// whoever takes the events.
pub(crate) fn is_archive_fault(error: &Error) -> bool {
    matches!(error.id(), Id { letter: 'C', number: 300..600 })
}

/// Length of a block.
const BLOCK: usize = 512;

/// Bytes from `size` up to the next block.
const fn padding(size: u64) -> u64 {
    size.wrapping_neg() & 511
}

fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// The first `count` bytes of `bytes`, and the rest.
fn split(bytes: &[u8], count: u64) -> (&[u8], &[u8]) {
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(bytes.len());
    bytes.split_at_checked(count).unwrap_or((bytes, &[]))
}
