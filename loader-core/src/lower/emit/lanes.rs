//! Scratch at the arena's tail: for each source and queue instance, where its next transfer goes.

use super::Emit;
use crate::arena::{Arena, ArenaRef, TailRef};
use crate::error::Error;
use crate::lower::input::Input;
use crate::lower::measure::Subject;
use crate::manifest::{BlockSource, Totals};
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Sources of blocks: the definition and five engines.
const SOURCES: usize = 6;

/// Scratch bytes per queue instance: one [`Cursor`] per source.
pub(crate) const SCRATCH_PER_INSTANCE: u64 = 96;

/// The arrays of one subgraph that transfers fill.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Lane {
    pub(super) descs: ArenaRef,
    pub(super) aps: ArenaRef,
    pub(super) dims: ArenaRef,
    pub(super) extra: ArenaRef,
    /// `SOURCES` rows of one cursor per instance.
    cursors: TailRef,
    instances: U32,
}

/// Positions in the arrays of a [`Lane`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub(super) struct Cursor {
    pub(super) desc: U32,
    pub(super) ap: U32,
    pub(super) dim: U32,
    pub(super) extra: U32,
}

const _: () = assert!(size_of::<Lane>() == 40 && size_of::<Cursor>() * SOURCES == 96);

/// Scratch bytes of the table of lanes.
pub(crate) fn lanes_bytes(subgraphs: u32) -> u64 {
    u64::from(subgraphs).saturating_mul(40)
}

impl Cursor {
    /// The cursor behind everything that `totals` counts; saturating, which no real arena reaches.
    pub(super) fn behind(self, totals: &Totals) -> Self {
        let add = |at: U32, more: u32| U32::new(at.get().saturating_add(more));
        Self {
            desc: add(self.desc, totals.transfers),
            ap: add(self.ap, totals.accesses),
            dim: add(self.dim, totals.dims),
            extra: add(self.extra, totals.extra),
        }
    }
}

impl Lane {
    /// Number of cursors.
    fn count(&self) -> usize {
        usize::try_from(self.instances.get()).unwrap_or(0).saturating_mul(SOURCES)
    }

    /// The cursors.
    pub(super) fn cursors<'x>(&self, arena: &'x mut Arena<'_>) -> Option<&'x mut [Cursor]> {
        arena.tail_slice_mut::<Cursor>(self.cursors, self.count())
    }

    /// Index of the cursor of a source and an instance.
    pub(super) fn cursor(&self, source: BlockSource, instance: u32) -> usize {
        let instances = usize::try_from(self.instances.get()).unwrap_or(0);
        let row = source.slot().saturating_mul(instances);
        row.saturating_add(usize::try_from(instance).unwrap_or(usize::MAX))
    }
}

/// All scratch of one lowering.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scratch {
    lanes: TailRef,
    subgraphs: u32,
}

impl Scratch {
    /// Takes the scratch for all subgraphs.
    pub(super) fn take<I: Input>(arena: &mut Arena<'_>, subject: &Subject<'_, I>) -> Result<Self, Error> {
        let subgraphs = subject.input.subgraphs();
        // There is room, since it was measured; without, there would be no lane.
        let lanes = arena.alloc_tail::<Lane>(wide(subgraphs)).unwrap_or(TailRef::NULL);
        let scratch = Self { lanes, subgraphs };
        for sg in 0..subgraphs {
            let counts = Subject { sg, ..*subject }.count()?;
            let instances = U32::new(u32::try_from(counts.instances).unwrap_or(u32::MAX));
            let mut lane = Lane { instances, ..Lane::new_zeroed() };
            lane.cursors = arena.alloc_tail::<Cursor>(lane.count()).unwrap_or(TailRef::NULL);
            scratch.set_lane(arena, sg, lane);
        }
        Ok(scratch)
    }

    fn slot<'x>(&self, arena: &'x mut Arena<'_>, sg: u32) -> Option<&'x mut Lane> {
        arena.tail_slice_mut::<Lane>(self.lanes, wide(self.subgraphs))?.get_mut(wide(sg))
    }

    #[inline(never)]
    pub(super) fn lane(&self, arena: &mut Arena<'_>, sg: u32) -> Option<Lane> {
        self.slot(arena, sg).copied()
    }

    pub(super) fn set_lane(&self, arena: &mut Arena<'_>, sg: u32, lane: Lane) {
        if let Some(slot) = self.slot(arena, sg) {
            *slot = lane;
        }
    }
}

/// Goes through the parts of a subgraph in the order in which their descriptors stand: instance by instance, and
/// within one in the order in which the sources are read (lowering.md §10.3). `each` gets the cursor of a part and where
/// the part starts. Gives the end of all, or `None` where there is no cursor.
#[inline(never)]
pub(super) fn parts<I: Input>(
    arena: &mut Arena<'_>,
    subject: &Subject<'_, I>,
    lane: &Lane,
    each: &mut dyn FnMut(&mut Cursor, Cursor, &Totals),
) -> Option<()> {
    let mut next = Cursor::default();
    for instance in 0..lane.instances.get() {
        for source in BlockSource::ALL {
            let totals = subject.input.totals(subject.sg, source, instance);
            each(lane.cursors(arena)?.get_mut(lane.cursor(source, instance))?, next, &totals);
            next = next.behind(&totals);
        }
    }
    Some(())
}

impl<I: Input> Emit<'_, '_, I> {
    pub(super) fn lane(&mut self) -> Option<Lane> {
        let lane = self.scratch.lane(self.arena, self.subject.sg);
        self.lost |= lane.is_none();
        lane
    }

    /// Sets every cursor of the subgraph to the start of its part.
    pub(super) fn rewind(&mut self, lane: &Lane) {
        let done = parts(self.arena, &self.subject, lane, &mut |cursor, start, _| *cursor = start);
        self.lost |= done.is_none();
    }
}

fn wide(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
