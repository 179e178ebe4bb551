//! Loading and unloading, once or several times, on one device.

use super::document::{Loaded, Outcome};
use super::target::{self, Target};
use super::{Asked, LoadArguments};
use crate::files::{apart_from_dump, hold, once};
use crate::inspect::NoNames;
use crate::output::{Output, shown, verdict};
use crate::trouble::Trouble;
use loader_core::arch::Arch;
use loader_core::device::Usage;
use loader_core::error::{Error, Stage};
use loader_core::plan::record::STATE_READY;
use loader_core::source::Source;
use loader_std::dump::{clear, dump};
use loader_std::file::Input;
use loader_std::growing::is_full;
use loader_std::loader::{Prepared, StreamMemory, prepare, prepare_from, prepare_streamed};
use loader_std::needs::needs;
use loader_std::report::cores_json;
use loader_std::{LoadError, LoadOptions, Loader, Memory};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Loads the files as the arguments say and unloads them again. One outcome per file.
pub(super) fn run(arguments: &LoadArguments, output: &Output) -> Result<Vec<Outcome>, Trouble> {
    once(&arguments.files)?;
    let mut files = Vec::new();
    for (index, path) in arguments.files.iter().enumerate() {
        let folder = arguments.folder(index);
        if let Some(folder) = &folder {
            apart_from_dump(folder, &arguments.files)?;
        }
        let mut input = Input::open(path).map_err(Trouble::at(path))?;
        let pipe = matches!(input, Input::Pipe(_)) && arguments.max_memory.is_none();
        let held = if pipe { Some(hold(path, &mut input, output)?) } else { None };
        files.push(File { input, held, folder });
    }
    let options = arguments.asked.options();
    let mut rounds = Rounds { arguments, output, options, loader: None, before: 0, cleared: false };
    let outcomes = rounds.all(&mut files);
    rounds.trace();
    let outcomes = outcomes?;
    // Refused files have a report, too.
    rounds.clear()?;
    Ok(outcomes)
}

/// Makes the folders of a dump and takes out of them what an earlier one left.
fn clear_all(arguments: &LoadArguments) -> Result<(), Trouble> {
    for index in 0..arguments.files.len() {
        let Some(folder) = arguments.folder(index) else { return Ok(()) };
        fs::create_dir_all(&folder).map_err(Trouble::at(&folder))?;
        clear(&folder).map_err(Trouble::at(&folder))?;
    }
    arguments.dump.as_ref().map_or(Ok(()), |root| clear_others(root, arguments))
}

/// Takes away what an earlier dump of another number of files left in the folder: of one file in it, of several below.
fn clear_others(root: &Path, arguments: &LoadArguments) -> Result<(), Trouble> {
    let count = arguments.files.len();
    if count > 1 {
        apart_from_dump(root, &arguments.files)?;
        clear(root).map_err(Trouble::at(root))?;
    }
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let index = name.to_str().and_then(|name| name.parse::<usize>().ok());
        // A folder that a dump may have made: its name is a number as it writes one, and it is no link.
        let made = index.is_some_and(|index| name == *index.to_string() && (count == 1 || index >= count));
        if made && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let folder = entry.path();
            apart_from_dump(&folder, &arguments.files)?;
            clear(&folder).map_err(Trouble::at(&folder))?;
            // One with files of others in it stays.
            drop(fs::remove_dir(&folder));
        }
    }
    Ok(())
}

/// A file to load.
struct File {
    input: Input,
    /// What came through a pipe, unless it is read as a stream.
    held: Option<Vec<u8>>,
    /// Where a dump is still due.
    folder: Option<PathBuf>,
}

struct Rounds<'a> {
    arguments: &'a LoadArguments,
    output: &'a Output,
    options: LoadOptions,
    /// The device, once a file said which.
    loader: Option<Loader<Target>>,
    /// Its state with nothing loaded.
    before: u64,
    /// The folders of the dump are there, and empty of earlier ones.
    cleared: bool,
}

/// What a file came to in one round: the handle that unloads it, or its refusal. The outer error is the system's.
type Load = Result<Result<(u32, Loaded), LoadError>, Trouble>;

