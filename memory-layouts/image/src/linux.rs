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
use file::File;
use loader_core::arch::Arch;
use loader_core::device::Device;
use loader_core::error::{Error, Stage, Status};
use neffload_agent::{Options, Refused, Text, load, print};
use neuron_drivers::neuron::{Bare, LocalNeuron, Options as DeviceOptions, Paths};
use neuron_drivers::sim::{Config, Content, Plain, PlainSim};

/// Exit status of wrong usage and of a file that cannot be opened.
const USAGE: i32 = 2;

/// Exit status of a load whose report could not be written.
const UNHEARD: i32 = 1;

/// From the arguments to an exit status.
fn main(arguments: &[*const u8]) -> i32 {
    crate::planted::plant();
    // SAFETY: the arguments lie where the stack begins, and the kernel lets it grow to what the layout asks for; where
    // it does not, the image cannot run.
    let painted = unsafe { stack::paint(arguments.as_ptr().cast(), layout::IMAGE_STACK) };
    let status = run(arguments);
    say(1, |out| {
        out.text("stack ").count(painted.used()).text(" of ").count(layout::IMAGE_STACK).text("\n");
    });
    if status == 0 && !system::all_written() { UNHEARD } else { status }
}

/// Writes to a descriptor. What it does not take is lost, which the exit status tells.
fn say(fd: i32, write: impl FnOnce(&mut Text<'_>)) {
    write(&mut Text::new(&mut |piece: &[u8]| system::write(fd, piece)));
}

#[inline(never)]
fn run(arguments: &[*const u8]) -> i32 {
    let Some(arguments) = Arguments::read(arguments) else {
        system::write(2, b"usage: IMAGE FILE [--device sim|/dev/neuronN] [--core N] [--allow-opaque]\n");
        return USAGE;
    };
    let mut file = match File::open(arguments.file) {
        Ok(file) => file,
        Err(errno) => {
            say(2, |out| {
                out.text("the file cannot be opened: errno ").number(errno.unsigned_abs()).text("\n");
            });
            return USAGE;
        }
    };
    let mut options = layout::options();
    options.core = arguments.core;
    options.policy.allow_opaque = arguments.allow_opaque;
    match &load_onto(arguments.target, &mut file, &options) {
        Ok(()) => 0,
        Err(refused) => {
            say(1, |out| {
                refused.write(out);
                out.text("\n");
            });
            exit_status(refused.error.status())
        }
    }
}

/// The status number; a success that is none would be a mistake of ours.
fn exit_status(status: Status) -> i32 {
    i32::try_from(status.number()).unwrap_or(255).clamp(1, 255)
}

/// Loads the file onto the device and says what came of it.
#[allow(
    clippy::result_large_err,
    reason = "a refusal carries its names, and there is no heap to put them on"
)]
#[inline(never)]
fn load_onto(target: Target, file: &mut File, options: &Options) -> Result<(), Refused> {
    let taken = memory::take().ok_or_else(|| Error::internal(Stage::Guard, "memory"))?;
    let memory::Taken { mut buffers, devices } = taken;
    let simulated = Cell::new(None);
    load(
        file,
        &mut buffers,
        options,
        |arch| open(target, arch, devices, &simulated),
        |loaded| {
            say(1, |out| {
                print(out, loaded);
                let arch = loaded.device.arch().name();
                match (target, simulated.get()) {
                    (Target::Real(index), _) => {
                        out.text("device /dev/neuron").number(index).text(" ").text(arch).text("\n");
                    }
                    (_, Some(device)) => crate::hashed(out, arch, device.hash()),
                    (Target::Simulated, None) => {}
                }
            });
        },
    )
}

/// Makes the device for an architecture where its memory is; notes it if it is the simulated one.
#[inline(never)]
fn open(
    target: Target,
    arch: Arch,
    devices: memory::Devices,
    simulated: &Cell<Option<&'static PlainSim<'static>>>,
) -> Result<&'static dyn Device, Error> {
    match target {
        Target::Simulated => {
            let flat = Config::flat(arch);
            let config = Config { cores: 8, content: Content::Digest, profile: layout::profile(), ..flat };
            let storage = Plain::new(devices.slots);
            let device: &PlainSim<'_> = devices.simulated.write(PlainSim::new(config, storage));
            simulated.set(Some(device));
            Ok(device)
        }
        Target::Real(index) => {
            let device = LocalNeuron::open(Bare, &Paths::LINUX, index, DeviceOptions::ALL, devices.blocks)?;
            Ok(devices.real.write(device))
        }
    }
}
