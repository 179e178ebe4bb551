//! Datastores: one page set of counters per process (driver-abi.md §7.12).

use super::dispatch::{Call, Reply, fail};
use super::driver::Driver;
use super::memory::Memory;
use crate::abi::errno::{ENOENT, ENOMEM};
use crate::abi::record::NeuronDsInfo;
use crate::abi::value::DATASTORE_BYTES;

impl<M: Memory> Driver<M> {
    /// Zeroes and frees the datastore of a process.
    pub(super) fn drop_datastore(&mut self, device: usize, tgid: u32) {
        let state = &mut self.devices[device];
        for (slot, base) in state.datastores.iter_mut().zip(state.datastore_chunks) {
            if *slot == Some(tgid) {
                *slot = None;
                state.memory.forget(base, DATASTORE_BYTES);
            }
        }
    }
}

impl<M: Memory> Call<'_, M> {
    pub(super) fn acquire_datastore(&mut self) -> Reply {
        let mut raw: NeuronDsInfo = self.arg()?;
        let pid = raw.pid.get().cast_unsigned();
        let wanted = if pid == 0 { self.caller.tgid } else { pid };
        let state = self.device_mut();
        let found = state.datastores.iter().position(|slot| *slot == Some(wanted));
        let at = match (found, pid) {
            (Some(at), _) => at,
            (None, 0) => {
                let Some(free) = state.datastores.iter().position(Option::is_none) else {
                    return fail(ENOMEM);
                };
                state.datastores[free] = Some(wanted);
                let base = state.datastore_chunks[free];
                state.memory.write(base, &[b'n', b'd', b's', 0, 1, 0, 0, 0]);
                free
            }
            (None, _) => return fail(ENOENT),
        };
        let base = state.datastore_chunks[at];
        raw.mmap_offset.set(base);
        raw.size.set(DATASTORE_BYTES as u32);
        self.put(&raw)
    }

    pub(super) fn release_datastore(&mut self) -> Reply {
        let raw: NeuronDsInfo = self.arg()?;
        let tgid = self.caller.tgid;
        if matches!(raw.pid.get().cast_unsigned(), pid if pid == 0 || pid == tgid) {
            self.driver.drop_datastore(self.open.device, tgid);
        }
        Ok(0)
    }
}
