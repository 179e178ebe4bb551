//! `memory --staged`: what the files take once they are loaded, together, into a simulated device.

use crate::output::Output;
use crate::trouble::Trouble;
use loader_core::arch::Arch;
use loader_core::device::Usage;
use loader_core::plan::{BreakdownLog, CoreView};
use loader_core::source::Source as _;
use loader_std::container::text;
use loader_std::environment;
use loader_std::file::Input;
use loader_std::loader::{PreparedResident, prepare_from};
use loader_std::memory::Page;
use loader_std::report::breakdowns_json;
use loader_std::{LoadError, LoadOptions, Loader, Memory};
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use serde_json::Value;
use std::path::Path;

/// What one file takes.
#[derive(Debug)]
pub(super) struct Staged {
    /// `breakdown[]` of the document.
    pub(super) breakdown: Value,
    /// The vendor's log lines of every core (staging.md §17.2).
    pub(super) log: String,
}

/// Devices with all files that were loaded so far: one per architecture.
#[derive(Debug)]
pub(super) struct Stager {
    options: LoadOptions,
    devices: Vec<(Arch, Loader<HostSim>)>,
}

impl Stager {
    /// Nothing loaded yet.
    pub(super) fn new(page: Page) -> Self {
        let policy = page.of_policy(environment::policy());
        Self { options: LoadOptions { policy, ..LoadOptions::default() }, devices: Vec::new() }
    }

    /// Loads a file; it stays loaded.
    pub(super) fn load(
        &mut self,
        file: &Path,
        output: &Output,
    ) -> Result<Result<Staged, LoadError>, Trouble> {
        let mut input = Input::open(file).map_err(Trouble::at(file))?;
        let options = self.options;
        let watch = output.watch("staging", input.len());
        Ok(Memory::enough(|memory| {
            self.place(prepare_from(&mut watch.source(&mut input), memory, &options)?)
        }))
    }

    fn place(&mut self, prepared: PreparedResident<'_>) -> Result<Staged, LoadError> {
        let loader = self.device(prepared.arch());
        let model = loader.place(prepared)?;
        let log = model.plan().cores().map(|core| log(&core, loader.device())).collect();
        let shared = |core| loader.usage(core).get(Usage::Scratchpad);
        let staged = Staged { breakdown: breakdowns_json(model.plan(), shared), log };
        let _ = model.keep();
        Ok(staged)
    }

    fn device(&mut self, arch: Arch) -> &Loader<HostSim> {
        let known = self.devices.iter().position(|device| device.0 == arch);
        let at = known.unwrap_or_else(|| {
            let config = Config { content: Content::Discard, ..Config::flat(arch) };
            self.devices.push((arch, Loader::new(HostSim::new(config, Growing::new(false)))));
            self.devices.len() - 1
        });
        &self.devices[at].1
    }
}

fn log(core: &CoreView<'_>, sim: &HostSim) -> String {
    let row = sim.ledger().core(core.core().0);
    let log = BreakdownLog {
        device: 0,
        core: core.core().0,
        core_total: row.total(),
        shared_scratchpad: row.get(Usage::Scratchpad),
        name: &text(core.model.name.as_bytes()),
        breakdown: core.breakdown(),
    };
    log.to_string()
}
