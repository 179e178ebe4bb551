//! Arrays of a subgraph whose room only the measuring pass finds, filled from the first element to the last.

use super::Emit;
use crate::arena::{ArenaRef, Record};
use crate::lower::dims::up8;
use crate::lower::input::Input;
use crate::lower::record::{ActSet, Blob, Carveout, DebugMd, Group, Pair, SrcTgtSet, Subgroup, UcodeLib};
use zerocopy::little_endian::U32;

/// Declares the pools and the table of what an element of each takes.
macro_rules! pools {
    ($($(#[$doc:meta])* $pool:ident: $record:ty,)*) => {
        /// The pools of a subgraph. Letters as in lowering.md §11.5.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Pool {
            $($(#[$doc])* $pool,)*
        }

        /// Bytes of an element of each.
        const SIZES: [usize; POOLS] = [$(size_of::<$record>()),*];
        pub(super) const POOLS: usize = [$(Pool::$pool),*].len();
    };
}

pools! {
    /// N: names of variables and functions, with their NULs.
    Names: u8,
    /// Names of queues whose first instance is named differently, with their NULs.
    QueueNames: u8,
    /// M.
    Prints: DebugMd,
    /// W.
    Blobs: Blob,
    /// Block ends with more than one semaphore.
    Tails: u8,
    /// S.
    ActSets: ActSet,
    /// C.
    Carveouts: Carveout,
    /// g.
    Groups: Group,
    /// b.
    Subgroups: Subgroup,
    /// p.
    Ranks: U32,
    /// t.
    PairSets: SrcTgtSet,
    /// r.
    Pairs: Pair,
    /// u.
    Libraries: UcodeLib,
}

/// What a pass over one subgraph finds.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::lower) struct Found {
    /// Bytes of all records.
    pub(in crate::lower) bytes: u64,
    /// Bytes the area `alt` is moved up by, where the policy appends it.
    pub(super) alt_base: u64,
    /// Instances of all queues.
    pub(in crate::lower) instances: u32,
    /// Descriptors.
    pub(super) descs: u32,
    /// Elements of each pool.
    used: [u32; POOLS],
}

impl Found {
    /// Counts what the pools have in as well.
    pub(super) fn close(&mut self) {
        for (&used, &size) in self.used.iter().zip(&SIZES) {
            self.bytes = self.bytes.saturating_add(bytes(size, used));
        }
    }

    /// Elements of a pool.
    #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
    pub(super) fn used(&self, pool: Pool) -> u32 {
        self.used.get(pool as usize).copied().unwrap_or(0)
    }
}

/// Bytes of an array, as an arena takes them.
pub(super) fn bytes(size: usize, count: u32) -> u64 {
    let size = u64::try_from(size).unwrap_or(u64::MAX);
    up8(size.saturating_mul(u64::from(count)))
}

impl<I: Input> Emit<'_, '_, I> {
    /// Takes the room of a pool.
    #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
    #[inline(never)]
    pub(super) fn open(&mut self, pool: Pool) -> ArenaRef {
        let size = SIZES.get(pool as usize).copied().unwrap_or(0);
        let room = self.take(size, self.known.used(pool));
        if let Some(slot) = self.rooms.get_mut(pool as usize) {
            *slot = room;
        }
        room
    }

    /// Where a pool is.
    #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
    pub(super) fn room(&self, pool: Pool) -> ArenaRef {
        self.rooms.get(pool as usize).copied().unwrap_or(ArenaRef::NULL)
    }

    /// The next elements of a pool.
    #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
    #[inline(never)]
    pub(super) fn part(&mut self, pool: Pool, count: u32) -> ArenaRef {
        let at = pool as usize;
        let (Some(used), Some(room), Some(&size)) =
            (self.found.used.get_mut(at), self.rooms.get(at), SIZES.get(at))
        else {
            return ArenaRef::NULL;
        };
        let first = room.element(*used, size);
        *used = used.saturating_add(count);
        if first.is_null() || *used > room.count() {
            self.lost = true;
            return ArenaRef::NULL;
        }
        ArenaRef { len: U32::new(count), ..first }
    }

    /// The next record of a pool, to fill where it lies.
    pub(super) fn next<T: Record>(&mut self, pool: Pool) -> Option<&mut T> {
        let place = self.part(pool, 1);
        self.get_mut(place)
    }

    /// Copies a name and a NUL to a pool; the reference does not count the NUL.
    #[inline(never)]
    pub(super) fn name(&mut self, pool: Pool, name: &[u8]) -> ArenaRef {
        let len = u32::try_from(name.len()).unwrap_or(u32::MAX);
        let place = self.part(pool, len.saturating_add(1));
        self.text(place, name)
    }
}
