//! Places on a shelf: an error holds a ticket.
//!
//! A ticket is taken when an error gets a place, and nobody gives one back, because errors are copied. So the oldest
//! goes first: who keeps an error while more are made keeps it as [`Held`](crate::error::Held). The ticket of a slot
//! that was given out again finds nowhere, not another error's place, until all 255 tickets have gone round. Slots are
//! words of atomics: threads that share the shelf each take slots of their own.

use super::Part;
use crate::error::table::Row;
use crate::error::{At, Code, ContainerCode, Name, Stage};
use crate::source::MemberId;
use core::num::NonZeroU32;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned, transmute};

/// How many places are kept: between an error's making and its report few others are made. It divides 256, the
/// number of tickets.
const SLOTS: usize = 32;
const _: () = assert!(256 % SLOTS == 0);

const WORDS: usize = size_of::<Record>() / size_of::<u32>();
const _: () = assert!(size_of::<Record>() == WORDS * size_of::<u32>());

/// A place as it lies on the shelf.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Record {
    /// By [`Part`].
    numbers: [U64; 7],
    name: [u8; 32],
    name2: [u8; 16],
    name_len: u8,
    name2_len: u8,
    /// Which names were cut: 1 the first, 2 the second.
    cut: u8,
    /// Which numbers are there; bits by [`Part`].
    has: u8,
    /// Whose place it is.
    ticket: u8,
    reserved: [u8; 3],
}

static SHELF: [[AtomicU32; WORDS]; SLOTS] = [const { [const { AtomicU32::new(0) }; WORDS] }; SLOTS];
static NEXT: AtomicU8 = AtomicU8::new(0);

/// What an error is: a number, so that a result without a value is a number, too. Its bytes, the least first, are the
/// ticket of its place (0 is nowhere), the code's row and layer, and the stage from 1 on.
#[derive(Clone, Copy, Debug)]
pub(in crate::error) struct Kept(NonZeroU32);

/// An error with a copy of its place.
#[derive(Clone, Copy, Debug)]
pub(in crate::error) struct Whole {
    kept: Kept,
    place: Record,
}

impl Whole {
    /// The error again, with a place of its own.
    pub(in crate::error) fn kept(&self) -> Kept {
        let [_, row, layer, stage] = self.kept.bytes();
        Kept::of([0, row, layer, stage]).change(&mut |place| *place = self.place)
    }
}

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

    #[inline(always)]
    pub(in crate::error) const fn new(stage: Stage, code: Code) -> Self {
        let [layer, row] = code.numbers();
        Self::of([0, row, layer, 0]).of_stage(stage)
    }

    #[allow(clippy::as_conversions, reason = "the number of a variant, below 8")]
    #[allow(clippy::arithmetic_side_effects, reason = "the same")]
    #[inline(always)]
    pub(in crate::error) const fn of_stage(self, stage: Stage) -> Self {
        let [ticket, row, layer, _] = self.bytes();
        Self::of([ticket, row, layer, stage as u8 + 1])
    }

    pub(in crate::error) fn stage(self) -> Stage {
        let [.., stage] = self.bytes();
        let known = Stage::ALL.get(usize::from(stage).saturating_sub(1));
        known.copied().unwrap_or(Stage::Tool)
    }

    pub(in crate::error) fn code(self) -> Code {
        Code::numbered(self.numbers()).unwrap_or(Code::Container(ContainerCode::Internal))
    }

    pub(in crate::error) const fn numbers(self) -> [u8; 2] {
        let [_, row, layer, _] = self.bytes();
        [layer, row]
    }

    #[inline(never)]
    pub(in crate::error) fn row(self) -> Row {
        Code::row(self.numbers())
    }

    pub(in crate::error) fn at(self) -> At {
        self.place().at()
    }

    /// Whether the place has that part.
    pub(in crate::error) fn has(self, part: Part) -> bool {
        self.place().has(part)
    }

    /// The same with that part, which has as many bits as its field.
    #[inline(never)]
    pub(in crate::error) fn with(self, part: Part, number: u64) -> Self {
        self.change(&mut |place| {
            let [field, ..] = place.numbers.get_mut(index(part)..).unwrap_or(&mut []) else { return };
            field.set(number);
            place.has |= bit(part);
        })
    }

    pub(in crate::error) fn named(self, name: &Name<32>) -> Self {
        self.change(&mut |place| {
            (place.name, place.name_len) = (name.bytes, name.len);
            place.cut = place.cut & 2 | u8::from(name.cut);
        })
    }

    pub(in crate::error) fn named2(self, name: &Name<16>) -> Self {
        self.change(&mut |place| {
            (place.name2, place.name2_len) = (name.bytes, name.len);
            place.cut = place.cut & 1 | u8::from(name.cut) << 1;
        })
    }

    pub(in crate::error) fn whole(self) -> Whole {
        Whole { kept: self, place: self.place() }
    }

    fn slot(self) -> Option<&'static [AtomicU32; WORDS]> {
        let [ticket, ..] = self.bytes();
        SHELF.get(usize::from(ticket) % SLOTS)
    }

    /// A copy of the place; nowhere, if it was given out again.
    #[inline(never)]
    fn place(self) -> Record {
        let ([ticket, ..], mut words) = (self.bytes(), [U32::ZERO; WORDS]);
        let Some(slot) = self.slot() else { return transmute!(words) };
        for (word, kept) in words.iter_mut().zip(slot) {
            word.set(kept.load(Ordering::Relaxed));
        }
        let place: Record = transmute!(words);
        if place.ticket == ticket && ticket != 0 { place } else { Record::new_zeroed() }
    }

    /// Changes the place; one that is nowhere takes a ticket.
    #[inline(never)]
    fn change(self, change: &mut dyn FnMut(&mut Record)) -> Self {
        let mut place = self.place();
        change(&mut place);
        let [mut ticket, row, layer, stage] = self.bytes();
        while ticket == 0 {
            ticket = NEXT.fetch_add(1, Ordering::Relaxed);
        }
        place.ticket = ticket;
        let kept = Self::of([ticket, row, layer, stage]);
        let words: [U32; WORDS] = transmute!(place);
        let Some(slot) = kept.slot() else { return kept };
        for (word, to) in words.iter().zip(slot) {
            to.store(word.get(), Ordering::Relaxed);
        }
        kept
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        let ([_, own @ ..], [_, others @ ..]) = (self.bytes(), other.bytes());
        own == others && self.at() == other.at()
    }
}

