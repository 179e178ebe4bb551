//! Taking the blocks of a plan, and giving them back if one cannot be had.

use super::{Draft, Drafts, Plan, Request};
use crate::arena::{Arena, ArenaFull, ArenaRef};
use crate::device::{CoreId, Device, Place, Usage};
use crate::error::{DeviceCode, Error, Stage};
use crate::lower::record::Blob;
use crate::lower::scratchpad::{GROUP_MOST, Layout, Paging};
use crate::lower::{KbinView, Kbins};
use crate::plan::block::{Want, check_usage, give_back, take};
use crate::plan::item::{item_mut, narrow, nth};
use crate::plan::libraries::LibraryKey;
use crate::plan::pages::{PAGE_ALIGN, PageTable};
use crate::plan::record::{DMem, Feed, FeedKind, RingRec, VarPlace};
use crate::plan::usage::{Shortage, UsageRow};
use crate::plan::view::ledger_bytes;
use crate::plan::wants::{Core, Need, capacity};

pub(super) fn full(error: ArenaFull) -> Error {
    Error::arena(Stage::Plan, error)
}

fn broken() -> Error {
    Error::internal(Stage::Plan, "records of a plan")
}

/// The scratchpad of this load.
#[derive(Clone, Copy)]
pub(super) struct Scratch {
    pub(super) paging: Paging,
    pub(super) laid: Layout,
    pub(super) sharing: CoreId,
    pub(super) pages: u32,
}

/// A plan whose blocks are being taken.
pub(super) struct Claim<'a, 'g, 'm, D> {
    pub(super) drafts: &'a mut Drafts<'m>,
    pub(super) device: &'a D,
    pub(super) request: &'a Request<'a>,
    pub(super) pages: &'a mut PageTable<'g>,
    pub(super) arena: &'a mut Arena<'m>,
    pub(super) scratch: Scratch,
    /// Copies from the file, and how many of them are filled.
    pub(super) feeds: ArenaRef,
    pub(super) fed: usize,
}

impl<'m, D: Device> Claim<'_, '_, 'm, D> {
    #[inline(never)]
    pub(super) fn run(&mut self, kbins: &Kbins<'m>) -> Result<Plan<'m>, Error> {
        self.reserve_records()?;
        for index in 0..self.drafts.len() {
            self.list_pages(index)?;
            self.take_all(index, true)?;
        }
        for index in 0..self.drafts.len() {
            self.take_all(index, false)?;
        }
        self.place_variables()?;
        self.sort_feeds()?;
        let places = (self.models()?, self.feeds);
        let (sharing, pages) = (self.scratch.sharing, self.scratch.pages);
        let head = self.arena.seal_head();
        let models = head.slice(places.0).ok_or_else(|| Error::internal(Stage::Plan, "models"))?;
        let feeds = head.slice(places.1).ok_or_else(|| Error::internal(Stage::Plan, "feeds"))?;
        Ok(Plan { kbins: *kbins, head, models, feeds, places, sharing, pages })
    }

    /// Not inlined: drafts are large.
    #[inline(never)]
    pub(super) fn draft(&self, index: usize) -> Result<Draft<'m>, Error> {
        self.drafts.get(index).copied().ok_or_else(|| Error::internal(Stage::Plan, "subgraph"))
    }

    /// Pages that are listed among the blocks of a core: all on the sharing core's subgraph, the first.
    fn pages_of(&self, index: usize) -> usize {
        if index == 0 { usize::try_from(self.scratch.pages).unwrap_or(usize::MAX) } else { 0 }
    }

