//! The simulated accelerator: one deterministic state machine, usable without operating system and heap.
//!
//! A [`SimState`] is the machine itself (`&mut self` methods over a [`Storage`] that the caller gives);
//! a [`Sim`] wraps it in a lock of the caller's choice and implements [`loader_core::device::Device`]:
//! a `RefCell` for one thread, a `std::sync::Mutex` (feature `std`) for several.
//!
//! It stands in for the real one under any loader, not only the one in this workspace: a loader that speaks
//! [`loader_core::device::Device`] is put on it, made to fail wherever it can fail, and judged.
//!
//! | what | how |
//! |---|---|
//! | memory | HBM regions per channel with the firmware reserve, first fit with alignment, host memory; profiles FLAT, FLAT_GUARD, DRIVER, NO_ALIGN, TINY ([`Profile`]) |
//! | content | kept in sparse pages that read 0xCD when fresh and 0xDD when dead, or as a digest, or discarded ([`Content`]) |
//! | handles | carry a generation: a stale or doubly freed one is refused and counted ([`Counters`]) |
//! | account | the usage ledger by core, usage and channel ([`Ledger`]) |
//! | failure | every allocation, write and read has a number; any of them, any free, and whatever else [`Fault`] says is made to fail |
//! | order | seeded delays bring the threads of a load in another order ([`Sim::set_delays`]) |
//! | log | one [`Event`] per operation, with its number |
//! | state | one number for everything live ([`Sim::hash`]) |
//!
//! # Judging a loader
//!
//! staging.md §18.6 lists twenty invariants ([`INVARIANTS`]). The device checks those about itself at any time
//! ([`Sim::audit`]: I1, I3 to I6, I8). For the others a loader says what it believes, as plain data ([`claim`]): blocks,
//! variables, contents, rings, programs with their position maps, pages. [`Sim::judge`] then compares that with the
//! device's memory and names the invariant that does not hold. A sweep over all fault points is four lines:
//!
//! ```
//! use loader_core::device::DeviceError;
//! use neuron_drivers::sim::{Claims, Fault, Faults, Lock, Sim, SimState, Storage, Violation};
//!
//! /// Operations of a load, every one of which failed once.
//! fn sweep<S: Storage, L: Lock<SimState<S>>>(
//!     sim: &Sim<S, L>,
//!     load: impl Fn(&Sim<S, L>) -> Result<(), DeviceError>,
//! ) -> Result<u64, Violation> {
//!     let before = sim.checkpoint();
//!     let mut k = 1;
//!     sim.set_faults(Faults::one(Fault::Operation(k)));
//!     while load(sim).is_err() {
//!         sim.judge_unchanged(&before)?; // I19
//!         sim.judge_idle(&Claims::default())?; // I20, and that no handle was misused
//!         k += 1;
//!         sim.set_faults(Faults::one(Fault::Operation(k)));
//!     }
//!     Ok(k - 1)
//! }
//! ```
//!
//! # Using the device
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
pub mod claim;
mod config;
mod content;
mod delay;
mod digest;
mod event;
mod fault;
pub(crate) mod fit;
#[cfg(feature = "std")]
mod growing;
mod index;
mod judge;
mod ledger;
mod lock;
mod queue;
mod region;
mod state;
mod storage;
mod violation;

pub use claim::Claims;
pub use config::{Config, Content, Profile};
pub use event::{Event, EventKind, Tag};
pub use fault::{Fault, Faults};
#[cfg(feature = "std")]
pub use growing::{Growing, HostSim};
pub use judge::Checkpoint;
pub use ledger::{Counters, Ledger, Row};
pub use lock::{LocalSim, Lock, PlainSim, Sim};
pub use state::{Live, SimState};
pub use storage::{Fixed, Frame, PAGE_BYTES, Page, Plain, Slot, Storage};
pub use violation::{INVARIANTS, Violation};

#[cfg(test)]
mod tests;
