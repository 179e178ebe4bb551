//! Which blocks a core needs, in the order of R31. The same walk counts them and takes them.

use super::block::Want;
use super::record::{DMem, Image, RingRec};
use super::ring::ENTRY_BYTES;
use super::vars::POINTER_BYTES;
use crate::arch::{Arch, Engine};
use crate::arena::{Arena, ArenaRef};
use crate::device::Usage;
use crate::error::{Error, Stage, StageCode};
use crate::lower::KbinView;
use crate::lower::record::{Blob, Extra, MemRef, MrType, RingType, VirtualArm};
use crate::lower::scratchpad::{Area, Marks, Paging};

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
    pub(super) want: Want<'static>,
    pub(super) what: u32,
    pub(super) index: u32,
    pub(super) blob: Option<&'m Blob>,
}

/// What is done with each need.
pub(super) type Take<'t, 'm> = dyn FnMut(&mut Arena<'m>, Need<'m>) -> Result<(), Error> + 't;

/// What the walk reads.
#[derive(Clone, Copy)]
pub(super) struct Core<'m> {
    pub(super) kbin: KbinView<'m>,
    pub(super) arch: Arch,
    pub(super) rings: ArenaRef,
    pub(super) images: ArenaRef,
    pub(super) has_blocks: bool,
    pub(super) paging: Paging,
    pub(super) pages: u32,
    pub(super) local: u64,
    pub(super) marks: Marks,
    pub(super) engine_block: u64,
}

const fn want(size: u64, align: u64, usage: Usage, what: u32) -> Want<'static> {
    Want { size, align, usage, tag: DMem::tag_of(what), contiguous: false }
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
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

impl<'m> Core<'m> {
    /// Variables and pointer cells, by id.
    pub(super) fn variables(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        for (id, var) in self.kbin.mem_refs().iter().enumerate() {
            let (size, align) = (var.size.get(), var.alignment.get());
            let own = |usage| want(size, align, usage, DMem::VARIABLE);
            let (want, what) = match var.mr_type {
                // An empty variable needs no memory.
                MrType::BUFFER | MrType::TMP_BUF if size == 0 => continue,
                MrType::BUFFER => (own(Usage::Weight), DMem::VARIABLE),
                MrType::TMP_BUF => (own(Usage::ScratchpadNotShared), DMem::VARIABLE),
                MrType::VIRTUAL_TMP_BUF if self.fits_page(var) || size == 0 => continue,
                MrType::VIRTUAL_TMP_BUF => (own(Usage::ScratchpadNotShared), DMem::VARIABLE),
                MrType::PTR => (want(POINTER_BYTES, 8, Usage::Generic, DMem::POINTER), DMem::POINTER),
                _ => continue,
            };
            take(arena, Need { want, what, index: narrow(id), blob: self.kbin.blob(var.buffer) })?;
        }
        Ok(())
    }

    fn fits_page(&self, var: &MemRef) -> bool {
        let Extra::Virtual(arm) = var.extra() else { return false };
        let found = scratch_offset(&arm, &self.marks, self.local);
        found.and_then(|(offset, _)| locate(&self.paging, offset, var.size.get(), self.pages)).is_some()
    }

    /// Everything the build of the core makes.
    pub(super) fn build(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        if self.has_blocks {
            let want = want(WORD, WORD, Usage::Generic, DMem::SEMAPHORE);
            take(arena, Need { want, what: DMem::SEMAPHORE, index: 0, blob: None })?;
        }
        self.rings_of(|kind| kind == RingType::DATA, arena, take)?;
        self.rings_of(super::rings::is_io_ring, arena, take)?;
        self.tables(arena, take)?;
        self.libraries(arena, take)?;
        self.images(arena, take)?;
        self.rings_of(|kind| kind != RingType::DATA && !super::rings::is_io_ring(kind), arena, take)
    }

