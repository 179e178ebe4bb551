//! Transfers into compact descriptors, each at the place its block has.

use super::lanes::{Cursor, Lane, Scratch, parts};
use crate::arch::{Arch, Engine};
use crate::arena::{Arena, ArenaRef};
use crate::error::{Error, LowerCode, Stage};
use crate::lower::input::{FileIn, Input, LowerSink};
use crate::lower::kbins::behind;
use crate::lower::measure::{Subject, wide};
use crate::lower::record::{
    ActProfile, ActSet, Ap, Desc, DescFlags, DescType, Dim, Dtype, FmaExtra, Kbin, MinMaxExtra, Op,
    SubgraphEntry, TransposeExtra,
};
use crate::manifest::{Access, Block, BlockAt, BlockSink, BlockSource, DmaOp, Transfer};
use zerocopy::FromZeros;
use zerocopy::little_endian::{I64, U16, U32, U64};

/// Source slots of a descriptor.
const SOURCES_MOST: usize = 32;

/// Receives the transfers of all subgraphs.
pub(super) struct Sink<'a, 'm, I> {
    arena: &'a mut Arena<'m>,
    /// The subgraph of the present block.
    subject: Subject<'a, I>,
    scratch: Scratch,
    entries: ArenaRef,
    /// The present block, if there is one, and what its transfers share.
    at: Option<(u8, BlockSource, u32)>,
    lane: Lane,
    /// Which cursor is theirs.
    part: usize,
    transfers: u32,
    variables: u32,
    arch: Arch,
}

impl<'a, 'm, I: Input> Sink<'a, 'm, I> {
    pub(super) fn new(
        arena: &'a mut Arena<'m>,
        subject: Subject<'a, I>,
        scratch: Scratch,
        entries: ArenaRef,
    ) -> Self {
        let (at, lane, part, transfers, variables) = (None, Lane::new_zeroed(), 0, 0, 0);
        let arch = Arch::Sunda;
        Self { arena, subject, scratch, entries, at, lane, part, transfers, variables, arch }
    }

    /// Checks that every part was filled to its end.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        let mut filled = true;
        for sg in 0..self.subject.input.subgraphs() {
            self.subject.sg = sg;
            let lane = self.scratch.lane(self.arena, sg);
            let cursors = lane.cursors(self.arena).unwrap_or(&mut []);
            parts(&self.subject, lane.instances(), &mut |part, _, end| {
                filled &= cursors.get(part).is_some_and(|cursor| cursor == end);
            });
        }
        if filled { Ok(()) } else { Err(self.subject.broken("transfers differ from their totals")) }
    }

    /// The cursor of the present block.
    fn cursor(&mut self) -> Option<&mut Cursor> {
        self.lane.cursors(self.arena)?.get_mut(self.part)
    }

    /// Goes to the block of a transfer.
    #[inline(never)]
    fn enter(&mut self, at: &BlockAt) -> Result<(), Error> {
        let sg = u32::from(at.subgraph);
        self.subject.sg = sg;
        let subject = self.subject;
        let block = subject.input.block(sg, at.source, at.block);
        let block = block.as_ref().ok_or_else(|| subject.broken("the input lacks a block"))?;
        let instance = subject.instance_of(block)?;
        self.lane = self.scratch.lane(self.arena, sg);
        self.part = self.lane.cursor(at.source, instance);
        self.transfers = block.transfers;
        self.variables = subject.input.var_count(sg);
        self.arch = subject.arch().ok_or_else(|| subject.broken("a transfer has no architecture"))?;
        self.at = Some((at.subgraph, at.source, at.block));
        Ok(())
    }

    fn fault(&self, at: &BlockAt, code: LowerCode) -> Error {
        self.subject.fail_in(code, FileIn::Part(at.source)).element(at.block)
    }

    fn check(&self, at: &BlockAt, transfer: &Transfer<'_>) -> Result<(), Error> {
        if I::CHECKED {
            return Ok(());
        }
        let arithmetic = transfer.op.is_arithmetic();
        // Sources of arithmetic transfers by architecture (lowering.md §3.9).
        let most = match self.arch {
            Arch::Sunda | Arch::Cayman if arithmetic => 16,
            _ => SOURCES_MOST,
        };
        if transfer.from.len() > most || transfer.from.is_empty() {
            let fault = self.fault(at, LowerCode::TooManySources);
            return Err(fault.numbers(wide(transfer.from.len()), wide(most)));
        }
        if at.index >= self.transfers {
            return Err(broken(at));
        }
        for access in transfer.from.iter().chain([&transfer.to]) {
            self.check_access(at, access)?;
            if arithmetic && !access.dtype_given {
                return Err(self.fault(at, LowerCode::CceDtype));
            }
        }
        Ok(())
    }

    fn check_access(&self, at: &BlockAt, access: &Access) -> Result<(), Error> {
        if access.var >= self.variables {
            let fault = self.fault(at, LowerCode::BadVarReference).name(b"a descriptor");
            return Err(fault.numbers(u64::from(access.var), u64::from(self.variables)));
        }
        let (sizes, steps) = (access.sizes(), access.steps());
        if sizes.is_empty() || sizes.len() != steps.len() || sizes.contains(&0) {
            return Err(self.fault(at, LowerCode::ApShape));
        }
        Ok(())
    }
}

