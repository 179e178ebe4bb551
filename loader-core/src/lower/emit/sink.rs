//! Transfers into compact descriptors, each at the place its block has.

use super::lanes::{Cursor, Lane, Scratch};
use crate::arch::{Arch, Engine};
use crate::arena::{Arena, ArenaRef};
use crate::error::{Error, LowerCode, Stage};
use crate::lower::input::{FileIn, Input, LowerSink};
use crate::lower::measure::{Subject, wide};
use crate::lower::record::{
    ActProfile, ActSet, Ap, Desc, DescFlags, DescType, Dim, Dtype, FmaExtra, Kbin, MinMaxExtra, Op,
    SubgraphEntry, Text, TransposeExtra,
};
use crate::manifest::{Access, Block, BlockAt, BlockSink, BlockSource, DmaOp, Transfer};
use zerocopy::IntoBytes;
use zerocopy::little_endian::{I64, U16, U32, U64};

/// Source slots of a descriptor.
const SOURCES_MOST: usize = 32;

/// Receives the transfers of all subgraphs.
pub(super) struct Sink<'a, 'm, I> {
    arena: &'a mut Arena<'m>,
    subject: Subject<'a, I>,
    scratch: Scratch,
    entries: ArenaRef,
    known: Option<Known>,
}

/// What the transfers of one block share.
#[derive(Clone, Copy)]
struct Known {
    at: (u8, BlockSource, u32),
    lane: Lane,
    cursor: usize,
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
        Self { arena, subject, scratch, entries, known: None }
    }

    /// Checks that every part was filled to its end.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Self { arena, subject, scratch, .. } = self;
        for sg in 0..subject.input.subgraphs() {
            let subject = Subject { sg, ..subject };
            let broken = || subject.broken("transfers differ from their totals");
            let lane = scratch.lane(arena, sg).ok_or_else(broken)?;
            let mut at = Cursor::default();
            for instance in 0..lane.instances.get() {
                for source in BlockSource::ALL {
                    let totals = subject.input.totals(sg, source, instance);
                    at = at.behind(&totals);
                    let cursors =
                        arena.tail_slice::<Cursor>(lane.cursors, lane.count()).ok_or_else(broken)?;
                    if cursors.get(lane.cursor(source, instance)) != Some(&at) {
                        return Err(broken());
                    }
                }
            }
        }
        Ok(())
    }

    fn look_up(&self, at: &BlockAt) -> Result<Known, Error> {
        let sg = u32::from(at.subgraph);
        let subject = Subject { sg, ..self.subject };
        let key = (at.subgraph, at.source, at.block);
        if let Some(known) = self.known.filter(|known| known.at == key) {
            return Ok(known);
        }
        let broken = || subject.broken("a transfer belongs to no block");
        let block = subject.block(at.source, at.block)?;
        let instance = subject.instance_of(&block)?;
        let lane = self.scratch.lane(self.arena, sg).ok_or_else(broken)?;
        Ok(Known {
            at: key,
            cursor: lane.cursor(at.source, instance),
            lane,
            transfers: block.transfers,
            variables: subject.input.var_count(sg),
            arch: subject.arch().ok_or_else(broken)?,
        })
    }

    fn fault(&self, at: &BlockAt, code: LowerCode) -> Error {
        let subject = Subject { sg: u32::from(at.subgraph), ..self.subject };
        subject.fail_in(code, FileIn::Part(at.source)).element(at.block)
    }

    fn check(&self, at: &BlockAt, transfer: &Transfer<'_>, known: &Known) -> Result<(), Error> {
        if I::CHECKED {
            return Ok(());
        }
        let arithmetic = transfer.op.is_arithmetic();
        // Sources of arithmetic transfers by architecture (lowering.md §3.9).
        let most = match known.arch {
            Arch::Sunda | Arch::Cayman if arithmetic => 16,
            _ => SOURCES_MOST,
        };
        if transfer.from.len() > most || transfer.from.is_empty() {
            let fault = self.fault(at, LowerCode::TooManySources);
            return Err(fault.numbers(wide(transfer.from.len()), wide(most)));
        }
        if at.index >= known.transfers {
            return Err(broken(at));
        }
        for access in transfer.from.iter().chain([&transfer.to]) {
            self.check_access(at, access, known)?;
            if arithmetic && !access.dtype_given {
                return Err(self.fault(at, LowerCode::CceDtype));
            }
        }
        Ok(())
    }

    fn check_access(&self, at: &BlockAt, access: &Access, known: &Known) -> Result<(), Error> {
        if access.var >= known.variables {
            let fault = self.fault(at, LowerCode::BadVarReference).name(b"a descriptor");
            return Err(fault.numbers(u64::from(access.var), u64::from(known.variables)));
        }
        let (sizes, steps) = (access.sizes(), access.steps());
        if sizes.is_empty() || sizes.len() != steps.len() || sizes.contains(&0) {
            return Err(self.fault(at, LowerCode::ApShape));
        }
        Ok(())
    }

    fn cursor(&mut self, at: &BlockAt, known: &Known) -> Result<&mut Cursor, Error> {
        let broken = || broken(at);
        let cursors = self.arena.tail_slice_mut::<Cursor>(known.lane.cursors, known.lane.count());
        cursors.and_then(|cursors| cursors.get_mut(known.cursor)).ok_or_else(broken)
    }

    fn put_access(&mut self, at: &BlockAt, known: &Known, access: &Access) -> Result<ArenaRef, Error> {
        let broken = || broken(at);
        let cursor = self.cursor(at, known)?;
        let (ap, dim) = (cursor.ap.get(), cursor.dim.get());
        cursor.ap.set(ap.saturating_add(1));
        cursor.dim.set(dim.saturating_add(u32::from(access.dims)));
        let first = known.lane.dims.nth::<Dim>(dim).ok_or_else(broken)?;
        let dims = ArenaRef { off: first.off, len: U32::new(u32::from(access.dims)) };
        let slots = self.arena.slice_mut::<Dim>(dims).ok_or_else(broken)?;
        for ((slot, &size), &step) in slots.iter_mut().zip(access.sizes()).zip(access.steps()) {
            *slot = Dim { size: U64::new(size), step: I64::new(step) };
        }
        let place = known.lane.aps.nth::<Ap>(ap).ok_or_else(broken)?;
        let record = Ap {
            var_id: U32::new(access.var),
            ndims: access.dims,
            dtype: if access.dtype_given { access.dtype } else { 0 },
            off: U64::new(access.off),
            dims,
            ..Ap::default()
        };
        *self.arena.get_mut::<Ap>(place).ok_or_else(broken)? = record;
        Ok(place)
    }

    /// Writes the parameters of an operation; null if it has none.
    fn put_extra(&mut self, at: &BlockAt, known: &Known, transfer: &Transfer<'_>) -> Result<ArenaRef, Error> {
        let room = transfer.extra_bytes();
        if room == 0 {
            return Ok(ArenaRef::NULL);
        }
        let broken = || broken(at);
        let cursor = self.cursor(at, known)?;
        let start = cursor.extra.get();
        cursor.extra.set(start.saturating_add(room));
        let off = known.lane.extra.nth::<u8>(start).ok_or_else(broken)?.off;
        let slot = self.arena.slice_mut::<u8>(ArenaRef { off, len: U32::new(room) }).ok_or_else(broken)?;
        let len = write_extra(slot, transfer);
        Ok(ArenaRef { off, len: U32::new(u32::try_from(len).unwrap_or(0)) })
    }
}

