//! Cuts a byte stream into slots and keeps count of where they go.

use super::slot::{Slot, WORDS};
use super::{Code, Places, Section, Sink};
use crate::bytes::{split, split_mut};
use crate::error::{Error, StageCode};
use crate::layout::SMALL;
use crate::plan::record::{Image, NoteKind, SlotNote, is_known, pseudo_index};
use core::mem::take;
use zerocopy::little_endian::U32;

/// The state of one engine's translation.
#[derive(Clone, Debug)]
pub struct Stream {
    partial: Slot,
    have: usize,
    /// A slot that an extension may follow, if it waits for what comes next.
    held: Slot,
    is_held: bool,
    section: Section,
    /// Of the engine's image, what counts slots, and what is odd about them, which small code does not look for: it makes
    /// no remarks.
    pub(super) counts: Image,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            partial: [0; 64],
            have: 0,
            held: [0; 64],
            is_held: false,
            section: Section::Main,
            counts: Image::default(),
        }
    }
}

/// Bytes of the whole plain slots that `bytes` begins with.
fn plain_prefix(bytes: &[u8]) -> usize {
    let plain = |slot: &&Slot| slot.first().is_some_and(|&opcode| pseudo_index(opcode).is_none());
    bytes.as_chunks::<64>().0.iter().take_while(plain).count().saturating_mul(64)
}

/// So many more. No stream has 2^32 slots: its bytes were counted.
pub(super) fn more(count: &mut U32, by: u32) {
    *count = count.get().wrapping_add(by).into();
}

fn slots_in(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len() / 64).unwrap_or(u32::MAX)
}

impl Stream {
    /// The sums so far, as the image has them.
    #[must_use]
    pub const fn counts(&self) -> &Image {
        &self.counts
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// What the stream holds that cannot be translated; what `sink` refuses.
    pub fn feed<P: Places, S: Sink>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        bytes: &[u8],
        sink: &mut S,
    ) -> Result<(), Error> {
        match SMALL {
            true => Run::<dyn Places, dyn Sink> { stream: self, code, places, sink, opcode: 0 }.feed(bytes),
            false => Run { stream: self, code, places, sink, opcode: 0 }.feed(bytes),
        }
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// A rest of less than a slot; what is missing behind the last slot.
    pub fn finish<P: Places, S: Sink>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        sink: &mut S,
    ) -> Result<(), Error> {
        match SMALL {
            true => Run::<dyn Places, dyn Sink> { stream: self, code, places, sink, opcode: 0 }.finish(),
            false => Run { stream: self, code, places, sink, opcode: 0 }.finish(),
        }
    }

    /// Looks for opcodes of which nothing is known, and for other lengths than every slot has but an extension, which is
    /// data (staging.md §11.1, real-files.md §5).
    fn seek_odd(&mut self, slots: &[u8]) {
        if SMALL {
            return;
        }
        for &[opcode, words, ..] in slots.as_chunks::<64>().0 {
            if !is_known(opcode) {
                self.counts.add_unknown(opcode);
            }
            if words != WORDS && opcode != 0xDA {
                self.counts.lengths = self.counts.lengths.get().saturating_add(1).into();
            }
        }
    }

    /// Section and slot within it that the next device slot gets.
    const fn here(&self) -> (Section, u32) {
        match self.section {
            Section::Main => (Section::Main, self.counts.main.get()),
            Section::Function => (Section::Function, self.counts.function.get()),
        }
    }
}

/// A stream while it is translated, with what it asks and what it tells.
pub(super) struct Run<'r, P: ?Sized, S: ?Sized> {
    pub(super) stream: &'r mut Stream,
    pub(super) code: &'r Code<'r>,
    pub(super) places: &'r P,
    pub(super) sink: &'r mut S,
    /// That of the slot which is translated, in the file.
    pub(super) opcode: u8,
}

