//! `open`: lanes, the wait for a reset, attaching (driver-abi.md §2.2).

use super::Outcome;
use super::caller::{Caller, OpenFlags, OpenId};
use super::device::Attach;
use super::dispatch::Fail;
use super::driver::{Driver, Open};
use super::fault::When;
use super::memory::Memory;
use super::trace::Kind;
use crate::abi::errno::{EBUSY, EINTR, EINVAL, ENXIO};
use crate::abi::value::device_state;

impl<M: Memory> Driver<M> {
    /// `open` of `/dev/neuron{index}`.
    ///
    /// # Errors
    /// [`Outcome::Blocked`] while the device is being reset, or a negated errno as [`Outcome::Done`].
    pub fn open(&mut self, caller: Caller, index: u32, flags: OpenFlags) -> Result<OpenId, Outcome> {
        let reply = self.try_open(caller, index as usize, flags);
        let result = match reply {
            Err(Fail::Blocked) => return Err(Outcome::Blocked),
            Err(Fail::Raw(raw)) => raw,
            Err(Fail::Stop(why)) => return Err(Outcome::KernelStop(why)),
            Ok(_) => 0,
        };
        let id = reply.as_ref().map_or(0, |id| id.0);
        self.record(caller, id, Kind::Open { device: index, misc: flags.is_misc() }, result);
        reply.map_err(|_| Outcome::Done(result))
    }

    fn try_open(&mut self, caller: Caller, device: usize, flags: OpenFlags) -> Result<OpenId, Fail> {
        if device >= self.devices.len() {
            return Err(Fail::errno(ENXIO));
        }
        if let Some(raw) = self.inject(device, When::Event) {
            return Err(Fail::Raw(raw));
        }
        if !flags.is_misc() {
            if let Some(raw) = self.inject(device, When::Open) {
                return Err(Fail::Raw(raw));
            }
            self.attach(caller, device)?;
        }
        let id = OpenId(self.next_open);
        self.next_open += 1;
        self.opens.insert(id, Open { device, flags });
        Ok(id)
    }

    fn attach(&mut self, caller: Caller, device: usize) -> Result<(), Fail> {
        let device = &mut self.devices[device];
        match device.state {
            device_state::RESET if caller.killed => return Err(Fail::errno(EINTR)),
            device_state::RESET => return Err(Fail::Blocked),
            device_state::READY => {}
            _ => return Err(Fail::errno(EINVAL)),
        }
        if let Some(slot) = device.attach.iter_mut().flatten().find(|slot| slot.tgid == caller.tgid) {
            slot.count += 1;
        } else {
            let free = device.attach.iter_mut().find(|slot| slot.is_none()).ok_or(Fail::errno(EBUSY))?;
            *free = Some(Attach { tgid: caller.tgid, count: 1 });
        }
        device.open_count += 1;
        Ok(())
    }

    /// A descriptor of the file was duplicated. On the full lane that is a trap: closing either number counts.
    pub fn duplicated(&mut self, caller: Caller, open: OpenId) {
        if self.opens.get(&open).is_some_and(|file| !file.flags.is_misc()) {
            self.violate(caller.tgid, 0, super::violation::What::DuplicatedDescriptor);
        }
    }

    /// The device of an open file, and its access mode.
    pub fn opened(&self, open: OpenId) -> Option<(u32, OpenFlags)> {
        self.opens.get(&open).map(|file| (file.device as u32, file.flags))
    }
}
