//! The five verbs of `loader-core`, one after the other, on a simulated device.

use super::LoadArguments;
use super::document::{Loaded, Outcome, Peak, Refused, Times, nanos};
use crate::inspect::NoNames;
use crate::output::{Output, verdict};
use crate::trouble::Trouble;
use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::container::{
    Container, Header, HeaderView, KEEP_BYTES, Resident, Streamed, guard, scan, unpack,
};
use loader_core::device::CoreId;
use loader_core::error::{Error, NoteList, Stage};
use loader_core::limits::Limits;
use loader_core::lower::lower;
use loader_core::manifest;
use loader_core::plan::pages::{Page, PageTable};
use loader_core::plan::record::LoadParams;
use loader_core::plan::{Plan, Request, place};
use loader_core::policy::Policy;
use loader_core::source::{MemberNames, Payload, Source};
use loader_core::stage::{SCRATCH_BYTES, stage, unload};
use loader_std::container::VecStore;
use loader_std::dump::dump;
use loader_std::file::{Buffers, Input};
use loader_std::growing::{is_full, with_arena};
use loader_std::inspect::warnings_json;
use loader_std::loader::fill;
use loader_std::report::cores_json;
use neuron_drivers::sim::HostSim;
use std::fs;
use std::time::Instant;

/// Remarks that are kept.
const MOST_NOTES: usize = 64;
/// Scratchpad pages of a device at most (staging.md §8.4).
const MOST_PAGES: usize = 1024;

type Notes = NoteList<MOST_NOTES>;

/// Loads the file as the arguments say and unloads it again.
pub(super) fn run(arguments: &LoadArguments, output: &Output) -> Result<Outcome, Trouble> {
    if let Some(folder) = &arguments.dump {
        fs::create_dir_all(folder).map_err(Trouble::at(folder))?;
    }
    let mut best: Option<Box<Loaded>> = None;
    for round in 0..arguments.repeat.max(1) {
        match once(arguments, output, round == 0)? {
            Outcome::Loaded(loaded) => {
                if best.as_ref().is_none_or(|best| loaded.times.total < best.times.total) {
                    best = Some(loaded);
                }
            }
            refused @ Outcome::Refused(_) => return Ok(refused),
        }
    }
    best.map(Outcome::Loaded).ok_or_else(|| Trouble::Usage("nothing was loaded".to_owned()))
}

fn once(arguments: &LoadArguments, output: &Output, first: bool) -> Result<Outcome, Trouble> {
    let mut input = Input::open(&arguments.file).map_err(Trouble::at(&arguments.file))?;
    let load = Load { arguments, policy: arguments.policy(), limits: Limits::DEFAULT, first };
    let mut buffers = Buffers::new();
    match arguments.max_memory {
        Some(most) => load.streamed(&mut input, &mut buffers, most),
        None => {
            let file = read(arguments, &mut input, output)?;
            load.resident(&file, &mut buffers)
        }
    }
}

/// The whole file in memory.
fn read(arguments: &LoadArguments, input: &mut Input, output: &Output) -> Result<Vec<u8>, Trouble> {
    let mut progress = output.progress("reading", input.len());
    let mut bytes = Vec::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        let count = input
            .read_at(bytes.len() as u64, &mut piece)
            .map_err(|error| Trouble::Usage(format!("{}: {error}", arguments.file.display())))?;
        if count == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&piece[..count]);
        progress.set(bytes.len() as u64);
    }
}

/// What stays the same through a load.
struct Load<'a> {
    arguments: &'a LoadArguments,
    policy: Policy,
    limits: Limits,
    /// The first of several rounds, the one that dumps and traces.
    first: bool,
}

/// Measures the steps.
struct Clock {
    last: Instant,
    start: Instant,
    times: Times,
    step: usize,
}

impl Clock {
    fn new() -> Self {
        let now = Instant::now();
        let steps = Times::STEPS.map(|name| (name, 0));
        Self { last: now, start: now, times: Times { steps, total: 0 }, step: 0 }
    }

