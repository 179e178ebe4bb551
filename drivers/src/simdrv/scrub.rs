//! Filling an HBM with one word (driver-abi.md §7.14).

use super::device::DeviceState;
use super::dispatch::{Call, Reply, fail};
use super::memory::Memory;
use super::queue::Ring;
use super::violation::What;
use crate::abi::errno::EPERM;
use crate::abi::record::{HbmScrubStart, HbmScrubWait};
use crate::map;
use loader_core::arch::Arch;
use loader_core::device::Place;

/// The host-connected engines of an HBM (§9.4).
fn engines(arch: Arch, hbm: u32) -> impl Iterator<Item = usize> {
    let (first, step) = if arch == Arch::Sunda { (16 * hbm, 1) } else { (32 * hbm + 4, 8) };
    (0..16u32).map(move |at| (if step == 1 { first + at } else { first + at / 4 * 8 + at % 4 }) as usize)
}

impl<M: Memory> Call<'_, M> {
    pub(super) fn scrub_start(&mut self) -> Reply {
        let raw: HbmScrubStart = self.arg()?;
        let (hbm, arch) = (raw.hbm_index.get(), self.driver.config.arch);
        if hbm >= u32::from(map::hbms(arch)) {
            return fail(EPERM);
        }
        if self.device().chunks().any(|chunk| chunk.place == Place::Hbm(hbm as u8)) {
            self.violation(What::ScrubOverChunks)?;
        }
        let tgid = self.caller.tgid;
        let state = self.device_mut();
        state.scrubs[hbm as usize] = Some(raw.init_val.get());
        for at in engines(arch, hbm) {
            let queue = &mut state.engines[at].queues[0];
            queue.owner = tgid;
            (queue.tx, queue.rx) = (Ring::default(), Ring::default());
        }
        Ok(0)
    }

    pub(super) fn scrub_wait(&mut self) -> Reply {
        let raw: HbmScrubWait = self.arg()?;
        let hbm = raw.hbm_index.get();
        let state = self.device_mut();
        let Some(value) = state.scrubs.get_mut(hbm as usize).and_then(Option::take) else {
            return fail(EPERM);
        };
        let (base, bytes) = self.driver.config.hbm(hbm as u8);
        let (first, end) = (base + map::CARVE_OUT, base + bytes);
        let state = self.device_mut();
        state.memory.forget(first, end - first);
        state.fresh.retain(|range| range.0 < first || range.0 >= end);
        if value != 0 {
            state.fresh.push((first, end, value));
            // What is allocated is filled at once, the rest when it is.
            let live: alloc::vec::Vec<(u64, u64)> =
                state.chunks.range(first..end).map(|(&at, chunk)| (at, at + chunk.bytes)).collect();
            live.into_iter().for_each(|(from, to)| state.settle_scrub(from, to));
        }
        Ok(0)
    }
}

impl<M: Memory> DeviceState<M> {
    /// Fills what is still fresh of a range.
    pub(super) fn settle_scrub(&mut self, from: u64, to: u64) {
        let touched = |range: &(u64, u64, u32)| range.0 < to && from < range.1;
        while let Some(at) = self.fresh.iter().position(touched) {
            let (first, end, word) = self.fresh.swap_remove(at);
            let (from, to) = (from.max(first), to.min(end));
            self.fresh
                .extend([(first, from, word), (to, end, word)].iter().filter(|range| range.0 < range.1));
            let block = word.to_le_bytes().repeat(16 << 10);
            let mut at = from;
            while at < to {
                let now = block.len().min((to - at) as usize);
                self.memory.write(at, &block[..now]);
                at += now as u64;
            }
        }
    }
}
