//! The live blocks of a region: a list by address, and a tree over the same slots that knows the free gaps. A storage of few
//! blocks does without the tree ([`Storage::TREE`]): the list alone gives the same places.
//!
//! The tree is a treap whose priorities are mixed slot numbers, so its shape depends on the blocks alone. Every node knows
//! the node above, the gap before its block, and for every alignment how many granules the best gap at and below it takes
//! from an aligned address on; so the first fit, the block at an address and both ends of 100,000 blocks are found in a
//! logarithmic number of steps, also where nearly every gap is large enough and none is aligned. Nothing recurses, and
//! everything lies in the slots: no heap.

use super::digest::mix;
use super::fit::Wanted;
use super::region::GRANULE;
use super::storage::{NIL, Slot, Storage};

/// Alignments that are told apart: the granule, and its doubles up to 128 MiB. Without a heap there are few blocks, and the
/// slots stay small.
const ALIGNMENTS: usize = if cfg!(feature = "std") { 16 } else { 1 };

/// Granules that the best gap takes, by alignment.
pub(super) type Rooms = [u32; ALIGNMENTS];

/// No room at all.
pub(super) const NO_ROOM: Rooms = [0; ALIGNMENTS];

/// One region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    root: u32,
    pub(super) first: u32,
    last: u32,
    /// Bytes that stay free on both sides of every block.
    guard: u64,
}

fn priority(slot: u32) -> u64 {
    mix(u64::from(slot))
}

fn end(slots: &[Slot], slot: u32) -> Option<u64> {
    slots.get(slot as usize).map(|slot| slot.base + slot.reserved)
}

/// The class of an alignment: the largest one that is known and no stricter.
fn class(align: u64) -> usize {
    let doubles = align.max(GRANULE).ilog2() - GRANULE.ilog2();
    (doubles as usize).min(ALIGNMENTS - 1)
}

/// What fits between two addresses.
fn room(from: u64, to: u64, guard: u64) -> Rooms {
    let mut rooms = NO_ROOM;
    for (class, room) in rooms.iter_mut().enumerate() {
        let start = (from + guard).next_multiple_of(GRANULE << class);
        let bytes = to.saturating_sub(guard).saturating_sub(start);
        *room = u32::try_from(bytes / GRANULE).unwrap_or(u32::MAX);
    }
    rooms
}

/// Sets what a node knows about itself and the nodes below it.
fn pull(slots: &mut [Slot], node: u32, guard: u64) {
    let Some(&Slot { left, right, gap, base, .. }) = slots.get(node as usize) else { return };
    let mut best = if gap == 0 { NO_ROOM } else { room(base.saturating_sub(gap), base, guard) };
    for below in [left, right].into_iter().filter_map(|below| slots.get(below as usize)) {
        best.iter_mut().zip(below.rooms).for_each(|(best, below)| *best = below.max(*best));
    }
    if let Some(slot) = slots.get_mut(node as usize) {
        slot.rooms = best;
    }
}

/// The same for a node and all above it.
fn pull_up(slots: &mut [Slot], mut node: u32, guard: u64) {
    while let Some(&Slot { up, .. }) = slots.get(node as usize) {
        pull(slots, node, guard);
        node = up;
    }
}

/// Where a node hangs.
#[derive(Clone, Copy)]
enum Hook {
    Root,
    Left(u32),
    Right(u32),
}

impl Hook {
    /// The node above; none above the root.
    const fn up(self) -> u32 {
        match self {
            Self::Root => NIL,
            Self::Left(up) | Self::Right(up) => up,
        }
    }

    fn of(slots: &[Slot], node: u32) -> Self {
        let up = slots.get(node as usize).map_or(NIL, |slot| slot.up);
        match slots.get(up as usize) {
            None => Self::Root,
            Some(above) if above.left == node => Self::Left(up),
            Some(_) => Self::Right(up),
        }
    }
}

/// Sets the gap before a block.
fn measure(slots: &mut [Slot], start: u64, slot: u32) {
    let Some(&Slot { prev, .. }) = slots.get(slot as usize) else { return };
    let from = end(slots, prev).unwrap_or(start);
    if let Some(slot) = slots.get_mut(slot as usize) {
        slot.gap = slot.base.saturating_sub(from);
    }
}

