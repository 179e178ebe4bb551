//! Taking the blocks of a plan, and giving them back if one cannot be had.

use super::{Draft, Plan, Request};
use crate::arena::{Arena, ArenaRef};
use crate::bytes::split;
use crate::device::{CoreId, Device, Place, Usage};
use crate::error::{DeviceCode, Error, Stage};
use crate::layout::SMALL;
use crate::lower::record::{Blob, Extra, MemRef};
use crate::lower::scratchpad::{GROUP_MOST, Layout, Paging};
use crate::lower::{KbinView, Kbins};
use crate::plan::block::{check_usage, take};
use crate::plan::item::{item_mut, narrow, nth, reserve};
use crate::plan::libraries::LibraryKey;
use crate::plan::pages::PageTable;
use crate::plan::record::reference::PointerArm;
use crate::plan::record::{DMem, Feed, FeedKind, PlaceArm, RingRec, VarPlace};
use crate::plan::usage::{Shortage, UsageRow};
use crate::plan::view::ledger_bytes;
use crate::plan::wants::{Core, Need, capacity};
use zerocopy::transmute;

fn broken() -> Error {
    Error::internal(Stage::Plan, "records of a plan")
}

/// The scratchpad of this load.
pub(in crate::plan) struct Scratch {
    pub(in crate::plan) paging: Paging,
    pub(super) laid: Layout,
    pub(super) sharing: CoreId,
    pub(in crate::plan) pages: u32,
}

impl Scratch {
    /// Where the own scratchpad of a core begins.
    pub(in crate::plan) fn local(&self, index: u8) -> u64 {
        self.laid.local_offset.get(usize::from(index)).copied().unwrap_or(0)
    }
}

/// A plan whose blocks are being taken.
pub(super) struct Claim<'a, 'g, 'm, D> {
    pub(super) drafts: &'a [Draft<'a>],
    pub(super) device: &'a D,
    pub(super) request: &'a Request<'a>,
    pub(super) pages: &'a mut PageTable<'g>,
    pub(super) arena: &'a mut Arena<'m>,
    pub(super) scratch: Scratch,
    /// Copies from the file, and how many of them are filled.
    pub(super) feeds: ArenaRef,
    pub(super) fed: u32,
}