    /// What the walk over the needs of a core reads.
    #[inline(never)]
    fn core<'c>(
        scratch: &'c Scratch,
        request: &Request<'_>,
        draft: &'c Draft<'m>,
        index: usize,
    ) -> Core<'c, 'm> {
        Core {
            kbin: &draft.kbin,
            arch: draft.arch,
            rings: draft.rings.rings,
            images: draft.programs.images,
            has_blocks: draft.rings.blocks.count() > 0,
            paging: &scratch.paging,
            pages: scratch.pages,
            local: scratch.laid.local_offset.get(index).copied().unwrap_or(0),
            marks: &draft.marks,
            engine_block: u64::from(request.policy.engine_block),
        }
    }

    /// Makes room for all records whose number depends on the blocks.
    #[inline(never)]
    fn reserve_records(&mut self) -> Result<(), Error> {
        let mut feeds = 0usize;
        for index in 0..self.drafts.len() {
            let draft = self.draft(index)?;
            let core = Self::core(&self.scratch, self.request, &draft, index);
            let mut blocks = self.pages_of(index);
            let held = draft.library.is_some_and(|key| self.pages.libraries.holds(draft.core, &key));
            let mut tally = |_: &mut Arena<'m>, need: &Need<'m>| {
                blocks = blocks.saturating_add(1);
                let fed = need.blob.is_some() && !(held && need.what == DMem::UCODE);
                feeds = feeds.saturating_add(usize::from(fed));
                check_usage(need.usage, Place::Hbm(0))
            };
            let counted = core.variables(self.arena, &mut tally);
            let counted = counted.and_then(|()| core.build(self.arena, &mut tally));
            counted.map_err(|error| error.subgraph(u8::try_from(index).unwrap_or(u8::MAX)))?;
            let vars = self.arena.alloc::<VarPlace>(draft.kbin.mem_refs().len()).map_err(full)?;
            let place = self.arena.alloc::<DMem>(blocks).map_err(full)?;
            if let Some(draft) = self.drafts.get_mut(index) {
                (draft.vars, draft.blocks, draft.taken) = (vars, place, 0);
            }
        }
        self.feeds = self.arena.alloc::<Feed>(feeds).map_err(full)?;
        Ok(())
    }

    /// Lists the scratchpad's pages first among the blocks of the first subgraph.
    #[inline(never)]
    fn list_pages(&mut self, index: usize) -> Result<(), Error> {
        for page in 0..u32::try_from(self.pages_of(index)).unwrap_or(0) {
            let found = self.pages.get(self.scratch.sharing, page);
            let found = found.ok_or_else(broken)?;
            let want = Want {
                size: self.scratch.paging.page_size(),
                align: PAGE_ALIGN,
                usage: Usage::Scratchpad,
                tag: "scratchpad",
                contiguous: self.scratch.paging.is_contiguous(),
            };
            let mut record = found.taken.record(self.scratch.sharing, &want);
            (record.what, record.index) = (DMem::PAGE.into(), page.into());
            self.push_block(index, record)?;
        }
        Ok(())
    }

    fn push_block(&mut self, index: usize, record: DMem) -> Result<(), Error> {
        let draft = self.drafts.get_mut(index).ok_or_else(broken)?;
        let slot = item_mut::<DMem>(self.arena, draft.blocks, narrow(draft.taken));
        *slot.ok_or_else(broken)? = record;
        draft.taken = draft.taken.saturating_add(1);
        Ok(())
    }

    /// Takes the blocks of a core: its variables, or what its build makes.
    #[inline(never)]
    fn take_all(&mut self, index: usize, variables: bool) -> Result<(), Error> {
        let draft = self.draft(index)?;
        let core = Self::core(&self.scratch, self.request, &draft, index);
        let Self { drafts, device, arena, feeds, fed, pages, .. } = self;
        let subgraph = u8::try_from(index).unwrap_or(u8::MAX);
        let own = drafts.get_mut(index).ok_or_else(broken)?;
        let mut action = |arena: &mut Arena<'m>, need: &Need<'m>| {
            let at = narrow(own.taken);
            let place = nth::<DMem>(draft.blocks, at).ok_or_else(broken)?;
            let slot = item_mut::<DMem>(arena, place, 0).ok_or_else(broken)?;
            let library = draft.library.filter(|_| need.what == DMem::UCODE);
            let models = obtain(pages, *device, draft.core, library, need, slot);
            let models = models.map_err(|error| refused(error, &draft.kbin, need).subgraph(subgraph))?;
            own.taken = own.taken.saturating_add(1);
            if need.what == DMem::RING {
                connect_ring(arena, draft.rings.rings, need.index, place)?;
            }
            // Whoever found a library does not fill it.
            if let Some(blob) = need.blob.filter(|_| models <= 1) {
                feed(item_mut(arena, *feeds, narrow(*fed)).ok_or_else(broken)?, blob, need, subgraph, at);
                *fed = fed.saturating_add(1);
            }
            Ok(())
        };
        if variables { core.variables(arena, &mut action) } else { core.build(arena, &mut action) }
    }

    /// Copies are in the order of the file, so that one pass serves them all.
    #[inline(never)]
    fn sort_feeds(&mut self) -> Result<(), Error> {
        let all = self.arena.slice_mut::<Feed>(self.feeds).ok_or_else(broken)?;
        crate::sort::sort_by_key(all, |feed| (feed.member.get(), feed.core.get(), feed.block.get()));
        Ok(())
    }

    /// What is held while the device refuses memory.
    pub(super) fn shortage(&self, error: &Error) -> Option<Shortage> {
        if !error.is(DeviceCode::OutOfMemory) {
            return None;
        }
        let refused = self.drafts.get(usize::from(error.at().subgraph?))?;
        let named = |usage: &&Usage| usage.name().as_bytes() == error.at().name.as_bytes();
        let mut held = [None; GROUP_MOST];
        for (slot, draft) in held.iter_mut().zip(self.drafts.iter()) {
            let mut row = UsageRow::default();
            let taken = self.arena.slice::<DMem>(draft.blocks).and_then(|all| all.get(..draft.taken));
            // A library that was there before belongs to the models that were.
            let added = |block: &&DMem| {
                let before = block.what.get() == DMem::SHARED_UCODE && block.refs.get() > 1;
                block.what.get() != DMem::PAGE && !before
            };
            for block in taken.unwrap_or(&[]).iter().filter(added) {
                let usage = usize::try_from(block.usage.get()).ok().and_then(|at| Usage::ALL.get(at));
                row.add(usage.copied().unwrap_or(Usage::Generic), ledger_bytes(block));
            }
            *slot = Some((draft.core, row));
        }
        let sharing = self.scratch.sharing;
        let pages = self.pages.bytes(sharing);
        Some(Shortage {
            core: refused.core,
            size: error.at().a,
            align: error.at().b,
            usage: Usage::ALL.iter().find(named).copied()?,
            held,
            pages: Some((sharing, pages)),
        })
    }

    /// Gives back every block that was taken, the newest first, and references to libraries. Pages are the page table's.
    #[inline(never)]
    pub(super) fn undo(&mut self) {
        for draft in self.drafts.iter().rev() {
            let taken = self.arena.slice::<DMem>(draft.blocks).and_then(|all| all.get(..draft.taken));
            for block in taken.unwrap_or(&[]).iter().rev() {
                match block.what.get() {
                    DMem::PAGE => {}
                    DMem::SHARED_UCODE => self.pages.libraries.release(self.device, block.handle()),
                    _ => give_back(self.device, block.handle()),
                }
            }
        }
    }
}