/// From where a walk through the tree comes to a node.
enum From {
    Above,
    Near,
    Far,
}

/// A place, and the block after which it lies ([`NIL`]: before all).
type Place = (u64, u32);

impl Index {
    /// No blocks; `guard` bytes stay free on both sides of each.
    pub(super) const fn new(guard: u64) -> Self {
        Self { root: NIL, first: NIL, last: NIL, guard }
    }

    /// Bytes that stay free on both sides of every block.
    pub(super) const fn guard(&self) -> u64 {
        self.guard
    }

    /// Hangs a node, or nothing, somewhere.
    fn hang(&mut self, slots: &mut [Slot], hook: Hook, node: u32) {
        match (hook, slots.get_mut(hook.up() as usize)) {
            (Hook::Left(_), Some(above)) => above.left = node,
            (Hook::Right(_), Some(above)) => above.right = node,
            _ => self.root = node,
        }
        if let Some(slot) = slots.get_mut(node as usize) {
            slot.up = hook.up();
        }
    }

    /// Puts `new` into the tree: as far down as its priority says, with what was there cut in two below it.
    fn place(&mut self, slots: &mut [Slot], new: u32, base: u64) {
        let (mut hook, mut node) = (Hook::Root, self.root);
        while let Some(slot) = slots.get(node as usize).filter(|_| priority(new) <= priority(node)) {
            (hook, node) = if base < slot.base {
                (Hook::Left(node), slot.left)
            } else {
                (Hook::Right(node), slot.right)
            };
        }
        self.hang(slots, hook, new);
        let (mut low, mut high) = (Hook::Left(new), Hook::Right(new));
        while let Some(&Slot { left, right, base: own, .. }) = slots.get(node as usize) {
            if own < base {
                self.hang(slots, low, node);
                (low, node) = (Hook::Right(node), right);
            } else {
                self.hang(slots, high, node);
                (high, node) = (Hook::Left(node), left);
            }
        }
        self.hang(slots, low, NIL);
        self.hang(slots, high, NIL);
        pull_up(slots, low.up(), self.guard);
        pull_up(slots, high.up(), self.guard);
    }

    /// Takes `old` out of the tree: the two below it become one in its place.
    fn take(&mut self, slots: &mut [Slot], old: u32) {
        let mut hook = Hook::of(slots, old);
        let (mut low, mut high) = slots.get(old as usize).map_or((NIL, NIL), |slot| (slot.left, slot.right));
        while let (Some(left), Some(right)) = (slots.get(low as usize), slots.get(high as usize)) {
            let (left_of_high, right_of_low) = (right.left, left.right);
            if priority(low) > priority(high) {
                self.hang(slots, hook, low);
                (hook, low) = (Hook::Right(low), right_of_low);
            } else {
                self.hang(slots, hook, high);
                (hook, high) = (Hook::Left(high), left_of_high);
            }
        }
        self.hang(slots, hook, if low == NIL { high } else { low });
        pull_up(slots, hook.up(), self.guard);
    }

    /// Enters a block that lies after `before`; the region starts at `start`.
    pub(super) fn insert<S: Storage>(&mut self, slots: &mut [Slot], start: u64, slot: u32, before: u32) {
        let next = slots.get(before as usize).map_or(self.first, |before| before.next);
        let Some(entry) = slots.get_mut(slot as usize) else { return };
        (entry.prev, entry.next) = (before, next);
        let base = entry.base;
        match slots.get_mut(before as usize) {
            Some(before) => before.next = slot,
            None => self.first = slot,
        }
        match slots.get_mut(next as usize) {
            Some(next) => next.prev = slot,
            None => self.last = slot,
        }
        if S::TREE {
            measure(slots, start, slot);
            measure(slots, start, next);
            self.place(slots, slot, base);
            pull_up(slots, next, self.guard);
        }
    }

    /// Takes a block out.
    pub(super) fn remove<S: Storage>(&mut self, slots: &mut [Slot], start: u64, slot: u32) {
        let Some(&Slot { prev, next, .. }) = slots.get(slot as usize) else { return };
        match slots.get_mut(prev as usize) {
            Some(prev) => prev.next = next,
            None => self.first = next,
        }
        match slots.get_mut(next as usize) {
            Some(next) => next.prev = prev,
            None => self.last = prev,
        }
        if S::TREE {
            measure(slots, start, next);
            self.take(slots, slot);
            pull_up(slots, next, self.guard);
        }
    }

