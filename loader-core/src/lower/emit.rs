//! The records, in one order that depends on the tables alone.
//!
//! Everything is allocated before the first transfer is read. Transfers then fill places computed from
//! the totals per source and queue instance, so the bytes do not depend on the order of members, on
//! chunking or on how the payload is held.
//!
//! The same code counts and writes. Over an arena of no bytes nothing has a place, and what is asked for is added up:
//! that is the measuring pass, which makes every check in the order in which the reference reads a subgraph. What it
//! found is the room of the [pools](pools) of the emitting pass.

mod blocks;
mod collectives;
mod lanes;
mod pools;
mod put;
mod queues;
mod sink;
mod tables;
mod ucode;
mod vars;

pub(super) use lanes::scratch_bytes;
pub(super) use pools::Found;

use super::dims::Dims;
use super::input::{FileIn, Input, ManifestInput, PayloadTransfers, Transfers};
use super::kbins::Kbins;
use super::measure::{Subject, measure, wide};
use super::record::{ArchNumber, Fp8Cfg, Kbin, SubgraphEntry};
use crate::arena::{Arena, ArenaRef, NULL_AREA};
use crate::error::{Error, Ignored, LowerCode, Notes, Stage, remark};
use crate::layout::SMALL;
use crate::limits::Limits;
use crate::manifest::{Fp8, Manifest};
use crate::policy::{Fp8Overrides, Policy};
use crate::source::Payload;
use lanes::{Lane, Scratch};
use pools::POOLS;
use sink::Sink;
use zerocopy::FromZeros;
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
    let scratch = Scratch::take(arena, subject.input.subgraphs());
    let mut emit = Emit::new(arena, subject, notes, scratch);
    emit.records()?;
    let (entries, lost) = (emit.entries, emit.lost);
    let mut sink = Sink::new(arena, subject, scratch, entries);
    transfers.visit(&mut sink, notes)?;
    sink.finish()?;
    super::link::link(arena, &subject, entries, notes)?;
    let used = wide(arena.head_used().saturating_sub(before));
    if lost || used != dims.product_bytes().saturating_sub(wide(NULL_AREA)) {
        return Err(subject.broken("the measured product differs from the emitted one"));
    }
    Ok(entries)
}

/// What the records of one subgraph will take; makes every check that needs no memory.
#[inline(never)]
pub(super) fn count<I: Input>(subject: Subject<'_, I>, found: &mut Found) -> Result<(), Error> {
    let (mut arena, mut notes) = (Arena::nothing(), Ignored);
    let mut emit = Emit::new(&mut arena, subject, &mut notes, Scratch::NONE);
    emit.alloc::<SubgraphEntry>(1);
    emit.alloc::<Kbin>(1);
    emit.entry()?;
    emit.steps(&Step::READING)?;
    subject.check_target()?;
    emit.found.close();
    *found = emit.found;
    Ok(())
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
    /// Of the present subgraph: what the measuring pass found, what this one found, where its pools are and what
    /// transfers fill, and its kbin as far as it is known.
    known: Found,
    found: Found,
    rooms: [ArenaRef; POOLS],
    lane: Lane,
    kbin: Kbin,
}

/// A part of a subgraph that is read, checked and written in one go.
#[derive(Clone, Copy)]
enum Step {
    Vars,
    Queues,
    Collectives,
    Libraries,
    Carveouts,
    ActSets,
    Dve,
    Blocks,
    Engines,
}

impl Step {
    /// The order in which the reference reads a subgraph (lowering.md §5.1).
    const READING: [Self; 9] = [
        Self::Vars,
        Self::Queues,
        Self::Collectives,
        Self::Libraries,
        Self::Carveouts,
        Self::ActSets,
        Self::Dve,
        Self::Blocks,
        Self::Engines,
    ];
    /// The order in which its records stand (lowering.md §5).
    const WRITING: [Self; 9] = [
        Self::Engines,
        Self::Queues,
        Self::Vars,
        Self::ActSets,
        Self::Dve,
        Self::Collectives,
        Self::Libraries,
        Self::Carveouts,
        Self::Blocks,
    ];
}

impl<'a, 'm, I: Input> Emit<'a, 'm, I> {
    fn new(
        arena: &'a mut Arena<'m>,
        subject: Subject<'a, I>,
        notes: &'a mut dyn Notes,
        scratch: Scratch,
    ) -> Self {
        let (known, found, kbin) = (Found::default(), Found::default(), Kbin::default());
        let (entries, rooms, lane) = (ArenaRef::NULL, [ArenaRef::NULL; POOLS], Lane::new_zeroed());
        Self { arena, subject, notes, scratch, entries, lost: false, known, found, rooms, lane, kbin }
    }

    /// All records but what transfers fill.
    #[inline(never)]
    fn records(&mut self) -> Result<(), Error> {
        let count = self.subject.input.subgraphs();
        self.entries = self.alloc::<SubgraphEntry>(count);
        for sg in 0..count {
            self.subject.sg = sg;
            self.entry()?;
        }
        let kbins = self.alloc::<Kbin>(count);
        for sg in 0..count {
            self.subject.sg = sg;
            self::count(self.subject, &mut self.known)?;
            (self.found, self.kbin) = (Found::default(), Kbin::default());
            self.steps(&Step::WRITING)?;
            let place = kbins.at::<Kbin>(sg);
            let slot = self.arena.get_mut::<Kbin>(place);
            self.lost |= slot.map(|slot| *slot = self.kbin).is_none();
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

    /// All parts of the present subgraph, and what its kbin itself says.
    #[inline(never)]
    fn steps(&mut self, order: &[Step]) -> Result<(), Error> {
        let subgraph = self.subject.input.subgraph(self.subject.sg);
        let subgraph = subgraph.as_ref().ok_or_else(|| self.subject.broken("the input lacks a subgraph"))?;
        for step in order {
            match step {
                Step::Vars => self.vars(subgraph),
                Step::Queues => self.queues(subgraph),
                Step::Collectives => self.collectives(),
                Step::Libraries => self.libraries(subgraph),
                Step::Carveouts => self.carveouts(subgraph),
                Step::ActSets => self.act_sets(subgraph),
                Step::Dve => self.dve(),
                Step::Blocks => self.blocks(),
                Step::Engines => self.engines(),
            }?;
        }
        self.kbin.fp8_conv_cfg = fp8(subgraph.fp8.as_ref(), &self.subject.policy.fp8());
        self.kbin.cc_streams.num_streams = U64::new(subgraph.num_streams);
        self.kbin.target = ArchNumber::new(subgraph.target);
        Ok(())
    }
}

/// The file's FP8 conversion, or zeros, with the caller's values over it (lowering.md §5.11).
fn fp8(file: Option<&Fp8>, over: &Fp8Overrides) -> Fp8Cfg {
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
