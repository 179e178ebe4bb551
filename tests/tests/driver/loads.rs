//! Whole loads on the simulated driver.

use loader_core::arch::Arch;
use loader_core::error::Error;
use loader_core::policy::Policy;
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::fixture;
use neuron_drivers::harness::{Direct, Options, Shared};
use neuron_drivers::neuron::{self, HostNeuron, Paths, Sys};
use neuron_drivers::simdrv::{Config, Entry, Kind};
use std::cell::RefCell;

/// Host memory of a load of a fixture.
const ARENA: usize = 8 << 20;

thread_local! {
    static MEMORY: RefCell<Memory> = const { RefCell::new(Memory::with_arena(ARENA)) };
}

/// The fixture for an architecture.
pub(crate) fn fixture_for(arch: Arch) -> Vec<u8> {
    let name = match arch {
        Arch::Sunda => "sunda-1core",
        Arch::Cayman => "cayman-2core",
        Arch::Mariana => "mariana-gather",
    };
    std::fs::read(fixture(name)).unwrap()
}

/// Options of a load that may put slots onto the device that are not translated: nothing runs them here.
pub(crate) fn untranslated() -> LoadOptions {
    LoadOptions { policy: Policy { allow_opaque: true, ..Policy::DEFAULT }, ..LoadOptions::default() }
}

/// Opens device 0, loads a file on cores from `first` on, unloads it, closes the device.
pub(crate) fn load_and_unload<S: Sys + Copy + Sync>(
    sys: S,
    file: &[u8],
    options: neuron::Options,
) -> Result<(), Error> {
    load_and_unload_at(sys, &Paths::LINUX, 0, file, options)
}

/// As [`load_and_unload`], on any device.
pub(crate) fn load_and_unload_at<S: Sys + Copy + Sync>(
    sys: S,
    paths: &Paths<'_>,
    index: u32,
    file: &[u8],
    options: neuron::Options,
) -> Result<(), Error> {
    let device: HostNeuron<S> = HostNeuron::open(sys, paths, index, options, Vec::new())?;
    let loader = Loader::new(device);
    let load = LoadOptions { core: options.first_core, threads: 1, ..untranslated() };
    MEMORY.with_borrow_mut(|memory| {
        loader.load(file, memory, &load).map(drop).map_err(|refused| *refused.error())
    })
}

/// A host of that configuration and one process on it.
pub(crate) fn process(config: Config, tgid: u32) -> (Shared, Direct) {
    let shared = Shared::new(config).unwrap();
    let direct = Direct::new(&shared, &Options::default(), tgid);
    (shared, direct)
}

/// The events of a trace as lines. Repeated lines, and repeated pairs of lines, are counted.
pub(crate) fn lines(trace: &[Entry]) -> String {
    let line = |entry: &Entry| match entry.result {
        0 => entry.name().to_owned(),
        raw => format!("{} = {raw}", entry.name()),
    };
    let lines: Vec<String> = trace.iter().map(line).collect();
    let mut out = String::new();
    let mut at = 0;
    while at < lines.len() {
        let repeats = |width: usize| {
            let unit = lines.get(at..at + width)?;
            Some((width, lines[at..].chunks(width).take_while(|part| *part == unit).count()))
        };
        let single = repeats(1).unwrap_or((1, 1));
        let (width, count) = repeats(2).filter(|(_, count)| single.1 == 1 && *count > 1).unwrap_or(single);
        let unit = lines[at..at + width].join(" + ");
        out += &if count == 1 { format!("{unit}\n") } else { format!("{unit} ×{count}\n") };
        at += width * count;
    }
    out
}

/// Names of requests in a trace.
pub(crate) fn requests(trace: &[Entry]) -> Vec<&'static str> {
    trace.iter().filter(|entry| matches!(entry.kind, Kind::Ioctl { .. })).map(Entry::name).collect()
}
