//! The image as a static Linux binary: `IMAGE FILE [--device sim|/dev/neuronN] [--allow-opaque] [--core N]`.

mod arguments;
mod file;
mod functions;
mod start;
mod system;

pub use system::exit;

use crate::{layout, memory, stack};
use arguments::{Arguments, Target};
use core::cell::Cell;
use core::fmt::Write;
use file::File;
use loader_core::arch::Arch;
use loader_core::device::Device;
use loader_core::error::{Error, Stage, Status};
use neffload_agent::{Options, Refused, load, print};
use neuron_drivers::neuron::{Bare, LocalNeuron, Options as DeviceOptions, Paths};
use neuron_drivers::sim::{Config, Content, Fixed, LocalSim};
use system::Out;

/// Exit status of wrong usage and of a file that cannot be opened.
const USAGE: i32 = 2;

/// From the arguments to an exit status.
fn main(arguments: &[*const u8]) -> i32 {
    crate::planted::plant();
    // SAFETY: the kernel gives a new process a stack of megabytes, and nothing below this frame is in use.
    let painted = unsafe { stack::paint(2 * layout::IMAGE_STACK) };
    let status = run(arguments);
    let _ = writeln!(Out(1), "stack {} of {}", painted.used(), layout::IMAGE_STACK);
    status
}

#[inline(never)]
fn run(arguments: &[*const u8]) -> i32 {
    let Some(arguments) = Arguments::read(arguments) else {
        let _ =
            Out(2).write_str("usage: IMAGE FILE [--device sim|/dev/neuronN] [--core N] [--allow-opaque]\n");
        return USAGE;
    };
    let mut file = match File::open(arguments.file) {
        Ok(file) => file,
        Err(errno) => {
            let _ = writeln!(Out(2), "the file cannot be opened: errno {errno}");
            return USAGE;
        }
    };
    let mut options = layout::options();
    options.core = arguments.core;
    options.policy.allow_opaque = arguments.allow_opaque;
    match &load_onto(arguments.target, &mut file, &options) {
        Ok(()) => 0,
        Err(refused) => {
            let _ = writeln!(Out(1), "{refused}");
            exit_status(refused.error.status())
        }
    }
}

/// The status number; a success that is none would be a mistake of ours.
fn exit_status(status: Status) -> i32 {
    i32::try_from(status.number()).unwrap_or(255).clamp(1, 255)
}

/// Loads the file onto the device and says what came of it.
#[inline(never)]
fn load_onto(target: Target, file: &mut File, options: &Options) -> Result<(), Refused> {
    let taken = memory::take().ok_or_else(|| Error::internal(Stage::Guard, "memory"))?;
    let memory::Taken { mut buffers, devices } = taken;
    let simulated = Cell::new(None);
    load(file, &mut buffers, options, |arch| open(target, arch, devices, &simulated), |loaded| {
        let _ = print(&mut Out(1), loaded);
        let arch = loaded.device.arch();
        let _ = match (target, simulated.get()) {
            (Target::Real(index), _) => writeln!(Out(1), "device /dev/neuron{index} {arch}"),
            (_, Some(hash)) => writeln!(Out(1), "device sim {arch}, hash {:#018x}", hash.hash()),
            (Target::Simulated, None) => Ok(()),
        };
    })
}

/// Makes the device for an architecture where its memory is; notes it if it is the simulated one.
#[inline(never)]
fn open(
    target: Target,
    arch: Arch,
    devices: memory::Devices,
    simulated: &Cell<Option<&'static LocalSim<'static>>>,
) -> Result<&'static dyn Device, Error> {
    match target {
        Target::Simulated => {
            let flat = Config::flat(arch);
            let config = Config { cores: 8, content: Content::Digest, profile: layout::profile(), ..flat };
            let storage = Fixed::new(devices.slots, &mut [], &mut []);
            let device: &LocalSim<'_> = devices.simulated.write(LocalSim::new(config, storage));
            simulated.set(Some(device));
            Ok(device)
        }
        Target::Real(index) => {
            let device = LocalNeuron::open(Bare, &Paths::LINUX, index, DeviceOptions::ALL, devices.blocks)?;
            Ok(devices.real.write(device))
        }
    }
}
