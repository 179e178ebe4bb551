//! The stages that need no device: S0 to S3.

use super::facts::{Clock, Facts, LoadTimes, Usage};
use super::io::Io;
use super::shared::Parse;
use super::usage::CoreMemory;
use super::{LoadError, LoadOptions, Memory, StreamMemory};
use crate::cache::Role;
use crate::container::{Remarks, Survey, VecStore};
use crate::file::Buffers;
use crate::members::Whole;
use crate::sidecars;
use loader_core::arch::{Arch, Engine};
use loader_core::arena::Arena;
use loader_core::container::{
    Container, HEADER_BYTES, Header, HeaderView, KEEP_BYTES, Resident, Streamed, guard, scan, unpack,
};
use loader_core::error::{Error, Notes, Stage, StageCode};
use loader_core::lower::{Kbins, lower};
use loader_core::manifest;
use loader_core::plan::Plan;
use loader_core::source::{MemberId, MemberNames, Payload, Source};
use loader_core::stage::register::fold_uuid;
use std::borrow::Cow;
use std::sync::Arc;

/// The file's members, as a load holds them.
#[derive(Debug)]
pub(super) enum Held<'m, S: Source> {
    /// In memory, which may be the caller's.
    Resident(Cow<'m, [u8]>),
    /// In memory that other loads may share.
    Shared(Arc<Parse>),
    /// In the file; and the scratch that fills cores.
    Streamed(Box<Streamed<'m, 'm, S>>, &'m mut [u8]),
}

/// A file that was read, checked and lowered, and waits for a device: [`super::Loader::place`].
#[derive(Debug)]
pub struct Prepared<'m, S: Source> {
    pub(super) work: Work<'m>,
    pub(super) container: Container<'m>,
    pub(super) kbins: Kbins<'m>,
    pub(super) held: Held<'m, S>,
    pub(super) io: Io,
    pub(super) mac_count: Option<u64>,
    pub(super) arch: Arch,
}

/// A prepared file that is held in memory.
pub type PreparedResident<'m> = Prepared<'m, &'static [u8]>;

/// What S2 and S3 give.
struct Lowered<'m> {
    kbins: Kbins<'m>,
    io: Io,
    arch: Arch,
}

/// What goes through all stages.
#[derive(Debug)]
pub(super) struct Work<'m> {
    pub(super) options: LoadOptions,
    pub(super) arena: Arena<'m>,
    pub(super) clock: Clock,
    notes: Remarks,
    usage: Vec<Usage>,
}

impl<'m> Work<'m> {
    /// The work of a load that shares a parse: what was remarked and used by then is its own, too.
    pub(super) fn resumed(
        memory: &'m mut [u8],
        options: &LoadOptions,
        clock: Clock,
        (notes, usage): (&[Error], &[Usage]),
    ) -> Result<Self, Error> {
        let mut work = Self::new(memory, options, clock)?;
        notes.iter().for_each(|&note| work.note(note));
        work.usage = usage.to_vec();
        Ok(work)
    }

    /// Remarks, arena in use and times so far.
    pub(super) fn into_parts(self) -> (Vec<Error>, Vec<Usage>, LoadTimes) {
        (self.notes.kept().to_vec(), self.usage, self.clock.times())
    }

    fn new(memory: &'m mut [u8], options: &LoadOptions, clock: Clock) -> Result<Self, Error> {
        let arena = Arena::new(memory).map_err(|full| Error::arena(Stage::Unpack, full))?;
        Ok(Self { options: *options, arena, clock, notes: Remarks::new(), usage: Vec::new() })
    }

    pub(super) fn used(&mut self, stage: &'static str) {
        self.usage.push(Usage::of(&self.arena, stage));
    }

    /// Where remarks go.
    pub(super) fn notes(&mut self) -> &mut Remarks {
        &mut self.notes
    }

    /// Takes a remark.
    pub(super) fn note(&mut self, note: Error) {
        self.notes.note(note);
    }

    /// Remarks on engines whose position map was too long to keep.
    pub(super) fn lost_positions(&mut self, plan: &Plan<'_>) {
        for (index, core) in (0u8..).zip(plan.cores()) {
            let lost = |engine: &Engine| core.positions_lost(*engine);
            for engine in Engine::ALL.into_iter().filter(lost) {
                let lost = Error::new(Stage::Plan, StageCode::PositionsLost).subgraph(index);
                let most = u64::from(self.options.limits.position_entries);
                self.note(lost.name(engine.key().as_bytes()).numbers(most, 0));
            }
        }
    }

