//! The device that a command line or the environment names: a simulated one, or a node of the kernel driver.
//!
//! [`Name`] is what the text says, [`Taken`] a device of either kind. A device that was taken remembers the blocks that
//! it did not take back, because whoever gives memory back has nobody to tell: [`Taken::kept`].

mod name;
mod taken;

pub use name::{MOST_CORES, Name, Node, Sim};
pub use taken::{Held, Taken};
