//! Where chunks go, and how they are made and dropped (driver-abi.md §7.4).

use super::config::Config;
use super::device::{Chunk, Life};
use super::dispatch::Fail;
use super::driver::Driver;
use super::memory::Memory;
use crate::abi::errno::{ENOENT, ENOMEM};
use crate::abi::value::{DATASTORE_BYTES, PAGE, mem_type};
use crate::map;
use crate::sim::fit::{self, Wanted};
use loader_core::device::Place;

/// Distance between host chunks, so that overruns hit unallocated space (§17.3).
const HOST_GAP: u64 = 64 << 10;
/// Host memory handed out begins here above the host bits (§17.3).
const HOST_FIRST: u64 = 0x10_0000;
const HOST_BYTES: u64 = 1 << 40;
/// Largest contiguous host chunk (§7.4, inferred: about 4 MiB without an IOMMU).
const HOST_LIMIT: u64 = 4 << 20;

/// An allocation whose arguments are already checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) bytes: u64,
    pub(super) align: u64,
    pub(super) place: Place,
    pub(super) nc: u32,
    pub(super) kind: u32,
    pub(super) tgid: u32,
    pub(super) life: Life,
}

impl Config {
    /// The pools that may serve a request, best first.
    fn pools(&self, ask: &Ask) -> [Option<(u64, u64)>; 2] {
        let Place::Hbm(hbm) = ask.place else {
            let base = map::host_base(self.arch) + HOST_FIRST;
            return [Some((base, base + HOST_BYTES)), None];
        };
        let (base, bytes) = self.hbm(hbm);
        let main = (base + map::CARVE_OUT, self.main_end(hbm));
        let small = (self.main_end(hbm), base + bytes);
        if ask.bytes <= map::SMALL_LIMIT { [Some(small), Some(main)] } else { [Some(main), Some(small)] }
    }
}

impl<M: Memory> Driver<M> {
    /// The first address for a request.
    fn place(&self, device: usize, ask: &Ask) -> Option<u64> {
        let state = &self.devices[device];
        if ask.kind == mem_type::CONTIGUOUS_SCRATCHPAD
            && let Place::Hbm(hbm) = ask.place
        {
            let base = state.scratch[usize::from(hbm)].checked_sub(ask.bytes)?;
            let (start, _) = self.config.hbm(hbm);
            let taken =
                state.chunk_at(base).is_some() || state.chunks.range(base..base + ask.bytes).next().is_some();
            return (base >= start + map::CARVE_OUT && !taken && ask.bytes > 0).then_some(base);
        }
        let host = ask.place == Place::Host;
        if ask.bytes == 0 || host && ask.bytes > HOST_LIMIT {
            return None;
        }
        let guard = if host { HOST_GAP } else { 0 };
        let wanted = Wanted { bytes: ask.bytes, align: ask.align.max(PAGE), guard };
        self.config.pools(ask).into_iter().flatten().find_map(|range| {
            let blocks = state.chunks.range(range.0..range.1).map(|(&base, chunk)| (base, base, chunk.bytes));
            fit::lowest(range, blocks, wanted).map(|(base, _)| base)
        })
    }

    /// Makes a chunk without handle.
    pub(super) fn make_chunk(&mut self, device: usize, ask: &Ask) -> Result<u64, Fail> {
        let base = self.place(device, ask).ok_or(Fail::errno(ENOMEM))?;
        let &Ask { bytes, place, nc, kind, tgid, life, .. } = ask;
        let state = &mut self.devices[device];
        state.settle_scrub(base, base + bytes);
        if kind == mem_type::CONTIGUOUS_SCRATCHPAD
            && let Place::Hbm(hbm) = place
        {
            state.scratch[usize::from(hbm)] = base;
        }
        state.chunks.insert(base, Chunk { base, bytes, place, nc, kind, tgid, life, handle: None });
        Ok(base)
    }

    /// Gives a chunk a handle; a full table frees the chunk again.
    pub(super) fn make_handle(&mut self, device: usize, base: u64) -> Result<u32, Fail> {
        let state = &mut self.devices[device];
        if let Some(handle) = state.chunks.get(&base).and_then(|chunk| chunk.handle) {
            return Ok(handle);
        }
        match state.handles.mint(base) {
            Some(number) => {
                if let Some(chunk) = state.chunks.get_mut(&base) {
                    chunk.handle = Some(number);
                }
                Ok(number)
            }
            None => {
                self.drop_chunk(device, base);
                Err(Fail::errno(ENOENT))
            }
        }
    }

    /// Whether a chunk is a page of a contiguous scratchpad that was not allocated last.
    pub(super) fn is_out_of_order(&self, device: usize, chunk: &Chunk) -> bool {
        let Place::Hbm(hbm) = chunk.place else { return false };
        let cursor = self.devices[device].scratch[usize::from(hbm)];
        chunk.kind == mem_type::CONTIGUOUS_SCRATCHPAD && cursor != chunk.base
    }

    /// Frees a chunk, whoever owns it.
    pub(super) fn drop_chunk(&mut self, device: usize, base: u64) {
        let state = &mut self.devices[device];
        let Some(chunk) = state.chunks.remove(&base) else { return };
        if let Some(handle) = chunk.handle {
            state.handles.release(handle);
        }
        if chunk.kind == mem_type::CONTIGUOUS_SCRATCHPAD
            && let Place::Hbm(hbm) = chunk.place
        {
            // Out of order the driver adds the size all the same, and later places are wrong.
            state.scratch[usize::from(hbm)] += chunk.bytes;
        }
        if chunk.bytes >= self.config.forget_freed {
            self.devices[device].memory.forget(base, chunk.bytes);
        }
    }

    /// What the driver allocates for itself when it binds (§17.2). All of it is host memory.
    pub(super) fn reserve_own_chunks(&mut self, device: usize) {
        let cores = u32::from(map::cores(self.config.arch));
        let own = |driver: &mut Self, bytes: u64| {
            let ask =
                Ask { bytes, align: 0, place: Place::Host, nc: 0, kind: 5, tgid: 0, life: Life::Device };
            driver.make_chunk(device, &ask).unwrap_or(0)
        };
        own(self, 64 << 10);
        let dummy = own(self, PAGE);
        for _ in 0..cores {
            for bytes in [128 << 10, 128 << 10, PAGE] {
                own(self, bytes);
            }
        }
        for slot in 0..crate::abi::value::DATASTORES {
            self.devices[device].datastore_chunks[slot] = own(self, DATASTORE_BYTES);
        }
        self.devices[device].dummy_ring = dummy;
    }

    /// Fills an HBM with single-page chunks 256 pages apart in the small pool, and one that leaves no long
    /// run in the main pool (fault point 13).
    pub(super) fn fragment_hbm(&mut self, hbm: u8) {
        let (base, bytes) = self.config.hbm(hbm);
        let step = 256 * PAGE;
        let mut at = base + map::CARVE_OUT;
        while at < base + bytes {
            let chunk = Chunk {
                base: at,
                bytes: PAGE,
                place: Place::Hbm(hbm),
                nc: 0,
                kind: 13,
                tgid: super::point::BYSTANDERS,
                life: Life::Device,
                handle: None,
            };
            self.devices[0].chunks.entry(at).or_insert(chunk);
            at += step;
        }
    }
}
