//! The instruction-position map of an engine, from the notes of its slots (staging.md §12).

use super::{Work, internal};
use crate::arch::Engine;
use crate::arena::{Arena, ArenaRef};
use crate::error::Error;
use crate::lower::record::{PatchEntry, PatchSection, PatchType};
use crate::plan::item::{item_mut, reserve};
use crate::plan::record::{Image, NoteKind, PatchList};

/// Notes of slots that are elsewhere than in the file, or otherwise.
const CHANGES: [NoteKind; 3] = [NoteKind::DELETE, NoteKind::MODIFY, NoteKind::INSERT];

impl Work<'_, '_, '_> {
    /// The position map of an engine: preamble, main, postamble, functions, by offset (staging.md §12.1).
    ///
    /// A list that is longer than the limit is lost, which never fails a load: positions of that engine
    /// are unknown then.
    pub(super) fn patches(&mut self, engine: Engine) -> Result<(), Error> {
        let image = self.image(engine.number()).ok_or_else(internal)?;
        let (preamble, main, postamble) = (image.preamble.get(), image.main.get(), image.postamble.get());
        let regions = u32::from(preamble > 0).saturating_add(u32::from(postamble > 0));
        let count = self.count(&CHANGES, Some(engine))?.saturating_add(regions);
        let mut list = PatchWriter { place: ArenaRef::NULL, filled: 0 };
        if count <= self.most_patches {
            reserve::<PatchEntry>(self.arena, count, &mut list.place)?;
            list.add(self.arena, 0, (PatchType::INSERT, preamble), PatchSection::PREAMBLE)?;
            self.changes(engine, &mut list, PatchSection::MAIN, preamble)?;
            let end_of_main = preamble.saturating_add(main);
            list.add(self.arena, end_of_main, (PatchType::INSERT, postamble), PatchSection::POSTAMBLE)?;
            self.changes(engine, &mut list, PatchSection::FUNCTION, 0)?;
        }
        let image: &mut Image =
            item_mut(self.arena, self.out.images, engine.number()).ok_or_else(internal)?;
        image.positions_lost = u16::from(count > self.most_patches).into();
        let count = list.place.len;
        image.patches = PatchList { count, capacity: count, entries: list.place };
        Ok(())
    }

    /// The changes of a section whose first slot has that number.
    #[inline(never)]
    fn changes(
        &mut self,
        engine: Engine,
        list: &mut PatchWriter,
        section: PatchSection,
        base: u32,
    ) -> Result<(), Error> {
        self.each(&CHANGES, Some(engine), &mut |work, note| {
            if note.section() != section {
                return Ok(());
            }
            let change = match note.kind {
                NoteKind::DELETE => (PatchType::DELETE, 1),
                NoteKind::MODIFY => (PatchType::MODIFY, 1),
                _ => (PatchType::INSERT, note.id.get()),
            };
            list.add(work.arena, base.saturating_add(note.slot.get()), change, section)
        })
    }
}

/// Fills a list of position-map records.
struct PatchWriter {
    place: ArenaRef,
    filled: u32,
}

impl PatchWriter {
    /// One record, unless it is about no slots.
    #[inline(never)]
    fn add(
        &mut self,
        arena: &mut Arena<'_>,
        slot: u32,
        (kind, slots): (PatchType, u32),
        section: PatchSection,
    ) -> Result<(), Error> {
        if slots == 0 {
            return Ok(());
        }
        let entry: &mut PatchEntry = item_mut(arena, self.place, self.filled).ok_or_else(internal)?;
        let offset = slot.saturating_mul(64).into();
        *entry = PatchEntry { offset, count: slots.into(), kind, section };
        self.filled = self.filled.wrapping_add(1);
        Ok(())
    }
}
