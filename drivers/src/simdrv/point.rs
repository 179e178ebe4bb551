//! The 36 numbered fault points (driver-abi.md §18).

use super::driver::Driver;
use super::fault::{Action, Rule, When};
use super::memory::Memory;
use crate::abi::errno::{EBUSY, EINVAL, EIO, EPERM};
use crate::abi::value::{ATTACH_SLOTS, device_state};
use crate::map;

/// A fault point by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultPoint(u8);

/// Where the process ids of made-up bystanders begin.
pub(super) const BYSTANDERS: u32 = 0x4000_0000;

impl FaultPoint {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (1..=36).map(Self)
    }

    /// FI`number`, 1 to 36.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 36 { Some(Self(number)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Whether somebody outside the driver must act it out: a signal (29), a kill (30), a second process (31).
    #[must_use]
    pub const fn is_external(self) -> bool {
        matches!(self.0, 29..=31)
    }

    /// The rule that a script needs, for points that concern single calls; `nth` counts from 1.
    #[must_use]
    pub const fn rule(self, nth: u64) -> Option<Rule> {
        let (when, action) = match self.0 {
            3 => (When::Open, Action::Return(-(crate::abi::errno::EINTR as i64))),
            5 => (When::Request(110), Action::Return(-(EINVAL as i64))),
            7 => (When::Request(103), Action::Return(1)),
            8 => (When::Request(104), Action::ResetFails),
            9 => (When::AllocDevice, Action::OutOfMemory),
            10 => (When::AllocHost, Action::OutOfMemory),
            11 => (When::AllocDevice, Action::HandlesDown),
            12 => (When::AllocDevice, Action::StoreFault),
            14 => (When::AllocScratch, Action::OutOfMemory),
            15 => (When::Request(25), Action::StoreFault),
            16 => (When::Request(24), Action::UserFaultAfter(1)),
            17 => (When::Dma, Action::Timeout(1)),
            18 => (When::Dma, Action::TimeoutInReset(1)),
            19 => (When::Dma, Action::FlipBit(1)),
            20 => (When::Request(43), Action::Return(-(EIO as i64))),
            21 => (When::Request(38), Action::RefuseBlock(1)),
            22 => (When::Request(133), Action::BatchEntry(1, EINVAL)),
            23 => (When::Request(33), Action::Return(-(EPERM as i64))),
            24 => (When::Request(35), Action::Return(-(EPERM as i64))),
            25 => (When::Request(53), Action::Return(-(crate::abi::errno::ENOMEM as i64))),
            26 => (When::Mmap, Action::Return(-(EPERM as i64))),
            27 => (When::Event, Action::ResetByOther),
            28 => (When::Event, Action::Invalidate),
            33 => (When::Request(122), Action::Return(-(EBUSY as i64))),
            34 => (When::Descriptor, Action::BusError),
            35 => (When::Request(91), Action::InitialiserHangs),
            36 => (When::Event, Action::Return(17)),
            _ => return None,
        };
        Some(Rule { when, nth, action })
    }
}

impl<M: Memory> Driver<M> {
    /// Arms a fault point: a rule for its `nth` call, or a state of the host. External ones do nothing here.
    pub fn arm(&mut self, point: FaultPoint, nth: u64) {
        if let Some(rule) = point.rule(nth) {
            self.faults.add(rule);
            return;
        }
        match point.0 {
            1 => self.crowd(ATTACH_SLOTS as u32),
            2 => self.devices[0].state = device_state::INVALID,
            4 => self.config.compat = (90, 99),
            6 => self.claims[..usize::from(map::cores(self.config.arch))].fill(BYSTANDERS),
            13 => self.fragment(),
            32 => self.config.old_forms_only = true,
            _ => {}
        }
    }

    /// Undoes a fault point as whoever is responsible would, once the processes under test have ended: bystanders
    /// go away, the operator resets the device or loads the module anew.
    pub fn disarm(&mut self, point: FaultPoint) {
        self.faults.clear();
        match point.0 {
            1 => self.dismiss(),
            2 | 28 => self.devices[0].state = device_state::READY,
            4 => self.config.compat = map::compat(self.config.arch),
            6 => self.claims.iter_mut().filter(|owner| **owner == BYSTANDERS).for_each(|owner| *owner = 0),
            11 => self.devices[0].handles.switch_on(),
            13 => self.devices[0].chunks.retain(|_, chunk| chunk.tgid != BYSTANDERS),
            32 => self.config.old_forms_only = false,
            _ => {}
        }
    }

    /// Ends the made-up processes, which have the only open files.
    fn dismiss(&mut self) {
        let opens: alloc::vec::Vec<_> = self.opens.keys().copied().collect();
        for (tgid, open) in (BYSTANDERS..).zip(opens) {
            self.exit(tgid, &[(open, true)]);
        }
    }

    /// Attaches made-up processes to device 0.
    pub fn crowd(&mut self, processes: u32) {
        for at in 0..processes {
            let opened = self.open(super::Caller::process(BYSTANDERS + at), 0, super::OpenFlags::ReadWrite);
            debug_assert!(opened.is_ok() || self.devices[0].attach_slots() == ATTACH_SLOTS);
        }
    }

    /// Leaves plenty of memory on every HBM of device 0, but no run longer than 256 pages.
    fn fragment(&mut self) {
        for hbm in 0..map::hbms(self.config.arch) {
            self.fragment_hbm(hbm);
        }
    }
}