    /// The lowest place in `range` that fits, or the highest.
    #[inline(never)]
    pub(super) fn find<S: Storage>(
        &self,
        slots: &[Slot],
        range: (u64, u64),
        wanted: Wanted,
        down: bool,
    ) -> Option<Place> {
        if !S::TREE {
            return self.walk(slots, range, wanted, down);
        }
        let tail = end(slots, self.last).unwrap_or(range.0);
        let behind = || wanted.fit(tail, range.1, down).map(|base| (base, self.last));
        if down {
            behind().or_else(|| self.search(slots, wanted, true))
        } else {
            self.search(slots, wanted, false).or_else(behind)
        }
    }

    /// The same along the list: the first gap that fits, or the last.
    fn walk(&self, slots: &[Slot], range: (u64, u64), wanted: Wanted, down: bool) -> Option<Place> {
        let (mut from, mut before, mut node, mut found) = (range.0, NIL, self.first, None);
        loop {
            let slot = slots.get(node as usize);
            if let Some(base) = wanted.fit(from, slot.map_or(range.1, |slot| slot.base), down) {
                found = Some((base, before));
            }
            match slot {
                Some(slot) if down || found.is_none() => {
                    (from, before, node) = (slot.base + slot.reserved, node, slot.next);
                }
                _ => return found,
            }
        }
    }

    /// The place right below a block, if it is free and aligned: what is put there has a guard below it alone.
    pub(super) fn below_block(
        &self,
        slots: &[Slot],
        start: u64,
        block: u32,
        wanted: Wanted,
    ) -> Option<Place> {
        let block = slots.get(block as usize)?;
        let from = end(slots, block.prev).unwrap_or(start).checked_add(wanted.guard)?;
        let base = block.base.checked_sub(wanted.bytes)?;
        (base >= from && base.is_multiple_of(wanted.align)).then_some((base, block.prev))
    }

    /// The first fitting gap before a block, from below or from above: the blocks in order, without the parts of
    /// the tree whose gaps are all too small. A gap that has room from its lowest aligned address on has it from the
    /// highest one that leaves enough, too.
    fn search(&self, slots: &[Slot], wanted: Wanted, down: bool) -> Option<Place> {
        let class = class(wanted.align);
        let room = |node: u32| slots.get(node as usize)?.rooms.get(class).copied();
        let hopeful = |node: u32| room(node).is_some_and(|room| u64::from(room) * GRANULE >= wanted.bytes);
        let sides = |slot: &Slot| if down { (slot.right, slot.left) } else { (slot.left, slot.right) };
        let fit = |slot: &Slot| wanted.fit(slot.base.saturating_sub(slot.gap), slot.base, down);
        let (mut node, mut from) = (self.root, From::Above);
        if !hopeful(node) {
            return None;
        }
        loop {
            let slot = slots.get(node as usize)?;
            let (near, far) = sides(slot);
            if matches!(from, From::Above) && hopeful(near) {
                node = near;
                continue;
            }
            if !matches!(from, From::Far) {
                if let Some(base) = fit(slot) {
                    return Some((base, slot.prev));
                }
                if hopeful(far) {
                    (node, from) = (far, From::Above);
                    continue;
                }
            }
            let above = slots.get(slot.up as usize)?;
            from = if sides(above).0 == node { From::Near } else { From::Far };
            node = slot.up;
        }
    }

    /// The last block that starts at or below an address.
    pub(super) fn below<S: Storage>(&self, slots: &[Slot], address: u64) -> Option<u32> {
        if !S::TREE {
            let mut node = self.last;
            while slots.get(node as usize)?.base > address {
                node = slots.get(node as usize)?.prev;
            }
            return Some(node);
        }
        let (mut node, mut found) = (self.root, None);
        while let Some(slot) = slots.get(node as usize) {
            if slot.base <= address {
                (found, node) = (Some(node), slot.right);
            } else {
                node = slot.left;
            }
        }
        found
    }
}