impl<P: Places + ?Sized, S: Sink + ?Sized> Run<'_, P, S> {
    fn feed(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let stream = &mut *self.stream;
            if stream.have == 0 && !stream.is_held && stream.section == Section::Main {
                let (plain, rest) = split(bytes, plain_prefix(bytes));
                if !plain.is_empty() {
                    self.pass(plain)?;
                    bytes = rest;
                    continue;
                }
            }
            let (now, rest) = split(bytes, 64usize.saturating_sub(stream.have));
            crate::bytes::copy(split_mut(&mut stream.partial, stream.have).1, now);
            stream.have = stream.have.saturating_add(now.len());
            bytes = rest;
            if stream.have == 64 {
                stream.have = 0;
                let mut slot = stream.partial;
                self.take(&mut slot)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        if take(&mut self.stream.is_held) {
            let mut slot = self.stream.held;
            self.single(&mut slot)?;
        }
        if self.stream.have != 0 {
            let whole = u64::from(self.stream.counts.source.get()).saturating_mul(64);
            let bytes = whole.saturating_add(u64::try_from(self.stream.have).unwrap_or(0));
            return Err(self.fault(StageCode::StreamRemainder).numbers(bytes, 64));
        }
        Ok(())
    }

    fn take(&mut self, slot: &mut Slot) -> Result<(), Error> {
        let [opcode, ..] = *slot;
        self.stream.seek_odd(slot);
        if let Some(index) = pseudo_index(opcode)
            && let Some(count) = self.stream.counts.pseudo.get_mut(index)
        {
            more(count, 1);
        }
        let extends = opcode == 0xDA;
        if take(&mut self.stream.is_held) {
            let mut head = self.stream.held;
            if extends {
                return self.pair(&mut head, slot);
            }
            self.single(&mut head)?;
        } else if extends {
            return Err(self.fault(StageCode::ExtensionAlone));
        }
        if matches!(opcode, 0xD4 | 0xD9) {
            (self.stream.held, self.stream.is_held) = (*slot, true);
            return Ok(());
        }
        self.single(slot)
    }

    /// Passes plain slots of the main code through.
    fn pass(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.stream.seek_odd(bytes);
        let count = slots_in(bytes);
        self.sink.slots(Section::Main, self.stream.counts.main.get(), bytes)?;
        more(&mut self.stream.counts.main, count);
        self.consume(count);
        Ok(())
    }

    /// Later slots belong to functions.
    pub(super) fn enter_function(&mut self) {
        if self.stream.section == Section::Main {
            self.stream.counts.function_source = self.stream.counts.source;
        }
        self.stream.section = Section::Function;
    }

    /// Hands one device slot on. Slots of functions are marked in byte 3 (staging.md §11.5).
    pub(super) fn emit(&mut self, slot: &mut Slot) -> Result<(), Error> {
        let [_, _, _, hint, ..] = slot;
        *hint |= u8::from(self.stream.section == Section::Function);
        self.keep(slot)
    }

    /// Hands one slot on byte for byte, in a function too (R6 ranks above staging.md §11.5).
    pub(super) fn keep(&mut self, slot: &Slot) -> Result<(), Error> {
        let (section, at) = self.stream.here();
        self.sink.slots(section, at, slot)?;
        let counts = &mut self.stream.counts;
        let count = match section {
            Section::Main => &mut counts.main,
            Section::Function => &mut counts.function,
        };
        more(count, 1);
        Ok(())
    }

    /// A source slot was dealt with.
    pub(super) fn consume(&mut self, slots: u32) {
        more(&mut self.stream.counts.source, slots);
    }

    /// Number in the image of the slot that comes next.
    pub(super) fn slot(&self) -> u32 {
        let (section, at) = self.stream.here();
        self.places.base(section).saturating_add(at)
    }

    /// An error at the source slot.
    pub(super) fn fault(&self, code: StageCode) -> Error {
        self.code.fault(code, self.stream.counts.source.get())
    }

    /// A note about the slot that comes next.
    #[inline(never)]
    pub(super) fn note(&self, kind: NoteKind) -> SlotNote {
        let (section, slot) = self.stream.here();
        SlotNote {
            kind,
            core: self.code.core,
            engine: u8::try_from(self.code.engine.number()).unwrap_or(u8::MAX),
            opcode: self.opcode,
            source: self.stream.counts.source,
            in_function: u8::from(section == Section::Function),
            slot: slot.into(),
            ..SlotNote::default()
        }
    }

    /// Tells of the slot that comes next.
    pub(super) fn tell(&mut self, kind: NoteKind) -> Result<(), Error> {
        self.tell_more(kind, 0, 0, 0)
    }

    /// The same with what the kind says of `operand`, `id` and `value`.
    #[inline(never)]
    pub(super) fn tell_more(
        &mut self,
        kind: NoteKind,
        operand: u8,
        id: u32,
        value: u64,
    ) -> Result<(), Error> {
        let mut note = self.note(kind);
        (note.operand, note.id, note.value) = (operand, id.into(), value.into());
        self.sink.note(note)
    }
}