impl<I: Input> BlockSink for Sink<'_, '_, I> {
    fn transfer(&mut self, at: BlockAt, transfer: &Transfer<'_>) -> Result<(), Error> {
        let known = self.look_up(&at)?;
        self.known = Some(known);
        self.check(&at, transfer, &known)?;
        let broken = || broken(&at);
        let cursor = self.cursor(&at, &known)?;
        let number = cursor.desc.get();
        cursor.desc.set(number.saturating_add(1));
        let to = self.put_access(&at, &known, &transfer.to)?;
        let mut from = ArenaRef::NULL;
        for access in transfer.from {
            let place = self.put_access(&at, &known, access)?;
            from = if from.is_null() { place } else { from };
            from.len = U32::new(from.len.get().saturating_add(u32::from(from.off != place.off)));
        }
        let extra = self.put_extra(&at, &known, transfer)?;
        let op = operation(transfer);
        let place = known.lane.descs.nth::<Desc>(number).ok_or_else(broken)?;
        let desc = self.arena.get_mut::<Desc>(place).ok_or_else(broken)?;
        let robin = op == Op::TRANSPOSE && known.arch > Arch::Sunda;
        let flags = DescFlags::CAST.when(transfer.cast).with(DescFlags::ROUND_ROBIN.when(robin));
        desc.to = to;
        desc.from = from;
        desc.extra = extra;
        desc.n_from = U16::new(u16::try_from(transfer.from.len()).unwrap_or(u16::MAX));
        desc.desc_type = u8::try_from(DescType::DATA.get()).unwrap_or(0);
        desc.op = i8::try_from(op.get()).unwrap_or(-1);
        desc.flags = desc.flags.with(flags);
        desc.n_tile = transfer.tiling;
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
        let entry = self.entries.nth::<SubgraphEntry>(sg).and_then(|at| self.arena.get::<SubgraphEntry>(at));
        let kbin = entry.and_then(|entry| self.arena.get::<Kbin>(entry.kbin));
        let place = kbin.and_then(|kbin| kbin.act_function_sets.sets.nth::<ActSet>(set));
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

/// A transfer with `transpose_*` keys is a transpose, whether `op` says so or not (R40).
fn operation(transfer: &Transfer<'_>) -> Op {
    match transfer.op {
        DmaOp::Copy if transfer.transpose.is_some() => Op::TRANSPOSE,
        op => Op::new(op.number()),
    }
}

/// Writes the parameters and returns their length without padding.
fn write_extra(slot: &mut [u8], transfer: &Transfer<'_>) -> usize {
    let put = |slot: &mut [u8], bytes: &[u8]| {
        for (to, &from) in slot.iter_mut().zip(bytes) {
            *to = from;
        }
        bytes.len()
    };
    match transfer.op {
        DmaOp::Fma => {
            let count = U32::new(u32::try_from(transfer.from.len()).unwrap_or(0));
            let mut len = put(slot, FmaExtra { scale_dtype: Dtype::FP32, count }.as_bytes());
            let scale = U32::new(to_f32(transfer.scale).to_bits());
            for _ in transfer.from {
                len = len.saturating_add(put(slot.get_mut(len..).unwrap_or(&mut []), scale.as_bytes()));
            }
            len
        }
        DmaOp::Min | DmaOp::Max => {
            let Some(constant) = transfer.constant else { return 0 };
            let record = MinMaxExtra {
                use_constant: 1,
                constant_dtype: Dtype::new(u32::from(constant.dtype)),
                constant: U32::new(constant.bits),
                ..MinMaxExtra::default()
            };
            put(slot, record.as_bytes())
        }
        DmaOp::Copy | DmaOp::Transpose => put(slot, transpose(transfer).as_bytes()),
        DmaOp::Add => 0,
    }
}

fn transpose(transfer: &Transfer<'_>) -> TransposeExtra {
    let mut record = TransposeExtra::default();
    if let Some(transpose) = transfer.transpose {
        record.element_size = U32::new(transpose.element_size);
        record.rank = U32::new(4);
        record.shape = transpose.shape.map(U64::new);
        record.op = Text::new(transpose.op).unwrap_or_default();
    }
    record
}

/// The nearest f32.
#[allow(clippy::as_conversions, reason = "core has no other conversion from f64 to f32")]
const fn to_f32(value: f64) -> f32 {
    value as f32
}
