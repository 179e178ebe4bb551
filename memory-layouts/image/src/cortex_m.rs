//! The image on bare metal: loads the file it carries onto the simulated device.

mod semihosting;
mod start;

pub use semihosting::exit;

use crate::{layout, memory, stack};
use loader_core::arch::Arch;
use loader_core::error::Error;
use neffload_agent::{Refused, Text, load, print};
use neuron_drivers::sim::{Config, Content, Plain, PlainSim};

include!(concat!(env!("OUT_DIR"), "/carried.rs"));

/// From reset to an exit status.
fn main() -> i32 {
    // SAFETY: the linker script leaves at least that much RAM to the stack.
    let painted = unsafe { stack::paint(start::stack_top(), layout::IMAGE_STACK) };
    let status = run();
    say(|out| {
        out.text("stack ").count(painted.used()).text(" of ").count(layout::IMAGE_STACK).text("\n");
    });
    status
}

fn say(write: impl FnOnce(&mut Text<'_>)) {
    write(&mut Text::new(&mut semihosting::write));
}

#[inline(never)]
fn run() -> i32 {
    crate::planted::plant();
    let Some(taken) = memory::take() else { return 2 };
    match load_carried(taken) {
        Ok(()) => 0,
        Err(refused) => {
            say(|out| {
                refused.write(out);
                out.text("\n");
            });
            i32::try_from(refused.error.status().number()).unwrap_or(255).clamp(1, 255)
        }
    }
}

#[inline(never)]
fn load_carried(taken: memory::Taken) -> Result<(), Refused> {
    let memory::Taken { mut buffers, devices } = taken;
    let mut source = CARRIED;
    load(
        &mut source,
        &mut buffers,
        &layout::options(),
        |arch| open(arch, devices),
        |loaded| {
            say(|out| {
                print(out, loaded);
                crate::hashed(out, loaded.device.config().arch.name(), loaded.device.hash());
            });
        },
    )
}

/// Makes the simulated device where its memory is.
#[inline(never)]
fn open(arch: Arch, devices: memory::Devices) -> Result<&'static PlainSim<'static>, Error> {
    let flat = Config::flat(arch);
    let config = Config { cores: 8, content: Content::Digest, profile: layout::profile(), ..flat };
    Ok(devices.simulated.write(PlainSim::new(config, Plain::new(devices.slots))))
}
