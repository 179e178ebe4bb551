//! Scratch at the arena's tail: for each source and queue instance, where its next transfer goes.

use super::Emit;
use crate::arena::{Arena, ArenaRef, TailRef};
use crate::lower::input::Input;
use crate::lower::measure::Subject;
use crate::manifest::{BlockSource, Totals};
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Sources of blocks: the definition and five engines.
const SOURCES: usize = 6;

/// Scratch bytes per queue instance: one [`Cursor`] per source.
const SCRATCH_PER_INSTANCE: u64 = 96;
/// Scratch bytes per subgraph: a [`Lane`].
const SCRATCH_PER_SUBGRAPH: u64 = 40;

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

/// All scratch bytes.
pub(in crate::lower) fn scratch_bytes(subgraphs: u32, instances: u64) -> u64 {
    let lanes = u64::from(subgraphs).saturating_mul(SCRATCH_PER_SUBGRAPH);
    lanes.saturating_add(instances.saturating_mul(SCRATCH_PER_INSTANCE))
}

impl Cursor {
    /// Goes behind everything that `totals` counts; saturating, which no real arena reaches.
    fn pass(&mut self, totals: &Totals) {
        let Self { desc, ap, dim, extra } = self;
        let counts = [totals.transfers, totals.accesses, totals.dims, totals.extra];
        for (at, more) in [desc, ap, dim, extra].into_iter().zip(counts) {
            at.set(at.get().saturating_add(more));
        }
    }
}

impl Lane {
    /// Takes the cursors of a subgraph.
    pub(super) fn take(arena: &mut Arena<'_>, instances: u32) -> Self {
        let mut lane = Self { instances: U32::new(instances), ..Self::new_zeroed() };
        lane.cursors = arena.alloc_tail::<Cursor>(lane.count()).unwrap_or(TailRef::NULL);
        lane
    }

    /// Queue instances of the subgraph.
    pub(super) fn instances(&self) -> u32 {
        self.instances.get()
    }

    /// Number of cursors.
    fn count(&self) -> usize {
        usize::try_from(self.instances.get()).unwrap_or(0).saturating_mul(SOURCES)
    }

    /// The cursors.
    pub(super) fn cursors<'x>(&self, arena: &'x mut Arena<'_>) -> Option<&'x mut [Cursor]> {
        arena.tail_slice_mut::<Cursor>(self.cursors, self.count())
    }

    /// Number of the cursor of a source and an instance.
    pub(super) fn cursor(&self, source: BlockSource, instance: u32) -> usize {
        part(source, instance, self.instances.get())
    }
}

/// All scratch of one lowering.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scratch {
    lanes: TailRef,
    subgraphs: u32,
}

impl Scratch {
    /// No scratch: what a measuring pass has.
    pub(super) const NONE: Self = Self { lanes: TailRef::NULL, subgraphs: 0 };

    /// Takes the table of lanes.
    pub(super) fn take(arena: &mut Arena<'_>, subgraphs: u32) -> Self {
        // There is room, since it was measured; without, there would be no lane.
        let lanes = arena.alloc_tail::<Lane>(wide(subgraphs)).unwrap_or(TailRef::NULL);
        Self { lanes, subgraphs }
    }

    fn slot<'x>(&self, arena: &'x mut Arena<'_>, sg: u32) -> Option<&'x mut Lane> {
        arena.tail_slice_mut::<Lane>(self.lanes, wide(self.subgraphs))?.get_mut(wide(sg))
    }

    /// What transfers of a subgraph fill; nothing, if it has no lane.
    #[inline(never)]
    pub(super) fn lane(&self, arena: &mut Arena<'_>, sg: u32) -> Lane {
        self.slot(arena, sg).copied().unwrap_or_else(Lane::new_zeroed)
    }

    pub(super) fn set_lane(&self, arena: &mut Arena<'_>, sg: u32, lane: Lane) {
        if let Some(slot) = self.slot(arena, sg) {
            *slot = lane;
        }
    }
}

/// Goes through the parts of a subgraph in the order in which their descriptors stand: instance by instance, and
/// within one in the order in which the sources are read (lowering.md §10.3). `each` gets the number of the part's
/// cursor, where the part starts, and where it ends.
#[inline(never)]
pub(super) fn parts<I: Input>(
    subject: &Subject<'_, I>,
    instances: u32,
    each: &mut dyn FnMut(usize, &Cursor, &Cursor),
) {
    let mut end = Cursor::default();
    for instance in 0..instances {
        for &source in &BlockSource::ALL {
            let start = end;
            end.pass(&subject.input.totals(subject.sg, source, instance));
            each(part(source, instance, instances), &start, &end);
        }
    }
}

/// Number of the cursor of a source and an instance.
fn part(source: BlockSource, instance: u32, instances: u32) -> usize {
    source.slot().saturating_mul(wide(instances)).saturating_add(wide(instance))
}

impl<I: Input> Emit<'_, '_, I> {
    /// Sets every cursor of the subgraph to the start of its part; gives the end of all.
    #[inline(never)]
    pub(super) fn rewind(&mut self) -> Cursor {
        let cursors = self.lane.cursors(self.arena).unwrap_or(&mut []);
        let (mut all, lost) = (Cursor::default(), &mut self.lost);
        parts(&self.subject, self.found.instances, &mut |part, start, end| {
            all = *end;
            match cursors.get_mut(part) {
                Some(cursor) => *cursor = *start,
                None => *lost = true,
            }
        });
        all
    }

    /// The first descriptor of an instance whose cursors are at their starts.
    pub(super) fn start(&mut self, instance: u32) -> Option<u32> {
        let [first, ..] = BlockSource::ALL;
        let first = self.lane.cursor(first, instance);
        Some(self.lane.cursors(self.arena)?.get(first)?.desc.get())
    }
}

fn wide(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
