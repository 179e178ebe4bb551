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
//! the arena. Offsets stay valid across seals.
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

use core::fmt;
use core::mem::{size_of, take};
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// What a record must be to live in an arena: plain bytes of alignment 1.
pub trait Record: FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned {}
impl<T: FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned> Record for T {}

/// An 8-byte reference field: where an array of records starts in the head, and how many there are.
///
/// `{0, 0}` is null. A reference to one record has `len` 1; to bytes, `len` is the byte count.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct ArenaRef {
    /// Bytes from the arena's start.
    pub off: U32,
    /// Elements.
    pub len: U32,
}

const _: () = assert!(size_of::<ArenaRef>() == 8);

impl ArenaRef {
    /// Refers to nothing.
    pub const NULL: Self = Self { off: U32::ZERO, len: U32::ZERO };

    /// True if it refers to nothing.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.off.get() == 0
    }

    /// Number of elements.
    #[must_use]
    pub fn count(self) -> u32 {
        self.len.get()
    }

    /// Reference to element `index` of an array of `T`, as a one-element array.
    #[must_use]
    pub fn nth<T>(self, index: u32) -> Option<Self> {
        if index >= self.len.get() {
            return None;
        }
        let size = u32::try_from(size_of::<T>()).ok()?;
        let off = self.off.get().checked_add(index.checked_mul(size)?)?;
        Some(Self { off: U32::new(off), len: U32::new(1) })
    }
}

/// A place in the tail: bytes from the arena's end to the item's first byte. 0 is null.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    FromBytes,
    IntoBytes,
    Immutable,
    KnownLayout,
    Unaligned,
)]
#[repr(C)]
pub struct TailRef(pub U32);

impl TailRef {
    /// Refers to nothing.
    pub const NULL: Self = Self(U32::ZERO);

    /// True if it refers to nothing.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0.get() == 0
    }
}

/// The arena ran out. `needed` is what the failing step asked for, rounded as it would be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaFull {
    /// Bytes asked for.
    pub needed: usize,
    /// Bytes between head and tail.
    pub available: usize,
}

impl fmt::Display for ArenaFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the arena is full: {} bytes needed, {} available", self.needed, self.available)
    }
}

impl core::error::Error for ArenaFull {}

