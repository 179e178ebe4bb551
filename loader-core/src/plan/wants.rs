//! Which blocks a core needs, in the order of R31. The same walk counts them and takes them.

use super::block::Want;
use super::item::{item, narrow};
use super::pages::PAGE_ALIGN;
use super::place::{Draft, Scratch};
use super::record::{DMem, Image, RingRec};
use super::ring::ENTRY_BYTES;
use super::rings::queue_of;
use super::vars::POINTER_BYTES;
use crate::arch::{Arch, Engine};
use crate::arena::Arena;
use crate::device::Usage;
use crate::error::{Error, Stage, StageCode};
use crate::lower::KbinView;
use crate::lower::record::{Blob, Extra, MemRef, MrType, RingType, VirtualArm};
use crate::lower::scratchpad::{Area, Marks, Paging};
use crate::policy::Policy;

/// Least alignment of an image (staging.md §11.6, Confirmed).
const IMAGE_ALIGN: u64 = 0x8000;
/// Alignment of activation and DVE tables (R37).
const TABLE_ALIGN: u64 = 64;
/// Bytes and alignment of the source word of semaphore copies (R28).
const WORD: u64 = 4;
/// Most ucode libraries of a model (staging.md §22, Confirmed).
const MOST_LIBRARIES: usize = 9;
/// Most functions of them together (manifests.md §11.3, Confirmed).
const MOST_FUNCTIONS: usize = 97;

/// One block that is needed, and the bytes of the file that fill it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need<'m> {
    pub(super) size: u64,
    /// 0 or a power of two.
    pub(super) align: u64,
    pub(super) usage: Usage,
    /// What it is ([`DMem::what`]), and which of these.
    pub(super) what: u32,
    pub(super) index: u32,
    pub(super) blob: Option<&'m Blob>,
}

impl Need<'_> {
    /// What to ask a device for.
    #[inline(never)]
    pub(super) fn want(&self, core: &Core<'_>) -> Want<'static> {
        let &Need { size, align, usage, what, .. } = self;
        // A block that models share has a name of its own.
        let shared = what == DMem::UCODE && shares_library(core.draft.kbin);
        let tag = DMem::tag_of(if shared { DMem::SHARED_UCODE } else { what });
        Want { size, align, usage, tag, contiguous: false }
    }
}

/// What is done with each need.
pub(super) type Take<'t, 'm> = dyn FnMut(&mut Arena<'m>, &Need<'_>) -> Result<(), Error> + 't;

/// A core, and what the walk reads of the load.
pub(super) struct Core<'c> {
    pub(super) draft: &'c Draft<'c>,
    pub(super) scratch: &'c Scratch,
    pub(super) index: u8,
    pub(super) policy: &'c Policy,
}

/// Where a virtual variable lies in the scratchpad of its core, and whether in the shared region
/// (staging.md §8.4). `local` is where the core's own region begins.
pub(super) fn scratch_offset(arm: &VirtualArm, marks: &Marks, local: u64) -> Option<(u64, bool)> {
    let area = Area::of_backing(arm.backing_buf);
    let region = if area.is_shared() { 0 } else { local };
    let offset = region.checked_add(marks.base(area))?.checked_add(arm.offset.get())?;
    Some((offset, area.is_shared()))
}

/// Page behind `size` bytes at `offset`, and the offset in it. `None`: memory of its own.
pub(super) fn locate(paging: &Paging, offset: u64, size: u64, pages: u32) -> Option<(u32, u64)> {
    let count = u64::from(pages);
    let contiguous = paging.is_contiguous();
    let fits = if contiguous { paging.holds(offset, size, count) } else { paging.fits(offset, size) };
    let (page, within) = paging.locate(offset, count).filter(|_| fits)?;
    Some((u32::try_from(page).ok()?, within))
}

/// The turns in which rings get their blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Data,
    Io,
    Others,
}

impl Turn {
    const fn of(kind: RingType) -> Self {
        match kind {
            RingType::DATA => Self::Data,
            kind if super::rings::is_io_ring(kind) => Self::Io,
            _ => Self::Others,
        }
    }
}

