//! Cuts a byte stream into slots and keeps count of where they go.

use super::slot::{Slot, put};
use super::{Code, Places, Section, Sink};
use crate::bytes::split;
use crate::error::{Error, StageCode};
use crate::layout::SMALL;
use crate::plan::record::{NoteKind, SlotNote, pseudo_index};

/// Sums over an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Slots of the main code.
    pub main: u32,
    /// Slots of functions.
    pub function: u32,
    /// Source slots.
    pub source: u32,
    /// Source slot that began the first function.
    pub function_source: u32,
    /// Operands that became addresses.
    pub patched: u32,
    /// Operands that became template words.
    pub bound: u32,
    /// Slots with a register-offset operand.
    pub register_indirect: u32,
    /// Opaque slots.
    pub opaque: u32,
    /// Slots that stand for something not encoded in full.
    pub approximate: u32,
    /// Pseudo slots by opcode.
    pub pseudo: [u32; 32],
}

/// The state of one engine's translation.
#[derive(Clone, Debug)]
pub struct Stream {
    partial: Slot,
    have: usize,
    pending: Option<Slot>,
    section: Section,
    pub(super) counts: Counts,
}

impl Default for Stream {
    fn default() -> Self {
        Self { partial: [0; 64], have: 0, pending: None, section: Section::Main, counts: Counts::default() }
    }
}

/// Bytes of the whole plain slots that `bytes` begins with.
fn plain_prefix(bytes: &[u8]) -> usize {
    let plain = |slot: &&Slot| slot.first().is_some_and(|&opcode| pseudo_index(opcode).is_none());
    bytes.as_chunks::<64>().0.iter().take_while(plain).count().saturating_mul(64)
}

fn slots_in(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len() / 64).unwrap_or(u32::MAX)
}

impl Stream {
    /// The sums so far.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
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
            true => self.feed_to::<dyn Places, dyn Sink>(code, places, bytes, sink),
            false => self.feed_to(code, places, bytes, sink),
        }
    }

    fn feed_to<P: Places + ?Sized, S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        mut bytes: &[u8],
        sink: &mut S,
    ) -> Result<(), Error> {
        while !bytes.is_empty() {
            if self.have == 0 && self.pending.is_none() && self.section == Section::Main {
                let (plain, rest) = split(bytes, plain_prefix(bytes));
                if !plain.is_empty() {
                    self.pass(plain, sink)?;
                    bytes = rest;
                    continue;
                }
            }
            let (now, rest) = split(bytes, 64usize.saturating_sub(self.have));
            put(&mut self.partial, self.have, now);
            self.have = self.have.saturating_add(now.len());
            bytes = rest;
            if self.have == 64 {
                self.have = 0;
                let slot = self.partial;
                self.take(code, places, &slot, sink)?;
            }
        }
        Ok(())
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
        if let Some(slot) = self.pending.take() {
            match SMALL {
                true => self.single::<dyn Places, dyn Sink>(code, places, &slot, sink)?,
                false => self.single(code, places, &slot, sink)?,
            }
        }
        if self.have != 0 {
            let whole = u64::from(self.counts.source).saturating_mul(64);
            let bytes = whole.saturating_add(u64::try_from(self.have).unwrap_or(0));
            return Err(code.fault(StageCode::StreamRemainder, self.counts.source).numbers(bytes, 64));
        }
        Ok(())
    }

    fn take<P: Places + ?Sized, S: Sink + ?Sized>(
        &mut self,
        code: &Code<'_>,
        places: &P,
        slot: &Slot,
        sink: &mut S,
    ) -> Result<(), Error> {
        let [opcode, ..] = *slot;
        if let Some(index) = pseudo_index(opcode)
            && let Some(count) = self.counts.pseudo.get_mut(index)
        {
            *count = count.saturating_add(1);
        }
        match (self.pending.take(), opcode) {
            (Some(head), 0xDA) => return self.pair(code, places, &head, slot, sink),
            (Some(head), _) => self.single(code, places, &head, sink)?,
            (None, 0xDA) => return Err(code.fault(StageCode::ExtensionAlone, self.counts.source)),
            (None, _) => {}
        }
        match opcode {
            0xD4 | 0xD9 => self.pending = Some(*slot),
            _ => self.single(code, places, slot, sink)?,
        }
        Ok(())
    }

    /// Passes plain slots of the main code through.
    fn pass<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), Error> {
        let count = slots_in(bytes);
        sink.slots(Section::Main, self.counts.main, bytes)?;
        self.counts.main = self.counts.main.saturating_add(count);
        self.counts.source = self.counts.source.saturating_add(count);
        Ok(())
    }

    /// Section and slot within it that the next device slot gets.
    pub(super) const fn here(&self) -> (Section, u32) {
        match self.section {
            Section::Main => (Section::Main, self.counts.main),
            Section::Function => (Section::Function, self.counts.function),
        }
    }

    /// Later slots belong to functions.
    pub(super) fn enter_function(&mut self) {
        if self.section == Section::Main {
            self.counts.function_source = self.counts.source;
        }
        self.section = Section::Function;
    }

    /// Hands one device slot on. Slots of functions are marked in byte 3 (staging.md §11.5).
    pub(super) fn emit<S: Sink + ?Sized>(&mut self, mut slot: Slot, sink: &mut S) -> Result<(), Error> {
        if self.section == Section::Function
            && let Some(hint) = slot.get_mut(3)
        {
            *hint |= 1;
        }
        self.keep(&slot, sink)
    }

    /// Hands one slot on byte for byte, in a function too (R6 ranks above staging.md §11.5).
    pub(super) fn keep<S: Sink + ?Sized>(&mut self, slot: &Slot, sink: &mut S) -> Result<(), Error> {
        let (section, at) = self.here();
        sink.slots(section, at, slot)?;
        let count = match section {
            Section::Main => &mut self.counts.main,
            Section::Function => &mut self.counts.function,
        };
        *count = count.saturating_add(1);
        Ok(())
    }

    /// A source slot was dealt with.
    pub(super) const fn consume(&mut self, slots: u32) {
        self.counts.source = self.counts.source.saturating_add(slots);
    }

    /// A note about the slot that comes next.
    pub(super) fn note(&self, code: &Code<'_>, kind: NoteKind, opcode: u8) -> SlotNote {
        let (section, slot) = self.here();
        SlotNote {
            kind,
            core: code.core,
            engine: u8::try_from(code.engine.number()).unwrap_or(u8::MAX),
            opcode,
            source: self.counts.source.into(),
            in_function: u8::from(section == Section::Function),
            slot: slot.into(),
            ..SlotNote::default()
        }
    }
}
