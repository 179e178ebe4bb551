//! The image on bare metal: loads the file it carries onto the simulated device.

mod semihosting;
mod start;

pub use semihosting::exit;

use crate::{layout, memory, stack};
use core::fmt::Write;
use loader_core::arch::Arch;
use loader_core::error::Error;
use neffload_agent::{Refused, load, print};
use neuron_drivers::sim::{Config, Content, Fixed, LocalSim};
use semihosting::Out;

include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// From reset to an exit status.
fn main() -> i32 {
    // SAFETY: the linker script leaves all RAM behind the static memory to the stack, which is far more.
    let painted = unsafe { stack::paint(2 * layout::IMAGE_STACK) };
    let status = run();
    let _ = writeln!(Out, "stack {} of {}", painted.used(), layout::IMAGE_STACK);
    status
}

#[inline(never)]
fn run() -> i32 {
    crate::planted::plant();
    let Some(taken) = memory::take() else { return 2 };
    match load_carried(taken) {
        Ok(()) => 0,
        Err(refused) => {
            let _ = writeln!(Out, "{refused}");
            i32::try_from(refused.error.status().number()).unwrap_or(255).clamp(1, 255)
        }
    }
}

#[inline(never)]
fn load_carried(taken: memory::Taken) -> Result<(), Refused> {
    let memory::Taken { mut buffers, devices } = taken;
    let mut source = CARRIED;
    load(&mut source, &mut buffers, &layout::options(), |arch| open(arch, devices), |loaded| {
        let _ = print(&mut Out, loaded);
        let arch = loaded.device.config().arch;
        let _ = writeln!(Out, "device sim {arch}, hash {:#018x}", loaded.device.hash());
    })
}

/// Makes the simulated device where its memory is.
#[inline(never)]
fn open(arch: Arch, devices: memory::Devices) -> Result<&'static LocalSim<'static>, Error> {
    let flat = Config::flat(arch);
    let config = Config { cores: 8, content: Content::Digest, profile: layout::profile(), ..flat };
    Ok(devices.simulated.write(LocalSim::new(config, Fixed::new(devices.slots, &mut [], &mut []))))
}
