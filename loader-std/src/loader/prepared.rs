//! The stages that need no device: S0 to S3.

use super::facts::{Clock, Facts, Usage};
use super::io::IoTensor;
use super::{LoadError, LoadOptions, Memory, StreamMemory};
use crate::container::VecStore;
use crate::file::Buffers;
use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::container::{
    Container, Header, HeaderView, KEEP_BYTES, Resident, Streamed, guard, scan, unpack,
};
use loader_core::error::{Error, NoteList, Stage};
use loader_core::lower::{Kbins, lower};
use loader_core::manifest;
use loader_core::source::{Payload, Source};

/// Remarks that a load keeps.
const MOST_NOTES: usize = 64;

/// The file's members, as a load holds them.
#[derive(Debug)]
pub(super) enum Held<'m, S: Source> {
    /// In memory.
    Resident(Vec<u8>),
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
    arch: Arch,
}

/// A prepared file that is held in memory.
pub type PreparedResident<'m> = Prepared<'m, &'static [u8]>;

/// What goes through all stages.
#[derive(Debug)]
pub(super) struct Work<'m> {
    pub(super) options: LoadOptions,
    pub(super) arena: Arena<'m>,
    pub(super) clock: Clock,
    notes: NoteList<MOST_NOTES>,
    usage: Vec<Usage>,
    io: Vec<IoTensor>,
}

impl<'m> Work<'m> {
    fn new(memory: &'m mut [u8], options: &LoadOptions, clock: Clock) -> Result<Self, Error> {
        let arena = Arena::new(memory).map_err(|full| Error::arena(Stage::Unpack, full))?;
        Ok(Self {
            options: *options,
            arena,
            clock,
            notes: NoteList::new(),
            usage: Vec::new(),
            io: Vec::new(),
        })
    }

    pub(super) fn used(&mut self, stage: &'static str) {
        self.usage.push(Usage::of(&self.arena, stage));
    }

    pub(super) fn refused(&self, error: Error, header: Option<Header>) -> LoadError {
        LoadError::new(error, header, self.notes.kept())
    }

    /// S2 and S3.
    fn read<P: Payload<'m>>(&mut self, payload: &mut P) -> Result<(Kbins<'m>, Arch), Error> {
        let Self { options: LoadOptions { limits, policy, .. }, arena, notes, .. } = self;
        let manifest = manifest::parse(payload, arena, limits, policy, notes)?;
        self.io = IoTensor::all(&manifest.io());
        self.clock.lap(|times| &mut times.manifest);
        self.used("manifest");
        let Self { options: LoadOptions { limits, policy, .. }, arena, notes, .. } = self;
        let kbins = lower(payload, &manifest, arena, limits, policy, notes)?;
        self.clock.lap(|times| &mut times.lower);
        self.used("lower");
        // What has no architecture was refused, unless the policy is that of a tool.
        Ok((kbins, manifest.kelf().arch().unwrap_or(Arch::Sunda)))
    }
}

/// Prepares a file that is in memory.
///
/// # Errors
/// The first refusal of S0 to S3.
pub fn prepare<'m>(
    file: &[u8],
    memory: &'m mut Memory,
    options: &LoadOptions,
) -> Result<PreparedResident<'m>, LoadError> {
    let mut clock = Clock::new();
    let found = HeaderView::of(file).map(Header::parse);
    let early = |error| LoadError::new(error, found, &[]);
    let header = guard::buffer(Some(file)).map_err(early)?;
    guard::lnc(&header, &options.policy).map_err(early)?;
    clock.lap(|times| &mut times.guard);
    let mut work = Work::new(&mut memory.arena, options, clock).map_err(early)?;
    let (mut store, mut buffers) = (VecStore::new(), Buffers::new());
    let Work { options: LoadOptions { limits, policy, .. }, arena, notes, .. } = &mut work;
    let unpacked = unpack(&mut &file[..], buffers.workspace(), &mut store, arena, limits, policy, notes);
    let container = unpacked.map_err(|error| work.refused(error, found))?;
    work.clock.lap(|times| &mut times.unpack);
    work.used("unpack");
    let bytes = store.into_bytes();
    let read = work.read(&mut Resident::new(container, &bytes));
    let (kbins, arch) = read.map_err(|error| work.refused(error, found).named(&container.table))?;
    Ok(Prepared { work, container, kbins, held: Held::Resident(bytes), arch })
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
    let read = work.read(&mut payload);
    let (kbins, arch) = read.map_err(|error| work.refused(error, header).named(&container.table))?;
    Ok(Prepared { work, container, kbins, held: Held::Streamed(Box::new(payload), scratch), arch })
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

    /// The load is over.
    pub(super) fn facts(self) -> Facts {
        let Self { work, container, held, arch, .. } = self;
        let (passes, payload_bytes) = match &held {
            Held::Resident(bytes) => (1, bytes.len() as u64),
            Held::Streamed(payload, _) => (payload.passes(), 0),
        };
        Facts {
            header: container.header,
            digest: container.digest,
            arch,
            times: work.clock.finish(),
            io: work.io,
            notes: work.notes.kept().to_vec(),
            passes,
            streamed: matches!(held, Held::Streamed(..)),
            payload_bytes,
            usage: work.usage,
        }
    }
}
