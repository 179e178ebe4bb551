//! Scratchpad pages: shared by every model of a core, counted, grown and shrunk (staging.md §8.4).

use super::block::{self, Taken, Want};
use super::libraries::{Library, LibraryTable};
use super::record::DMem;
use crate::device::{CoreId, Device, Usage};
use crate::error::{DeviceCode, Error, Stage, StageCode};
use crate::lower::scratchpad::Paging;

/// Alignment that pages are asked for with (staging.md §22, Confirmed).
pub const PAGE_ALIGN: u64 = 0x40_0000;
/// Alignment that a page must have (staging.md §22, Confirmed).
pub const PAGE_ALIGN_HARD: u64 = 0x1000;

/// One page of a device.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Core that holds it.
    pub core: CoreId,
    /// Position in the core's scratchpad.
    pub index: u32,
    /// Its block.
    pub taken: Taken,
    /// Models that use it.
    pub refs: u32,
}

impl Page {
    /// What it counts for in the ledger: its size, and the alignment where the device could not align (staging.md §7.6).
    #[must_use]
    pub const fn ledger_bytes(&self) -> u64 {
        let slack = if self.taken.skip == 0 { 0 } else { PAGE_ALIGN };
        self.taken.size.saturating_add(slack)
    }
}

/// What the cores of one device hold for all models: scratchpad pages, and microcode libraries; in memory of the caller.
/// Lives as long as the device is open.
#[derive(Debug)]
pub struct PageTable<'g> {
    slots: &'g mut [Option<Page>],
    paging: Option<Paging>,
    /// Shared microcode libraries; none can be shared unless the caller gives room.
    pub libraries: LibraryTable<'g>,
}

fn fault(code: StageCode) -> Error {
    Error::new(Stage::Plan, code)
}

impl<'g> PageTable<'g> {
    /// An empty table: at most as many pages as there are slots.
    pub fn new(slots: &'g mut [Option<Page>]) -> Self {
        slots.fill(None);
        Self::resume(slots, None)
    }

    /// The table over slots that already hold pages.
    pub fn resume(slots: &'g mut [Option<Page>], paging: Option<Paging>) -> Self {
        Self { slots, paging, libraries: LibraryTable::default() }
    }

    /// The same with a table of microcode libraries, and what it holds.
    #[must_use]
    pub fn with_libraries(self, slots: &'g mut [Option<Library>]) -> Self {
        Self { libraries: LibraryTable::new(slots), ..self }
    }

    /// Size and adjacency of the pages, once there are any.
    #[must_use]
    pub const fn paging(&self) -> Option<Paging> {
        self.paging
    }

    /// Page `index` of a core.
    #[must_use]
    pub fn get(&self, core: CoreId, index: u32) -> Option<Page> {
        self.find(core, index).copied()
    }

    #[inline(never)]
    pub(super) fn find(&self, core: CoreId, index: u32) -> Option<&Page> {
        self.iter().find(|page| page.core == core && page.index == index)
    }

    /// All pages.
    pub fn iter(&self) -> impl Iterator<Item = &Page> {
        self.slots.iter().flatten()
    }

    /// Pages of a core.
    #[must_use]
    pub fn count(&self, core: CoreId) -> u32 {
        self.iter().filter(|page| page.core == core).fold(0, |count, _| count.wrapping_add(1))
    }

    /// What the pages of a core count for in the ledger.
    #[must_use]
    pub fn bytes(&self, core: CoreId) -> u64 {
        let own = self.iter().filter(|page| page.core == core);
        own.fold(0, |sum, page| sum.saturating_add(page.ledger_bytes()))
    }

