//! The instruction-position map of an engine, from the notes of its slots (staging.md §12).

use super::{Work, full, get, internal, put};
use crate::arch::Engine;
use crate::arena::{Arena, ArenaRef};
use crate::error::Error;
use crate::lower::record::{PatchEntry, PatchSection, PatchType};
use crate::plan::record::{Image, NoteKind, PatchList, SlotNote};

impl Work<'_, '_, '_> {
    /// The position map of an engine: preamble, main, postamble, functions, by offset (staging.md §12.1).
    ///
    /// A list that is longer than the limit is lost, which never fails a load: positions of that engine
    /// are unknown then.
    pub(super) fn patches(&mut self, engine: Engine) -> Result<(), Error> {
        let mut image: Image = get(self.arena, self.out.images, engine.index())?;
        let changes =
            |note: &SlotNote| u32::from(note.engine) == engine.number() && change_of(note).is_some();
        let regions = [image.preamble.get(), image.postamble.get()];
        let count = self.count(&changes)?.saturating_add(regions.iter().filter(|&&slots| slots > 0).count());
        if count > usize::try_from(self.most_patches).unwrap_or(usize::MAX) {
            image.positions_lost = 1.into();
            return put(self.arena, self.out.images, engine.index(), image);
        }
        let place = self.arena.alloc::<PatchEntry>(count).map_err(full)?;
        let mut list = PatchWriter { place, filled: 0 };
        let [preamble, postamble] = regions;
        let end_of_main = preamble.saturating_add(image.main.get());
        list.add(self.arena, 0, (PatchType::INSERT, preamble), PatchSection::PREAMBLE)?;
        for (section, base) in [(PatchSection::MAIN, preamble), (PatchSection::FUNCTION, 0)] {
            if section == PatchSection::FUNCTION {
                let region = (PatchType::INSERT, postamble);
                list.add(self.arena, end_of_main, region, PatchSection::POSTAMBLE)?;
            }
            let of_section = |note: &SlotNote| changes(note) && note.section() == section;
            self.each(&of_section, &mut |work, note| {
                let change = change_of(note).ok_or_else(internal)?;
                list.add(work.arena, base.saturating_add(note.slot.get()), change, section)
            })?;
        }
        let count = u32::try_from(count).unwrap_or(u32::MAX).into();
        image.patches = PatchList { count, capacity: count, entries: place };
        put(self.arena, self.out.images, engine.index(), image)
    }
}

/// What a note does to the position map: kind and slots.
const fn change_of(note: &SlotNote) -> Option<(PatchType, u32)> {
    match note.kind {
        NoteKind::DELETE => Some((PatchType::DELETE, 1)),
        NoteKind::MODIFY => Some((PatchType::MODIFY, 1)),
        NoteKind::INSERT => Some((PatchType::INSERT, note.id.get())),
        _ => None,
    }
}

/// Fills a list of position-map records.
struct PatchWriter {
    place: ArenaRef,
    filled: usize,
}

impl PatchWriter {
    /// One record, unless it is about no slots.
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
        let offset = slot.saturating_mul(64).into();
        put(arena, self.place, self.filled, PatchEntry { offset, count: slots.into(), kind, section })?;
        self.filled = self.filled.saturating_add(1);
        Ok(())
    }
}
