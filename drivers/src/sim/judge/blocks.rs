//! I2, I6, I7 and I18: blocks, contents and pages.

use crate::sim::claim::{BlockClaim, Claims, ContentClaim, CoreClaim};
use crate::sim::config::Content;
use crate::sim::digest;
use crate::sim::state::SimState;
use crate::sim::storage::Storage;
use crate::sim::violation::{Violation, check};

/// Bytes compared at a time.
const PIECE: usize = 512;

impl<S: Storage> SimState<S> {
    /// I2: every claimed block is live and claimed once, and no other block is live.
    pub(super) fn judge_live_set(&mut self, claims: &Claims<'_>) -> Result<(), Violation> {
        self.judged = self.judged.wrapping_add(1).max(1);
        let own = claims.models.iter().flat_map(|model| model.cores).flat_map(|core| core.blocks);
        let pages = claims.pages.iter().map(|page| &page.block);
        let mut count = 0;
        let shared = claims.shared.iter().map(|shared| &shared.block);
        for block in claims.baseline.iter().chain(pages).chain(shared).chain(own) {
            self.mark(block)?;
            count += 1;
        }
        let stray =
            self.live().find(|live| self.storage.slots()[live.handle.slot as usize].claimed != self.judged);
        let address = stray.map_or(count, |live| live.base.0);
        check(stray.is_none(), 2, "a live block that nobody claims", address)
    }

    fn mark(&mut self, block: &BlockClaim) -> Result<(), Violation> {
        let judged = self.judged;
        let number = u64::from(block.handle.slot);
        let slot = self.storage.slots_mut().get_mut(block.handle.slot as usize);
        let live = slot.filter(|slot| slot.live && slot.generation == block.handle.generation);
        let Some(slot) = live else { return check(false, 2, "a claimed block is not live", number) };
        check(slot.claimed != judged, 2, "a block is claimed twice", slot.base)?;
        slot.claimed = judged;
        let fits = block.skip.checked_add(block.size).is_some_and(|end| end <= slot.size);
        check(fits, 2, "a block is claimed to be longer than was asked for", slot.base)
    }

    /// I18.
    pub(super) fn judge_pages(&self, claims: &Claims<'_>) -> Result<(), Violation> {
        for page in claims.pages {
            let uses = claims.models.iter().filter(|model| {
                let (core, pages) = model.scratchpad;
                core == page.core && page.index < pages
            });
            let right = uses.count() == page.refs as usize;
            check(right, 18, "references of a page differ from the models that use it", page.index.into())?;
        }
        for shared in claims.shared {
            let handle = shared.block.handle;
            let all = claims.models.iter().flat_map(|model| model.cores).flat_map(|core| core.shared);
            let uses = all.filter(|&&used| used == handle).count();
            let right = uses == shared.refs as usize;
            check(right, 18, "references of a shared block differ from the cores that use it", uses as u64)?;
        }
        Ok(())
    }

    /// I6 on the first used byte.
    pub(super) fn judge_blocks(&self, core: &CoreClaim<'_>) -> Result<(), Violation> {
        for block in core.blocks {
            let slot = self.storage.slots().get(block.handle.slot as usize);
            let first = slot.map_or(0, |slot| slot.base.saturating_add(block.skip));
            check(first.is_multiple_of(block.align.max(1)), 6, "the first used byte is not aligned", first)?;
        }
        Ok(())
    }

    /// I7.
    pub(super) fn judge_contents(&self, core: &CoreClaim<'_>) -> Result<(), Violation> {
        for content in core.contents {
            let right = match self.config.content {
                Content::Full => self.reads(content),
                Content::Digest => self.digests(content),
                Content::Discard => true,
            };
            check(right, 7, "a constant differs from its file", content.address)?;
        }
        Ok(())
    }

    fn reads(&self, content: &ContentClaim<'_>) -> bool {
        let mut buffer = [0; PIECE];
        let pieces = content.bytes.chunks(PIECE).zip((content.address..).step_by(PIECE));
        let mut same = pieces.map(|(piece, address)| {
            let found = &mut buffer[..piece.len()];
            self.copy_out(address, found);
            *found == *piece
        });
        self.block_at(content.address).is_some() && same.all(|same| same)
    }

    /// The block holds these bytes and nothing else.
    fn digests(&self, content: &ContentClaim<'_>) -> bool {
        let Some(live) = self.block_at(content.address) else { return false };
        let slot = &self.storage.slots()[live.handle.slot as usize];
        slot.digest == digest::hash(content.address, content.bytes)
    }
}
