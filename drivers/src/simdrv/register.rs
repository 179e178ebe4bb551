//! Semaphores and events, by request and through the mapping (driver-abi.md §7.9, §17.3).

use super::device::DeviceState;
use super::dispatch::{Call, Reply, fail};
use super::driver::Driver;
use super::memory::Memory;
use crate::abi::errno::{E2BIG, EINVAL};
use crate::abi::record::{Event, Semaphore};
use crate::abi::request as req;
use crate::abi::value::SEMAPHORES;
use crate::map::{self, EVENT_BASE, SEMAPHORE_REGISTERS};
use alloc::vec::Vec;
use loader_core::arch::Arch;

/// What a store to a register window does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    Set(usize),
    Increment(usize),
    Decrement(usize),
    Event(usize),
}

/// The register at a distance from a core's window, if a 4-byte store there does something.
pub(super) fn register_at(distance: u64) -> Option<Register> {
    let at = distance.checked_sub(EVENT_BASE)?;
    let index = |base: u64| {
        let word = at.checked_sub(base)? / 4;
        (word < u64::from(SEMAPHORES) && at % 4 == 0).then_some(word as usize)
    };
    let [_, set, increment, decrement] = SEMAPHORE_REGISTERS;
    index(increment)
        .map(Register::Increment)
        .or_else(|| index(set).map(Register::Set))
        .or_else(|| index(decrement).map(Register::Decrement))
        .or_else(|| index(0).map(Register::Event))
}

impl<M: Memory> DeviceState<M> {
    /// A store to a register of a core; the readable register follows in both places where it can be seen.
    pub(super) fn store_register(&mut self, arch: Arch, core: usize, register: Register, value: u32) {
        let state = &mut self.cores[core];
        let (index, now) = match register {
            Register::Event(index) => {
                state.events[index] = value;
                return;
            }
            Register::Set(index) => (index, value as i32),
            Register::Increment(index) => (index, state.semaphores[index].wrapping_add(value as i32)),
            Register::Decrement(index) => (index, state.semaphores[index].wrapping_sub(value as i32)),
        };
        state.semaphores[index] = now;
        let at = EVENT_BASE + SEMAPHORE_REGISTERS[0] + 4 * index as u64;
        for base in [map::core_base(arch, core as u16), map::core_cookie(arch, core as u16)] {
            self.memory.write(base + at, &now.to_le_bytes());
        }
    }
}

impl<M: Memory> Driver<M> {
    /// Picks up what was stored through mapped semaphore windows. A 0 in the set register is not seen.
    pub(super) fn collect_registers(&mut self, device: usize) {
        let arch = self.config.arch;
        let state = &mut self.devices[device];
        for core in 0..state.cores.len() {
            let window = map::core_cookie(arch, core as u16) + EVENT_BASE;
            if !state.mappings.iter().any(|mapped| mapped.offset == window) {
                continue;
            }
            for (at, register) in stores(&state.memory, window) {
                let mut word = [0u8; 4];
                state.memory.read(window + at, &mut word);
                state.memory.write(window + at, &[0; 4]);
                state.store_register(arch, core, register, u32::from_le_bytes(word));
            }
        }
    }
}

/// Distances of the words in the set, increment and decrement registers that are not zero.
fn stores<M: Memory>(memory: &M, window: u64) -> Vec<(u64, Register)> {
    let mut found = Vec::new();
    for base in &SEMAPHORE_REGISTERS[1..] {
        let mut words = [0u8; 4 * SEMAPHORES as usize];
        memory.read(window + base, &mut words);
        let (words, _) = words.as_chunks::<4>();
        for (at, _) in (0u64..).zip(words).filter(|(_, word)| **word != [0; 4]) {
            let distance = base + 4 * at;
            found.extend(register_at(EVENT_BASE + distance).map(|register| (distance, register)));
        }
    }
    found
}

impl<M: Memory> Call<'_, M> {
    pub(super) fn semaphore(&mut self) -> Reply {
        let mut raw: Semaphore = self.arg()?;
        let core = raw.nc_id.get();
        if core as usize >= self.device().cores.len() {
            return fail(E2BIG);
        }
        // Indices are cut to 16 bits before anything looks at them.
        let index = (raw.semaphore_index.get() & 0xFFFF) as usize;
        if index >= SEMAPHORES as usize {
            return fail(EINVAL);
        }
        self.claimed(core)?;
        let register = match self.request {
            req::SEMAPHORE_READ => {
                let value = self.device().cores[core as usize].semaphores[index];
                raw.value.set(value as u32);
                return self.put(&raw);
            }
            req::SEMAPHORE_INCREMENT => Register::Increment(index),
            req::SEMAPHORE_DECREMENT => Register::Decrement(index),
            _ => Register::Set(index),
        };
        let arch = self.driver.config.arch;
        self.device_mut().store_register(arch, core as usize, register, raw.value.get());
        Ok(0)
    }

    pub(super) fn event(&mut self) -> Reply {
        let mut raw: Event = self.arg()?;
        let index = (raw.event_index.get() & 0xFFFF) as usize;
        if index > SEMAPHORES as usize {
            return fail(EINVAL);
        }
        // The core is not checked, only cut to 8 bits; one that does not exist has no register here.
        let core = (raw.nc_id.get() & 0xFF) as usize;
        let value = raw.value.get();
        let set = self.request == req::EVENT_SET;
        match self.device_mut().cores.get_mut(core).map(|state| &mut state.events[index]) {
            Some(event) if set => *event = value,
            Some(event) => raw.value.set(*event),
            None => {}
        }
        if set { Ok(0) } else { self.put(&raw) }
    }
}
