//! I9 to I12: rings, entry by entry.

use super::source::Source;
use crate::abi::value::SEMAPHORES;
use crate::sim::claim::{CastClaim, CoreClaim, HalfClaim, Place, RingClaim};
use crate::sim::region;
use crate::sim::state::SimState;
use crate::sim::storage::Storage;
use crate::sim::violation::{Violation, check};
use loader_core::arch::Arch;
use loader_core::plan::ring::{ENTRY_BYTES, Entry, capacity, template_parts};
use zerocopy::FromBytes;

/// Most entries of a packet on the source and on the destination side (staging.md §10.1, Confirmed).
const fn packet_limits(arch: Arch) -> (u32, u32) {
    match arch {
        Arch::Sunda => (128, 128),
        Arch::Cayman | Arch::Mariana => (65, 60),
    }
}

/// Entries of the open packet of a half.
struct Packet {
    open: u32,
    limit: u32,
}

impl Packet {
    const fn new(limit: u32) -> Self {
        Self { open: 0, limit }
    }

    fn take(&mut self, entry: &Entry) -> Result<(), Violation> {
        check(
            entry.is_first() == (self.open == 0),
            11,
            "FIRST and LAST do not balance",
            entry.address.get(),
        )?;
        self.open += 1;
        check(self.open <= self.limit, 11, "a packet has too many entries", self.open.into())?;
        if entry.is_last() {
            self.open = 0;
        }
        Ok(())
    }
}

/// Bytes of an element on both sides of entry `at`.
fn widths(casts: &[CastClaim], at: u32) -> (u32, u32) {
    let behind = casts.partition_point(|cast| cast.first <= at);
    let cast = behind.checked_sub(1).map(|index| casts[index]).filter(|cast| at - cast.first < cast.count);
    cast.map_or((1, 1), |cast| (u32::from(cast.bytes.0.max(1)), u32::from(cast.bytes.1.max(1))))
}

impl<S: Storage> SimState<S> {
    pub(super) fn judge_ring(&self, core: &CoreClaim<'_>, ring: &RingClaim<'_>) -> Result<(), Violation> {
        let RingClaim { tx, rx, .. } = ring;
        check(tx.entries == rx.entries, 11, "the halves have different lengths", tx.entries.into())?;
        for half in [tx, rx] {
            self.judge_size(half, ring.wraps)?;
        }
        let Some(sources) = self.sources(ring)? else { return Ok(()) };
        let limits = packet_limits(self.config.arch);
        let mut packets = [Packet::new(limits.0), Packet::new(limits.1)];
        for at in 0..tx.entries {
            let pair = [self.entry_at(sources[0], tx, at), self.entry_at(sources[1], rx, at)];
            let bytes = widths(ring.casts, at);
            let elements = (pair[0].bytes() / bytes.0, pair[1].bytes() / bytes.1);
            check(elements.0 == elements.1, 11, "an entry moves different lengths", at.into())?;
            for (entry, packet) in pair.iter().zip(&mut packets) {
                packet.take(entry)?;
                self.judge_end(core, ring, entry)?;
            }
        }
        let closed = packets.iter().all(|packet| packet.open == 0);
        check(closed, 11, "the last packet stays open", tx.entries.into())?;
        self.judge_padding(ring, sources)
    }

    /// Where both halves are read; `None` if they cannot be, or there is nothing to read.
    fn sources<'a>(&self, ring: &RingClaim<'a>) -> Result<Option<[Source<'a>; 2]>, Violation> {
        if ring.tx.capacity == 0 || ring.rx.capacity == 0 {
            return Ok(None);
        }
        let [tx, rx] = [&ring.tx, &ring.rx].map(|half| self.source(half.address, half.written));
        let (Some(tx), Some(rx)) = (tx, rx) else {
            check(false, 11, "a ring holds other bytes than are claimed", ring.tx.address)?;
            return Ok(None);
        };
        let known = !matches!(tx, Source::Unknown) && !matches!(rx, Source::Unknown);
        Ok(known.then_some([tx, rx]))
    }

    /// I12 without the padding; the entries lie in one live block.
    fn judge_size(&self, half: &HalfClaim<'_>, wraps: bool) -> Result<(), Violation> {
        let HalfClaim { address, entries, padded, capacity: room, .. } = *half;
        if room == 0 {
            return check(entries == 0 && padded == 0, 12, "entries without a ring", entries.into());
        }
        check(entries <= padded && padded <= room, 12, "more entries than the ring holds", padded.into())?;
        let rule = capacity(padded, wraps);
        check(rule == Some(room), 12, "the capacity does not follow the rule", room.into())?;
        let inside = self.is_live(address, u64::from(room) * ENTRY_BYTES);
        check(inside, 12, "the ring is not in one live block", address)
    }

    fn judge_padding(&self, ring: &RingClaim<'_>, sources: [Source<'_>; 2]) -> Result<(), Violation> {
        let RingClaim { tx, rx, .. } = ring;
        check(tx.padded == rx.padded, 12, "the halves are padded differently", tx.padded.into())?;
        for at in tx.entries..tx.padded {
            let (from, to) = (self.entry_at(sources[0], tx, at), self.entry_at(sources[1], rx, at));
            let still = from.address == to.address && (from.bytes(), to.bytes()) == (4, 4);
            check(still, 12, "padding that is no copy of four bytes onto themselves", at.into())?;
        }
        Ok(())
    }

    fn entry_at(&self, source: Source<'_>, half: &HalfClaim<'_>, at: u32) -> Entry {
        let mut bytes = [0; 16];
        self.fetch(source, half.address.wrapping_add(u64::from(at) * ENTRY_BYTES), &mut bytes);
        Entry::read_from_bytes(&bytes).unwrap_or_default()
    }

    /// I9 and I10 for one end.
    fn judge_end(&self, core: &CoreClaim<'_>, ring: &RingClaim<'_>, entry: &Entry) -> Result<(), Violation> {
        let (address, bytes) = (entry.address.get(), u64::from(entry.bytes()));
        let Some((id, off)) = template_parts(address) else {
            return check(self.is_known(address, bytes), 9, "a descriptor leaves all known memory", address);
        };
        check(ring.io, 10, "a template outside an input or output ring", address)?;
        let found = core.variables.binary_search_by_key(&id, |variable| variable.id);
        let variable =
            found.ok().map(|at| core.variables[at]).filter(|variable| variable.place == Place::Bound);
        let size = variable.map(|variable| variable.size);
        check(size.is_some(), 10, "a template names no input or output", address)?;
        check(size.is_some_and(|size| off + bytes <= size), 10, "a template leaves its variable", address)
    }

    /// True if a live block was asked to hold these bytes.
    pub(super) fn is_live(&self, address: u64, bytes: u64) -> bool {
        self.block_at(address).is_some_and(|live| {
            let at = address - live.base.0;
            at <= live.size && bytes <= live.size - at
        })
    }

    /// True for bytes in a live block, a state-buffer window or the semaphores of a core.
    fn is_known(&self, address: u64, bytes: u64) -> bool {
        let within = |base: u64, size: u64| {
            address.checked_sub(base).is_some_and(|at| at <= size && bytes <= size - at)
        };
        self.is_live(address, bytes)
            || (0..self.config.cores).any(|core| {
                let (window, size) = region::state_buffer(&self.config, core);
                let first = region::semaphore(&self.config, core, 0).0;
                let end = region::semaphore(&self.config, core, SEMAPHORES).0;
                within(window.0, size) || within(first, end.saturating_sub(first))
            })
    }
}
