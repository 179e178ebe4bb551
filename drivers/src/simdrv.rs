//! The simulated kernel driver: the character device's behaviour behind `open`, `ioctl`, `mmap` and `close`.
//!
//! One deterministic state machine (driver-abi.md §17): no clock, no threads, no input or output of its own.
//! Events go in, raw results and a trace come out. Time passes only by [`Driver::tick`]. The front ends in
//! the module `harness` (feature of that name) bring it to real system calls; tests may also call it directly.
//!
//! ```
//! use neuron_drivers::abi::{errno, request};
//! use neuron_drivers::simdrv::{Caller, Config, Driver, NoMemory, OpenFlags, Outcome, Pages};
//! use loader_core::arch::Arch;
//!
//! let mut driver = Driver::new(Config::new(Arch::Cayman), |_| Pages::default());
//! let me = Caller::process(100);
//! let fd = driver.open(me, 0, OpenFlags::ReadWrite).unwrap();
//! // Nothing of this caller can be read, so the driver reports how many bytes it did not get.
//! let outcome = driver.ioctl(me, fd, request::MEM_ALLOC_V2MT64, 0, &mut NoMemory);
//! assert_eq!(outcome, Outcome::Done(56));
//! ```

mod alloc_requests;
mod async_copy;
mod audit;
mod caller;
mod claim;
mod config;
mod copy;
mod datastore;
mod descriptor;
mod device;
mod dispatch;
mod driver;
mod execute;
mod fault;
mod handle;
mod identity;
mod initialise;
mod lifetime;
mod mapping;
mod memory;
mod misc;
mod modellock;
mod notify;
mod open;
mod place;
mod pod;
mod point;
mod program;
mod queue;
mod register;
mod reset;
mod scrub;
mod trace;
mod violation;

pub use audit::Books;
pub use caller::{Caller, NoMemory, OpenFlags, OpenId, Outcome, UserMemory};
pub use config::{Completion, Config, Pod, Strictness, Version};
pub use device::{Chunk, DeviceState, Life};
pub use driver::Driver;
pub use fault::{Action, Rule, Script, When};
pub use handle::Handles;
pub use mapping::{Mapped, Plan};
pub use memory::{Memory, Pages};
pub use point::FaultPoint;
pub use trace::{Entry, Kind};
pub use violation::{Violation, What};

#[cfg(test)]
mod tests;
