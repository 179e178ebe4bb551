//! The accelerator behind the kernel driver: real `open`, `ioctl` and `mmap` calls (driver-abi.md).
//!
//! [`Neuron::open`] takes a device from its path to ready: version check, claim of cores, attach, reset, core
//! initialisation. The value then is a [`loader_core::device::Device`] and a
//! [`loader_core::device::QueueControl`]; dropping it frees every block in reverse order, closes the device and
//! gives the cores back. System calls go through [`Sys`], so the same code runs on the C library ([`Libc`]), on
//! bare instructions ([`Bare`]) and on the simulated driver.
//!
//! The kernel trusts its callers (§14), so everything is checked here first: sizes are never 0, ranges lie in
//! their blocks, rings fit their memory, cores and queues are those that were claimed.
//!
//! What the device must be: a node of the kernel driver, versions 2.24 to 2.30. Anything else answers the first
//! request with an error.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod bare_sys;
mod block;
mod device;
mod discover;
mod fault;
#[cfg(feature = "libc")]
mod libc_sys;
mod node;
mod open;
mod queue;
mod sys;
mod trace;
mod window;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use bare_sys::Bare;
pub use block::{Block, Blocks, Table};
pub use discover::{Found, Paths, Text, devices, driver_version};
pub use fault::Fault;
#[cfg(feature = "libc")]
pub use libc_sys::Libc;
pub use open::{INTERFACES, Identity, identify};
pub use sys::{Access, Errno, Fd, Sys};
pub use trace::{Line, Traced};
pub use window::Window;

use crate::map;
use crate::sim::Lock;
use core::cell::RefCell;
use core::marker::PhantomData;
use loader_core::arch::Arch;
use node::Node;

/// How a device is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// First physical core of the device.
    pub first_core: u16,
    /// Cores from there on; 0 takes all that follow.
    pub cores: u16,
    /// Claim them. Claims are advisory, but everybody's.
    pub claim: bool,
    /// Reset them and wait.
    pub reset: bool,
    /// Take them through their initialisation.
    pub initialise: bool,
    /// How often an election of a pod is asked about, a millisecond apart.
    pub patience: u32,
}

impl Options {
    /// All cores, claimed, reset, initialised; ten seconds for a pod.
    pub const ALL: Self =
        Self { first_core: 0, cores: 0, claim: true, reset: true, initialise: true, patience: 10_000 };

    /// What a load onto `count` cores from `core` on needs: all cores of the HBM groups that these belong to,
    /// because a scratchpad is its group's (staging.md §8.4). Cores that the device lacks are left out.
    #[must_use]
    pub fn covering(arch: Arch, core: u16, count: u16) -> Self {
        let all = map::cores(arch);
        let group = |core: u16| map::home_hbm(arch, core);
        let (mut first, mut last) =
            (core.min(all - 1), core.saturating_add(count.max(1)).min(all).max(1) - 1);
        last = last.max(first);
        while first > 0 && group(first - 1) == group(first) {
            first -= 1;
        }
        while last + 1 < all && group(last + 1) == group(last) {
            last += 1;
        }
        Self { first_core: first, cores: last + 1 - first, ..Self::ALL }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::ALL
    }
}

/// An accelerator that this process holds. See the module's page.
#[derive(Debug)]
pub struct Neuron<S: Sys + Copy, B: Blocks, L: Lock<Table<B>>> {
    dev: Node<S>,
    misc: Option<Node<S>>,
    identity: Identity,
    options: Options,
    table: L,
    blocks: PhantomData<fn(B)>,
}

/// A device for one thread, with a block table that the caller gives: for places without a heap.
pub type LocalNeuron<'t, S> = Neuron<S, &'t mut [Block], RefCell<Table<&'t mut [Block]>>>;

/// A device that several threads may stage onto.
#[cfg(feature = "std")]
pub type HostNeuron<S> = Neuron<S, std::vec::Vec<Block>, std::sync::Mutex<Table<std::vec::Vec<Block>>>>;

impl<S: Sys + Copy, B: Blocks, L: Lock<Table<B>>> Neuron<S, B, L> {
    fn assemble(
        dev: Node<S>,
        misc: Option<Node<S>>,
        identity: Identity,
        options: Options,
        blocks: B,
    ) -> Self {
        Self { dev, misc, identity, options, table: L::wrap(Table::new(blocks)), blocks: PhantomData }
    }

    /// Who the device is.
    #[must_use]
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How it was taken, with the real number of cores.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Blocks that are allocated now.
    #[must_use]
    pub fn live(&self) -> usize {
        self.table.with(|table| table.live())
    }

    /// Whether the driver has a feature (§5).
    #[must_use]
    pub const fn has(&self, feature: u64) -> bool {
        self.identity.features & feature != 0
    }
}

/// Blocks youngest first, then the device, then the cores: others must not get the cores while queues are still
/// being torn down (§10.5).
impl<S: Sys + Copy, B: Blocks, L: Lock<Table<B>>> Drop for Neuron<S, B, L> {
    fn drop(&mut self) {
        while let Some(block) = self.table.with(Table::pop) {
            let _ = self.free_driver(block.driver());
        }
        if let Some(handle) = self.table.with(|table| table.parking.take()) {
            let _ = self.free_driver(handle);
        }
        let Options { first_core, cores, claim, .. } = self.options;
        match &self.misc {
            Some(misc) => {
                self.dev.close();
                if claim {
                    misc.unclaim(first_core, cores);
                }
                misc.close();
            }
            None => {
                if claim {
                    self.dev.unclaim(first_core, cores);
                }
                self.dev.close();
            }
        }
    }
}