impl Core<'_> {
    /// Pages of the scratchpad, all on the first core, then variables and pointer cells, by id.
    #[inline(never)]
    pub(super) fn variables<'m>(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        let Self { draft, scratch, index, .. } = *self;
        for index in 0..if index == 0 { scratch.pages } else { 0 } {
            let (size, what, usage) = (scratch.paging.page_size(), DMem::PAGE, Usage::Scratchpad);
            take(arena, &Need { size, align: PAGE_ALIGN, usage, what, index, blob: None })?;
        }
        for (id, var) in draft.kbin.mem_refs().iter().enumerate() {
            let (what, usage) = match var.mr_type {
                MrType::PTR => (DMem::POINTER, Usage::Generic),
                // An empty variable needs no memory.
                _ if var.size.get() == 0 => continue,
                MrType::BUFFER => (DMem::VARIABLE, Usage::Weight),
                MrType::TMP_BUF => (DMem::VARIABLE, Usage::ScratchpadNotShared),
                MrType::VIRTUAL_TMP_BUF if !self.fits_page(var) => {
                    (DMem::VARIABLE, Usage::ScratchpadNotShared)
                }
                _ => continue,
            };
            let (size, align) = match what {
                DMem::POINTER => (POINTER_BYTES, POINTER_BYTES),
                _ => (var.size.get(), var.alignment.get()),
            };
            let (index, blob) = (narrow(id), draft.kbin.blob(var.buffer));
            take(arena, &Need { size, align, usage, what, index, blob })?;
        }
        Ok(())
    }

    fn fits_page(&self, var: &MemRef) -> bool {
        let Extra::Virtual(arm) = var.extra() else { return false };
        let Self { draft, scratch, index, .. } = *self;
        let found = scratch_offset(&arm, &draft.marks, scratch.local(index));
        found.and_then(|(offset, _)| locate(&scratch.paging, offset, var.size.get(), scratch.pages)).is_some()
    }

    /// Everything the build of the core makes.
    #[inline(never)]
    pub(super) fn build<'m>(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        if self.draft.rings.blocks.count() > 0 {
            let (what, usage) = (DMem::SEMAPHORE, Usage::Generic);
            take(arena, &Need { size: WORD, align: WORD, usage, what, index: 0, blob: None })?;
        }
        self.rings_of(Turn::Data, arena, take)?;
        self.rings_of(Turn::Io, arena, take)?;
        self.tables(arena, take)?;
        self.libraries(arena, take)?;
        self.images(arena, take)?;
        self.rings_of(Turn::Others, arena, take)
    }

    #[inline(never)]
    fn rings_of<'m>(&self, turn: Turn, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        let (rings, kbin) = (self.draft.rings.rings, self.draft.kbin);
        let broken = || Error::internal(Stage::Plan, "ring rows");
        // Rows are in the order of their queues.
        for index in 0..rings.count() {
            let ring = item::<RingRec>(arena, rings, index).ok_or_else(broken)?;
            if ring.used.get() == 0 {
                continue;
            }
            let kind = queue_of(kbin, ring.queue).ok_or_else(broken)?.record.ring_type;
            if Turn::of(kind) == turn {
                let size = u64::from(capacity(ring)?).saturating_mul(ENTRY_BYTES);
                let (what, usage) = (DMem::RING, ring_usage(kind));
                take(arena, &Need { size, align: 0, usage, what, index, blob: None })?;
            }
        }
        Ok(())
    }

    /// Activation tables set by set, then the DVE tables (R37).
    #[inline(never)]
    fn tables<'m>(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        each_table(self.draft.kbin, &mut |what, index, blob| {
            let (size, usage) = (blob.len.get(), Usage::ActTable);
            take(arena, &Need { size, align: TABLE_ALIGN, usage, what, index, blob: Some(blob) })
        })
    }

    /// Microcode libraries, on arch 2 (staging.md §3.3, B12).
    #[inline(never)]
    fn libraries<'m>(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        if self.draft.arch != Arch::Sunda {
            return Ok(());
        }
        let (mut count, mut functions) = (0usize, 0usize);
        for library in self.draft.kbin.ucode_libs() {
            count = count.wrapping_add(1);
            functions = functions.saturating_add(library.functions.len());
        }
        let most = [
            (StageCode::TooManyLibraries, count, MOST_LIBRARIES),
            (StageCode::TooManyFunctions, functions, MOST_FUNCTIONS),
        ];
        for (code, found, most) in most {
            if found > most {
                let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
                return Err(Error::new(Stage::Plan, code).numbers(wide(found), wide(most)));
            }
        }
        for (index, library) in self.draft.kbin.ucode_libs().enumerate() {
            let Some(blob) = library.content.filter(has_file) else { continue };
            let (size, what, usage) = (blob.len.get(), DMem::UCODE, Usage::UcodeLib);
            let index = narrow(index);
            take(arena, &Need { size, align: 0, usage, what, index, blob: Some(blob) })?;
        }
        Ok(())
    }

    fn images<'m>(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        let align = u64::from(self.policy.engine_block()).max(IMAGE_ALIGN);
        for engine in Engine::ALL {
            let index = engine.number();
            let size = item::<Image>(arena, self.draft.programs.images, index)
                .map_or(0, Image::slots)
                .saturating_mul(64);
            let (what, usage) = (DMem::IMAGE, image_usage(engine));
            let blob = self.draft.kbin.engine(engine).and_then(|engine| engine.blob);
            take(arena, &Need { size, align, usage, what, index, blob })?;
        }
        Ok(())
    }
}

