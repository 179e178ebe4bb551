//! Scratch at the arena's tail: for each source and queue instance, where its next transfer goes.

use crate::arena::{Arena, ArenaRef, TailRef};
use crate::error::{Error, Stage};
use crate::lower::input::Input;
use crate::lower::measure::Subject;
use crate::manifest::{BlockSource, Totals};
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Sources of blocks: the definition and five engines.
pub(super) const SOURCES: usize = 6;

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
    pub(super) cursors: TailRef,
    pub(super) instances: U32,
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
    pub(super) fn count(&self) -> usize {
        usize::try_from(self.instances.get()).unwrap_or(0).saturating_mul(SOURCES)
    }

    /// Index of the cursor of a source and an instance.
    pub(super) fn cursor(&self, source: BlockSource, instance: u32) -> usize {
        let instances = usize::try_from(self.instances.get()).unwrap_or(0);
        source
            .slot()
            .saturating_mul(instances)
            .saturating_add(usize::try_from(instance).unwrap_or(usize::MAX))
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
        let full = |full| Error::arena(Stage::Lower, full);
        let subgraphs = subject.input.subgraphs();
        let lanes = arena.alloc_tail::<Lane>(wide(subgraphs)).map_err(full)?;
        for sg in 0..subgraphs {
            let counts = Subject { sg, ..*subject }.count()?;
            let instances = u32::try_from(counts.instances).unwrap_or(u32::MAX);
            let cursors =
                arena.alloc_tail::<Cursor>(wide(instances).saturating_mul(SOURCES)).map_err(full)?;
            let null = ArenaRef::NULL;
            let lane = Lane {
                descs: null,
                aps: null,
                dims: null,
                extra: null,
                cursors,
                instances: U32::new(instances),
            };
            Self { lanes, subgraphs }.set_lane(arena, sg, lane);
        }
        Ok(Self { lanes, subgraphs })
    }

    pub(super) fn lane(&self, arena: &Arena<'_>, sg: u32) -> Option<Lane> {
        arena.tail_slice::<Lane>(self.lanes, wide(self.subgraphs))?.get(wide(sg)).copied()
    }

    pub(super) fn set_lane(&self, arena: &mut Arena<'_>, sg: u32, lane: Lane) {
        let lanes = arena.tail_slice_mut::<Lane>(self.lanes, wide(self.subgraphs));
        if let Some(slot) = lanes.and_then(|lanes| lanes.get_mut(wide(sg))) {
            *slot = lane;
        }
    }

    /// Sets every cursor of a subgraph to the start of its part: instance by instance, and within one in the order
    /// in which the sources are read (lowering.md §10.3). Gives each start to `each` as well.
    pub(super) fn rewind<I: Input>(
        arena: &mut Arena<'_>,
        subject: &Subject<'_, I>,
        lane: &Lane,
        mut each: impl FnMut(BlockSource, u32, Cursor) -> Result<(), Error>,
    ) -> Result<Cursor, Error> {
        let mut next = Cursor::default();
        for instance in 0..lane.instances.get() {
            for source in BlockSource::ALL {
                let cursors = arena.tail_slice_mut::<Cursor>(lane.cursors, lane.count());
                if let Some(slot) = cursors.and_then(|cursors| cursors.get_mut(lane.cursor(source, instance)))
                {
                    *slot = next;
                }
                each(source, instance, next)?;
                next = next.behind(&subject.input.totals(subject.sg, source, instance));
            }
        }
        Ok(next)
    }
}

fn wide(n: u32) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
