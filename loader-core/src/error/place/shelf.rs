//! Places on a shelf: an error holds a ticket.
//!
//! A ticket is taken when an error gets a place, and nobody gives one back, because errors are copied. So the oldest
//! goes first: who keeps an error while more are made keeps it as [`Held`](crate::error::Held). The ticket of a slot
//! that was given out again finds nowhere, not another error's place, until all 255 tickets have gone round. Slots are
//! words of atomics: threads that share the shelf each take slots of their own.

use crate::error::{At, Code, ContainerCode, Name, Stage};
use crate::source::MemberId;
use core::num::NonZeroU32;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// How many places are kept: between an error's making and its report few others are made. It divides 256, the
/// number of tickets.
const SLOTS: usize = 32;
const _: () = assert!(256 % SLOTS == 0);

const WORDS: usize = size_of::<Record>() / size_of::<u32>();
const _: () = assert!(size_of::<Record>() == WORDS * size_of::<u32>());

/// A place as it lies on the shelf.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Record {
    a: U64,
    b: U64,
    c: U64,
    offset: U64,
    member: U32,
    element: U32,
    name: [u8; 32],
    name2: [u8; 16],
    name_len: u8,
    name2_len: u8,
    subgraph: u8,
    /// Which of the optional parts are there, and which names were cut.
    has: u8,
    /// Whose place it is.
    ticket: u8,
    reserved: [u8; 3],
}

const MEMBER: u8 = 1;
const OFFSET: u8 = 2;
const ELEMENT: u8 = 4;
const SUBGRAPH: u8 = 8;
const NAME_CUT: u8 = 16;
const NAME2_CUT: u8 = 32;

static SHELF: [[AtomicU32; WORDS]; SLOTS] = [const { [const { AtomicU32::new(0) }; WORDS] }; SLOTS];
static NEXT: AtomicU8 = AtomicU8::new(0);

/// What an error is: a number, so that a result without a value is a number, too. Its bytes, the least first, are the
/// ticket of its place, the code's row and layer, and the stage from 1 on.
#[derive(Clone, Copy)]
pub(in crate::error) struct Kept(NonZeroU32);

impl Kept {
    const fn of([ticket, row, layer, stage]: [u8; 4]) -> Self {
        match NonZeroU32::new(u32::from_le_bytes([ticket, row, layer, stage])) {
            Some(word) => Self(word),
            None => Self(NonZeroU32::MIN),
        }
    }

    const fn bytes(self) -> [u8; 4] {
        self.0.get().to_le_bytes()
    }

    #[allow(clippy::as_conversions, reason = "the number of a variant, below 8")]
    #[allow(clippy::arithmetic_side_effects, reason = "the same")]
    #[inline(always)]
    pub(in crate::error) const fn new(stage: Stage, code: Code) -> Self {
        let [layer, row] = code.numbers();
        Self::of([0, row, layer, stage as u8 + 1])
    }

    pub(in crate::error) fn stage(self) -> Stage {
        let [.., stage] = self.bytes();
        let known = Stage::ALL.get(usize::from(stage).saturating_sub(1));
        known.copied().unwrap_or(Stage::Tool)
    }

    #[inline(never)]
    pub(in crate::error) fn code(self) -> Code {
        let [_, row, layer, _] = self.bytes();
        Code::numbered([layer, row]).unwrap_or(Code::Container(ContainerCode::Internal))
    }

    pub(in crate::error) fn at(self) -> At {
        let [ticket, ..] = self.bytes();
        Place(ticket).get()
    }

    pub(in crate::error) fn put(&mut self, at: &At) {
        let [ticket, row, layer, stage] = self.bytes();
        let mut place = Place(ticket);
        place.put(at);
        *self = Self::of([place.0, row, layer, stage]);
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        let ([_, own @ ..], [_, others @ ..]) = (self.bytes(), other.bytes());
        own == others && self.at() == other.at()
    }
}

impl Eq for Kept {}

/// The ticket of a slot; 0 is nowhere.
#[derive(Clone, Copy)]
struct Place(u8);

impl Place {
    #[cfg(test)]
    const NOWHERE: Self = Self(0);