/// What is done for each core.
type Step<C> = fn(&mut C, u8, &Draft<'_>) -> Result<(), Error>;

impl<'m, D: Device> Claim<'_, '_, 'm, D> {
    #[inline(never)]
    pub(super) fn run(&mut self, kbins: &Kbins<'m>) -> Result<Plan<'m>, Error> {
        self.reserve_records()?;
        // What one core does with another's variables comes when these have their places.
        let steps: [Step<Self>; 3] = [Self::take_variables, Self::take_build, Self::connect_remotes];
        for step in steps {
            for (index, draft) in (0u8..).zip(self.drafts) {
                step(self, index, draft)?;
            }
        }
        self.sort_feeds()?;
        let mut models = ArenaRef::NULL;
        self.models(&mut models)?;
        let (sharing, pages) = (self.scratch.sharing, self.scratch.pages);
        Ok(Plan { kbins: *kbins, head: self.arena.seal_head(), places: (models, self.feeds), sharing, pages })
    }

    fn take_variables(&mut self, index: u8, draft: &Draft<'_>) -> Result<(), Error> {
        self.describe(draft, index)?;
        self.take_all(index, draft, true)
    }

    fn take_build(&mut self, index: u8, draft: &Draft<'_>) -> Result<(), Error> {
        self.take_all(index, draft, false)
    }

    /// Makes room for all records whose number depends on the blocks.
    #[inline(never)]
    fn reserve_records(&mut self) -> Result<(), Error> {
        let mut feeds = 0u32;
        for (index, draft) in (0u8..).zip(self.drafts) {
            let core = Core { draft, scratch: &self.scratch, index, policy: self.request.policy };
            let mut blocks = 0u32;
            let held = library(draft).is_some_and(|key| self.pages.libraries.holds(draft.core, &key));
            let mut tally = |_: &mut Arena<'m>, need: &Need<'_>| {
                blocks = blocks.wrapping_add(1);
                let fed = need.blob.is_some() && !(held && need.what == DMem::UCODE);
                feeds = feeds.wrapping_add(u32::from(fed));
                check_usage(need.usage, Place::Hbm(0))
            };
            let counted = core.variables(self.arena, &mut tally);
            let counted = counted.and_then(|()| core.build(self.arena, &mut tally));
            counted.map_err(|error| error.subgraph(index))?;
            let (mut vars, mut place) = (ArenaRef::NULL, ArenaRef::NULL);
            reserve::<VarPlace>(self.arena, narrow(draft.kbin.mem_refs().len()), &mut vars)?;
            reserve::<DMem>(self.arena, blocks, &mut place)?;
            draft.vars.set(vars);
            draft.blocks.set(place);
        }
        reserve::<Feed>(self.arena, feeds, &mut self.feeds)
    }

    /// Takes the blocks of a core: its pages and variables, or what its build makes.
    #[inline(never)]
    fn take_all(&mut self, index: u8, draft: &Draft<'_>, variables: bool) -> Result<(), Error> {
        let Self { arena, device, feeds, fed, pages, scratch, request, .. } = self;
        let core = Core { draft, scratch, index, policy: request.policy };
        let mut action = |arena: &mut Arena<'m>, need: &Need<'_>| {
            let at = draft.taken.get();
            let place = nth::<DMem>(draft.blocks.get(), at).ok_or_else(broken)?;
            let slot = item_mut::<DMem>(arena, place, 0).ok_or_else(broken)?;
            let models = obtain(pages, *device, &core, need, slot);
            let models = models.map_err(|error| refused(error, draft.kbin, need).subgraph(index))?;
            draft.taken.set(at.wrapping_add(1));
            let address = slot.address().0;
            match need.what {
                DMem::RING => connect_ring(arena, draft.rings.rings, need.index, place)?,
                DMem::VARIABLE | DMem::POINTER => connect_variable(arena, draft, need.index, place, address)?,
                _ => {}
            }
            // Whoever found a library does not fill it.
            if let Some(blob) = need.blob.filter(|_| models <= 1) {
                feed(item_mut(arena, *feeds, *fed).ok_or_else(broken)?, blob, need, index, at);
                *fed = fed.wrapping_add(1);
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
            let taken = taken(self.arena, draft);
            // A library that was there before belongs to the models that were.
            let added = |block: &&DMem| {
                let before = block.what.get() == DMem::SHARED_UCODE && block.refs.get() > 1;
                block.what.get() != DMem::PAGE && !before
            };
            for block in taken.iter().filter(added) {
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
            self.pages.give_back(taken(self.arena, draft), self.device);
        }
    }
}

/// The records of the blocks that a core has taken.
fn taken<'x>(arena: &'x Arena<'_>, draft: &Draft<'_>) -> &'x [DMem] {
    let all = arena.slice(draft.blocks.get()).unwrap_or(&[]);
    split(all, usize::try_from(draft.taken.get()).unwrap_or(usize::MAX)).0
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

/// The library that a core may share; see [`libraries`](crate::plan::libraries) for small code.
const fn library(draft: &Draft<'_>) -> Option<LibraryKey> {
    if SMALL { None } else { draft.library }
}

/// Enters a ring's block and capacity into its row.
fn connect_ring(arena: &mut Arena<'_>, rings: ArenaRef, row: u32, block: ArenaRef) -> Result<(), Error> {
    let ring: &mut RingRec = item_mut(arena, rings, row).ok_or_else(broken)?;
    ring.capacity = capacity(ring)?.into();
    ring.block = block;
    Ok(())
}

/// Enters the place of a variable, or of a pointer's cell, that has a block of its own.
fn connect_variable(
    arena: &mut Arena<'_>,
    draft: &Draft<'_>,
    id: u32,
    block: ArenaRef,
    address: u64,
) -> Result<(), Error> {
    let var = item_mut::<VarPlace>(arena, draft.vars.get(), id).ok_or_else(broken)?;
    var.arm = match draft.kbin.mem_ref(id).map(MemRef::extra) {
        Some(Extra::Ptr(arm)) => transmute!(PointerArm {
            slot: address.into(),
            var_id: arm.referenced_var_id,
            is_io: arm.io_ref,
            ..PointerArm::default()
        }),
        _ => PlaceArm { phys: address.into(), block, ..PlaceArm::default() },
    };
    Ok(())
}

/// Takes a block, or a reference to the library or page that is there, and makes its record; gives how many models use it.
#[inline(never)]
fn obtain<D: Device>(
    pages: &mut PageTable<'_>,
    device: &D,
    core: &Core<'_>,
    need: &Need<'_>,
    slot: &mut DMem,
) -> Result<u32, Error> {
    let want = need.want(core);
    let Core { draft, scratch, .. } = *core;
    (slot.what, slot.index) = (need.what.into(), need.index.into());
    if need.what == DMem::PAGE {
        let page = pages.find(scratch.sharing, need.index).ok_or_else(broken)?;
        page.taken.enter(scratch.sharing, &want, slot);
        return Ok(1);
    }
    let shared = match library(draft).filter(|_| need.what == DMem::UCODE) {
        Some(key) => pages.libraries.share(device, draft.core, key, &want)?,
        None => None,
    };
    let taken = match shared {
        Some(library) => library.taken,
        None => take(device, draft.core, &want)?,
    };
    taken.enter(draft.core, &want, slot);
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