/// A position of both ends, to come back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    head: usize,
    tail: usize,
}

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
        let most = usize::try_from(u32::MAX - 7).unwrap_or(usize::MAX) & !7;
        let usable = mem.len().min(most) & !7;
        let full = ArenaFull { needed: NULL_AREA, available: usable };
        let mem = mem.get_mut(..usable).ok_or(full)?;
        mem.get_mut(..NULL_AREA).ok_or(full)?.fill(0);
        Ok(Self { mem, before: 0, after: 0, head: NULL_AREA, tail: 0, peak: NULL_AREA })
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
        match bytes.and_then(round_up) {
            Some(needed) if needed <= available => Ok(needed),
            Some(needed) => Err(ArenaFull { needed, available }),
            None => Err(ArenaFull { needed: usize::MAX, available }),
        }
    }

    fn touch(&mut self) {
        self.peak = self.peak.max(self.head_used().saturating_add(self.tail_used()));
    }

    /// Checks that `bytes` are available for a step that would be hard to undo, and counts them as used at
    /// once: the [high-water mark](Self::high_water) stays the least size that suffices.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken in either case.
    pub fn require(&mut self, bytes: usize) -> Result<(), ArenaFull> {
        let bytes = self.reserve(Some(bytes))?;
        let used = self.head_used().saturating_add(self.tail_used());
        self.peak = self.peak.max(used.saturating_add(bytes));
        Ok(())
    }

    /// Takes `count` zeroed records of `T` at the head. None are null only for `count` 0.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken then.
    pub fn alloc<T: Record>(&mut self, count: usize) -> Result<ArenaRef, ArenaFull> {
        if count == 0 {
            return Ok(ArenaRef::NULL);
        }
        let bytes = self.reserve(size_of::<T>().checked_mul(count))?;
        let full = ArenaFull { needed: bytes, available: self.available() };
        let off = u32::try_from(self.head_used()).map_err(|_| full)?;
        let len = u32::try_from(count).map_err(|_| full)?;
        let end = self.head.checked_add(bytes).ok_or(full)?;
        self.mem.get_mut(self.head..end).ok_or(full)?.fill(0);
        self.head = end;
        self.touch();
        Ok(ArenaRef { off: U32::new(off), len: U32::new(len) })
    }

    /// Copies `bytes` to the head.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken then.
    pub fn alloc_bytes(&mut self, bytes: &[u8]) -> Result<ArenaRef, ArenaFull> {
        let place = self.alloc::<u8>(bytes.len())?;
        if let Some(slot) = self.slice_mut::<u8>(place) {
            slot.copy_from_slice(bytes);
        }
        Ok(place)
    }

    /// Takes `count` zeroed records of `T` at the tail.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken then.
    pub fn alloc_tail<T: Record>(&mut self, count: usize) -> Result<TailRef, ArenaFull> {
        let bytes = self.reserve(size_of::<T>().checked_mul(count))?;
        let full = ArenaFull { needed: bytes, available: self.available() };
        let end = self.mem.len().saturating_sub(self.tail);
        let start = end.checked_sub(bytes).ok_or(full)?;
        self.mem.get_mut(start..end).ok_or(full)?.fill(0);
        self.tail = self.tail.saturating_add(bytes);
        self.touch();
        let distance = u32::try_from(self.tail_used()).map_err(|_| full)?;
        Ok(TailRef(U32::new(distance)))
    }

    /// Copies `bytes` to the tail.
    ///
    /// # Errors
    /// [`ArenaFull`]; nothing is taken then.
    pub fn alloc_tail_bytes(&mut self, bytes: &[u8]) -> Result<TailRef, ArenaFull> {
        let place = self.alloc_tail::<u8>(bytes.len())?;
        if let Some(slot) = self.tail_slice_mut::<u8>(place, bytes.len()) {
            slot.copy_from_slice(bytes);
        }
        Ok(place)
    }

    /// Splits `bytes` bytes (rounded up to 8) off the end for good, as memory of its own: a thread's
    /// scratch, a device's bounce buffer. Must not follow unsealed tail items.
    ///
    /// # Errors
    /// [`ArenaFull`] if they do not fit between head and tail.
    pub fn carve(&mut self, bytes: usize) -> Result<&'m mut [u8], ArenaFull> {
        let bytes = self.reserve(Some(bytes))?;
        let full = ArenaFull { needed: bytes, available: self.available() };
        if self.tail != 0 {
            return Err(full);
        }
        let split = self.mem.len().checked_sub(bytes).ok_or(full)?;
        let (rest, carved) = take(&mut self.mem).split_at_mut(split);
        self.mem = rest;
        self.after = self.after.saturating_add(bytes);
        self.touch();
        Ok(carved)
    }

    /// Splits the unsealed head off as a shared slice.
    #[must_use]
    pub fn seal_head(&mut self) -> Head<'m> {
        let (sealed, rest) = take(&mut self.mem).split_at_mut(self.head);
        let head = Head { bytes: sealed, base: self.before };
        self.mem = rest;
        self.before = self.before.saturating_add(self.head);
        self.head = 0;
        head
    }

    /// Splits the unsealed tail off as a shared slice.
    #[must_use]
    pub fn seal_tail(&mut self) -> Tail<'m> {
        let split = self.mem.len().saturating_sub(self.tail);
        let (rest, sealed) = take(&mut self.mem).split_at_mut(split);
        let tail = Tail { bytes: sealed, after: self.after };
        self.mem = rest;
        self.after = self.after.saturating_add(self.tail);
        self.tail = 0;
        tail
    }

    /// The unsealed head as it stands.
    #[must_use]
    pub fn head(&self) -> Head<'_> {
        Head { bytes: self.mem.get(..self.head).unwrap_or(&[]), base: self.before }
    }

    /// The unsealed tail as it stands.
    #[must_use]
    pub fn tail(&self) -> Tail<'_> {
        let start = self.mem.len().saturating_sub(self.tail);
        Tail { bytes: self.mem.get(start..).unwrap_or(&[]), after: self.after }
    }

    /// An unsealed record of the head.
    #[must_use]
    pub fn get<T: Record>(&self, place: ArenaRef) -> Option<&T> {
        self.head().get(place)
    }

    /// An unsealed array of the head; empty for null.
    #[must_use]
    pub fn slice<T: Record>(&self, place: ArenaRef) -> Option<&[T]> {
        self.head().slice(place)
    }

    /// An unsealed record of the head, to write.
    pub fn get_mut<T: Record>(&mut self, place: ArenaRef) -> Option<&mut T> {
        self.slice_mut(place)?.first_mut()
    }

    /// An unsealed array of the head, to write; empty for null.
    pub fn slice_mut<T: Record>(&mut self, place: ArenaRef) -> Option<&mut [T]> {
        if place.is_null() {
            return Some(&mut []);
        }
        let start = to_usize(place.off).checked_sub(self.before)?;
        let size = size_of::<T>().checked_mul(to_usize(place.len))?;
        let end = start.checked_add(size)?;
        let bytes = self.mem.get_mut(..self.head)?.get_mut(start..end)?;
        <[T]>::mut_from_bytes_with_elems(bytes, to_usize(place.len)).ok()
    }

    /// An unsealed array of the head, to write, beside the unsealed tail, to read.
    pub fn slice_mut_and_tail<T: Record>(&mut self, place: ArenaRef) -> Option<(&mut [T], Tail<'_>)> {
        let (head, rest) = self.mem.split_at_mut_checked(self.head)?;
        let split = rest.len().checked_sub(self.tail)?;
        let tail = Tail { bytes: rest.get(split..)?, after: self.after };
        let start = to_usize(place.off).checked_sub(self.before)?;
        let size = size_of::<T>().checked_mul(to_usize(place.len))?;
        let bytes = head.get_mut(start..start.checked_add(size)?)?;
        Some((<[T]>::mut_from_bytes_with_elems(bytes, to_usize(place.len)).ok()?, tail))
    }

    /// An unsealed array of the tail.
    #[must_use]
    pub fn tail_slice<T: Record>(&self, place: TailRef, count: usize) -> Option<&[T]> {
        self.tail().slice(place, count)
    }

    /// An unsealed array of the tail, to write.
    pub fn tail_slice_mut<T: Record>(&mut self, place: TailRef, count: usize) -> Option<&mut [T]> {
        if count == 0 {
            return Some(&mut []);
        }
        let distance = to_usize(place.0).checked_sub(self.after)?;
        if distance > self.tail {
            return None;
        }
        let start = self.mem.len().checked_sub(distance)?;
        let end = start.checked_add(size_of::<T>().checked_mul(count)?)?;
        let bytes = self.mem.get_mut(start..end)?;
        <[T]>::mut_from_bytes_with_elems(bytes, count).ok()
    }
}

