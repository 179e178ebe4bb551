//! The live blocks of a region: a list by address, and a tree over the same slots that knows the free gaps.
//!
//! The tree is a treap whose priorities are mixed slot numbers, so its shape depends on the blocks alone. Every node knows
//! the gap before its block and the largest gap below it; the first fit, the block at an address and both ends of
//! 100,000 blocks are found in a logarithmic number of steps. Everything lies in the slots: no heap.

use super::digest::mix;
use super::fit::Wanted;
use super::storage::{NIL, Slot};

/// One region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index {
    root: u32,
    pub(super) first: u32,
    last: u32,
}

fn priority(slot: u32) -> u64 {
    mix(u64::from(slot))
}

fn end(slots: &[Slot], slot: u32) -> Option<u64> {
    slots.get(slot as usize).map(|slot| slot.base + slot.reserved)
}

fn most(slots: &[Slot], node: u32) -> u64 {
    slots.get(node as usize).map_or(0, |slot| slot.most)
}

/// Sets what a node knows about the nodes below it.
fn pull(slots: &mut [Slot], node: u32) {
    let Slot { left, right, gap, .. } = slots[node as usize];
    slots[node as usize].most = gap.max(most(slots, left)).max(most(slots, right));
}

/// The trees of the blocks below `base` and of the others.
fn split(slots: &mut [Slot], node: u32, base: u64) -> (u32, u32) {
    if node == NIL {
        return (NIL, NIL);
    }
    let Slot { left, right, base: own, .. } = slots[node as usize];
    let parts = if own < base {
        let (low, high) = split(slots, right, base);
        slots[node as usize].right = low;
        (node, high)
    } else {
        let (low, high) = split(slots, left, base);
        slots[node as usize].left = high;
        (low, node)
    };
    pull(slots, node);
    parts
}

/// One tree of two, where all of `low` lies below all of `high`.
fn merge(slots: &mut [Slot], low: u32, high: u32) -> u32 {
    if low == NIL || high == NIL {
        return if low == NIL { high } else { low };
    }
    let top = if priority(low) > priority(high) { low } else { high };
    if top == low {
        slots[low as usize].right = merge(slots, slots[low as usize].right, high);
    } else {
        slots[high as usize].left = merge(slots, low, slots[high as usize].left);
    }
    pull(slots, top);
    top
}

/// Puts `new` into the tree at `node`.
fn place(slots: &mut [Slot], node: u32, new: u32) -> u32 {
    let base = slots[new as usize].base;
    if node == NIL || priority(new) > priority(node) {
        let (low, high) = split(slots, node, base);
        let slot = &mut slots[new as usize];
        (slot.left, slot.right) = (low, high);
        pull(slots, new);
        return new;
    }
    if base < slots[node as usize].base {
        slots[node as usize].left = place(slots, slots[node as usize].left, new);
    } else {
        slots[node as usize].right = place(slots, slots[node as usize].right, new);
    }
    pull(slots, node);
    node
}

/// Takes `old`, whose base is `base`, out of the tree at `node`.
fn take(slots: &mut [Slot], node: u32, old: u32, base: u64) -> u32 {
    let Slot { left, right, base: own, .. } = slots[node as usize];
    if node == old {
        return merge(slots, left, right);
    }
    if base < own {
        slots[node as usize].left = take(slots, left, old, base);
    } else {
        slots[node as usize].right = take(slots, right, old, base);
    }
    pull(slots, node);
    node
}

/// A place, and the block after which it lies ([`NIL`]: before all).
type Place = (u64, u32);

impl Index {
    /// No blocks.
    pub(super) const EMPTY: Self = Self { root: NIL, first: NIL, last: NIL };

    /// Enters a block that lies after `before`; the region starts at `start`.
    pub(super) fn insert(&mut self, slots: &mut [Slot], start: u64, slot: u32, before: u32) {
        let next = slots.get(before as usize).map_or(self.first, |before| before.next);
        let entry = &mut slots[slot as usize];
        (entry.prev, entry.next) = (before, next);
        match slots.get_mut(before as usize) {
            Some(before) => before.next = slot,
            None => self.first = slot,
        }
        match slots.get_mut(next as usize) {
            Some(next) => next.prev = slot,
            None => self.last = slot,
        }
        self.measure(slots, start, slot);
        self.root = place(slots, self.root, slot);
        self.measure(slots, start, next);
        self.refresh(slots, self.root, next);
    }

    /// Takes a block out.
    pub(super) fn remove(&mut self, slots: &mut [Slot], start: u64, slot: u32) {
        let Slot { prev, next, base, .. } = slots[slot as usize];
        match slots.get_mut(prev as usize) {
            Some(prev) => prev.next = next,
            None => self.first = next,
        }
        match slots.get_mut(next as usize) {
            Some(next) => next.prev = prev,
            None => self.last = prev,
        }
        self.root = take(slots, self.root, slot, base);
        self.measure(slots, start, next);
        self.refresh(slots, self.root, next);
    }

    /// Sets the gap before a block.
    fn measure(&self, slots: &mut [Slot], start: u64, slot: u32) {
        let Some(Slot { prev, base, .. }) = slots.get(slot as usize).copied() else { return };
        let from = end(slots, prev).unwrap_or(start);
        slots[slot as usize].gap = base.saturating_sub(from);
    }

    /// Tells the nodes above a block that its gap changed.
    fn refresh(&self, slots: &mut [Slot], node: u32, slot: u32) {
        if slot == NIL || node == NIL {
            return;
        }
        let (wanted, Slot { left, right, base, .. }) = (slots[slot as usize].base, slots[node as usize]);
        if node != slot {
            self.refresh(slots, if wanted < base { left } else { right }, slot);
        }
        pull(slots, node);
    }

    /// The lowest place in `range` that fits.
    pub(super) fn lowest(&self, slots: &[Slot], range: (u64, u64), wanted: Wanted) -> Option<Place> {
        let tail = end(slots, self.last).unwrap_or(range.0);
        self.search(slots, self.root, wanted, false)
            .or_else(|| wanted.lowest(tail, range.1).map(|base| (base, self.last)))
    }

    /// The highest place in `range` that fits.
    pub(super) fn highest(&self, slots: &[Slot], range: (u64, u64), wanted: Wanted) -> Option<Place> {
        let tail = end(slots, self.last).unwrap_or(range.0);
        let behind = wanted.highest(tail, range.1).map(|base| (base, self.last));
        behind.or_else(|| self.search(slots, self.root, wanted, true))
    }

    /// The first fitting gap before a block, from below or from above.
    fn search(&self, slots: &[Slot], node: u32, wanted: Wanted, down: bool) -> Option<Place> {
        if node == NIL || most(slots, node) < wanted.bytes + 2 * wanted.guard {
            return None;
        }
        let Slot { left, right, gap, base, prev, .. } = slots[node as usize];
        let fit = if down { Wanted::highest } else { Wanted::lowest };
        let (near, far) = if down { (right, left) } else { (left, right) };
        self.search(slots, near, wanted, down)
            .or_else(|| fit(wanted, base - gap, base).map(|base| (base, prev)))
            .or_else(|| self.search(slots, far, wanted, down))
    }

    /// The last block that starts at or below an address.
    pub(super) fn below(&self, slots: &[Slot], address: u64) -> Option<u32> {
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
