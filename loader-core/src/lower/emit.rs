//! The second pass: records into the arena's head, in one order that depends on the tables alone.
//!
//! Everything is allocated before the first transfer is read. Transfers then fill places computed from
//! the totals per source and queue instance, so the bytes do not depend on the order of members, on
//! chunking or on how the payload is held.

mod blocks;
mod collectives;
mod lanes;
mod put;
mod queues;
mod sink;
mod tables;
mod ucode;
mod vars;

pub(crate) use lanes::{SCRATCH_PER_INSTANCE, lanes_bytes};

use super::dims::{Counts, Dims};
use super::input::{FileIn, Input, ManifestInput, PayloadTransfers, Transfers};
use super::kbins::Kbins;
use super::measure::{Subject, measure};
use super::record::{ArchNumber, Fp8Cfg, Kbin, SubgraphEntry};
use crate::arena::{Arena, ArenaRef};
use crate::error::{Error, LowerCode, Notes, Stage, remark};
use crate::layout::SMALL;
use crate::limits::Limits;
use crate::manifest::Manifest;
use crate::policy::{Fp8Overrides, Policy};
use crate::source::Payload;
use lanes::Scratch;
use sink::Sink;
use zerocopy::little_endian::{U32, U64};

/// What transfers are read with.
const TRANSFER_BYTES: usize = PayloadTransfers::<()>::BYTES;

/// Lowers the manifests of a payload: one kbin per subgraph at the arena's head, sealed.
///
/// Reads the engine files once more, in one pass over the payload. Constants and programs stay in their members.
///
/// # Errors
/// `L…` codes (see [`LowerCode`]); the arena is then as it was before. `ArenaFull` states what is missing before
/// anything is written.
pub fn lower<'m, P: Payload<'m>>(
    payload: &mut P,
    manifest: &Manifest<'m>,
    arena: &mut Arena<'m>,
    limits: &Limits,
    policy: &Policy,
    notes: &mut impl Notes,
) -> Result<Kbins<'m>, Error> {
    let input = ManifestInput::new(*manifest, payload.table());
    if SMALL {
        let memory = arena.lend(TRANSFER_BYTES).map_err(|full| Error::arena(Stage::Lower, full))?;
        let mut transfers = PayloadTransfers { payload, manifest, limits, memory };
        return lower_from(&input, &mut transfers, arena, limits, policy, notes);
    }
    let memory = &mut [0; TRANSFER_BYTES];
    let mut transfers = PayloadTransfers { payload, manifest, limits, memory };
    lower_from(&input, &mut transfers, arena, limits, policy, notes)
}

/// Lowers working sets of any origin. See [`lower`].
///
/// # Errors
/// As [`lower`].
pub fn lower_from<'m, I: Input, T: Transfers>(
    input: &I,
    transfers: &mut T,
    arena: &mut Arena<'m>,
    limits: &Limits,
    policy: &Policy,
    notes: &mut impl Notes,
) -> Result<Kbins<'m>, Error> {
    let dims = measure(input, limits, policy)?;
    let needed = usize::try_from(dims.needed()).unwrap_or(usize::MAX);
    arena.require(needed).map_err(|full| Error::arena(Stage::Lower, full))?;
    let mark = arena.mark();
    let subject = Subject { input, limits, policy, sg: 0 };
    match build(arena, subject, transfers, notes, &dims) {
        Ok(entries) => {
            arena.release_tail(mark);
            let broken = || Error::internal(Stage::Lower, "the product has no table");
            Kbins::new(arena.seal_head(), entries).ok_or_else(broken)
        }
        Err(error) => {
            arena.release(mark);
            Err(error)
        }
    }
}

#[inline(never)]
fn build<I: Input, T: Transfers>(
    arena: &mut Arena<'_>,
    subject: Subject<'_, I>,
    transfers: &mut T,
    notes: &mut dyn Notes,
    dims: &Dims,
) -> Result<ArenaRef, Error> {
    let before = arena.head_used();
    let scratch = Scratch::take(arena, &subject)?;
    let mut emit = Emit::new(arena, subject, notes, scratch);
    emit.records()?;
    let (entries, lost) = (emit.entries, emit.lost);
    let mut sink = Sink::new(arena, subject, scratch, entries);
    transfers.visit(&mut sink, notes)?;
    sink.finish()?;
    super::link::link(arena, &subject, entries, notes)?;
    let used = u64::try_from(arena.head_used().saturating_sub(before)).unwrap_or(u64::MAX);
    if lost || used != dims.product_bytes().saturating_sub(16) {
        return Err(subject.broken("the measured product differs from the emitted one"));
    }
    Ok(entries)
}