    pub(super) fn refused(&self, error: Error, header: Option<Header>) -> LoadError {
        LoadError::new(error, header, self.notes.kept())
    }

    /// The count of operations in the statistics member, with remarks on what no load needs.
    fn mac_count<P: Payload<'m>>(&mut self, payload: &P) -> Option<u64> {
        if let Some(note) = sidecars::info(payload, &self.options.limits) {
            self.note(note);
        }
        sidecars::statistics(payload, &self.options.limits).map_err(|note| self.note(note)).ok()
    }

    /// S2 and S3.
    fn read<P: Payload<'m>>(&mut self, payload: &mut P, header: &Header) -> Result<Lowered<'m>, Error> {
        let policy = self.options.policy.of_file(header.lnc_size);
        let Self { options: LoadOptions { limits, .. }, arena, notes, .. } = self;
        let manifest = manifest::parse(payload, arena, limits, &policy, notes)?;
        self.clock.lap(|times| &mut times.manifest);
        self.used("manifest");
        let Self { options: LoadOptions { limits, .. }, arena, notes, .. } = self;
        let kbins = lower(payload, &manifest, arena, limits, &policy, notes)?;
        self.clock.lap(|times| &mut times.lower);
        self.used("lower");
        // What has no architecture was refused, unless the policy is that of a tool.
        let arch = manifest.kelf().arch().unwrap_or(Arch::Sunda);
        Ok(Lowered { kbins, io: Io::of(&manifest.io())?, arch })
    }
}

/// Prepares a file that is in memory.
///
/// # Errors
/// The first refusal of S0 to S3.
pub fn prepare<'m>(
    mut file: &[u8],
    memory: &'m mut Memory,
    options: &LoadOptions,
) -> Result<PreparedResident<'m>, LoadError> {
    prepare_from(&mut file, memory, options)
}

/// Prepares a file that can be read anywhere: its members are held in memory, the file itself is not.
///
/// # Errors
/// The first refusal of S0 to S3; [`loader_core::error::ContainerCode::NotSeekable`] for a pipe.
pub fn prepare_from<'m, S: Source>(
    source: &mut S,
    memory: &'m mut Memory,
    options: &LoadOptions,
) -> Result<PreparedResident<'m>, LoadError> {
    let mut clock = Clock::new();
    let start = start_of(source)?;
    let found = HeaderView::of(&start).map(Header::parse);
    let early = |error| LoadError::new(error, found, &[]);
    let size = source.len().unwrap_or(start.len() as u64);
    let header = guard::preflight(HeaderView::of(&start), size).map_err(early)?;
    guard::lnc(&header, &options.policy).map_err(early)?;
    clock.lap(|times| &mut times.guard);
    let mut work = Work::new(memory.arena().map_err(early)?, options, clock).map_err(early)?;
    let (mut store, mut buffers) = (VecStore::new(), Buffers::new());
    let Work { options: LoadOptions { limits, policy, .. }, arena, notes, .. } = &mut work;
    let unpacked = unpack(source, buffers.workspace(), &mut store, arena, limits, policy, notes);
    let container = unpacked.map_err(|error| work.refused(error, found))?;
    work.clock.lap(|times| &mut times.unpack);
    held(work, container, Cow::Owned(store.into_bytes()))
}

/// Prepares a file that somebody surveyed and whose members were taken meanwhile: it is not read again. It is judged
/// as by [`prepare_from`], for which the survey must have had this policy, or one that reports the digest.
///
/// # Errors
/// The refusal of S0 and S1, see [`Survey::refusal`], then the first refusal of S2 and S3.
pub fn prepare_surveyed<'m>(
    seen: &Survey,
    whole: &'m Whole,
    memory: &'m mut Memory,
    options: &LoadOptions,
) -> Result<PreparedResident<'m>, LoadError> {
    let early = |error| LoadError::new(error, seen.header, seen.notes.kept());
    if let Some(refused) = seen.refusal(&options.policy) {
        return Err(early(refused));
    }
    let (Some(header), Some(digest), Some(payload)) = (seen.header, seen.digest, seen.payload) else {
        return Err(early(Error::internal(Stage::Unpack, "a survey without its facts")));
    };
    let mut clock = Clock::new();
    guard::lnc(&header, &options.policy).map_err(early)?;
    clock.lap(|times| &mut times.guard);
    let mut work = Work::new(memory.arena().map_err(early)?, options, clock).map_err(early)?;
    seen.notes.kept().iter().for_each(|&note| work.note(note));
    let table = whole.table(&mut work.arena).map_err(early)?;
    work.clock.lap(|times| &mut times.unpack);
    held(work, Container { header, digest, table, payload }, Cow::Borrowed(whole.bytes()))
}

