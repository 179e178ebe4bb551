//! Rings of 16-byte descriptors: entry words, template addresses, capacities (staging.md §10).

use crate::device::DevAddr;
use crate::error::{Error, Stage, StageCode};
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Bytes of one ring entry (Confirmed).
pub const ENTRY_BYTES: u64 = 16;
/// Most bytes one entry moves; stored as length 0 (Confirmed).
pub const MOST_BYTES: u64 = 0x1_0000;
/// Most entries of a ring half (staging.md §10.2, Confirmed).
pub const MOST_ENTRIES: u32 = 16_777_200;
/// Meta word of a plain copy (staging.md §10.1, Confirmed; R34).
pub const META_COPY: u32 = 0x0108_0003;
/// Lap number that load-time rings carry (staging.md §10.8, Inferred).
pub const FIRST_LAP: u8 = 1;
/// Bytes that a padding entry moves (Confirmed).
const PADDING_BYTES: u32 = 4;
/// Rings with at most this many entries take the small form (Confirmed).
const SMALL: u32 = 31;
/// Capacity of the small form (Confirmed).
const SMALL_CAPACITY: u32 = 64;

/// Marks of an entry's control word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// First entry of a packet.
    pub first: bool,
    /// Last entry of a packet.
    pub last: bool,
    /// Data barrier (bit 30).
    pub barrier: bool,
    /// Strongly ordered write (bit 29; receive side, architectures above 2).
    pub ordered: bool,
}

/// Control word of an entry; `None` for a length of 0 or above 65,536.
#[must_use]
pub fn control_word(len: u32, lap: u8, marks: Marks) -> Option<u32> {
    if len == 0 || u64::from(len) > MOST_BYTES {
        return None;
    }
    let bit = |on: bool, at: u32| u32::from(on).wrapping_shl(at);
    let lap = (u32::from(lap) & 3).wrapping_shl(24);
    Some(
        (len & 0xFFFF)
            | lap
            | bit(marks.first, 26)
            | bit(marks.last, 27)
            | bit(marks.ordered, 29)
            | bit(marks.barrier, 30),
    )
}

/// One ring entry.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct Entry {
    /// Length and marks.
    pub control: U32,
    /// Meta word (source side) or second address (destination side, 0).
    pub meta: U32,
    /// Absolute or template address.
    pub address: U64,
}

const _: () = assert!(size_of::<Entry>() == 16);

impl Entry {
    /// Bytes it moves.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        match self.control.get() & 0xFFFF {
            0 => 0x1_0000,
            len => len,
        }
    }

    /// True for the first entry of a packet.
    #[must_use]
    pub const fn is_first(&self) -> bool {
        self.control.get() & 0x0400_0000 != 0
    }

    /// True for the last entry of a packet.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        self.control.get() & 0x0800_0000 != 0
    }
}

/// The software's shadow of a ring's producer: where the next entry goes, and on which lap (staging.md §10.8,
/// Confirmed). Load-time rings are never full, so all their entries are of the first lap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lap {
    next: u32,
    id: u8,
    capacity: u32,
}

impl Lap {
    /// An empty ring of that many entries, at least 1.
    #[must_use]
    pub const fn new(capacity: u32) -> Self {
        Self { next: 0, id: FIRST_LAP, capacity: if capacity == 0 { 1 } else { capacity } }
    }

    /// Index of the next entry and number of its lap, 0 to 3.
    #[must_use]
    pub const fn at(&self) -> (u32, u8) {
        (self.next, self.id)
    }

    /// Writes the lap of the next entry into `entry`, bits 25:24 of its control word, and moves on by one: to or
    /// past the end means back to the start, on the next lap of four.
    pub fn stamp(&mut self, entry: &mut Entry) {
        entry.control = (entry.control.get() | u32::from(self.id).wrapping_shl(24)).into();
        self.next = self.next.saturating_add(1);
        if self.next >= self.capacity {
            self.next = 0;
            self.id = self.id.wrapping_add(1) & 3;
        }
    }
}