    /// The present step is over.
    fn lap(&mut self) {
        let now = Instant::now();
        if let Some((_, nanoseconds)) = self.times.steps.get_mut(self.step) {
            *nanoseconds = nanos(now - self.last);
        }
        self.step += 1;
        self.last = now;
        self.times.total = nanos(now - self.start);
    }
}

/// A refusal before there is a table of names.
fn refused(error: &Error, names: &impl MemberNames, header: Option<Header>, notes: &Notes) -> Outcome {
    Outcome::Refused(Box::new(Refused {
        verdict: verdict::refused(error, names),
        header,
        warnings: warnings_json(notes.kept()),
    }))
}

impl Load<'_> {
    fn resident(&self, file: &[u8], buffers: &mut Buffers) -> Result<Outcome, Trouble> {
        let header = HeaderView::of(file).map(Header::parse);
        let outcome = with_arena(|arena| {
            let mut clock = Clock::new();
            let mut notes = Notes::new();
            if let Err(error) = guard::buffer(Some(file)).and_then(|header| guard::lnc(&header, &self.policy))
            {
                return Ok(Ok(refused(&error, &NoNames, header, &notes)));
            }
            clock.lap();
            let mut store = VecStore::new();
            let work = buffers.workspace();
            let container =
                unpack(&mut &file[..], work, &mut store, arena, &self.limits, &self.policy, &mut notes)?;
            clock.lap();
            let bytes = store.into_bytes();
            let payload = bytes.len() as u64;
            let resident = Resident::new(container, &bytes);
            self.rest(&container, resident, Fill::Threads(resident), arena, payload, clock, notes)
        });
        outcome.unwrap_or_else(|error| Ok(refused(&error, &NoNames, header, &Notes::new())))
    }

    fn streamed(&self, input: &mut Input, buffers: &mut Buffers, most: u64) -> Result<Outcome, Trouble> {
        let mut clock = Clock::new();
        let mut notes = Notes::new();
        let fixed = (Buffers::INPUT + SCRATCH_BYTES) as u64;
        let room = usize::try_from(most.saturating_sub(fixed)).unwrap_or(usize::MAX);
        let mut memory = vec![0; room];
        clock.lap();
        let made = Arena::new(&mut memory).map_err(|full| Error::arena(Stage::Unpack, full));
        let mut arena = match made {
            Ok(arena) => arena,
            Err(error) => return Ok(refused(&error, &NoNames, None, &notes)),
        };
        let scanned =
            scan(input, buffers.workspace(), KEEP_BYTES, &mut arena, &self.limits, &self.policy, &mut notes);
        let payload = scanned.and_then(|container| {
            guard::lnc(&container.header, &self.policy)?;
            Streamed::new(input, buffers.workspace(), container, &self.limits)
        });
        match payload {
            Ok(payload) => {
                clock.lap();
                let container = *payload.container();
                let done = self.rest(&container, payload, Fill::Here, &mut arena, 0, clock, notes);
                done.unwrap_or_else(|error| {
                    Ok(refused(&error, &container.table, Some(container.header), &Notes::new()))
                })
            }
            Err(error) => Ok(refused(&error, &NoNames, None, &notes)),
        }
    }

    /// S2 to S5. The outer error is an arena that was too small.
    #[allow(clippy::too_many_arguments, reason = "the state of a load between its first and its second half")]
    fn rest<'m, P: Payload<'m>>(
        &self,
        container: &Container<'m>,
        mut payload: P,
        way: Fill<'_, 'm>,
        arena: &mut Arena<'m>,
        payload_bytes: u64,
        mut clock: Clock,
        mut notes: Notes,
    ) -> Result<Result<Outcome, Trouble>, Error> {
        let header = container.header;
        let outcome = self.built(container, &mut payload, &way, arena, &mut clock, &mut notes);
        match outcome {
            Ok(Ok((cores, config))) => Ok(Ok(Outcome::Loaded(Box::new(Loaded {
                header,
                config,
                policy: self.policy,
                lnc: self.lnc(&header),
                cores,
                times: clock.times,
                passes: payload.passes(),
                streamed: matches!(way, Fill::Here),
                peak: Peak { arena: arena.high_water() as u64, payload: payload_bytes },
                warnings: warnings_json(notes.kept()),
                digest_order: container.digest.order.map(|order| order.name()),
            })))),
            Ok(Err(trouble)) => Ok(Err(trouble)),
            Err(error) if is_full(&error) && matches!(way, Fill::Threads(_)) => Err(error),
            Err(error) => Ok(Ok(refused(&error, &container.table, Some(header), &notes))),
        }
    }

    fn built<'m, P: Payload<'m>>(
        &self,
        container: &Container<'m>,
        payload: &mut P,
        way: &Fill<'_, 'm>,
        arena: &mut Arena<'m>,
        clock: &mut Clock,
        notes: &mut Notes,
    ) -> Result<Result<(serde_json::Value, neuron_drivers::sim::Config), Trouble>, Error> {
        let (limits, policy) = (&self.limits, &self.policy);
        let manifest = manifest::parse(payload, arena, limits, policy, notes)?;
        clock.lap();
        let kbins = lower(payload, &manifest, arena, limits, policy, notes)?;
        clock.lap();
        let target = manifest.kelf().arch().unwrap_or(Arch::Sunda);
        let device = self.arguments.device.open(target, self.arguments.trace && self.first);
        let mut slots: Vec<Option<Page>> = vec![None; MOST_PAGES];
        let mut pages = PageTable::new(&mut slots);
        let request = self.request(container, &device);
        let before = device.hash();
        let plan = place(payload, &kbins, &device, &request, &mut pages, arena)?;
        clock.lap();
        let filled = way.run(payload, &plan, &device, policy, self.arguments.threads);
        clock.lap();
        clock.lap();
        let cores = cores_json(&plan);
        let dumped = match (&self.arguments.dump, &filled) {
            (Some(folder), Ok(())) if self.first => dump(&plan, &device, folder),
            _ => Ok(()),
        };
        self.trace(&device);
        unload(&plan, &device, &mut pages);
        filled?;
        if device.hash() != before {
            return Err(Error::internal(Stage::Register, "unload left something on the device"));
        }
        Ok(dumped.map(|()| (cores, *device.config())).map_err(|error| Trouble::Usage(error.to_string())))
    }

    /// Physical cores of the logical core: the host's, else the file's, where 0 means 1 (R24).
    fn lnc(&self, header: &Header) -> u32 {
        self.policy.lnc.unwrap_or(header.lnc_size).max(1)
    }

    fn request<'a>(&'a self, container: &'a Container<'_>, device: &HostSim) -> Request<'a> {
        let policy = &self.policy;
        let params = LoadParams {
            verified: policy.verify_digest.into(),
            contiguous: policy.contiguous_scratchpad.into(),
            page_size: policy.page_size.into(),
            ..LoadParams::default()
        };
        Request {
            name: container.header.name.as_bytes(),
            core: CoreId(self.arguments.core),
            vcore_size: u16::try_from(self.lnc(&container.header)).unwrap_or(u16::MAX),
            h_model: 1,
            params,
            owned: (0, device.config().cores),
            policy,
            limits: &self.limits,
        }
    }

    /// One line per operation of the device.
    fn trace(&self, device: &HostSim) {
        if self.arguments.trace && self.first {
            device.with(|state| {
                for event in state.events() {
                    eprintln!("{event}");
                }
            });
        }
    }
}

/// How cores are filled.
#[allow(clippy::large_enum_variant, reason = "one lives at a time")]
enum Fill<'a, 'm> {
    /// In one pass on this thread.
    Here,
    /// On threads of their own, each reading the resident payload.
    Threads(Resident<'a, 'm>),
}

impl<'m> Fill<'_, 'm> {
    fn run<P: Payload<'m>>(
        &self,
        payload: &mut P,
        plan: &Plan<'m>,
        device: &HostSim,
        policy: &Policy,
        threads: Option<usize>,
    ) -> Result<(), Error> {
        match self {
            Self::Threads(resident) => fill(*resident, plan, device, policy, threads.unwrap_or(0)),
            Self::Here => stage(payload, plan, device, policy, &mut vec![0; SCRATCH_BYTES]),
        }
    }
}