fn to_usize(n: U32) -> usize {
    usize::try_from(n.get()).unwrap_or(usize::MAX)
}

/// Sealed head bytes: finished records, addressed by [`ArenaRef`].
#[derive(Clone, Copy, Debug)]
pub struct Head<'m> {
    bytes: &'m [u8],
    base: usize,
}

impl<'m> Head<'m> {
    /// Head bytes that lie `base` bytes into their arena (for dumps read back and for tests).
    #[must_use]
    pub const fn from_bytes(bytes: &'m [u8], base: usize) -> Self {
        Self { bytes, base }
    }

    /// The bytes of this part, the null area included if it is the first part.
    #[must_use]
    pub const fn bytes(&self) -> &'m [u8] {
        self.bytes
    }

    /// One record.
    #[must_use]
    pub fn get<T: Record>(&self, place: ArenaRef) -> Option<&'m T> {
        self.slice(place)?.first()
    }

    /// An array; empty for null.
    #[must_use]
    pub fn slice<T: Record>(&self, place: ArenaRef) -> Option<&'m [T]> {
        if place.is_null() {
            return Some(&[]);
        }
        let start = to_usize(place.off).checked_sub(self.base)?;
        let size = size_of::<T>().checked_mul(to_usize(place.len))?;
        let bytes = self.bytes.get(start..start.checked_add(size)?)?;
        <[T]>::ref_from_bytes_with_elems(bytes, to_usize(place.len)).ok()
    }
}

/// Sealed tail bytes: finished tables, addressed by [`TailRef`].
#[derive(Clone, Copy, Debug)]
pub struct Tail<'m> {
    bytes: &'m [u8],
    after: usize,
}

impl<'m> Tail<'m> {
    /// One record.
    #[must_use]
    pub fn get<T: Record>(&self, place: TailRef) -> Option<&'m T> {
        self.slice(place, 1)?.first()
    }

    /// An array of `count` records; empty for 0.
    #[must_use]
    pub fn slice<T: Record>(&self, place: TailRef, count: usize) -> Option<&'m [T]> {
        if count == 0 {
            return Some(&[]);
        }
        let distance = to_usize(place.0).checked_sub(self.after)?;
        let start = self.bytes.len().checked_sub(distance)?;
        let end = start.checked_add(size_of::<T>().checked_mul(count)?)?;
        <[T]>::ref_from_bytes_with_elems(self.bytes.get(start..end)?, count).ok()
    }
}

#[cfg(test)]
mod tests;