/// Capacity in entries of a ring that holds `entries` (staging.md §10.4); `None` on overflow.
///
/// A wrapping ring takes `entries + 16` (X25). The linear 32 gives 48, below the small ring: literal
/// behaviour of the reference.
#[must_use]
pub const fn capacity(entries: u32, wraps: bool) -> Option<u32> {
    if entries <= SMALL {
        return Some(SMALL_CAPACITY);
    }
    let Some(room) = entries.checked_add(16) else { return None };
    if wraps { room.checked_next_power_of_two() } else { room.checked_next_multiple_of(16) }
}

/// Entries that one packet may hold (R33).
#[must_use]
pub const fn packet_limit(arch: crate::arch::Arch) -> u32 {
    match arch {
        crate::arch::Arch::Sunda => 128,
        crate::arch::Arch::Cayman | crate::arch::Arch::Mariana => 60,
    }
}

/// Bit 61: the address is a template (staging.md §10.3, Confirmed).
pub const TEMPLATE: u64 = 0x2000_0000_0000_0000;

/// Template address of a variable that is bound at execution; `None` beyond 19 and 36 bits.
#[must_use]
pub fn template(var: u32, offset: u64) -> Option<u64> {
    if var >= 0x8_0000 || offset >= 0x10_0000_0000 {
        return None;
    }
    Some(TEMPLATE | u64::from(var).wrapping_shl(36) | offset)
}

/// Variable and offset of a template address.
#[must_use]
pub fn template_parts(address: u64) -> Option<(u32, u64)> {
    if address & TEMPLATE == 0 {
        return None;
    }
    let var = u32::try_from(address.wrapping_shr(36) & 0x7_FFFF).ok()?;
    Some((var, address & 0xF_FFFF_FFFF))
}

/// Which half of a ring a relative pointer selects (staging.md §10.7; polarity Open, bit 62 taken as Tx).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Source side.
    Tx,
    /// Destination side.
    Rx,
}

/// Copies `real` into `out` and fills up to `padded` entries with 4-byte copies of the word at `word` onto
/// itself, so that the length of a ring does not depend on its content (staging.md §10.5). Gives `padded`, the
/// ring's used entries. Load-time rings are not padded (R36).
///
/// # Errors
/// `RingPadding` if `real` or `out` does not fit.
pub fn dump(real: &[Entry], padded: u32, half: Half, word: DevAddr, out: &mut [Entry]) -> Result<u32, Error> {
    let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let refused = |room| Error::new(Stage::Stage, StageCode::RingPadding).numbers(wide(real.len()), room);
    let length = usize::try_from(padded).unwrap_or(usize::MAX);
    let out = out.get_mut(..length).ok_or_else(|| refused(u64::from(padded)))?;
    let (own, rest) = out.split_at_mut_checked(real.len()).ok_or_else(|| refused(u64::from(padded)))?;
    crate::bytes::copy(own, real);
    let marks = Marks { first: true, last: true, ..Marks::default() };
    let control = control_word(PADDING_BYTES, FIRST_LAP, marks).unwrap_or(0);
    let meta = if half == Half::Tx { META_COPY } else { 0 };
    rest.fill(Entry { control: control.into(), meta: meta.into(), address: word.0.into() });
    Ok(padded)
}

/// Splits a relative ring pointer into its half and its 62 low bits. `None` without a tag.
///
/// # Errors
/// The pointer itself if both tags are set.
pub const fn ring_pointer(address: u64) -> Result<Option<(Half, u64)>, u64> {
    let low = address & 0x3FFF_FFFF_FFFF_FFFF;
    match address.wrapping_shr(62) {
        0 => Ok(None),
        1 => Ok(Some((Half::Tx, low))),
        2 => Ok(Some((Half::Rx, low))),
        _ => Err(address),
    }
}

/// Moves an address that lies in `[base, base + size)` to `new` (staging.md §10.7); leaves all others.
#[must_use]
pub const fn rebase(address: u64, base: u64, size: u64, new: u64) -> u64 {
    match address.checked_sub(base) {
        Some(within) if within < size => new.wrapping_add(within),
        _ => address,
    }
}

#[cfg(test)]
mod tests;
