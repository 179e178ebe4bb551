//! A placed model, read.

use super::item::narrow;
use super::notes::{find_target, function_base, name_key};
use super::place::Plan;
use super::position::{device_range, source_position};
use super::record::{
    Bind, BlockRec, DMem, FeatureMap, Feed, Image, InstrAddrs, Model, Opaque, QueueCount, RingRec, Tally,
    Target, TargetKind, VarPlace,
};
use super::rings::queue_of;
use super::translate::{Goal, Section, trimmed};
use super::vars::{Access, access, name_of};
use crate::arch::Engine;
use crate::arena::{ArenaRef, Head, Record};
use crate::device::{CoreId, DevAddr, Usage};
use crate::error::{Error, Stage, StageCode};
use crate::lower::record::{PatchEntry, PatchSection};
use crate::lower::{KbinView, Kbins};

/// One loaded core.
#[derive(Clone, Copy, Debug)]
pub struct CoreView<'m> {
    /// Its lowered records.
    pub kbin: KbinView<'m>,
    /// Its model record.
    pub model: &'m Model,
    head: Head<'m>,
    /// Where its model record and the plan's feeds are.
    places: (ArenaRef, ArenaRef),
}

impl<'m> Plan<'m> {
    /// Number of cores.
    #[must_use]
    pub fn len(&self) -> usize {
        self.models().len()
    }

    /// True if there are none; never for a plan of [`place`](super::place()).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.models().is_empty()
    }

    /// The lowered records it was made from.
    #[must_use]
    pub const fn kbins(&self) -> Kbins<'m> {
        self.kbins
    }

    /// The sealed bytes with all records of the plan; they follow those of the kbins.
    #[must_use]
    pub const fn head(&self) -> Head<'m> {
        self.head
    }

    /// The model records, by core.
    #[must_use]
    pub fn models(&self) -> &'m [Model] {
        self.head.slice(self.places.0).unwrap_or(&[])
    }

    /// Copies from the file, by member.
    #[must_use]
    pub fn feeds(&self) -> &'m [Feed] {
        self.head.slice(self.places.1).unwrap_or(&[])
    }

    /// Core that holds the scratchpad, and how many pages this model uses.
    #[must_use]
    pub const fn scratchpad(&self) -> (CoreId, u32) {
        (self.sharing, self.pages)
    }

    /// Core `index` of the logical core.
    #[must_use]
    pub fn core(&self, index: usize) -> Option<CoreView<'m>> {
        let places = (self.places.0.at::<Model>(narrow(index)), self.places.1);
        let (kbin, model) = (self.kbins.kbin(index)?, self.head.get(places.0)?);
        Some(CoreView { kbin, model, head: self.head, places })
    }

    /// All cores in order.
    pub fn cores(&self) -> impl Iterator<Item = CoreView<'m>> + use<'m> {
        let plan = *self;
        (0..plan.len()).filter_map(move |index| plan.core(index))
    }
}

