//! Filling an HBM with one word (driver-abi.md §7.14).

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
        let memory = &mut self.device_mut().memory;
        memory.forget(base + map::CARVE_OUT, bytes - map::CARVE_OUT);
        if value != 0 {
            let block = value.to_le_bytes().repeat(16 << 10);
            let mut at = base + map::CARVE_OUT;
            while at < base + bytes {
                let now = block.len().min((base + bytes - at) as usize);
                memory.write(at, &block[..now]);
                at += now as u64;
            }
        }
        Ok(0)
    }
}
