//! The simulated accelerator: one deterministic state machine, usable without operating system and heap.
//!
//! A [`SimState`] is the machine itself (`&mut self` methods over a [`Storage`] that the caller gives);
//! a [`Sim`] wraps it in a lock of the caller's choice and implements [`loader_core::device::Device`]:
//! a `RefCell` for one thread, a `std::sync::Mutex` (feature `std`) for several.
//!
//! What it models (staging.md §7, §18.6): HBM regions per channel with the firmware reserve, first-fit
//! allocation with alignment, generation-checked handles, the usage ledger per core, fresh memory that
//! reads 0xCD and freed memory that reads 0xDD, on-chip windows, semaphore registers. Every operation
//! has a number, so a test can fail the k-th one for every k ([`Faults`]). [`SimState::audit`] checks
//! the invariants that concern the device alone; [`SimState::hash`] is one number for everything live.
//!
//! ```
//! use loader_core::arch::Arch;
//! use loader_core::device::{AllocSpec, CoreId, Device, Place, Usage};
//! use neuron_drivers::sim::{Config, Fixed, LocalSim, Slot};
//!
//! let mut slots = [Slot::EMPTY; 8];
//! let sim = LocalSim::new(Config::flat(Arch::Cayman), Fixed::new(&mut slots, &mut [], &mut []));
//! let before = sim.hash();
//! let spec = AllocSpec {
//!     core: CoreId(0), place: Place::Hbm(0), size: 100, align: 64, usage: Usage::Weight, tag: "w", contiguous: false,
//! };
//! let block = sim.alloc(&spec).unwrap();
//! assert_eq!(block.base.0, 0x100_0000);
//! sim.free(block.handle).unwrap();
//! assert_eq!(sim.hash(), before);
//! sim.audit().unwrap();
//! ```

mod audit;
mod config;
mod content;
mod digest;
mod event;
mod fault;
pub(crate) mod fit;
#[cfg(feature = "std")]
mod growing;
mod hint;
mod ledger;
mod lock;
mod queue;
mod region;
mod state;
mod storage;

pub use audit::Violation;
pub use config::{Config, Content, Profile};
pub use event::{Event, EventKind, Tag};
pub use fault::{Fault, Faults};
#[cfg(feature = "std")]
pub use growing::{Growing, HostSim};
pub use ledger::{Counters, Ledger, Row};
pub use lock::{LocalSim, Lock, Sim};
pub use state::{Live, SimState};
pub use storage::{Fixed, Frame, PAGE_BYTES, Page, Slot, Storage};

#[cfg(test)]
mod tests;
