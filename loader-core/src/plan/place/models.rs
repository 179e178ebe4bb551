//! The records of the loaded cores (staging.md §5.5).

use super::Draft;
use super::claim::{Claim, full};
use crate::arch::{Arch, Engine};
use crate::arena::{ArenaRef, Record};
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::lower::record::{CarveoutType, Counted, MrType, Text};
use crate::plan::notes::function_base;
use crate::plan::record::{DMem, FeatureMap, Image, InstrAddrs, Model, PatchList, Span, Tally};

/// The event accelerator's carve-out (staging.md §11.8, Confirmed): byte offset in a partition, bytes, partitions.
const EVENT_CARVEOUT: (u64, u64, u64) = (0x37FF8, 8, 128);

fn broken() -> Error {
    Error::internal(Stage::Plan, "model records")
}

/// The start of a text that may be too long for its field.
fn text<const N: usize>(bytes: &[u8]) -> Text<N> {
    Text::new(bytes.get(..bytes.len().min(Text::<N>::MOST)).unwrap_or(&[])).unwrap_or_default()
}

/// What a model says of its engines' images.
#[derive(Default)]
struct Programs {
    addrs: [ArenaRef; Engine::ALL.len()],
    functions: [Span; Engine::ALL.len()],
    patch_info: [PatchList; Engine::ALL.len()],
    /// Blocks of microcode libraries, which lie one after the other.
    ucode: ArenaRef,
    tally: Tally,
}

impl<'m, D: Device> Claim<'_, '_, 'm, D> {
    /// One record per core.
    #[inline(never)]
    pub(super) fn models(&mut self) -> Result<ArenaRef, Error> {
        let place = self.arena.alloc::<Model>(self.drafts.len()).map_err(full)?;
        for index in 0..self.drafts.len() {
            let draft = self.draft(index)?;
            self.model(&draft, index, place)?;
        }
        Ok(place)
    }

    /// Writes the record of a core where it lies: it is too large for a stack.
    #[inline(never)]
    fn model(&mut self, draft: &Draft<'m>, index: usize, place: ArenaRef) -> Result<(), Error> {
        let (inputs, outputs) = (self.features(draft, MrType::INPUT)?, self.features(draft, MrType::OUTPUT)?);
        let programs = self.programs_of(draft)?;
        let (request, pages) = (self.request, self.scratch.pages);
        let slot = self.arena.slice_mut::<Model>(place).and_then(|all| all.get_mut(index));
        let model = slot.ok_or_else(broken)?;
        model.name = text(request.name);
        model.blocks = draft.rings.blocks;
        model.h_model = request.h_model.into();
        model.params = request.params;
        model.allocator = draft.blocks;
        model.refs = 1.into();
        (model.inputs, model.outputs) = (inputs, outputs);
        model.target = draft.arch.into();
        model.variables = draft.vars;
        model.rings = draft.rings.rings;
        model.images = draft.programs.images;
        model.binds = draft.programs.binds;
        model.resolved = draft.programs.resolved;
        model.opaques = draft.programs.opaques;
        model.targets = draft.programs.targets;
        model.subgraph = draft.kbin.subgraph_ref();
        (model.addrs, model.functions) = (programs.addrs, programs.functions);
        model.patch_info = programs.patch_info;
        model.ucode = programs.ucode;
        model.tally = programs.tally;
        if index == 0 {
            model.tally.pages = pages.into();
        }
        flags(draft, model);
        Ok(())
    }

    /// Inputs or outputs for binding by name, by variable id.
    #[inline(never)]
    fn features(&mut self, draft: &Draft<'m>, class: MrType) -> Result<Counted, Error> {
        let of_class = |var: &&crate::lower::record::MemRef| var.mr_type == class;
        let count = draft.kbin.mem_refs().iter().filter(of_class).count();
        let items = self.arena.alloc::<FeatureMap>(count).map_err(full)?;
        let slots = self.arena.slice_mut::<FeatureMap>(items).ok_or_else(broken)?;
        for (slot, var) in slots.iter_mut().zip(draft.kbin.mem_refs().iter().filter(of_class)) {
            slot.name = text(draft.kbin.name(var));
            slot.min_size = var.size;
            slot.var_id = var.var_id;
        }
        Ok(Counted { items, count: u64::from(items.count()).into() })
    }

