//! The second pass: records into the arena's head, in one order that depends on the tables alone.
//!
//! Everything is allocated before the first transfer is read. Transfers then fill places computed from
//! the totals per source and queue instance, so the bytes do not depend on the order of members, on
//! chunking or on how the payload is held.

mod blocks;
mod collectives;
mod lanes;
mod queues;
mod sink;
mod tables;
mod ucode;
mod vars;

pub(crate) use lanes::{SCRATCH_PER_INSTANCE, lanes_bytes};

use super::dims::{Counts, Dims};
use super::input::{BlobIn, FileIn, Input, ManifestInput, PayloadTransfers, Subgraph, Transfers};
use super::kbins::Kbins;
use super::measure::{Subject, measure};
use super::record::{ArchNumber, Blob, BlobId, BlobKind, Fp8Cfg, Kbin, SubgraphEntry};
use crate::arena::{Arena, ArenaFull, ArenaRef, Record, TailRef};
use crate::error::{Error, LowerCode, Notes, Stage};
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
    let (entries, kbins) = emit_entries(arena, &subject, notes)?;
    for sg in 0..subject.input.subgraphs() {
        emit_one(arena, Subject { sg, ..subject }, notes, scratch, kbins)?;
    }
    emit_transfers(Sink::new(arena, subject, scratch, entries), transfers, notes)?;
    super::link::link(arena, &subject, entries, notes)?;
    let used = u64::try_from(arena.head_used().saturating_sub(before)).unwrap_or(u64::MAX);
    if used != dims.product_bytes().saturating_sub(16) {
        return Err(subject.broken("the measured product differs from the emitted one"));
    }
    Ok(entries)
}

/// The records of one subgraph.
#[inline(never)]
fn emit_one<I: Input>(
    arena: &mut Arena<'_>,
    subject: Subject<'_, I>,
    notes: &mut dyn Notes,
    scratch: Scratch,
    kbins: ArenaRef,
) -> Result<(), Error> {
    let counts = subject.count()?;
    let mut emit = Emit::new(arena, subject, notes, counts, scratch);
    let kbin = emit.kbin()?;
    let place = kbins.nth::<Kbin>(subject.sg).ok_or_else(|| subject.broken("kbin table"))?;
    emit.put(place, kbin)
}

#[inline(never)]
fn emit_transfers<I: Input, T: Transfers>(
    mut sink: Sink<'_, '_, I>,
    transfers: &mut T,
    notes: &mut dyn Notes,
) -> Result<(), Error> {
    transfers.visit(&mut sink, notes)?;
    sink.finish()
}

fn alloc<T: Record>(arena: &mut Arena<'_>, count: u64) -> Result<ArenaRef, Error> {
    let full = ArenaFull { needed: usize::MAX, available: arena.available() };
    let count = usize::try_from(count).map_err(|_| Error::arena(Stage::Lower, full))?;
    arena.alloc::<T>(count).map_err(|full| Error::arena(Stage::Lower, full))
}

/// A name with a NUL behind it; the reference does not count the NUL.
fn alloc_name(arena: &mut Arena<'_>, name: &[u8]) -> Result<ArenaRef, Error> {
    let len = u64::try_from(name.len()).unwrap_or(u64::MAX);
    let place = alloc::<u8>(arena, len.saturating_add(1))?;
    if let Some(slot) = arena.slice_mut::<u8>(place).and_then(|slot| slot.get_mut(..name.len())) {
        crate::bytes::copy(slot, name);
    }
    Ok(trimmed(place, name.len()))
}

fn trimmed(place: ArenaRef, len: usize) -> ArenaRef {
    ArenaRef { off: place.off, len: U32::new(u32::try_from(len).unwrap_or(u32::MAX)) }
}

#[inline(never)]
fn emit_entries<I: Input>(
    arena: &mut Arena<'_>,
    subject: &Subject<'_, I>,
    notes: &mut dyn Notes,
) -> Result<(ArenaRef, ArenaRef), Error> {
    let count = subject.input.subgraphs();
    let entries = alloc::<SubgraphEntry>(arena, u64::from(count))?;
    let mut before: Option<&[u8]> = None;
    for sg in 0..count {
        let subject = Subject { sg, ..*subject };
        let Subgraph { name, dir, .. } = subject.subgraph()?;
        if let Some(before) = before.filter(|before| *before > name) {
            let note = subject.fail_in(LowerCode::GraphOrder, FileIn::Graph).name(before).name2(name);
            notes.note(note.element(sg));
        }
        before = Some(name);
        let name_ref = alloc_name(arena, name)?;
        let dir_ref = if dir == name { name_ref } else { alloc_name(arena, dir)? };
        let place = entries.nth::<SubgraphEntry>(sg).and_then(|place| arena.get_mut::<SubgraphEntry>(place));
        if let Some(entry) = place {
            *entry = SubgraphEntry { kbin: ArenaRef::NULL, name: name_ref, dir: dir_ref };
        }
    }
    let kbins = alloc::<Kbin>(arena, u64::from(count))?;
    for sg in 0..count {
        let place = entries.nth::<SubgraphEntry>(sg).and_then(|place| arena.get_mut::<SubgraphEntry>(place));
        if let (Some(entry), Some(kbin)) = (place, kbins.nth::<Kbin>(sg)) {
            entry.kbin = kbin;
        }
    }
    Ok((entries, kbins))
}