impl Rounds<'_> {
    /// Once there is something to dump: as long as nothing is, an earlier dump stays as it was.
    fn clear(&mut self) -> Result<(), Trouble> {
        if !std::mem::replace(&mut self.cleared, true) {
            clear_all(self.arguments)?;
        }
        Ok(())
    }

    /// Of every file the fastest of all rounds, or its first refusal.
    fn all(&mut self, files: &mut [File]) -> Result<Vec<Outcome>, Trouble> {
        let mut best = self.once(files)?;
        for _ in 1..self.arguments.repeat {
            if best.iter().any(|outcome| matches!(outcome, Outcome::Refused(_))) {
                break;
            }
            for (best, new) in best.iter_mut().zip(self.once(files)?) {
                best.improve(new);
            }
        }
        Ok(best)
    }

    /// Loads every file, then unloads all.
    fn once(&mut self, files: &mut [File]) -> Result<Vec<Outcome>, Trouble> {
        let (mut outcomes, mut handles) = (Vec::new(), Vec::new());
        for file in files {
            outcomes.push(match self.load(file)? {
                Ok((handle, loaded)) => {
                    handles.push(handle);
                    Outcome::Loaded(Box::new(loaded))
                }
                Err(refused) => Outcome::Refused(refused),
            });
        }
        if let Err(error) = self.unload(&handles) {
            self.blame(&mut outcomes, error);
        }
        Ok(outcomes)
    }

    /// What went wrong while everything was given back: the verdict if nothing went wrong before, else a remark.
    fn blame(&self, outcomes: &mut [Outcome], error: Error) {
        if outcomes.iter().any(|outcome| matches!(outcome, Outcome::Refused(_))) {
            let line = verdict::refusal_line(&error, &NoNames, self.output.style());
            return self.output.remark(format_args!("and then: {line}"));
        }
        outcomes.fill_with(|| Outcome::Refused(error.into()));
    }

    fn load(&mut self, file: &mut File) -> Load {
        let options = self.options;
        let File { input, held, folder } = file;
        let size = input.len().or(held.as_ref().map(|bytes| bytes.len() as u64));
        // A trace is printed meanwhile.
        let watch =
            if self.arguments.trace { Output::unwatched() } else { self.output.watch("loading", size) };
        let Some(most) = self.arguments.max_memory else {
            return settle(Memory::enough(|memory| match held {
                Some(bytes) => self.place(prepare(bytes, memory, &options)?, folder),
                None => self.place(prepare_from(&mut watch.source(input), memory, &options)?, folder),
            }));
        };
        let budget = usize::try_from(most).unwrap_or(usize::MAX);
        let placed = StreamMemory::enough(budget, |memory, _| {
            self.place(prepare_streamed(&mut watch.source(input), memory, &options)?, folder)
        });
        settle(placed.map_err(|refused| self.needing(refused, input, most)))
    }

    /// A load that lacked memory knows how much the step lacked that it came to. What all steps need is found by
    /// another load, onto a device of no consequence, if the file can be read again.
    fn needing(&self, refused: LoadError, input: &mut Input, most: u64) -> LoadError {
        let device = self.arguments.asked.device.simulated();
        let (Ok(device), true, Input::File(_)) = (device, is_full(&refused), &*input) else { return refused };
        let device = device.without_content();
        match needs(input, &self.options, |target| device.open(target, false)) {
            Ok((needs, _)) => refused.needing(needs.total() as u64, most),
            Err(_) => refused,
        }
    }

    /// The device for a file with that target and logical-core size. What further files need is not known yet, so for
    /// several it is all that follows.
    fn open(&self, target: Arch, lnc: u32) -> Result<Target, Error> {
        let Asked { device, core, .. } = &self.arguments.asked;
        let count = if self.arguments.files.len() == 1 { u16::try_from(lnc).ok() } else { None };
        device.open(target, *core, count.unwrap_or(u16::MAX), self.arguments.trace)
    }

    fn place<S: Source>(&mut self, prepared: Prepared<'_, S>, folder: &mut Option<PathBuf>) -> Placed {
        let lnc = prepared.lnc();
        if folder.is_some()
            && let Err(trouble) = self.clear()
        {
            return Ok(Err(trouble));
        }
        if self.loader.is_none() {
            if let Err(what) = self.arguments.asked.device.fits(prepared.arch()) {
                return Ok(Err(Trouble::Usage(format!("--device: {what}"))));
            }
            let device = self.open(prepared.arch(), lnc)?;
            self.before = device.state();
            self.loader = Some(Loader::new(device));
        }
        let Some(loader) = &self.loader else {
            return Err(Error::internal(Stage::Register, "no device").into());
        };
        let model = loader.place(prepared)?;
        let dumped = match folder.take() {
            Some(folder) => dump(model.plan(), loader.device(), &folder),
            None => Ok(()),
        };
        if self.arguments.trace {
            shown::complain(model.memory_log());
        }
        let ready = loader.acquire(model.h_nn())?.record().state.get() == STATE_READY;
        let loaded = Loaded {
            facts: model.facts().clone(),
            handles: (model.h_nn(), model.h_model()),
            state: if ready { "ready" } else { "loaded" },
            device: target::describe(loader.device(), self.arguments.asked.device.node()),
            lnc,
            cores: cores_json(model.plan(), |core| loader.usage(core).get(Usage::Scratchpad)),
        };
        let kept = (model.keep(), loaded);
        Ok(dumped.map(|()| kept).map_err(|error| Trouble::Usage(error.to_string())))
    }

    /// Unloads the models, the newest first; the device must then be as it was.
    fn unload(&self, handles: &[u32]) -> Result<(), Error> {
        let Some(loader) = &self.loader else { return Ok(()) };
        for &handle in handles.iter().rev() {
            loader.unload(handle, Duration::ZERO)?;
        }
        // Of a load that was refused as well: what it had taken went back before.
        if let Some(error) = loader.device().kept() {
            return Err(error);
        }
        if loader.device().state() != self.before {
            return Err(Error::internal(Stage::Register, "unload left something on the device"));
        }
        Ok(())
    }

    /// One line per operation of the device.
    fn trace(&self) {
        let Some(loader) = self.loader.as_ref().filter(|_| self.arguments.trace) else { return };
        target::print_operations(loader.device());
    }
}

/// As [`Load`], with the loader's error outside, where a load that lacks memory is tried again.
type Placed = Result<Result<(u32, Loaded), Trouble>, LoadError>;

fn settle(placed: Placed) -> Load {
    match placed {
        Ok(Ok(loaded)) => Ok(Ok(loaded)),
        Ok(Err(trouble)) => Err(trouble),
        Err(refused) => Ok(Err(refused)),
    }
}