impl<'m> CoreView<'m> {
    pub(super) const fn head(&self) -> Head<'m> {
        self.head
    }

    /// Where its model record and the plan's feeds are.
    pub(super) const fn places(&self) -> (ArenaRef, ArenaRef) {
        self.places
    }

    fn array<T: Record>(&self, place: ArenaRef) -> &'m [T] {
        self.head.slice(place).unwrap_or(&[])
    }

    /// Physical core.
    #[must_use]
    pub fn core(&self) -> CoreId {
        CoreId(u16::try_from(self.model.tally.core.get()).unwrap_or(u16::MAX))
    }

    /// Sums.
    #[must_use]
    pub const fn tally(&self) -> &'m Tally {
        &self.model.tally
    }

    /// Blocks of device memory in allocation order, scratchpad pages included.
    #[must_use]
    pub fn allocations(&self) -> &'m [DMem] {
        self.array(self.model.allocator)
    }

    /// Variables by id.
    #[must_use]
    pub fn variables(&self) -> &'m [VarPlace] {
        self.array(self.model.variables)
    }

    /// Ring halves by queue, instance, side.
    #[must_use]
    pub fn rings(&self) -> &'m [RingRec] {
        self.array(self.model.rings)
    }

    /// The block of a ring; `None` for a ring without entries.
    #[must_use]
    pub fn ring_block(&self, ring: &RingRec) -> Option<&'m DMem> {
        self.head.get(ring.block)
    }

    /// DMA blocks by queue, instance, id, function name.
    #[must_use]
    pub fn blocks(&self) -> &'m [BlockRec] {
        self.array(self.model.blocks)
    }

    /// What a block adds to each hardware instance of its queue: what its trigger writes (staging.md §11.7).
    pub fn counts(&self, block: &BlockRec) -> impl Iterator<Item = QueueCount> + use<'m> {
        let (block, kept) = (*block, self.array::<QueueCount>(block.counts));
        let rings = queue_of(&self.kbin, block.queue).map_or(0, |queue| queue.rings());
        let mut kept = kept.iter();
        (0..rings).map(move |at| kept.next().copied().unwrap_or_else(|| block.even_count(at, rings)))
    }

    /// Images by engine number.
    #[must_use]
    pub fn images(&self) -> &'m [Image] {
        self.array(self.model.images)
    }

    /// The image of an engine with its block.
    #[must_use]
    pub fn image(&self, engine: Engine) -> Option<(&'m Image, &'m DMem)> {
        let image = self.images().get(engine.index())?;
        Some((image, self.allocations().get(usize::try_from(image.block.get()).ok()?)?))
    }

    /// Device ranges of an engine's program.
    #[must_use]
    pub fn addrs(&self, engine: Engine) -> Option<&'m InstrAddrs> {
        self.head.get(*self.model.addrs.get(engine.index())?)
    }

    /// Operands that are bound when the model runs.
    #[must_use]
    pub fn binds(&self) -> &'m [Bind] {
        self.array(self.model.binds)
    }

    /// Variables found in slots that are not translated; their words are [`CoreView::word`]s.
    #[must_use]
    pub fn resolved(&self) -> &'m [Bind] {
        self.array(self.model.resolved)
    }

    /// Slots that are kept byte for byte.
    #[must_use]
    pub fn opaques(&self) -> &'m [Opaque] {
        self.array(self.model.opaques)
    }

    /// Position-map records of an engine.
    #[must_use]
    pub fn patches(&self, engine: Engine) -> &'m [PatchEntry] {
        self.images().get(engine.index()).map_or(&[], |image| self.array(image.patches.entries))
    }

    /// Inputs by variable id.
    #[must_use]
    pub fn inputs(&self) -> &'m [FeatureMap] {
        self.array(self.model.inputs.items)
    }

    /// Outputs by variable id.
    #[must_use]
    pub fn outputs(&self) -> &'m [FeatureMap] {
        self.array(self.model.outputs.items)
    }

    /// The block that holds the source word of semaphore copies (R28).
    #[must_use]
    pub fn semaphore_word(&self) -> Option<&'m DMem> {
        let index = self.model.tally.semaphore_word.get().checked_sub(1)?;
        self.allocations().get(usize::try_from(index).ok()?)
    }

    /// Blocks of microcode libraries: all of them this model's own, or the one that models of the core share.
    #[must_use]
    pub fn libraries(&self) -> &'m [DMem] {
        self.array(self.model.ucode)
    }

    /// Bytes of a usage in blocks of this core's own, by the size that counts in the ledger.
    #[must_use]
    pub fn bytes_of(&self, usage: Usage) -> u64 {
        let number = super::block::usage_number(usage);
        let own = |block: &&DMem| block.usage.get() == number && !block.is_shared();
        self.allocations().iter().filter(own).fold(0, |sum, block| sum.saturating_add(ledger_bytes(block)))
    }

    /// Absolute address of `len` bytes of a variable at `off` (staging.md §8.3).
    ///
    /// # Errors
    /// `OutOfVariable`, `NotPlaced` (inputs and outputs too), `UnknownVariable`, `PointerOffset`.
    pub fn resolve(&self, var: u32, off: u64, len: u64) -> Result<DevAddr, Error> {
        let unplaced = || Error::new(Stage::Stage, StageCode::NotPlaced).name(name_of(&self.kbin, var));
        let Access::Placed { .. } = access(&self.kbin, var, off, len)? else { return Err(unplaced()) };
        let place = usize::try_from(var).ok().and_then(|at| self.variables().get(at));
        let start = place.and_then(VarPlace::address).ok_or_else(unplaced)?;
        Ok(DevAddr(start.0.wrapping_add(off)))
    }

    /// The word that stands for a byte of a variable: its address, or the template of an input or output.
    ///
    /// # Errors
    /// As [`CoreView::resolve`], but inputs and outputs have a word.
    pub fn word(&self, var: u32, off: u64, len: u64) -> Result<u64, Error> {
        match access(&self.kbin, var, off, len)? {
            Access::Bound(template) => Ok(template),
            Access::Placed { .. } => self.resolve(var, off, len).map(|address| address.0),
        }
    }

    /// Slot within an engine's image that a branch goal means.
    #[must_use]
    pub fn goal(&self, engine: Engine, goal: Goal<'_>) -> Option<u32> {
        let image = self.images().get(engine.index())?;
        let (kind, key) = match goal {
            Goal::Exit => return Some(image.preamble.get().saturating_add(image.main.get())),
            Goal::Label(id) => (TargetKind::LABEL, id),
            Goal::Function(name) => (TargetKind::FUNCTION, name_key(name)),
        };
        let all: &[Target] = self.array(self.model.targets);
        let (found, slot) = find_target(all, engine, kind, key, &|target| match goal {
            Goal::Function(name) => trimmed(self.array(target.name)) == name,
            _ => true,
        });
        (found > 0).then_some(slot)
    }

    /// First slot of a section within an engine's image.
    #[must_use]
    pub fn section_base(&self, engine: Engine, section: Section) -> u32 {
        self.images().get(engine.index()).map_or(0, |image| match section {
            Section::Main => image.preamble.get(),
            Section::Function => function_base(image),
        })
    }

    /// True if an engine's position map was too long to keep.
    #[must_use]
    pub fn positions_lost(&self, engine: Engine) -> bool {
        self.mapped(engine).is_none()
    }

    /// An engine's image, if its position map was kept.
    fn mapped(&self, engine: Engine) -> Option<&'m Image> {
        self.images().get(engine.index()).filter(|image| image.positions_lost.get() == 0)
    }

    /// 1-based number of the source slot behind a byte of an engine's image (staging.md §12.2).
    #[must_use]
    pub fn source_position(&self, engine: Engine, offset: u32) -> Option<u32> {
        let image = self.mapped(engine)?;
        let patches = self.patches(engine);
        let slot = |slots: u32| slots.checked_mul(64);
        let (main, functions) = (slot(image.preamble.get())?, slot(function_base(image))?);
        let end_of_main = main.checked_add(slot(image.main.get())?)?;
        if offset >= main && offset < end_of_main {
            return source_position(patches, PatchSection::MAIN, main, 1, offset);
        }
        let within = offset.checked_sub(functions)?;
        let first = image.function_source.get().checked_add(1)?;
        let inside = within < slot(image.function.get())?;
        inside.then(|| source_position(patches, PatchSection::FUNCTION, 0, first, within)).flatten()
    }

    /// Byte offset within an engine's image and number of device slots of a 1-based source slot (§12.3).
    #[must_use]
    pub fn device_range(&self, engine: Engine, position: u32) -> Option<(u32, u32)> {
        let image = self.mapped(engine)?;
        let patches = self.patches(engine);
        if position == 0 || position > image.source.get() {
            return None;
        }
        let functions = image.function.get() > 0 || image.function_source.get() > 0;
        if functions && position > image.function_source.get() {
            let first = image.function_source.get().checked_add(1)?;
            let (at, slots) = device_range(patches, PatchSection::FUNCTION, 0, first, position)?;
            return Some((at.checked_add(function_base(image).checked_mul(64)?)?, slots));
        }
        let main = image.preamble.get().checked_mul(64)?;
        device_range(patches, PatchSection::MAIN, main, 1, position)
    }
}

/// What a block counts for in the ledger (staging.md §7.6): what was asked for, alignment slack included.
#[must_use]
pub fn ledger_bytes(block: &DMem) -> u64 {
    let slack = if block.skip.get() == 0 { 0 } else { block.align.get() };
    block.size.get().saturating_add(slack)
}
