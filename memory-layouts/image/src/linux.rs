//! The image as a static Linux binary: `IMAGE FILE [--device sim|/dev/neuronN] [--allow-opaque] [--core N]`.

mod arguments;
mod device;
mod file;
mod functions;
mod start;
mod system;

pub use system::exit;

use crate::{layout, memory, stack};
use arguments::{Arguments, Target};
use core::fmt::Write;
use device::Either;
use file::File;
use loader_core::arch::Arch;
use loader_core::device::Device;
use loader_core::error::{Error, Status};
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
    let Some(taken) = memory::take() else { return USAGE };
    let mut options = layout::options();
    options.core = arguments.core;
    if let Target::Real(_) = arguments.target {
        options.policy.strict = !arguments.allow_opaque;
    }
    let outcome = load_onto(arguments.target, &mut file, taken, &options);
    match outcome {
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
fn load_onto(
    target: Target,
    file: &mut File,
    mut taken: memory::Taken,
    options: &Options,
) -> Result<(), Refused> {
    let memory::Taken { buffers, slots, blocks } = &mut taken;
    let open = once(|arch: Arch| match target {
        Target::Simulated => {
            let flat = Config::flat(arch);
            let config = Config { cores: 8, content: Content::Digest, profile: layout::profile(), ..flat };
            Ok(Either::Simulated(LocalSim::new(config, Fixed::new(slots, &mut [], &mut []))))
        }
        Target::Real(index) => {
            LocalNeuron::open(Bare, &Paths::LINUX, index, DeviceOptions::ALL, &mut **blocks).map(Either::Real)
        }
    });
    load(file, buffers, options, open, |loaded| {
        let _ = print(&mut Out(1), loaded);
        let arch = loaded.device.arch();
        let _ = match (loaded.device, target) {
            (Either::Simulated(sim), _) => writeln!(Out(1), "device sim {arch}, hash {:#018x}", sim.hash()),
            (_, Target::Real(index)) => writeln!(Out(1), "device /dev/neuron{index} {arch}"),
            (Either::Real(_), Target::Simulated) => Ok(()),
        };
    })
}

/// Says that a closure that opens a device runs once, so that it may give away what it captured.
fn once<D>(open: impl FnOnce(Arch) -> Result<D, Error>) -> impl FnOnce(Arch) -> Result<D, Error> {
    open
}
