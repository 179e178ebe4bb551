//! Host memory that is large, or whose size a file or a caller decides: asked for so that a refusal is an answer. The
//! system ends a process that cannot bear one. Small fixed requests are made without care; [`MARGIN`] is left for them.

pub use neuron_drivers::host::heap::MARGIN;

use loader_core::error::{ContainerCode, Error, Stage};
use neuron_drivers::host::heap::left;
use zerocopy::FromZeros;

/// The host has not so much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// Bytes that were asked for.
    pub bytes: usize,
}

impl Full {
    /// The refusal of a stage; `what` was to lie in the memory.
    #[must_use]
    pub fn error(self, stage: Stage, what: &str) -> Error {
        let bytes = u64::try_from(self.bytes).unwrap_or(u64::MAX);
        Error::new(stage, ContainerCode::HostMemory).numbers(bytes, 0).name(what.as_bytes())
    }
}

/// Bytes of address space that a thread may take before it does anything: its stack, and an arena of the system's
/// allocator, which is 64 MiB of a piece of twice that.
const THREAD: usize = 128 << 20;

/// Whether there is address space for so many more threads. Ask before the first is made: one that has its stack and finds
/// that another took the little that it needs before it runs ends the process.
#[must_use]
pub fn for_threads(count: usize) -> bool {
    left(count.saturating_mul(THREAD))
}

/// Whether [`MARGIN`] is left for small requests, which are made without care. A process in which several threads take
/// the last of it at once may still find that it is not.
#[must_use]
pub fn for_small_requests() -> bool {
    left(MARGIN)
}

fn margin(bytes: usize) -> Result<(), Full> {
    if for_small_requests() { Ok(()) } else { Err(Full { bytes }) }
}

/// As many zeros. The system commits them as they are touched.
///
/// # Errors
/// [`Full`].
pub fn zeroed<T: FromZeros>(count: usize) -> Result<Vec<T>, Full> {
    let bytes = count.saturating_mul(size_of::<T>());
    let zeros = T::new_vec_zeroed(count).map_err(|_| Full { bytes })?;
    margin(bytes).map(|()| zeros)
}

/// As [`zeroed`], with the largest of `most`, a half, a quarter and so on, down to `least`, of which the host has
/// `spare` times as much besides.
///
/// # Errors
/// [`Full`] if not even `least` can be had.
pub fn largest(most: usize, least: usize, spare: usize) -> Result<Vec<u8>, Full> {
    let mut bytes = most;
    while bytes > least {
        if let Ok(zeros) = zeroed(bytes)
            && left(bytes.saturating_mul(spare))
        {
            return Ok(zeros);
        }
        bytes = (bytes / 2).max(least);
    }
    zeroed(bytes)
}

/// Makes room for `more` items behind those of a vector.
///
/// # Errors
/// [`Full`]; the vector is as it was.
pub fn grow<T>(items: &mut Vec<T>, more: usize) -> Result<(), Full> {
    if items.capacity() - items.len() >= more {
        return Ok(());
    }
    let bytes = items.len().saturating_add(more).saturating_mul(size_of::<T>());
    // Room for more growth where it can be had.
    let grown = items.try_reserve(more).or_else(|_| items.try_reserve_exact(more));
    grown.map_err(|_| Full { bytes })?;
    margin(bytes)
}

/// Appends bytes.
///
/// # Errors
/// [`Full`]; the vector has the items that it had.
pub fn append(items: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Full> {
    grow(items, bytes.len())?;
    items.extend_from_slice(bytes);
    Ok(())
}

/// A copy.
///
/// # Errors
/// [`Full`].
pub fn copy<T: Clone>(items: &[T]) -> Result<Vec<T>, Full> {
    let mut all = Vec::new();
    exact(&mut all, items.len())?;
    all.extend_from_slice(items);
    Ok(all)
}

/// All items of an iterator.
///
/// # Errors
/// [`Full`].
pub fn collect<T>(items: impl Iterator<Item = T>) -> Result<Vec<T>, Full> {
    try_collect(items.map(Ok))
}

/// All items of an iterator, each of which may be refused.
///
/// # Errors
/// [`Full`].
pub fn try_collect<T>(items: impl Iterator<Item = Result<T, Full>>) -> Result<Vec<T>, Full> {
    let mut all = Vec::new();
    exact(&mut all, items.size_hint().0)?;
    for item in items {
        grow(&mut all, 1)?;
        all.push(item?);
    }
    Ok(all)
}

/// Room for so many items and no more.
fn exact<T>(items: &mut Vec<T>, count: usize) -> Result<(), Full> {
    let bytes = count.saturating_mul(size_of::<T>());
    items.try_reserve_exact(count).map_err(|_| Full { bytes })?;
    margin(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Full, append, collect, copy, grow, largest, zeroed};

    /// More than any machine gives, but a possible size.
    const TOO_MUCH: usize = isize::MAX as usize;

    #[test]
    fn what_cannot_be_had_is_refused_and_changes_nothing() {
        let full = Full { bytes: TOO_MUCH };
        assert_eq!(zeroed::<u8>(TOO_MUCH), Err(full));
        assert_eq!(zeroed::<u64>(usize::MAX), Err(Full { bytes: usize::MAX }));
        let mut items = vec![1u8, 2];
        assert_eq!(grow(&mut items, TOO_MUCH - 2), Err(full));
        append(&mut items, &[3]).unwrap();
        assert_eq!(items, [1, 2, 3]);
        assert_eq!(collect((0..TOO_MUCH).map(|at| at as u8)), Err(full));
    }

    #[test]
    fn what_can_be_had_is_given() {
        assert_eq!(zeroed::<u16>(3).unwrap(), [0; 3]);
        assert_eq!(copy(b"abc").unwrap(), b"abc");
        assert_eq!(collect((0..5).filter(|at| at % 2 == 0)).unwrap(), [0, 2, 4]);
        let given = largest(TOO_MUCH, 1 << 10, 1).unwrap().len();
        assert!((1 << 10..TOO_MUCH).contains(&given), "{given}");
        assert_eq!(largest(8, 64, 3).unwrap().len(), 8);
    }
}