/// Emits the records of all subgraphs, one after the other.
///
/// There is room for all of them, since it was measured. A record that has no place all the same (an input that
/// answers twice differently) is dropped, and the product with it in the end.
struct Emit<'a, 'm, I> {
    arena: &'a mut Arena<'m>,
    subject: Subject<'a, I>,
    notes: &'a mut dyn Notes,
    scratch: Scratch,
    entries: ArenaRef,
    /// A record had no place.
    lost: bool,
    /// What the present subgraph has, its kbin as far as it is known, and what is filled bit by bit.
    counts: Counts,
    kbin: Kbin,
    blobs: ArenaRef,
    blobs_used: u32,
    names: ArenaRef,
}

impl<'a, 'm, I: Input> Emit<'a, 'm, I> {
    fn new(
        arena: &'a mut Arena<'m>,
        subject: Subject<'a, I>,
        notes: &'a mut dyn Notes,
        scratch: Scratch,
    ) -> Self {
        let null = ArenaRef::NULL;
        let (counts, kbin) = (Counts::default(), Kbin::default());
        let (entries, blobs, names) = (null, null, null);
        Self {
            arena,
            subject,
            notes,
            scratch,
            entries,
            lost: false,
            counts,
            kbin,
            blobs,
            blobs_used: 0,
            names,
        }
    }

    /// All records but what transfers fill.
    #[inline(never)]
    fn records(&mut self) -> Result<(), Error> {
        let count = self.subject.input.subgraphs();
        self.entries = self.alloc::<SubgraphEntry>(u64::from(count));
        for sg in 0..count {
            self.subject.sg = sg;
            self.entry()?;
        }
        let kbins = self.alloc::<Kbin>(u64::from(count));
        for sg in 0..count {
            self.subject.sg = sg;
            self.counts = self.subject.count()?;
            self.kbin()?;
            let place = kbins.at::<Kbin>(sg);
            let kbin = self.kbin;
            self.put(place, &kbin);
            if let Some(entry) = self.nth_mut::<SubgraphEntry>(self.entries, sg) {
                entry.kbin = place;
            }
        }
        Ok(())
    }

    /// The names of a subgraph.
    fn entry(&mut self) -> Result<(), Error> {
        let sg = self.subject.sg;
        let subgraph = self.subject.subgraph()?;
        if !SMALL {
            self.note_order(subgraph.name);
        }
        let name = self.alloc_name(subgraph.name);
        let dir = if subgraph.dir == subgraph.name { name } else { self.alloc_name(subgraph.dir) };
        self.put_nth(self.entries, sg, &SubgraphEntry { kbin: ArenaRef::NULL, name, dir });
        Ok(())
    }

    /// Remarks on a subgraph that stands behind one whose name comes later.
    fn note_order(&mut self, name: &[u8]) {
        let (subject, sg) = (self.subject, self.subject.sg);
        let before = sg.checked_sub(1).and_then(|before| subject.input.subgraph(before));
        if let Some(before) = before.map(|before| before.name).filter(|before| *before > name) {
            let note = || subject.fail_in(LowerCode::GraphOrder, FileIn::Graph).name(before);
            remark(self.notes, || note().name2(name).element(sg));
        }
    }

    /// The steps of lowering.md §5, in order.
    #[inline(never)]
    fn kbin(&mut self) -> Result<(), Error> {
        let subgraph = self.subject.subgraph()?;
        (self.kbin, self.blobs_used) = (Kbin::default(), 0);
        self.engines();
        self.queues();
        self.vars()?;
        self.act_sets(subgraph.act_semaphore);
        self.dve();
        self.kbin.replica_groups = self.ranks(false);
        self.kbin.src_target_pairs = self.ranks(true);
        self.libraries(subgraph.has_ext_isa)?;
        self.carveouts(subgraph.has_carveouts);
        self.kbin.fp8_conv_cfg = fp8(subgraph.fp8.as_ref(), &self.subject.policy.fp8());
        self.kbin.cc_streams.num_streams = U64::new(subgraph.num_streams);
        self.kbin.target = ArchNumber::new(subgraph.target);
        self.blocks()
    }
}

/// The file's FP8 conversion, or zeros, with the caller's values over it (lowering.md §5.11).
fn fp8(file: Option<&crate::manifest::Fp8>, over: &Fp8Overrides) -> Fp8Cfg {
    let file = file.copied().unwrap_or_default();
    let flag = |over: Option<bool>, file: bool| u8::from(over.unwrap_or(file));
    let number = |over: Option<u32>, file: u32| U32::new(over.unwrap_or(file));
    Fp8Cfg {
        fp8_range_extension: flag(over.fp8_range_extension, file.fp8_range_extension),
        emax_fp8_e4m3: number(over.emax_fp8_e4m3, file.emax_fp8_e4m3),
        emax_fp8_e5m2: number(over.emax_fp8_e5m2, file.emax_fp8_e5m2),
        ocp_sat: flag(over.ocp_sat, file.ocp_sat),
        sis: flag(over.fp8_sis, file.fp8_sis),
        sns: flag(over.fp8_sns, file.fp8_sns),
        ..Fp8Cfg::default()
    }
}