impl Eq for Kept {}

#[allow(clippy::as_conversions, reason = "the number of a variant, below 7")]
const fn index(part: Part) -> usize {
    part as usize
}

const fn bit(part: Part) -> u8 {
    1u8.wrapping_shl(match part {
        Part::Member => 0,
        Part::Offset => 1,
        Part::Element => 2,
        Part::Subgraph => 3,
        Part::A => 4,
        Part::B => 5,
        Part::C => 6,
    })
}

impl Record {
    const fn has(&self, part: Part) -> bool {
        self.has & bit(part) != 0
    }

    fn number(&self, part: Part) -> Option<u64> {
        self.numbers.get(index(part)).filter(|_| self.has(part)).map(|number| number.get())
    }

    fn at(&self) -> At {
        let word = |part| self.number(part).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let [.., a, b, c] = self.numbers;
        At {
            member: word(Part::Member).map(MemberId),
            offset: self.number(Part::Offset),
            element: word(Part::Element),
            subgraph: self.number(Part::Subgraph).map(|number| u8::try_from(number).unwrap_or(u8::MAX)),
            a: a.get(),
            b: b.get(),
            c: c.get(),
            name: Name { bytes: self.name, len: self.name_len, cut: self.cut & 1 != 0 },
            name2: Name { bytes: self.name2, len: self.name2_len, cut: self.cut & 2 != 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, Part, SLOTS};
    use crate::error::{At, Code, LowerCode, Name, Stage};
    use crate::source::MemberId;

    /// An error with a place that says nothing.
    fn placed() -> Kept {
        bare().change(&mut |_| ())
    }

    fn bare() -> Kept {
        Kept::new(Stage::Lower, LowerCode::Internal.into())
    }

    #[test]
    fn a_number_holds_every_stage_and_code() {
        for code in Code::all() {
            for stage in Stage::ALL {
                let kept = Kept::new(stage, code);
                assert_eq!((kept.stage(), kept.code()), (stage, code));
                assert_eq!(kept.row().id(), code.info().id);
            }
        }
    }

    /// One test, because all share the shelf.
    #[test]
    fn keeps_the_latest_places_whole_and_forgets_older_ones() {
        assert_eq!(bare().at(), At::NOWHERE);
        let at = At {
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
        let full = || {
            let numbers = [u64::from(u32::MAX), u64::MAX, 0, 255, 1 << 63, u64::MAX, 7];
            let parts =
                [Part::Member, Part::Offset, Part::Element, Part::Subgraph, Part::A, Part::B, Part::C];
            let kept = parts.into_iter().zip(numbers).fold(bare(), |kept, (part, number)| {
                assert!(!kept.has(part));
                kept.with(part, number)
            });
            assert!(parts.into_iter().all(|part| kept.has(part)));
            kept.named(&at.name).named2(&at.name2)
        };
        let (first, second) = (full(), bare().with(Part::A, 5));
        assert_eq!(first.at(), at);
        assert_eq!(second.at(), At { a: 5, ..At::NOWHERE });
        // A change stays in its slot, and goes round all tickets without meeting nowhere's.
        let changed = first.with(Part::B, 9);
        assert_eq!((first.at(), changed.at()), (At { b: 9, ..at }, At { b: 9, ..at }));
        for _ in 0..3 * 256 {
            let (before, after) = (full(), placed());
            assert_eq!((before.at(), after.at()), (at, At::NOWHERE));
        }
        // As many places as there are slots are kept, and none that was given up is taken for another.
        let (old, whole) = (full(), full().whole());
        for _ in 3..SLOTS {
            placed();
        }
        assert_eq!(old.at(), at);
        for _ in 0..2 {
            placed().with(Part::C, 8);
        }
        assert_eq!(old.at(), At::NOWHERE);
        // What was held comes back.
        assert_eq!(whole.kept().at(), at);
    }
}
