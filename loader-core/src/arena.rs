//! One caller-given slice, used from both ends, without `unsafe`.
//!
//! Results grow from the head: offset 16 on, 0 is null. Scratch and tables grow from the tail.
//! Every item starts on a multiple of 8 from the slice's start (head) or end (tail).
//! Records are little-endian zerocopy types of alignment 1, so where the slice lies does not matter.
//!
//! While a stage builds, it reads and writes through the arena by offset. When it is done it
//! *seals* what it built: [`Arena::seal_head`] and [`Arena::seal_tail`] split the finished bytes off
//! as a shared slice that lives as long as the caller's memory, and the arena goes on with the rest.
//! A sealed [`Head`] or [`Tail`] is plain data: `Copy`, shareable between threads, independent of
//! the arena. Offsets into the head stay valid across seals; a place in the tail is one in the part that it was
//! taken in.
//!
//! ```
//! use loader_core::arena::Arena;
//! use zerocopy::little_endian::U32;
//!
//! let mut memory = [0u8; 256];
//! let mut arena = Arena::new(&mut memory).unwrap();
//! let list = arena.alloc::<U32>(3).unwrap();
//! arena.slice_mut::<U32>(list).unwrap()[1] = U32::new(7);
//! let head = arena.seal_head();
//! assert_eq!(head.slice::<U32>(list).unwrap()[1].get(), 7);
//! ```

mod full;
mod reference;
mod sealed;

pub use full::ArenaFull;
pub use reference::{ArenaRef, TailRef};
pub use sealed::{Head, Tail};

use core::mem::{size_of, take};
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// What a record must be to live in an arena: plain bytes of alignment 1.
pub trait Record: FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned {}
impl<T: FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned> Record for T {}

/// A position of both ends, to come back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    head: usize,
    tail: usize,
}

/// Most bytes of an arena: places are numbers of 32 bits.
#[allow(clippy::as_conversions, reason = "a number of 32 bits fits a usize")]
const MOST: usize = (u32::MAX - 7) as usize;

/// Bytes of the null area at the start.
pub const NULL_AREA: usize = 16;

/// A caller's memory, used from both ends. See the module's page.
#[derive(Debug)]
pub struct Arena<'m> {
    /// The part that is not sealed.
    mem: &'m mut [u8],
    /// Sealed bytes before `mem`.
    before: usize,
    /// Sealed bytes after `mem`.
    after: usize,
    /// Used bytes at the start of `mem`.
    head: usize,
    /// Used bytes at the end of `mem`.
    tail: usize,
    peak: usize,
}

const fn round_up(n: usize) -> Option<usize> {
    match n.checked_add(7) {
        Some(n) => Some(n & !7),
        None => None,
    }
}

impl<'m> Arena<'m> {
    /// Wraps `mem`. At most 4 GiB − 8 of it is used, and a multiple of 8.
    ///
    /// # Errors
    /// [`ArenaFull`] if not even the null area fits.
    pub fn new(mem: &'m mut [u8]) -> Result<Self, ArenaFull> {
        let usable = mem.len().min(MOST) & !7;
        let full = ArenaFull { needed: NULL_AREA, available: usable };
        let mem = mem.get_mut(..usable).ok_or(full)?;
        mem.get_mut(..NULL_AREA).ok_or(full)?.fill(0);
        Ok(Self { mem, before: 0, after: 0, head: NULL_AREA, tail: 0, peak: NULL_AREA })
    }

    /// Wraps `mem` again after a first arena over it has ended whose product, `head_used` bytes, is to stay:
    /// gives that product, and an arena whose records follow it. Tables of the first are gone.
    ///
    /// # Errors
    /// [`ArenaFull`] if `mem` is shorter than the product.
    pub fn resume(mem: &'m mut [u8], head_used: usize) -> Result<(Head<'m>, Self), ArenaFull> {
        let full = ArenaFull { needed: head_used, available: mem.len() };
        let (sealed, rest) = mem.split_at_mut_checked(head_used).ok_or(full)?;
        let usable = rest.len().min(MOST.saturating_sub(head_used)) & !7;
        let mem = rest.get_mut(..usable).ok_or(full)?;
        let head = Head::from_bytes(sealed, 0);
        Ok((head, Self { mem, before: head_used, after: 0, head: 0, tail: 0, peak: head_used }))
    }

