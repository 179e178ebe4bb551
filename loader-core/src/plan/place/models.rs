//! The records of the loaded cores (staging.md §5.5).

use super::Draft;
use super::claim::Claim;
use crate::arch::Arch;
use crate::arena::{ArenaRef, Record};
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::lower::record::{CarveoutType, Counted, MrType};
use crate::plan::item::{item_mut, narrow, nth, reserve};
use crate::plan::notes::function_base;
use crate::plan::record::{DMem, FeatureMap, Image, InstrAddrs, Model, Span};

/// The event accelerator's carve-out (staging.md §11.8, Confirmed): byte offset in a partition, bytes, partitions.
const EVENT_CARVEOUT: (u64, u64, u64) = (0x37FF8, 8, 128);

fn broken() -> Error {
    Error::internal(Stage::Plan, "model records")
}

impl<D: Device> Claim<'_, '_, '_, D> {
    /// One record per core.
    #[inline(never)]
    pub(super) fn models(&mut self, place: &mut ArenaRef) -> Result<(), Error> {
        reserve::<Model>(self.arena, narrow(self.drafts.len()), place)?;
        for (index, draft) in (0..).zip(self.drafts) {
            self.model(draft, index, nth::<Model>(*place, index).ok_or_else(broken)?)?;
        }
        Ok(())
    }

    /// Writes the record of a core where it lies: it is too large for a stack.
    fn model(&mut self, draft: &Draft<'_>, index: u32, place: ArenaRef) -> Result<(), Error> {
        let (mut inputs, mut outputs) = (Counted::default(), Counted::default());
        self.features(draft, MrType::INPUT, &mut inputs)?;
        self.features(draft, MrType::OUTPUT, &mut outputs)?;
        self.programs_of(draft, place)?;
        let (request, pages) = (self.request, self.scratch.pages);
        let model = self.record::<Model>(place).ok_or_else(broken)?;
        model.name.set(request.name);
        model.blocks = draft.rings.blocks;
        model.h_model = request.h_model.into();
        model.params = request.params;
        model.allocator = draft.blocks.get();
        model.refs = 1.into();
        (model.inputs, model.outputs) = (inputs, outputs);
        model.target = draft.arch.into();
        (model.variables, model.io_names) = (draft.vars.get(), draft.kbin.mem_array());
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
    fn record<T: Record>(&mut self, place: ArenaRef) -> Option<&mut T> {
        item_mut::<T>(self.arena, place, 0)
    }

    /// Inputs or outputs for binding by name, by variable id.
    #[inline(never)]
    fn features(&mut self, draft: &Draft<'_>, class: MrType, out: &mut Counted) -> Result<(), Error> {
        let vars = draft.kbin.mem_refs();
        let of_class = vars.iter().filter(|var| var.mr_type == class).count();
        reserve::<FeatureMap>(self.arena, narrow(of_class), &mut out.items)?;
        out.count = u64::from(out.items.count()).into();
        let mut at = 0u32;
        for var in vars {
            if var.mr_type == class {
                let slot = item_mut::<FeatureMap>(self.arena, out.items, at).ok_or_else(broken)?;
                slot.name.set(draft.kbin.name(var));
                (slot.min_size, slot.var_id) = (var.size, var.var_id);
                at = at.wrapping_add(1);
            }
        }
        Ok(())
    }

    /// Addresses of the images and the core's sums, for the model at `place`.
    #[inline(never)]
    fn programs_of(&mut self, draft: &Draft<'_>, place: ArenaRef) -> Result<(), Error> {
        let (mut cells, mut tables, mut semaphore) = (0u64, 0u32, 0u32);
        let mut ucode = ArenaRef::NULL;
        let blocks = draft.blocks.get();
        for at in 0..blocks.count() {
            let at_block = nth::<DMem>(blocks, at).ok_or_else(broken)?;
            match self.record::<DMem>(at_block).ok_or_else(broken)?.what.get() {
                DMem::POINTER => cells = cells.wrapping_add(1),
                DMem::ACT_TABLE | DMem::DVE_TABLE => tables = tables.wrapping_add(1),
                DMem::SEMAPHORE => semaphore = at.wrapping_add(1),
                DMem::UCODE | DMem::SHARED_UCODE if ucode.count() == 0 => ucode = at_block,
                // They lie one after the other.
                DMem::UCODE => ucode.len = ucode.count().wrapping_add(1).into(),
                DMem::IMAGE => self.image(draft, place, at, at_block)?,
                _ => {}
            }
        }
        let variables = draft.programs.patched.saturating_add(cells).saturating_add(draft.rings.placed);
        let approximate = draft.rings.approximate.saturating_add(draft.programs.approximate);
        let model = self.record::<Model>(place).ok_or_else(broken)?;
        model.ucode = ucode;
        model.tally.core = u32::from(draft.core.0).into();
        model.tally.semaphore_word = semaphore.into();
        model.tally.relocated_variables = variables.into();
        model.tally.approximate = approximate.saturating_add(tables).into();
        Ok(())
    }

    /// Ranges of one engine's image, whose block is number `at` of the core's.
    #[inline(never)]
    fn image(&mut self, draft: &Draft<'_>, place: ArenaRef, at: u32, block: ArenaRef) -> Result<(), Error> {
        let record = self.record::<DMem>(block).ok_or_else(broken)?;
        let (number, size) = (record.index.get(), record.size);
        let engine = usize::try_from(number).unwrap_or(usize::MAX);
        let images = draft.programs.images;
        let image = item_mut::<Image>(self.arena, images, number).ok_or_else(broken)?;
        image.block = at.into();
        let bytes = |slots: u32| u64::from(slots).saturating_mul(64).into();
        let (patches, preamble, main) = (image.patches, bytes(image.preamble.get()), bytes(image.main.get()));
        let functions = Span { off: bytes(function_base(image)), size: bytes(image.function.get()) };
        let mut addrs = ArenaRef::NULL;
        reserve::<InstrAddrs>(self.arena, 1, &mut addrs)?;
        *self.record::<InstrAddrs>(addrs).ok_or_else(broken)? = InstrAddrs {
            block,
            first: Span { off: 0.into(), size },
            model_switch: Span { off: 0.into(), size: preamble },
            main: Span { off: preamble, size: main },
        };
        let model = self.record::<Model>(place).ok_or_else(broken)?;
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
