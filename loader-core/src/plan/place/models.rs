//! The records of the loaded cores (staging.md §5.5).

use super::Draft;
use super::claim::{Claim, full};
use crate::arch::{Arch, Engine};
use crate::arena::{ArenaRef, Record};
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::lower::record::{CarveoutType, Counted, MrType, Text};
use crate::plan::item::{item_mut, narrow, nth};
use crate::plan::notes::function_base;
use crate::plan::record::{DMem, FeatureMap, Image, InstrAddrs, Model, Span};

/// The event accelerator's carve-out (staging.md §11.8, Confirmed): byte offset in a partition, bytes, partitions.
const EVENT_CARVEOUT: (u64, u64, u64) = (0x37FF8, 8, 128);

fn broken() -> Error {
    Error::internal(Stage::Plan, "model records")
}

/// The start of a text that may be too long for its field.
fn text<const N: usize>(bytes: &[u8]) -> Text<N> {
    Text::new(bytes.get(..bytes.len().min(Text::<N>::MOST)).unwrap_or(&[])).unwrap_or_default()
}

impl<'m, D: Device> Claim<'_, '_, 'm, D> {
    /// One record per core.
    #[inline(never)]
    pub(super) fn models(&mut self) -> Result<ArenaRef, Error> {
        let place = self.arena.alloc::<Model>(self.drafts.len()).map_err(full)?;
        for index in 0..self.drafts.len() {
            let draft = self.draft(index)?;
            let own = nth::<Model>(place, narrow(index)).ok_or_else(broken)?;
            self.model(&draft, index, own)?;
        }
        Ok(place)
    }

    /// Writes the record of a core where it lies: it is too large for a stack.
    #[inline(never)]
    fn model(&mut self, draft: &Draft<'m>, index: usize, place: ArenaRef) -> Result<(), Error> {
        let (inputs, outputs) = (self.features(draft, MrType::INPUT)?, self.features(draft, MrType::OUTPUT)?);
        self.programs_of(draft, place)?;
        let (request, pages) = (self.request, self.scratch.pages);
        let model = self.record::<Model>(place)?;
        model.name = text(request.name);
        model.blocks = draft.rings.blocks;
        model.h_model = request.h_model.into();
        model.params = request.params;
        model.allocator = draft.blocks;
        model.refs = 1.into();
        (model.inputs, model.outputs) = (inputs, outputs);
        model.target = draft.arch.into();
        (model.variables, model.io_names) = (draft.vars, draft.kbin.mem_array());
        model.rings = draft.rings.rings;
        model.images = draft.programs.images;
        model.binds = draft.programs.binds;
        model.resolved = draft.programs.resolved;
        model.opaques = draft.programs.opaques;
        model.targets = draft.programs.targets;
        model.subgraph = draft.kbin.subgraph_ref();
        if index == 0 {
            model.tally.pages = pages.into();
        }
        flags(draft, model);
        Ok(())
    }

    /// A record of the plan, to write.
    fn record<T: Record>(&mut self, place: ArenaRef) -> Result<&mut T, Error> {
        item_mut::<T>(self.arena, place, 0).ok_or_else(broken)
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

    /// Addresses of the images and the core's sums, for the model at `place`.
    #[inline(never)]
    fn programs_of(&mut self, draft: &Draft<'m>, place: ArenaRef) -> Result<(), Error> {
        let (mut cells, mut tables, mut semaphore) = (0u64, 0u32, 0u32);
        let mut ucode = ArenaRef::NULL;
        for at in 0..draft.blocks.count() {
            let at_block = nth::<DMem>(draft.blocks, at).ok_or_else(broken)?;
            match self.record::<DMem>(at_block)?.what.get() {
                DMem::POINTER => cells = cells.saturating_add(1),
                DMem::ACT_TABLE | DMem::DVE_TABLE => tables = tables.saturating_add(1),
                DMem::SEMAPHORE => semaphore = at.saturating_add(1),
                DMem::UCODE | DMem::SHARED_UCODE if ucode.count() == 0 => ucode = at_block,
                // They lie one after the other.
                DMem::UCODE => ucode.len = ucode.count().saturating_add(1).into(),
                DMem::IMAGE => self.image(draft, place, at, at_block)?,
                _ => {}
            }
        }
        let variables = draft.programs.patched.saturating_add(cells).saturating_add(draft.rings.placed);
        let approximate = draft.rings.approximate.saturating_add(draft.programs.approximate);
        let model = self.record::<Model>(place)?;
        model.ucode = ucode;
        model.tally.core = u32::from(draft.core.0).into();
        model.tally.semaphore_word = semaphore.into();
        model.tally.relocated_variables = variables.into();
        model.tally.approximate = approximate.saturating_add(tables).into();
        Ok(())
    }

    /// Ranges of one engine's image, whose block is number `at` of the core's.
    #[inline(never)]
    fn image(&mut self, draft: &Draft<'m>, place: ArenaRef, at: u32, block: ArenaRef) -> Result<(), Error> {
        let record = self.record::<DMem>(block)?;
        let (number, size) = (record.index.get(), record.size);
        let engine = Engine::from_number(number).ok_or_else(broken)?.index();
        let image = nth::<Image>(draft.programs.images, number).ok_or_else(broken)?;
        let image = self.record::<Image>(image)?;
        image.block = at.into();
        let bytes = |slots: u32| u64::from(slots).saturating_mul(64).into();
        let (patches, preamble, main) = (image.patches, bytes(image.preamble.get()), bytes(image.main.get()));
        let functions = Span { off: bytes(function_base(image)), size: bytes(image.function.get()) };
        let addrs = self.arena.alloc::<InstrAddrs>(1).map_err(full)?;
        *self.record::<InstrAddrs>(addrs)? = InstrAddrs {
            block,
            first: Span { off: 0.into(), size },
            model_switch: Span { off: 0.into(), size: preamble },
            main: Span { off: preamble, size: main },
        };
        let model = self.record::<Model>(place)?;
        if let Some(slot) = model.addrs.get_mut(engine) {
            *slot = addrs;
        }
        if let Some(slot) = model.functions.get_mut(engine) {
            *slot = functions;
        }
        if let Some(slot) = model.patch_info.get_mut(engine) {
            *slot = patches;
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
