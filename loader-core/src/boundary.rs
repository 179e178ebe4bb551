//! The five places where code of others that may panic is called: the inflater, the JSON binder, the core library's
//! reader of floating-point numbers, its sort (of hosts), and the ends of digests, whose copies the compiler does not see to be of equal
//! length where it makes small code. Each is a function of its own and never inlined, so that an audit of an
//! image finds by their names what may panic, and that it is none of ours.

use crate::arena::Record;
use core::cmp::Ordering;
use core::ops::Range;
use md5::{Digest, Md5};
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress_with_limit};
use serde::Deserialize;
use sha2::Sha256;

/// One step of the inflater to a place in a ring of a power of two bytes.
#[inline(never)]
pub(crate) fn inflate(
    state: &mut DecompressorOxide,
    input: &[u8],
    ring: &mut [u8],
    place: Range<usize>,
    flags: u32,
) -> (TINFLStatus, usize, usize) {
    decompress_with_limit(state, input, ring, place.start, place.len(), flags)
}

/// A validated JSON text as a value; `None` if it has another shape.
#[inline(never)]
pub(crate) fn bind<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Option<T> {
    serde_json_core::from_slice::<T>(text).ok().map(|(value, _)| value)
}

/// The digest of what was taken.
#[inline(never)]
pub(crate) fn sha256(hasher: Sha256) -> [u8; 32] {
    hasher.finalize().into()
}

/// The digest of what was taken.
#[inline(never)]
pub(crate) fn md5(hasher: Md5) -> [u8; 16] {
    hasher.finalize().into()
}

/// The core library's sort. It panics where an order contradicts itself, which it cannot rule out; ours compare keys.
#[inline(never)]
#[cfg(not(feature = "audit"))]
pub(crate) fn sort<T: Record>(slots: &mut [T], order: impl FnMut(&T, &T) -> Ordering) {
    slots.sort_unstable_by(order);
}

/// The stub of the panic audit: another sort.
#[inline(never)]
#[cfg(feature = "audit")]
pub(crate) fn sort<T: Record>(slots: &mut [T], order: impl FnMut(&T, &T) -> Ordering) {
    crate::sort::heap_sort(slots, order);
}

/// A number's text as the nearest floating-point number.
#[inline(never)]
#[cfg(not(feature = "audit"))]
pub(crate) fn float(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// The stub of the panic audit.
#[inline(never)]
#[cfg(feature = "audit")]
pub(crate) fn float(text: &str) -> Option<f64> {
    core::hint::black_box((!text.is_empty()).then_some(0.0))
}