    /// An arena of no bytes, in which nothing has a place.
    pub(crate) fn nothing() -> Self {
        Self { mem: &mut [], before: 0, after: 0, head: 0, tail: 0, peak: 0 }
    }

    /// Bytes between head and tail.
    #[must_use]
    pub fn available(&self) -> usize {
        self.mem.len().saturating_sub(self.head).saturating_sub(self.tail)
    }

    /// Used bytes from the start, sealed ones included: the end of the product so far.
    #[must_use]
    pub fn head_used(&self) -> usize {
        self.before.saturating_add(self.head)
    }

    /// Used bytes at the end, sealed ones included.
    #[must_use]
    pub fn tail_used(&self) -> usize {
        self.after.saturating_add(self.tail)
    }

    /// The most that was ever in use at once, both ends together.
    #[must_use]
    pub const fn high_water(&self) -> usize {
        self.peak
    }

    /// The present position of both ends.
    #[must_use]
    pub const fn mark(&self) -> Mark {
        Mark { head: self.head, tail: self.tail }
    }

    /// Gives back everything taken since `mark`. Sealed bytes stay; a seal makes older marks void.
    pub const fn release(&mut self, mark: Mark) {
        if mark.head < self.head {
            self.head = mark.head;
        }
        if mark.tail < self.tail {
            self.tail = mark.tail;
        }
    }

    /// Gives back the tail taken since `mark`, keeping the head.
    pub const fn release_tail(&mut self, mark: Mark) {
        if mark.tail < self.tail {
            self.tail = mark.tail;
        }
    }

    /// Gives back the head taken since `mark`, keeping the tail.
    pub const fn release_head(&mut self, mark: Mark) {
        if mark.head < self.head {
            self.head = mark.head;
        }
    }

    fn reserve(&self, bytes: Option<usize>) -> Result<usize, ArenaFull> {
        let available = self.available();
        let needed = bytes.and_then(round_up).unwrap_or(usize::MAX);
        if needed <= available { Ok(needed) } else { Err(ArenaFull { needed, available }) }
    }

    /// Checks that `bytes` are available for a step that would be hard to undo, and counts them as used at
    /// once: the [high-water mark](Self::high_water) stays the least size that suffices.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken in either case.
    pub fn require(&mut self, bytes: usize) -> Result<(), ArenaFull> {
        let bytes = self.reserve(Some(bytes))?;
        self.peak = self.peak.max(self.used().saturating_add(bytes));
        Ok(())
    }

    /// Takes `count` zeroed records of `T` at the head. None are null only for `count` 0.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken then.
    pub fn alloc<T: Record>(&mut self, count: usize) -> Result<ArenaRef, ArenaFull> {
        self.take_head(size_of::<T>(), count)
    }

    #[inline(never)]
    pub(crate) fn take_head(&mut self, size: usize, count: usize) -> Result<ArenaRef, ArenaFull> {
        if count == 0 {
            return Ok(ArenaRef::NULL);
        }
        let bytes = self.reserve(size.checked_mul(count))?;
        let (off, start) = (self.head_used(), self.head);
        self.head = start.saturating_add(bytes);
        self.clear(start, bytes);
        // An arena has less than 4 GiB.
        let [off, len] = [off, count].map(|n| U32::new(u32::try_from(n).unwrap_or(u32::MAX)));
        Ok(ArenaRef { off, len })
    }

    /// Fills what was taken with zeros.
    #[inline(never)]
    fn clear(&mut self, start: usize, bytes: usize) {
        if let Some(taken) = self.mem.get_mut(start..).and_then(|rest| rest.get_mut(..bytes)) {
            taken.fill(0);
        }
        self.peak = self.peak.max(self.used());
    }

    /// Bytes in use, both ends together.
    fn used(&self) -> usize {
        self.head_used().saturating_add(self.tail_used())
    }