/// Where the records of a transfer go.
struct Writer<'a, 'm> {
    arena: &'a mut Arena<'m>,
    lane: Lane,
    next: Cursor,
}

impl Writer<'_, '_> {
    /// Writes an access pattern at the cursor.
    #[inline(never)]
    fn put_access(&mut self, access: &Access) -> Option<()> {
        let first = self.lane.dims.at::<Dim>(self.next.dim.get());
        let dims = ArenaRef { len: U32::new(u32::from(access.dims)), ..first };
        let slots = self.arena.slice_mut::<Dim>(dims)?;
        for ((slot, &size), &step) in slots.iter_mut().zip(access.sizes()).zip(access.steps()) {
            *slot = Dim { size: U64::new(size), step: I64::new(step) };
        }
        let record = self.arena.get_mut::<Ap>(self.access())?;
        record.var_id = U32::new(access.var);
        record.ndims = access.dims;
        record.dtype = if access.dtype_given { access.dtype } else { 0 };
        record.off = U64::new(access.off);
        record.dims = dims;
        advance(&mut self.next.ap, 1);
        advance(&mut self.next.dim, u32::from(access.dims));
        Some(())
    }

    /// Where the next access pattern goes.
    fn access(&self) -> ArenaRef {
        self.lane.aps.at::<Ap>(self.next.ap.get())
    }

    /// Writes the parameters of an operation at the cursor; null if it has none.
    fn put_extra(&mut self, transfer: &Transfer<'_>) -> Option<ArenaRef> {
        let room = transfer.extra_bytes();
        if room == 0 {
            return Some(ArenaRef::NULL);
        }
        let place = self.lane.extra.at::<u8>(self.next.extra.get());
        advance(&mut self.next.extra, room);
        let len = write_extra(self.arena, place, transfer)?;
        Some(ArenaRef { len: U32::new(len), ..place })
    }

    /// Writes a descriptor at the cursor, with all that it refers to.
    fn put(&mut self, transfer: &Transfer<'_>, arch: Arch) -> Option<()> {
        let to = self.access();
        self.put_access(&transfer.to)?;
        let sources = u16::try_from(transfer.from.len()).unwrap_or(u16::MAX);
        let from = ArenaRef { len: U32::new(u32::from(sources)), ..self.access() };
        for access in transfer.from {
            self.put_access(access)?;
        }
        let extra = self.put_extra(transfer)?;
        let op = operation(transfer);
        let desc = self.arena.get_mut::<Desc>(self.lane.descs.at::<Desc>(self.next.desc.get()))?;
        advance(&mut self.next.desc, 1);
        let robin = op == Op::TRANSPOSE && arch > Arch::Sunda;
        let flags = DescFlags::CAST.when(transfer.cast).with(DescFlags::ROUND_ROBIN.when(robin));
        (desc.to, desc.from, desc.extra) = (to, from, extra);
        desc.n_from = U16::new(sources);
        desc.desc_type = u8::try_from(DescType::DATA.get()).unwrap_or(0);
        desc.op = i8::try_from(op.get()).unwrap_or(-1);
        desc.flags = desc.flags.with(flags);
        desc.n_tile = transfer.tiling;
        Some(())
    }
}

impl<I: Input> BlockSink for Sink<'_, '_, I> {
    fn transfer(&mut self, at: BlockAt, transfer: &Transfer<'_>) -> Result<(), Error> {
        if self.at != Some((at.subgraph, at.source, at.block)) {
            self.enter(&at)?;
        }
        self.check(&at, transfer)?;
        let (lane, arch) = (self.lane, self.arch);
        let next = *self.cursor().ok_or_else(|| broken(&at))?;
        let mut writer = Writer { arena: self.arena, lane, next };
        writer.put(transfer, arch).ok_or_else(|| broken(&at))?;
        let next = writer.next;
        *self.cursor().ok_or_else(|| broken(&at))? = next;
        Ok(())
    }