/// Activation and DVE tables with bytes, in the order of their blocks: what they are, which of these, their bytes.
fn each_table<'m>(
    kbin: &KbinView<'m>,
    action: &mut dyn FnMut(u32, u32, &'m Blob) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut of = |what, index, blob: Option<&'m Blob>| match blob.filter(|blob| blob.len.get() > 0) {
        Some(blob) => action(what, index, blob),
        None => Ok(()),
    };
    let mut index = 0u32;
    for set in kbin.act_sets() {
        for blob in [set.bkt, set.ctl] {
            of(DMem::ACT_TABLE, index, blob)?;
            index = index.wrapping_add(1);
        }
    }
    let Some(dve) = kbin.dve() else { return Ok(()) };
    let tables = [dve.opcode, dve.control_fast, dve.control_slow, dve.datapath];
    (0..).zip(tables).try_for_each(|(index, blob)| of(DMem::DVE_TABLE, index, blob))
}

/// A library whose bytes are in the file and not the host's.
fn has_file(blob: &&Blob) -> bool {
    blob.member_id().is_some() && blob.len.get() > 0
}

/// True if a model with this kbin shares its microcode library with other models of its core.
#[must_use]
pub fn shares_library(kbin: &KbinView<'_>) -> bool {
    shared_library(kbin).is_some()
}

/// The bytes of a kbin's library if it is the only one, so that models of its core share it (staging.md §7.7).
pub(super) fn shared_library<'m>(kbin: &KbinView<'m>) -> Option<&'m Blob> {
    let mut libraries = kbin.ucode_libs();
    let only = libraries.next().filter(|_| kbin.arch() == Some(Arch::Sunda) && libraries.next().is_none())?;
    only.content.filter(has_file)
}

/// Activation and DVE tables with bytes: placed, but without table rings (R37).
pub(super) fn table_count(kbin: &KbinView<'_>) -> u64 {
    let mut count = 0u64;
    let counted = each_table(kbin, &mut |_, _, _| {
        count = count.wrapping_add(1);
        Ok(())
    });
    counted.map_or(0, |()| count)
}

/// Capacity of a ring with entries.
///
/// # Errors
/// `RingFull` on overflow.
pub(super) fn capacity(ring: &RingRec) -> Result<u32, Error> {
    super::ring::capacity(ring.used.get(), false).ok_or_else(|| Error::new(Stage::Plan, StageCode::RingFull))
}

/// Usage of a ring's memory (staging.md §7.7, Confirmed).
pub(super) const fn ring_usage(kind: RingType) -> Usage {
    match kind {
        RingType::COLLECTIVES => Usage::DmaRingCollectives,
        RingType::DATA => Usage::DmaRingSpill,
        RingType::IN | RingType::OUT => Usage::DmaRingIo,
        _ => Usage::DmaRing,
    }
}

/// Usage of an engine's image (staging.md §7.4, Confirmed).
const fn image_usage(engine: Engine) -> Usage {
    match engine {
        Engine::Pe => Usage::InstrPe,
        Engine::Act => Usage::InstrAct,
        Engine::Pool => Usage::InstrPool,
        Engine::Dve => Usage::InstrDve,
        Engine::Sp => Usage::InstrSp,
    }
}

/// The block size of the engines' instruction memory must divide the alignment (staging.md §11.6, T55).
///
/// # Errors
/// `EngineBlock`.
pub(super) fn check_engine_block(block: u64) -> Result<(), Error> {
    if block.is_power_of_two() {
        return Ok(());
    }
    Err(Error::new(Stage::Plan, StageCode::EngineBlock).numbers(block, IMAGE_ALIGN.max(block)))
}