    /// Addresses of the images and the core's sums.
    #[inline(never)]
    fn programs_of(&mut self, draft: &Draft<'m>) -> Result<Programs, Error> {
        let mut programs = Programs::default();
        let mut tally = Tally { core: u32::from(draft.core.0).into(), ..Tally::default() };
        let mut cells = 0u64;
        let mut tables = 0u32;
        for at in 0..draft.blocks.count() {
            let place = draft.blocks.nth::<DMem>(at).ok_or_else(broken)?;
            let block = *self.record::<DMem>(place)?;
            match block.what.get() {
                DMem::POINTER => cells = cells.saturating_add(1),
                DMem::ACT_TABLE | DMem::DVE_TABLE => tables = tables.saturating_add(1),
                DMem::SEMAPHORE => tally.semaphore_word = at.saturating_add(1).into(),
                DMem::UCODE | DMem::SHARED_UCODE if programs.ucode.count() == 0 => programs.ucode = place,
                DMem::UCODE => {
                    programs.ucode.len = programs.ucode.count().saturating_add(1).into();
                }
                DMem::IMAGE => self.image(draft, &mut programs, at, &block)?,
                _ => {}
            }
        }
        let variables = draft.programs.patched.saturating_add(cells).saturating_add(draft.rings.placed);
        tally.relocated_variables = variables.into();
        let approximate = draft.rings.approximate.saturating_add(draft.programs.approximate);
        tally.approximate = approximate.saturating_add(tables).into();
        programs.tally = tally;
        Ok(programs)
    }

    fn record<T: Record>(&self, place: ArenaRef) -> Result<&T, Error> {
        self.arena.get::<T>(place).ok_or_else(broken)
    }

    /// Ranges of one engine's image, and the image's block.
    #[inline(never)]
    fn image(
        &mut self,
        draft: &Draft<'m>,
        programs: &mut Programs,
        at: u32,
        block: &DMem,
    ) -> Result<(), Error> {
        let engine = Engine::from_number(block.index.get()).ok_or_else(broken)?;
        let place = draft.programs.images.nth::<Image>(engine.number()).ok_or_else(broken)?;
        let image = self.arena.get_mut::<Image>(place).ok_or_else(broken)?;
        image.block = at.into();
        let image = *image;
        let bytes = |slots: u32| u64::from(slots).saturating_mul(64).into();
        let addrs = self.arena.alloc::<InstrAddrs>(1).map_err(full)?;
        *self.arena.get_mut::<InstrAddrs>(addrs).ok_or_else(broken)? = InstrAddrs {
            block: draft.blocks.nth::<DMem>(at).ok_or_else(broken)?,
            first: Span { off: 0.into(), size: block.size },
            model_switch: Span { off: 0.into(), size: bytes(image.preamble.get()) },
            main: Span { off: bytes(image.preamble.get()), size: bytes(image.main.get()) },
        };
        let functions = Span { off: bytes(function_base(&image)), size: bytes(image.function.get()) };
        if let Some(slot) = programs.addrs.get_mut(engine.index()) {
            *slot = addrs;
        }
        if let Some(slot) = programs.functions.get_mut(engine.index()) {
            *slot = functions;
        }
        if let Some(slot) = programs.patch_info.get_mut(engine.index()) {
            *slot = image.patches;
        }
        Ok(())
    }
}

/// Carve-out and fp8 flags (staging.md §11.8).
fn flags(draft: &Draft<'_>, model: &mut Model) {
    let (offset, size, partitions) = EVENT_CARVEOUT;
    let found = draft.kbin.carveouts().unwrap_or(&[]).iter().any(|carveout| {
        carveout.kind == CarveoutType::EVTACCEL
            && carveout.start_partition.get() == 0
            && carveout.num_partitions.get() == partitions
            && carveout.offset.get() == offset
            && carveout.size.get() == size
    });
    let valid = u8::from(found && draft.arch == Arch::Cayman);
    model.collectives.event_accelerator = valid;
    model.reset_event_accelerator = valid;
    let fp8 = draft.kbin.fp8();
    model.program_fp8 = u8::from(zerocopy::IntoBytes::as_bytes(fp8).iter().any(|&byte| byte != 0));
}