    fn block_end(&mut self, at: BlockAt, block: &Block<'_>) -> Result<(), Error> {
        if at.index != block.transfers {
            return Err(broken(&at));
        }
        Ok(())
    }
}

impl<I: Input> LowerSink for Sink<'_, '_, I> {
    fn profile(&mut self, sg: u32, set: u32, index: u32, profile: &ActProfile) -> Result<(), Error> {
        let subject = Subject { sg, ..self.subject };
        let entry = self.arena.get::<SubgraphEntry>(self.entries.at::<SubgraphEntry>(sg));
        let kbin = entry.and_then(|entry| self.arena.get::<Kbin>(entry.kbin));
        let place = kbin.map(|kbin| kbin.act_function_sets.sets.at::<ActSet>(set));
        let record = place.and_then(|place| self.arena.get_mut::<ActSet>(place));
        let record = record.ok_or_else(|| subject.broken("a profile belongs to no set"))?;
        let most = wide(record.profile_data.len());
        let Some(slot) = usize::try_from(index).ok().and_then(|index| record.profile_data.get_mut(index))
        else {
            let act = FileIn::Part(BlockSource::Engine(Engine::Act));
            let fault = subject.fail_in(LowerCode::TooManyProfiles, act).name(record.name.as_bytes());
            let fault = fault.element(set);
            return Err(fault.numbers(u64::from(index).saturating_add(1), most));
        };
        *slot = *profile;
        record.num_functions =
            u8::try_from(index).unwrap_or(u8::MAX).saturating_add(1).max(record.num_functions);
        Ok(())
    }
}

/// A transfer without a place; made before it is known to be needed, so it looks nothing up.
fn broken(at: &BlockAt) -> Error {
    let error = Error::internal(Stage::Lower, "a transfer has no place");
    error.subgraph(at.subgraph).element(at.block)
}

fn advance(place: &mut U32, by: u32) {
    place.set(place.get().saturating_add(by));
}

/// A transfer with `transpose_*` keys is a transpose, whether `op` says so or not (R40).
fn operation(transfer: &Transfer<'_>) -> Op {
    match transfer.op {
        DmaOp::Copy if transfer.transpose.is_some() => Op::TRANSPOSE,
        op => Op::new(op.number()),
    }
}

/// Writes the parameters to a place of zeros and returns their length without padding.
fn write_extra(arena: &mut Arena<'_>, place: ArenaRef, transfer: &Transfer<'_>) -> Option<u32> {
    let record_bytes = |bytes: usize| u32::try_from(bytes).ok();
    match transfer.op {
        DmaOp::Fma => {
            let count = U32::new(u32::try_from(transfer.from.len()).ok()?);
            *arena.get_mut::<FmaExtra>(place)? = FmaExtra { scale_dtype: Dtype::FP32, count };
            let factors = behind::<FmaExtra>(place, count.get());
            arena.slice_mut::<U32>(factors)?.fill(U32::new(to_f32(transfer.scale).to_bits()));
            record_bytes(size_of::<FmaExtra>())?.checked_add(count.get().checked_mul(4)?)
        }
        DmaOp::Min | DmaOp::Max => {
            let Some(constant) = transfer.constant else { return Some(0) };
            let record = arena.get_mut::<MinMaxExtra>(place)?;
            record.use_constant = 1;
            record.constant_dtype = Dtype::new(u32::from(constant.dtype));
            record.constant = U32::new(constant.bits);
            record_bytes(size_of::<MinMaxExtra>())
        }
        DmaOp::Copy | DmaOp::Transpose => {
            let record = arena.get_mut::<TransposeExtra>(place)?;
            if let Some(transpose) = transfer.transpose {
                record.element_size = U32::new(transpose.element_size);
                record.rank = U32::new(4);
                record.shape = transpose.shape.map(U64::new);
                record.op.set(transpose.op);
            }
            record_bytes(size_of::<TransposeExtra>())
        }
        DmaOp::Add => Some(0),
    }
}

/// The nearest f32.
#[allow(clippy::as_conversions, reason = "core has no other conversion from f64 to f32")]
const fn to_f32(value: f64) -> f32 {
    value as f32
}
