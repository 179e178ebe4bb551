//! Loading and unloading, once or several times, on one simulated device.

use super::LoadArguments;
use super::document::{Loaded, Outcome};
use crate::files::hold;
use crate::output::Output;
use crate::trouble::Trouble;
use loader_core::error::{Error, Stage};
use loader_core::plan::record::STATE_READY;
use loader_core::source::Source;
use loader_std::dump::dump;
use loader_std::file::Input;
use loader_std::loader::{Prepared, StreamMemory, prepare, prepare_streamed};
use loader_std::report::cores_json;
use loader_std::{LoadError, LoadOptions, Loader, Memory};
use neuron_drivers::sim::HostSim;
use std::fs;
use std::time::Duration;

/// Loads the file as the arguments say and unloads it again.
pub(super) fn run(arguments: &LoadArguments, output: &Output) -> Result<Outcome, Trouble> {
    if let Some(folder) = &arguments.dump {
        fs::create_dir_all(folder).map_err(Trouble::at(folder))?;
    }
    let mut input = arguments.asked.open()?;
    let file = match arguments.max_memory {
        Some(_) => Vec::new(),
        None => hold(&arguments.asked.file, &mut input, output)?,
    };
    let options = arguments.asked.options();
    let mut rounds = Rounds { arguments, options, loader: None, dump: arguments.dump.is_some() };
    let outcome = rounds.all(&file, &mut input);
    rounds.trace();
    outcome
}

/// Ends a round: loaded or not, the outer error is the loader's and the inner one the system's.
type Round = Result<Result<Box<Loaded>, Trouble>, LoadError>;

struct Rounds<'a> {
    arguments: &'a LoadArguments,
    options: LoadOptions,
    /// The device, once a file said which.
    loader: Option<Loader<HostSim>>,
    /// A dump is due.
    dump: bool,
}

impl Rounds<'_> {
    /// The fastest of all rounds, or the first refusal.
    fn all(&mut self, file: &[u8], input: &mut Input) -> Result<Outcome, Trouble> {
        let mut best = self.once(file, input);
        for _ in 1..self.arguments.repeat {
            let Ok(Ok(fastest)) = best else { break };
            best = match self.once(file, input) {
                Ok(Ok(loaded)) if loaded.facts.times.total >= fastest.facts.times.total => Ok(Ok(fastest)),
                other => other,
            };
        }
        match best {
            Ok(loaded) => loaded.map(Outcome::Loaded),
            Err(refused) => Ok(Outcome::Refused(refused)),
        }
    }

    fn once(&mut self, file: &[u8], input: &mut Input) -> Round {
        let options = self.options;
        let Some(most) = self.arguments.max_memory else {
            return Memory::enough(|memory| self.round(prepare(file, memory, &options)?));
        };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        StreamMemory::enough(most, |memory, _| self.round(prepare_streamed(input, memory, &options)?))
    }

    fn round<S: Source>(&mut self, prepared: Prepared<'_, S>) -> Round {
        let lnc = prepared.lnc();
        let spec = &self.arguments.asked.device;
        let open = || Loader::new(spec.open(prepared.arch(), self.arguments.trace));
        let loader = self.loader.get_or_insert_with(open);
        let before = loader.device().hash();
        let model = loader.place(prepared)?;
        let dumped = match &self.arguments.dump {
            Some(folder) if self.dump => dump(model.plan(), loader.device(), folder),
            _ => Ok(()),
        };
        self.dump = false;
        if self.arguments.trace {
            eprint!("{}", model.memory_log());
        }
        let ready = loader.acquire(model.h_nn())?.record().state.get() == STATE_READY;
        let loaded = Loaded {
            facts: model.facts().clone(),
            handles: (model.h_nn(), model.h_model()),
            state: if ready { "ready" } else { "loaded" },
            config: *loader.device().config(),
            policy: self.options.policy,
            lnc,
            cores: cores_json(model.plan()),
        };
        model.unload(Duration::ZERO)?;
        if loader.device().hash() != before {
            return Err(Error::internal(Stage::Register, "unload left something on the device").into());
        }
        Ok(dumped.map(|()| Box::new(loaded)).map_err(|error| Trouble::Usage(error.to_string())))
    }

    /// One line per operation of the device.
    fn trace(&self) {
        let Some(loader) = self.loader.as_ref().filter(|_| self.arguments.trace) else { return };
        loader.device().with(|state| {
            for event in state.events() {
                eprintln!("{event}");
            }
        });
    }
}