/// A device's refusal with what the block is for: the variable by id, the program by its member.
fn refused(error: Error, kbin: &KbinView<'_>, need: &Need<'_>) -> Error {
    match need.what {
        DMem::VARIABLE | DMem::POINTER => {
            let name = kbin.mem_ref(need.index).map_or(&[][..], |var| kbin.name(var));
            error.element(need.index).name2(name)
        }
        DMem::IMAGE | DMem::UCODE | DMem::ACT_TABLE | DMem::DVE_TABLE => {
            error.member_or(need.blob.and_then(|blob| blob.member_id()))
        }
        _ => error,
    }
}

/// Enters a ring's block and capacity into its row.
fn connect_ring(arena: &mut Arena<'_>, rings: ArenaRef, row: u32, block: ArenaRef) -> Result<(), Error> {
    let ring: &mut RingRec = item_mut(arena, rings, row).ok_or_else(broken)?;
    ring.capacity = capacity(ring)?.into();
    ring.block = block;
    Ok(())
}

/// Takes a block, or a reference to the library with that key, and makes its record; gives how many models use it.
#[inline(never)]
fn obtain<D: Device>(
    pages: &mut PageTable<'_>,
    device: &D,
    core: CoreId,
    library: Option<LibraryKey>,
    need: &Need<'_>,
    slot: &mut DMem,
) -> Result<u32, Error> {
    let want = need.want();
    let shared = match library {
        Some(key) => pages.libraries.share(device, core, key, &want)?,
        None => None,
    };
    let taken = match shared {
        Some(library) => library.taken,
        None => take(device, core, &want)?,
    };
    *slot = taken.record(core, &want);
    (slot.what, slot.index) = (need.what.into(), need.index.into());
    let Some(library) = shared else { return Ok(1) };
    (slot.what, slot.refs) = (DMem::SHARED_UCODE.into(), u64::from(library.refs).into());
    Ok(library.refs)
}

/// Fills the record of a copy from the file.
fn feed(slot: &mut Feed, blob: &Blob, need: &Need<'_>, core: u8, block: u32) {
    slot.member = blob.member;
    slot.kind = match need.what {
        DMem::IMAGE => FeedKind::PROGRAM,
        DMem::VARIABLE => FeedKind::CONSTANT,
        _ => FeedKind::TABLE,
    };
    if need.what == DMem::IMAGE {
        slot.engine = u16::try_from(need.index).unwrap_or(u16::MAX).into();
    }
    slot.core = u16::from(core).into();
    slot.block = block.into();
    (slot.off, slot.len) = (blob.off, blob.len);
}
