//! The cases on a device that is there: `NEFFLOAD_DEVICE=/dev/neuron0`.
//!
//! Every case runs in a process of its own, one at a time, so that its end takes away what it held. A case that
//! looks into the simulated driver stops where it does; a case that needs another host than this one, or that would
//! harm the driver, is not begun. All of that is said on standard error.

use crate::rig::{Rig, skipped};
use neuron_drivers::abi::value::feature;
use neuron_drivers::harness::Options;
use neuron_drivers::neuron::{Identity, Libc, Paths, identify};
use neuron_drivers::simdrv::{Config, Version};
use std::cell::Cell;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Names the device.
const DEVICE: &str = "NEFFLOAD_DEVICE";
/// Set in the process of one case.
const ONE_CASE: &str = "NEFFLOAD_ONE_CASE";

/// Cases that a real driver must not see, and why.
const HARMFUL: [(&str, &str); 17] = [
    ("driver_c9", "the core would stay claimed until the module is loaded anew"),
    ("driver_e13", "the contiguous scratchpad would be freed in any order"),
    ("driver_e14", "the contiguous scratchpad would be freed in any order"),
    ("driver_e20", "the kernel would stop"),
    ("driver_e23", "a handle that is free again could name another process's memory"),
    ("driver_e24", "another process's memory would be freed"),
    ("driver_f14", "the contiguous scratchpad would be freed in any order"),
    ("driver_g4", "memory outside the chunk would be overwritten"),
    ("driver_g6", "memory outside the chunk would be overwritten"),
    ("driver_g8", "memory outside the buffer would be read"),
    ("driver_h1", "an engine's memory would be overwritten"),
    ("driver_h2", "an engine's memory would be overwritten"),
    ("driver_h7", "a semaphore that is not ours would be changed"),
    ("driver_j6", "a queue would run at address 0"),
    ("driver_j13", "a DMA engine would abort"),
    ("driver_l5", "memory of another process would be mapped"),
    ("driver_l9", "the kernel would stop"),
];

/// The device that the environment names.
pub(crate) struct Device {
    folder: String,
    index: u32,
}

pub(crate) fn device() -> Option<Device> {
    let path = std::env::var(DEVICE).ok()?;
    let (folder, name) = path.rsplit_once('/').unwrap();
    let index = name.strip_prefix("neuron").unwrap().parse().unwrap();
    Some(Device { folder: folder.to_owned(), index })
}

/// True, with a reason printed, if the suite runs on a real device: for cases that need the simulator as a whole.
pub(crate) fn is_in_use(case: &str) -> bool {
    let used = device().is_some();
    if used {
        skipped(case, "needs the simulated driver");
    }
    used
}

impl Device {
    pub(crate) fn paths(&self) -> Paths<'_> {
        Paths { device_dir: &self.folder, ..Paths::LINUX }
    }

    pub(crate) const fn index(&self) -> u32 {
        self.index
    }

    pub(crate) fn identity(&self) -> Identity {
        identify(Libc, &self.paths(), self.index).unwrap()
    }
}

/// Ends a case that looks into the simulator.
struct NeedsSimulator;

pub(crate) fn needs_simulator() -> ! {
    resume_unwind(Box::new(NeedsSimulator))
}

thread_local! {
    /// The test of this thread was run in its process.
    static DONE: Cell<bool> = const { Cell::new(false) };
}

/// Runs a case on the device.
pub(crate) fn case_on(device: &Device, config: &Config, options: &Options, body: impl Fn(&Rig)) {
    let thread = std::thread::current();
    let name = thread.name().filter(|name| name.contains("driver_"));
    let name = name.expect("the name of the case: run without --test-threads=1, cases take turns anyway");
    if std::env::var_os(ONE_CASE).is_none() {
        if !DONE.replace(true) {
            in_its_own_process(name);
        }
        return;
    }
    let case = name.rsplit("::").next().unwrap_or(name);
    if let Some((_, why)) = HARMFUL.iter().find(|(harmful, _)| *harmful == case) {
        return skipped(case, why);
    }
    if let Some(why) = other_host(&device.identity(), config, options) {
        return skipped(case, why);
    }
    let rig = Rig::real(&device.folder, device.index);
    match catch_unwind(AssertUnwindSafe(|| body(&rig))) {
        Err(end) if end.is::<NeedsSimulator>() => {
            skipped(case, "ends where it looks into the simulated driver")
        }
        Err(failure) => resume_unwind(failure),
        Ok(()) => {}
    }
}

fn in_its_own_process(name: &str) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", name, "--nocapture"]).env(ONE_CASE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let mut out = std::io::stderr().lock();
    said.lines().filter(|line| line.contains("skipped")).for_each(|line| writeln!(out, "{line}").unwrap());
    drop(out);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stdout));
}

/// Why a case is for another host than this one.
fn other_host(identity: &Identity, config: &Config, options: &Options) -> Option<&'static str> {
    if identity.arch != config.arch {
        return Some("for another architecture");
    }
    let modern = identity.features & feature::ALLOC_PA != 0;
    if modern != config.version.modern() || (config.version == Version::V2_27) != is_middle(identity) {
        return Some("for another driver version");
    }
    let usual = *config == Config::with_version(config.arch, config.version);
    let plain = !options.rawio && options.pace == Options::default().pace;
    (!usual || !plain).then_some("for a host that is set up for it")
}

/// Drivers between the baseline and the modern ones have zero copy.
fn is_middle(identity: &Identity) -> bool {
    identity.features & feature::ALLOC_PA == 0 && identity.features & feature::ZEROCOPY != 0
}