    /// Copies `bytes` to the head.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken then.
    pub fn alloc_bytes(&mut self, bytes: &[u8]) -> Result<ArenaRef, ArenaFull> {
        let place = self.alloc::<u8>(bytes.len())?;
        if let Some(slot) = self.octets_mut(place) {
            crate::bytes::copy(slot, bytes);
        }
        Ok(place)
    }

    /// Takes `count` zeroed records of `T` at the tail.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken then.
    pub fn alloc_tail<T: Record>(&mut self, count: usize) -> Result<TailRef, ArenaFull> {
        self.take_tail(size_of::<T>(), count)
    }

    #[inline(never)]
    fn take_tail(&mut self, size: usize, count: usize) -> Result<TailRef, ArenaFull> {
        let bytes = self.reserve(size.checked_mul(count))?;
        self.tail = self.tail.saturating_add(bytes);
        self.clear(self.tail_start(), bytes);
        Ok(TailRef(U32::new(u32::try_from(self.tail).unwrap_or(u32::MAX))))
    }

    /// Where the unsealed tail starts.
    fn tail_start(&self) -> usize {
        self.mem.len().saturating_sub(self.tail)
    }

    /// Copies `bytes` to the tail.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken then.
    pub fn alloc_tail_bytes(&mut self, bytes: &[u8]) -> Result<TailRef, ArenaFull> {
        let place = self.alloc_tail::<u8>(bytes.len())?;
        if let Some(slot) = self.tail_octets_mut(place, bytes.len()) {
            crate::bytes::copy(slot, bytes);
        }
        Ok(place)
    }