    fn rings_of(
        &self,
        class: impl Fn(RingType) -> bool,
        arena: &mut Arena<'m>,
        take: &mut Take<'_, 'm>,
    ) -> Result<(), Error> {
        let count = usize::try_from(self.rings.count()).unwrap_or(usize::MAX);
        for queue in self.kbin.queues().filter(|queue| class(queue.record.ring_type)) {
            let usage = ring_usage(queue.record.ring_type);
            for row in 0..count {
                let Some(ring) = arena.slice::<RingRec>(self.rings).and_then(|all| all.get(row)).copied()
                else {
                    return Err(Error::internal(Stage::Plan, "ring rows"));
                };
                if usize::from(ring.queue.get()) != queue.slot || ring.used.get() == 0 {
                    continue;
                }
                let size = u64::from(capacity(&ring)?).saturating_mul(ENTRY_BYTES);
                take(
                    arena,
                    Need {
                        want: want(size, 0, usage, DMem::RING),
                        what: DMem::RING,
                        index: narrow(row),
                        blob: None,
                    },
                )?;
            }
        }
        Ok(())
    }

    /// Activation tables set by set, then the DVE tables (R37).
    fn tables(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        let table = |blob: Option<&'m Blob>, what, index: usize| {
            let blob = blob.filter(|blob| blob.len.get() > 0)?;
            let want = want(blob.len.get(), TABLE_ALIGN, Usage::ActTable, what);
            Some(Need { want, what, index: narrow(index), blob: Some(blob) })
        };
        for (index, set) in self.kbin.act_sets().enumerate() {
            let first = index.saturating_mul(2);
            let bkt = table(set.bkt, DMem::ACT_TABLE, first);
            let ctl = table(set.ctl, DMem::ACT_TABLE, first.saturating_add(1));
            for need in [bkt, ctl].into_iter().flatten() {
                take(arena, need)?;
            }
        }
        let Some(dve) = self.kbin.dve() else { return Ok(()) };
        let tables = [dve.opcode, dve.control_fast, dve.control_slow, dve.datapath];
        for (index, blob) in tables.into_iter().enumerate() {
            if let Some(need) = table(blob, DMem::DVE_TABLE, index) {
                take(arena, need)?;
            }
        }
        Ok(())
    }

    /// Microcode libraries, on arch 2 (staging.md §3.3, B12).
    fn libraries(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        if self.arch != Arch::Sunda {
            return Ok(());
        }
        let count = self.kbin.ucode_libs().count();
        let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        if count > MOST_LIBRARIES {
            let many = Error::new(Stage::Plan, StageCode::TooManyLibraries);
            return Err(many.numbers(wide(count), wide(MOST_LIBRARIES)));
        }
        let functions =
            self.kbin.ucode_libs().fold(0, |sum: usize, library| sum.saturating_add(library.functions.len()));
        if functions > MOST_FUNCTIONS {
            let many = Error::new(Stage::Plan, StageCode::TooManyFunctions);
            return Err(many.numbers(wide(functions), wide(MOST_FUNCTIONS)));
        }
        let held = if shares_library(&self.kbin) { DMem::SHARED_UCODE } else { DMem::UCODE };
        for (index, library) in self.kbin.ucode_libs().enumerate() {
            let Some(blob) = library.content.filter(has_file) else { continue };
            let want = want(blob.len.get(), 0, Usage::UcodeLib, held);
            take(arena, Need { want, what: DMem::UCODE, index: narrow(index), blob: Some(blob) })?;
        }
        Ok(())
    }

    fn images(&self, arena: &mut Arena<'m>, take: &mut Take<'_, 'm>) -> Result<(), Error> {
        let align = self.engine_block.max(IMAGE_ALIGN);
        for engine in Engine::ALL {
            let image = arena.slice::<Image>(self.images).and_then(|all| all.get(engine.index()));
            let size = image.map_or(0, Image::slots).saturating_mul(64);
            let usage = image_usage(engine);
            let blob = self.kbin.engine(engine).and_then(|engine| engine.blob);
            take(
                arena,
                Need {
                    want: want(size, align, usage, DMem::IMAGE),
                    what: DMem::IMAGE,
                    index: engine.number(),
                    blob,
                },
            )?;
        }
        Ok(())
    }
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
pub(super) fn table_count(kbin: &KbinView<'_>) -> usize {
    let has_bytes = |blob: &Option<&Blob>| blob.is_some_and(|blob| blob.len.get() > 0);
    let act = kbin.act_sets().flat_map(|set| [set.bkt, set.ctl]).filter(has_bytes).count();
    let dve =
        kbin.dve().map_or([None; 4], |dve| [dve.opcode, dve.control_fast, dve.control_slow, dve.datapath]);
    act.saturating_add(dve.iter().filter(|blob| has_bytes(blob)).count())
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
