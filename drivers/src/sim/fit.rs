//! Where a block goes: the one placement rule of the simulator and of the simulated driver.

/// A request inside a range of addresses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Bytes to reserve.
    pub(crate) bytes: u64,
    /// Power of two.
    pub(crate) align: u64,
    /// Bytes that stay free on both sides.
    pub(crate) guard: u64,
}

impl Wanted {
    /// The lowest place between two addresses, or the highest.
    pub(super) fn fit(self, from: u64, to: u64, down: bool) -> Option<u64> {
        if down { self.highest(from, to) } else { self.lowest(from, to) }
    }

    pub(super) fn lowest(self, from: u64, to: u64) -> Option<u64> {
        let base = from.checked_add(self.guard)?.checked_next_multiple_of(self.align)?;
        (base.checked_add(self.bytes)?.checked_add(self.guard)? <= to).then_some(base)
    }

    pub(super) fn highest(self, from: u64, to: u64) -> Option<u64> {
        let top = to.checked_sub(self.guard)?.checked_sub(self.bytes)?;
        let base = top - top.checked_rem(self.align)?;
        (base >= from.checked_add(self.guard)?).then_some(base)
    }
}

/// A place, and the block after which it lies (`None`: before all).
#[cfg(feature = "simdrv")]
pub(crate) type Place<K> = (u64, Option<K>);

/// The lowest fitting address of `range` between `blocks` (key, base, bytes), which are in address order.
#[cfg(feature = "simdrv")]
pub(crate) fn lowest<K: Copy>(
    range: (u64, u64),
    blocks: impl IntoIterator<Item = (K, u64, u64)>,
    wanted: Wanted,
) -> Option<Place<K>> {
    let (mut cursor, mut before) = (range.0, None);
    for (key, base, bytes) in blocks {
        if let Some(found) = wanted.lowest(cursor, base) {
            return Some((found, before));
        }
        (cursor, before) = (base + bytes, Some(key));
    }
    wanted.lowest(cursor, range.1).map(|found| (found, before))
}