    /// Splits the unsealed head off as a shared slice.
    #[must_use]
    pub fn seal_head(&mut self) -> Head<'m> {
        let (sealed, rest) = crate::bytes::split_mut(take(&mut self.mem), self.head);
        let head = Head::from_bytes(sealed, self.before);
        self.mem = rest;
        self.before = self.before.saturating_add(self.head);
        self.head = 0;
        head
    }

    /// Splits the unsealed tail off as a shared slice.
    #[must_use]
    pub fn seal_tail(&mut self) -> Tail<'m> {
        Tail::new(self.cut_tail())
    }

    /// Splits the unsealed tail off.
    fn cut_tail(&mut self) -> &'m mut [u8] {
        let start = self.tail_start();
        let (rest, cut) = crate::bytes::split_mut(take(&mut self.mem), start);
        self.mem = rest;
        self.after = self.after.saturating_add(self.tail);
        self.tail = 0;
        cut
    }

    /// Splits `bytes` bytes off for good, as working memory that is neither head nor tail. Nothing unsealed may
    /// be at the tail.
    ///
    /// # Errors
    /// [`ArenaFull`], also if the tail is in use; nothing is taken then.
    pub fn lend(&mut self, bytes: usize) -> Result<&'m mut [u8], ArenaFull> {
        if self.tail != 0 {
            let needed = round_up(bytes).unwrap_or(usize::MAX);
            return Err(ArenaFull { needed, available: self.available() });
        }
        self.take_tail(1, bytes)?;
        Ok(self.cut_tail())
    }

    /// The unsealed head as it stands.
    #[must_use]
    pub fn head(&self) -> Head<'_> {
        Head::from_bytes(self.mem.get(..self.head).unwrap_or(&[]), self.before)
    }

    /// The unsealed tail as it stands.
    #[must_use]
    #[cfg_attr(small, inline(never))]
    pub fn tail(&self) -> Tail<'_> {
        Tail::new(self.mem.get(self.tail_start()..).unwrap_or(&[]))
    }

    /// An unsealed record of the head.
    #[must_use]
    pub fn get<T: Record>(&self, place: ArenaRef) -> Option<&T> {
        T::ref_from_prefix(self.bytes(place, size_of::<T>())?).ok().map(|(record, _)| record)
    }

    /// An unsealed array of the head; empty for null.
    #[must_use]
    pub fn slice<T: Record>(&self, place: ArenaRef) -> Option<&[T]> {
        <[T]>::ref_from_bytes(self.bytes(place, size_of::<T>())?).ok()
    }

    /// Unsealed bytes of the head; none for null.
    pub(crate) fn octets(&self, place: ArenaRef) -> Option<&[u8]> {
        self.bytes(place, 1)
    }

    /// Unsealed bytes of the head, to write; none for null.
    pub(crate) fn octets_mut(&mut self, place: ArenaRef) -> Option<&mut [u8]> {
        self.bytes_mut(place, 1)
    }

    /// Unsealed bytes of the tail, to write.
    pub(crate) fn tail_octets_mut(&mut self, place: TailRef, count: usize) -> Option<&mut [u8]> {
        self.tail_bytes_mut(place, 1, count)
    }

    /// Where records of `size` bytes lie; one copy for all types of records.
    #[inline(never)]
    fn bytes(&self, place: ArenaRef, size: usize) -> Option<&[u8]> {
        self.head().place(place, size)
    }

    /// An unsealed record of the head, to write.
    pub fn get_mut<T: Record>(&mut self, place: ArenaRef) -> Option<&mut T> {
        T::mut_from_prefix(self.bytes_mut(place, size_of::<T>())?).ok().map(|(record, _)| record)
    }

    /// An unsealed array of the head, to write; empty for null.
    pub fn slice_mut<T: Record>(&mut self, place: ArenaRef) -> Option<&mut [T]> {
        <[T]>::mut_from_bytes(self.bytes_mut(place, size_of::<T>())?).ok()
    }

    #[inline(never)]
    pub(crate) fn bytes_mut(&mut self, place: ArenaRef, size: usize) -> Option<&mut [u8]> {
        if place.is_null() {
            return Some(&mut []);
        }
        let start = to_usize(place.off).checked_sub(self.before)?;
        let end = start.checked_add(size.checked_mul(to_usize(place.len))?)?;
        self.mem.get_mut(..self.head)?.get_mut(start..end)
    }

    /// An unsealed array of the tail.
    #[must_use]
    pub fn tail_slice<T: Record>(&self, place: TailRef, count: usize) -> Option<&[T]> {
        <[T]>::ref_from_bytes(self.tail_bytes(place, size_of::<T>(), count)?).ok()
    }

    #[inline(never)]
    fn tail_bytes(&self, place: TailRef, size: usize, count: usize) -> Option<&[u8]> {
        self.tail().place(place, size, count)
    }

    /// An unsealed array of the tail, to write.
    #[cfg_attr(small, inline(never))]
    pub fn tail_slice_mut<T: Record>(&mut self, place: TailRef, count: usize) -> Option<&mut [T]> {
        <[T]>::mut_from_bytes(self.tail_bytes_mut(place, size_of::<T>(), count)?).ok()
    }

    /// The records that were taken last from the unsealed tail, to write, and what was taken before them.
    pub(crate) fn last_in_tail<T: Record>(&mut self, count: usize) -> Option<(&mut [T], Tail<'_>)> {
        let (last, before) = self.split_tail(size_of::<T>().checked_mul(count)?)?;
        Some((<[T]>::mut_from_bytes_with_elems(last, count).ok()?, before))
    }

    #[inline(never)]
    fn split_tail(&mut self, bytes: usize) -> Option<(&mut [u8], Tail<'_>)> {
        let start = self.mem.len().checked_sub(self.tail)?;
        let (last, before) = self.mem.get_mut(start..)?.split_at_mut_checked(bytes)?;
        Some((last, Tail::new(before)))
    }

    /// The one record at a place in the unsealed tail, to write.
    pub(crate) fn tail_mut<T: Record>(&mut self, place: TailRef) -> Option<&mut T> {
        T::mut_from_bytes(self.tail_bytes_mut(place, size_of::<T>(), 1)?).ok()
    }

    #[inline(never)]
    fn tail_bytes_mut(&mut self, place: TailRef, size: usize, count: usize) -> Option<&mut [u8]> {
        if count == 0 {
            return Some(&mut []);
        }
        let distance = to_usize(place.0);
        if distance > self.tail {
            return None;
        }
        let start = self.mem.len().checked_sub(distance)?;
        self.mem.get_mut(start..start.checked_add(size.checked_mul(count)?)?)
    }
}

fn to_usize(n: U32) -> usize {
    usize::try_from(n.get()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
