//! Closing, exiting, and what the kernel cleans up (driver-abi.md §2.5, §11).

use super::caller::{Caller, OpenId};
use super::device::Life;
use super::driver::Driver;
use super::memory::Memory;
use super::queue::Ring;
use super::trace::Kind;
use super::violation::What;
use crate::map;
use alloc::vec::Vec;

impl<M: Memory> Driver<M> {
    /// A descriptor number that refers to the file was closed. False: it waits for the process's own reset,
    /// ask again later.
    pub fn flush(&mut self, caller: Caller, open: OpenId) -> bool {
        let Some(&file) = self.opens.get(&open) else { return true };
        if file.flags.is_misc() {
            self.claims.iter_mut().filter(|owner| **owner == caller.tgid).for_each(|owner| *owner = 0);
        } else {
            match self.devices[file.device].attached(caller.tgid) {
                Some(1) => {
                    if self.reset_pending(file.device, caller.tgid) {
                        return false;
                    }
                    self.check_tidy(file.device, caller.tgid);
                    self.clean_up(file.device, caller.tgid);
                }
                Some(_) => self.lower_count(file.device, caller.tgid),
                None => {}
            }
        }
        self.record(caller, open.0, Kind::Flush, 0);
        true
    }

    /// The last reference to the file went.
    pub fn release(&mut self, open: OpenId) {
        let Some(file) = self.opens.remove(&open) else { return };
        if file.flags.is_misc() {
            return;
        }
        let device = &mut self.devices[file.device];
        device.open_count = device.open_count.saturating_sub(1);
        if device.open_count == 0 {
            device.datastores = Default::default();
        }
        self.record(Caller::process(0), open.0, Kind::Release, 0);
    }

    /// The process ended: flushes and releases what `files` lists, in order of descriptor numbers, once per
    /// number; a file is released if no number elsewhere refers to it any more (the flag).
    pub fn exit(&mut self, tgid: u32, files: &[(OpenId, bool)]) {
        let caller = Caller { killed: true, ..Caller::process(tgid) };
        for &(open, last) in files {
            while !self.flush(caller, open) {
                // The kernel sleeps in close until the reset is done; nobody can observe the process any more.
                let device = self.opens.get(&open).map_or(0, |file| file.device);
                self.tick(self.until_reset(device, tgid));
            }
            if last {
                self.release(open);
            }
        }
        self.sleeping.retain(|&(tid, _), _| tid != tgid);
        self.record(caller, 0, Kind::Exit, 0);
    }

    fn lower_count(&mut self, device: usize, tgid: u32) {
        if let Some(slot) = self.devices[device].attach.iter_mut().flatten().find(|slot| slot.tgid == tgid) {
            slot.count -= 1;
        }
    }

    /// Records what a tidy process would have given back before its last close.
    fn check_tidy(&mut self, device: usize, tgid: u32) {
        let state = &self.devices[device];
        let mapped = state.mappings.iter().any(|mapped| mapped.tgid == tgid);
        let chunks = state.chunks().any(|chunk| chunk.tgid == tgid && chunk.life == Life::Process);
        for (found, what) in [(mapped, What::ClosedWhileMapped), (chunks, What::ClosedWithChunks)] {
            if found {
                self.violate(tgid, 0, what);
            }
        }
    }

    /// Section 11, steps 1 to 8.
    fn clean_up(&mut self, device: usize, tgid: u32) {
        self.devices[device].resets.retain(|reset| reset.tgid != tgid);
        self.abandon_queues(device, tgid);
        for core in &mut self.devices[device].cores {
            core.lock.forget(tgid);
        }
        self.drop_datastore(device, tgid);
        let mine = |chunk: &&super::Chunk| chunk.tgid == tgid && chunk.life == Life::Process;
        let bases: Vec<u64> = self.devices[device].chunks().filter(mine).map(|chunk| chunk.base).collect();
        bases.into_iter().rev().for_each(|base| self.drop_chunk(device, base));
        let state = &mut self.devices[device];
        state.mappings.retain(|mapped| mapped.tgid != tgid);
        for slot in &mut state.attach {
            slot.take_if(|slot| slot.tgid == tgid);
        }
    }

    /// Points every queue that the process initialised last to the dummy ring.
    fn abandon_queues(&mut self, device: usize, tgid: u32) {
        let arch = self.config.arch;
        let state = &mut self.devices[device];
        let dummy = state.dummy_ring;
        for (at, engine) in (0u32..).zip(&mut state.engines) {
            for (number, queue) in (0u32..).zip(&mut engine.queues) {
                if queue.owner == tgid && !map::reserved_queue(arch, at, number) {
                    queue.owner = 0;
                    queue.tx = Ring::new(dummy, 64);
                    queue.rx = Ring::new(dummy, 64);
                }
            }
        }
    }
}