    /// Makes sure that a core has `needed` pages and takes a reference to each. Gives how many there are:
    /// fewer than `needed` only if contiguous pages ran out, which is a ceiling and not a failure (X26).
    ///
    /// # Errors
    /// Pages of another kind, a full table, or the device's refusal; pages added by this call are given
    /// back then, newest first. If memory ran out, `full` hears before that how many bytes the core's pages take.
    pub fn reserve<D: Device>(
        &mut self,
        device: &D,
        core: CoreId,
        needed: u64,
        paging: Paging,
        full: &mut dyn FnMut(u64),
    ) -> Result<u32, Error> {
        let needed = u32::try_from(needed).map_err(|_| Error::internal(Stage::Plan, "scratchpad pages"))?;

        if needed == 0 {
            return Ok(0);
        }
        if self.paging.is_some_and(|other| other != paging) && self.iter().next().is_some() {
            let resident = self.paging.map_or(0, |paging| paging.page_size());
            return Err(fault(StageCode::PagingDiffers).numbers(paging.page_size(), resident));
        }
        self.paging = Some(paging);
        let had = self.count(core);
        let got = match self.grow(device, core, needed, paging) {
            Ok(got) => got,
            Err(error) => {
                if error.is(DeviceCode::OutOfMemory) {
                    full(self.bytes(core));
                }
                self.shrink(device, core, had);
                return Err(error);
            }
        };
        for page in self.slots.iter_mut().flatten().filter(|page| page.core == core && page.index < got) {
            page.refs = page.refs.wrapping_add(1);
        }
        Ok(got)
    }

    fn grow<D: Device>(
        &mut self,
        device: &D,
        core: CoreId,
        needed: u32,
        paging: Paging,
    ) -> Result<u32, Error> {
        for index in self.count(core)..needed {
            match self.add(device, core, index, paging) {
                Ok(true) => {}
                Ok(false) => return Ok(index),
                Err(error) if paging.is_contiguous() && error.is(DeviceCode::OutOfMemory) => {
                    return Ok(index);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(needed)
    }

    /// One page more; false if it is not adjacent where it must be.
    fn add<D: Device>(
        &mut self,
        device: &D,
        core: CoreId,
        index: u32,
        paging: Paging,
    ) -> Result<bool, Error> {
        let entries = u64::try_from(self.slots.len()).unwrap_or(u64::MAX);
        let free = self.slots.iter().position(Option::is_none);
        let free = free.ok_or_else(|| fault(StageCode::PageTable).numbers(entries, 0))?;
        let want = Want {
            size: paging.page_size(),
            align: PAGE_ALIGN,
            usage: Usage::Scratchpad,
            tag: "scratchpad",
            contiguous: paging.is_contiguous(),
        };
        let taken = block::take(device, core, &want)?;
        if !taken.address().is_multiple_of(PAGE_ALIGN_HARD) {
            block::give_back(device, taken.handle);
            return Err(fault(StageCode::PageAlignment).numbers(taken.address(), 0));
        }
        let above = index.checked_sub(1).and_then(|above| self.find(core, above));
        let joins =
            |page: &Page| taken.address().checked_add(paging.page_size()) == Some(page.taken.address());
        if paging.is_contiguous() && !above.is_none_or(joins) {
            block::give_back(device, taken.handle);
            return Ok(false);
        }
        if let Some(slot) = self.slots.get_mut(free) {
            *slot = Some(Page { core, index, taken, refs: 0 });
        }
        Ok(true)
    }

    /// Frees the pages from `keep` on, newest first.
    fn shrink<D: Device>(&mut self, device: &D, core: CoreId, keep: u32) {
        for index in (keep..self.count(core)).rev() {
            self.drop_page(device, core, index);
        }
    }

    fn drop_page<D: Device>(&mut self, device: &D, core: CoreId, index: u32) {
        let found =
            |slot: &&mut Option<Page>| slot.is_some_and(|page| page.core == core && page.index == index);
        if let Some(slot) = self.slots.iter_mut().find(found)
            && let Some(page) = slot.take()
        {
            block::give_back(device, page.taken.handle);
        }
    }

    /// Gives back blocks of a core, the newest first, and references to libraries. Pages stay.
    pub(crate) fn give_back<D: Device>(&mut self, blocks: &[DMem], device: &D) {
        for block in blocks.iter().rev() {
            match block.what.get() {
                DMem::PAGE => {}
                DMem::SHARED_UCODE => self.libraries.release(device, block.handle()),
                _ => block::give_back(device, block.handle()),
            }
        }
    }

    /// Drops one reference of pages `0..pages` of a core; a page without references is freed, the newest first.
    pub fn release<D: Device>(&mut self, device: &D, core: CoreId, pages: u32) {
        for page in self.slots.iter_mut().flatten().filter(|page| page.core == core && page.index < pages) {
            page.refs = page.refs.saturating_sub(1);
        }
        for index in (0..self.count(core)).rev() {
            if self.find(core, index).is_some_and(|page| page.refs > 0) {
                break;
            }
            self.drop_page(device, core, index);
        }
    }
}