/// Emits one subgraph.
struct Emit<'a, 'm, I> {
    arena: &'a mut Arena<'m>,
    subject: Subject<'a, I>,
    notes: &'a mut dyn Notes,
    counts: Counts,
    scratch: Scratch,
    blobs: ArenaRef,
    blobs_used: u32,
    names: ArenaRef,
    names_used: u32,
}

impl<'a, 'm, I: Input> Emit<'a, 'm, I> {
    fn new(
        arena: &'a mut Arena<'m>,
        subject: Subject<'a, I>,
        notes: &'a mut dyn Notes,
        counts: Counts,
        scratch: Scratch,
    ) -> Self {
        let null = ArenaRef::NULL;
        Self {
            arena,
            subject,
            notes,
            counts,
            scratch,
            blobs: null,
            blobs_used: 0,
            names: null,
            names_used: 0,
        }
    }

    /// The steps of lowering.md §5, in order.
    #[inline(never)]
    fn kbin(&mut self) -> Result<Kbin, Error> {
        let subgraph = self.subject.subgraph()?;
        let mut kbin = Kbin::default();
        self.engines(&mut kbin)?;
        self.queues(&mut kbin)?;
        self.vars(&mut kbin)?;
        self.act_sets(&mut kbin, subgraph.act_semaphore)?;
        self.dve(&mut kbin, subgraph.dve)?;
        self.replica_groups(&mut kbin)?;
        self.src_target_pairs(&mut kbin)?;
        self.libraries(&mut kbin)?;
        self.carveouts(&mut kbin, subgraph.has_carveouts)?;
        kbin.fp8_conv_cfg = fp8(subgraph.fp8.as_ref(), &self.subject.policy.fp8());
        kbin.cc_streams.num_streams = U64::new(subgraph.num_streams);
        kbin.target = ArchNumber::new(subgraph.target);
        self.blocks()?;
        Ok(kbin)
    }

    fn alloc<T: Record>(&mut self, count: u64) -> Result<ArenaRef, Error> {
        alloc::<T>(self.arena, count)
    }

    fn put<T: Record>(&mut self, place: ArenaRef, record: T) -> Result<(), Error> {
        let slot =
            self.arena.get_mut::<T>(place).ok_or_else(|| self.subject.broken("a record has no place"))?;
        *slot = record;
        Ok(())
    }

    /// Writes element `index` of an array.
    fn put_nth<T: Record>(&mut self, array: ArenaRef, index: u32, record: T) -> Result<(), Error> {
        let place = array.nth::<T>(index).ok_or_else(|| self.subject.broken("an array is full"))?;
        self.put(place, record)
    }

    /// Copies a name into the pool, a NUL behind it.
    fn pool(&mut self, name: &[u8]) -> Result<ArenaRef, Error> {
        let broken = || self.subject.broken("the name pool is full");
        let start = usize::try_from(self.names_used).map_err(|_| broken())?;
        let end = start.checked_add(name.len()).ok_or_else(broken)?;
        let pool = self.arena.slice_mut::<u8>(self.names).ok_or_else(broken)?;
        // One byte more than the name: its NUL must fit too.
        let slot =
            pool.get_mut(start..=end).and_then(|slot| slot.get_mut(..name.len())).ok_or_else(broken)?;
        crate::bytes::copy(slot, name);
        let off = self.names.off.get().checked_add(self.names_used).ok_or_else(broken)?;
        let next = end.checked_add(1).and_then(|next| u32::try_from(next).ok());
        self.names_used = next.ok_or_else(broken)?;
        Ok(trimmed(ArenaRef { off: U32::new(off), len: U32::ZERO }, name.len()))
    }

    /// Adds a row to the blob table. Blobs without bytes take none.
    fn blob(&mut self, kind: BlobKind, blob: Option<BlobIn>, off: u64) -> Result<BlobId, Error> {
        let Some(BlobIn { member, len }) = blob.filter(|blob| blob.len > 0) else {
            return Ok(BlobId::default());
        };
        let row =
            Blob { member: U32::new(member.0), copied: U32::ZERO, off: U64::new(off), len: U64::new(len) };
        self.put_nth(self.blobs, self.blobs_used, row)?;
        self.blobs_used = self.blobs_used.saturating_add(1);
        Ok(BlobId { index_plus_one: U32::new(self.blobs_used), kind })
    }

    fn tail<T: Record>(&mut self, place: TailRef, count: usize) -> Result<&mut [T], Error> {
        let slots = self.arena.tail_slice_mut::<T>(place, count);
        slots.ok_or_else(|| self.subject.broken("scratch has no place"))
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