    fn slot(self) -> Option<&'static [AtomicU32; WORDS]> {
        SHELF.get(usize::from(self.0) % SLOTS)
    }

    #[inline(never)]
    fn get(self) -> At {
        let mut words = [U32::ZERO; WORDS];
        let Some(slot) = self.slot().filter(|_| self.0 != 0) else { return At::NOWHERE };
        for (word, kept) in words.iter_mut().zip(slot) {
            word.set(kept.load(Ordering::Relaxed));
        }
        match Record::ref_from_bytes(words.as_bytes()) {
            Ok(record) if record.ticket == self.0 => record.at(),
            _ => At::NOWHERE,
        }
    }

    #[inline(never)]
    fn put(&mut self, at: &At) {
        while self.0 == 0 {
            self.0 = NEXT.fetch_add(1, Ordering::Relaxed);
        }
        let record = Record::of(at, self.0);
        let Ok(words) = <[U32; WORDS]>::ref_from_bytes(record.as_bytes()) else { return };
        for (word, kept) in words.iter().zip(self.slot().into_iter().flatten()) {
            kept.store(word.get(), Ordering::Relaxed);
        }
    }
}

impl Record {
    fn of(at: &At, ticket: u8) -> Self {
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        Self {
            a: at.a.into(),
            b: at.b.into(),
            c: at.c.into(),
            offset: at.offset.unwrap_or(0).into(),
            member: at.member.map_or(0, |member| member.0).into(),
            element: at.element.unwrap_or(0).into(),
            name: at.name.bytes,
            name2: at.name2.bytes,
            name_len: at.name.len,
            name2_len: at.name2.len,
            subgraph: at.subgraph.unwrap_or(0),
            has: flag(at.member.is_some(), MEMBER)
                | flag(at.offset.is_some(), OFFSET)
                | flag(at.element.is_some(), ELEMENT)
                | flag(at.subgraph.is_some(), SUBGRAPH)
                | flag(at.name.cut, NAME_CUT)
                | flag(at.name2.cut, NAME2_CUT),
            ticket,
            reserved: [0; 3],
        }
    }

    fn at(&self) -> At {
        let has = |bit: u8| self.has & bit != 0;
        At {
            member: has(MEMBER).then_some(MemberId(self.member.get())),
            offset: has(OFFSET).then_some(self.offset.get()),
            element: has(ELEMENT).then_some(self.element.get()),
            subgraph: has(SUBGRAPH).then_some(self.subgraph),
            a: self.a.get(),
            b: self.b.get(),
            c: self.c.get(),
            name: Name { bytes: self.name, len: self.name_len, cut: has(NAME_CUT) },
            name2: Name { bytes: self.name2, len: self.name2_len, cut: has(NAME2_CUT) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, Place, SLOTS};
    use crate::error::{At, Code, Name, Stage};
    use crate::source::MemberId;

    fn placed(at: &At) -> Place {
        let mut place = Place::NOWHERE;
        place.put(at);
        place
    }

    #[test]
    fn a_number_holds_every_stage_and_code() {
        for code in Code::all() {
            for stage in Stage::ALL {
                let kept = Kept::new(stage, code);
                assert_eq!((kept.stage(), kept.code()), (stage, code));
            }
        }
    }

    /// One test, because all share the shelf.
    #[test]
    fn keeps_the_latest_places_whole_and_forgets_older_ones() {
        assert_eq!(Place::NOWHERE.get(), At::NOWHERE);
        let full = At {
            member: Some(MemberId(u32::MAX)),
            offset: Some(u64::MAX),
            element: Some(0),
            subgraph: Some(255),
            a: 1 << 63,
            b: u64::MAX,
            c: 7,
            name: Name::new(b"a name that is longer than what an error keeps of it"),
            name2: Name::new(b"\xff\0"),
        };
        let (first, second) = (placed(&full), placed(&At { a: 5, ..At::NOWHERE }));
        assert_eq!(first.get(), full);
        assert_eq!(second.get(), At { a: 5, ..At::NOWHERE });
        // A change stays in its slot, and goes round all tickets without meeting nowhere's.
        let mut changed = first;
        changed.put(&At { b: 9, ..full });
        assert_eq!(first.get(), At { b: 9, ..full });
        for _ in 0..3 * 256 {
            let (before, after) = (placed(&full), placed(&At::NOWHERE));
            assert_eq!((before.get(), after.get()), (full, At::NOWHERE));
        }
        // As many places as there are slots are kept, and none that was given up is taken for another.
        let old = placed(&full);
        for _ in 1..SLOTS - 1 {
            placed(&At::NOWHERE);
        }
        assert_eq!(old.get(), full);
        for _ in 0..2 {
            placed(&At { c: 8, ..At::NOWHERE });
        }
        assert_eq!(old.get(), At::NOWHERE);
    }
}