/// S2 and S3 of members in memory.
fn held<'m>(
    mut work: Work<'m>,
    container: Container<'m>,
    bytes: Cow<'m, [u8]>,
) -> Result<PreparedResident<'m>, LoadError> {
    work.used("unpack");
    let read = work.read(&mut Resident::new(container, &bytes), &container.header);
    let lowered =
        read.map_err(|error| work.refused(error, Some(container.header)).named(&container.table))?;
    let Lowered { kbins, io, arch } = lowered;
    let mac_count = work.mac_count(&Resident::new(container, &bytes));
    Ok(Prepared { work, container, kbins, held: Held::Resident(bytes), io, mac_count, arch })
}

/// The bytes of the header, or as many as there are.
fn start_of<S: Source>(source: &mut S) -> Result<Vec<u8>, Error> {
    let (mut start, mut filled) = (vec![0; HEADER_BYTES], 0);
    while filled < start.len() {
        match source.read_at(filled as u64, &mut start[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    start.truncate(filled);
    Ok(start)
}

/// Prepares a file that is read as a stream, once for every pass.
///
/// # Errors
/// The first refusal of S0 to S3; [`loader_core::error::ContainerCode::NotSeekable`] for a pipe.
pub fn prepare_streamed<'m, S: Source>(
    source: &'m mut S,
    memory: &'m mut StreamMemory,
    options: &LoadOptions,
) -> Result<Prepared<'m, S>, LoadError> {
    let mut clock = Clock::new();
    memory.check()?;
    clock.lap(|times| &mut times.guard);
    let StreamMemory { arena, buffers, scratch, .. } = memory;
    let mut work = Work::new(arena, options, clock)?;
    let Work { options: LoadOptions { limits, policy, .. }, arena, notes, .. } = &mut work;
    let scanned = scan(source, buffers.workspace(), KEEP_BYTES, arena, limits, policy, notes);
    let container = scanned.map_err(|error| work.refused(error, None))?;
    let header = Some(container.header);
    let streamed = Streamed::new(source, buffers.workspace(), container, &work.options.limits);
    let mut payload = streamed.map_err(|error| work.refused(error, header))?;
    work.clock.lap(|times| &mut times.unpack);
    work.used("unpack");
    let read = work.read(&mut payload, &container.header);
    let lowered = read.map_err(|error| work.refused(error, header).named(&container.table))?;
    let Lowered { kbins, io, arch } = lowered;
    let mac_count = work.mac_count(&payload);
    let held = Held::Streamed(Box::new(payload), scratch);
    Ok(Prepared { work, container, kbins, held, io, mac_count, arch })
}

impl<'m, S: Source> Prepared<'m, S> {
    /// The architecture that the file is for.
    #[must_use]
    pub const fn arch(&self) -> Arch {
        self.arch
    }

    /// The records of S3.
    #[must_use]
    pub const fn kbins(&self) -> &Kbins<'m> {
        &self.kbins
    }

    /// Physical cores of the logical core: the host's, else the file's, where 0 means 1 (R24).
    #[must_use]
    pub fn lnc(&self) -> u32 {
        self.work.options.policy.lnc.unwrap_or(self.container.header.lnc_size).max(1)
    }

    /// Name of a member.
    pub(super) fn name_of(&self, id: MemberId) -> Option<&[u8]> {
        match &self.held {
            Held::Shared(parse) => parse.name_of(id),
            Held::Resident(_) | Held::Streamed(..) => self.container.table.name_of(id),
        }
    }

    /// The load is over.
    pub(super) fn facts(self, memory: Vec<CoreMemory>, role: Option<Role>) -> Facts {
        let Self { work, container, held, arch, mac_count, .. } = self;
        let (passes, payload_bytes) = match &held {
            Held::Resident(bytes) => (1, bytes.len() as u64),
            Held::Shared(parse) => (1, parse.payload_bytes()),
            Held::Streamed(payload, _) => (payload.passes(), 0),
        };
        Facts {
            header: container.header,
            digest: container.digest,
            arch,
            times: work.clock.finish(),
            notes: work.notes.kept().to_vec(),
            passes,
            streamed: matches!(held, Held::Streamed(..)),
            payload_bytes,
            mac_count,
            trace_id: fold_uuid(&container.header.uuid),
            memory,
            role,
            usage: work.usage,
        }
    }
}
