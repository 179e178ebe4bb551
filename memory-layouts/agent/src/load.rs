//! All stages, in two phases over one arena.

use crate::stages::{self, Lowered};
use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::container::{Extent, Layers, MemberTable, Streamed, Workspace};
use loader_core::device::Device;
use loader_core::error::{ContainerCode, Error, Name, Stage};
use loader_core::layout::CORE_SMALL;
use loader_core::limits::Limits;
use loader_core::lower::Kbins;
use loader_core::lower::input::PayloadTransfers;
use loader_core::manifest::BUFFER_BYTES;
use loader_core::plan::Plan;
use loader_core::plan::pages::{Page, PageTable};
use loader_core::policy::Policy;
use loader_core::source::{MemberId, MemberNames, Payload, Source};

/// All memory of a load, lent by the caller.
pub struct Buffers<'b> {
    /// Arena of the member table and of kept members.
    pub members: &'b mut [u8],
    /// Arena of everything else.
    pub arena: &'b mut [u8],
    /// One piece of the file.
    pub input: &'b mut [u8],
    /// Decoders.
    pub layers: &'b mut (dyn Layers + Send),
    /// Names of extension records, three equal parts.
    pub names: &'b mut [u8],
    /// Extents of one sparse member.
    pub extents: &'b mut [Extent],
    /// What fills cores.
    pub scratch: &'b mut [u8],
    /// Scratchpad pages of the device.
    pub pages: &'b mut [Option<Page>],
}

impl core::fmt::Debug for Buffers<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Buffers(members {}, arena {})", self.members.len(), self.arena.len())
    }
}

/// What the load is asked to do.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What the input may cost.
    pub limits: Limits,
    /// Rulings.
    pub policy: Policy,
    /// Members up to this size are kept from the first pass on; none if the memory does not hold them all.
    pub keep: u64,
    /// First physical core.
    pub core: u16,
}

/// The most bytes of each arena that were in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peaks {
    /// The member table's arena.
    pub members: usize,
    /// The other one, in both phases.
    pub arena: usize,
}

/// A loaded model, while its memory is lent.
#[derive(Debug)]
pub struct Loaded<'p, 'm, D> {
    /// Everything that was placed.
    pub plan: &'p Plan<'m>,
    /// Where.
    pub device: &'p D,
    /// Bytes of the kbins: the first of the product.
    pub kbin_bytes: usize,
    /// Passes over the file.
    pub passes: u32,
    /// Memory.
    pub peaks: Peaks,
}

/// A refused load: the error and, where it is about a member, that member's name.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// The error.
    pub error: Error,
    /// Start of the member's name.
    pub member: Name<64>,
    /// What the arena that ran out must have at least, for the step that failed; 0 if none did.
    pub least: usize,
    /// That arena is the one of the member table.
    pub of_members: bool,
}

impl MemberNames for Refused {
    fn name_of(&self, _: MemberId) -> Option<&[u8]> {
        (!self.member.is_empty()).then(|| self.member.as_bytes())
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { error, member: Name::EMPTY, least: 0, of_members: false }
    }
}

/// Adds what is known only here: the member's name, and what the full arena held.
#[inline(never)]
fn refused(error: Error, table: Option<&MemberTable<'_>>, arena: &Arena<'_>) -> Refused {
    let member = error.at().member.and_then(|id| table?.name_of(id)).unwrap_or(&[]);
    let least = if error.is_arena_full() {
        let needed = usize::try_from(error.at().a).unwrap_or(usize::MAX);
        let available = usize::try_from(error.at().b).unwrap_or(0);
        let size = arena.head_used().saturating_add(arena.tail_used()).saturating_add(arena.available());
        size.saturating_sub(available).saturating_add(needed)
    } else {
        0
    };
    Refused { error, member: Name::new(member), least, of_members: table.is_none() }
}

/// Loads a file onto the device that `open` gives for its architecture, calls `done` with the result, and
/// unloads it again.
///
/// # Errors
/// The first refusal of any stage; the device is as before then.
pub fn load<S: Source, D: Device, R>(
    source: &mut S,
    buffers: &mut Buffers<'_>,
    options: &Options,
    open: impl FnOnce(Arch) -> Result<D, Error>,
    done: impl FnOnce(&Loaded<'_, '_, D>) -> R,
) -> Result<R, Refused> {
    load_lending(source, buffers, options, 0, open, done)
}

/// The same on a host that asks what an image needs. A small build has its buffer for JSON, `lent` bytes, in the arena
/// and not on the stack, once for S2 and once more for S3; this takes as much from the arena there.
///
/// # Errors
/// As [`load`].
pub fn load_lending<S: Source, D: Device, R>(
    source: &mut S,
    buffers: &mut Buffers<'_>,
    options: &Options,
    lent: usize,
    open: impl FnOnce(Arch) -> Result<D, Error>,
    done: impl FnOnce(&Loaded<'_, '_, D>) -> R,
) -> Result<R, Refused> {
    let Buffers { members, arena: memory, input, layers, names, extents, scratch, pages } = buffers;
    let mut work = Workspace { input, layers: *layers, names, extents };
    let mut peaks = Peaks::default();
    let opened = match first_pass(source, work.reborrow(), members, options, &mut peaks) {
        // What is kept saves passes; where it does not fit, the load goes on without.
        Err(refused) if options.keep > 0 && refused.of_members && refused.least > 0 => {
            let bare = Options { keep: 0, ..*options };
            first_pass(source, work.reborrow(), members, &bare, &mut peaks)?
        }
        first => first?,
    };
    let options = &Options { policy: options.policy.of_file(opened.lnc), ..*options };
    let lowered = phase_one(source, work.reborrow(), &opened, memory, options, lent, &mut peaks)?;
    phase_two(source, work, &opened, Rest { memory, scratch, pages, options, lowered, peaks }, open, done)
}

/// What the stages need of a scanned file: its header has half a kilobyte, which no frame below should carry.
struct Opened<'m> {
    table: MemberTable<'m>,
    payload_end: u64,
    name: &'m [u8],
    lnc: u32,
}

/// S0 and S1. The model's name goes to the member table's arena.
#[inline(never)]
fn first_pass<'m, S: Source>(
    source: &mut S,
    work: Workspace<'_>,
    members: &'m mut [u8],
    options: &Options,
    peaks: &mut Peaks,
) -> Result<Opened<'m>, Refused> {
    if source.len().is_none() {
        return Err(Error::new(Stage::Unpack, ContainerCode::NotSeekable).into());
    }
    let mut arena = arena(members)?;
    let unpacked = stages::unpack(source, work, &mut arena, options);
    let container = unpacked.as_ref().map_err(|&error| refused(error, None, &arena))?;
    let full = |full| Error::arena(Stage::Unpack, full);
    let place = arena.alloc_bytes(container.header.name.as_bytes());
    let place = place.map_err(|error| refused(full(error), None, &arena))?;
    peaks.members = arena.high_water();
    Ok(Opened {
        table: container.table,
        payload_end: container.header.payload_end(),
        name: arena.seal_head().slice(place).unwrap_or(&[]),
        lnc: container.header.lnc_size,
    })
}

/// What the second phase needs besides the file.
struct Rest<'r> {
    memory: &'r mut [u8],
    scratch: &'r mut [u8],
    pages: &'r mut [Option<Page>],
    options: &'r Options,
    lowered: Lowered,
    peaks: Peaks,
}

/// S4 and S5 over the product of the first phase.
#[inline(never)]
fn phase_two<'a, S: Source, D: Device, R>(
    source: &'a mut S,
    work: Workspace<'a>,
    opened: &Opened<'_>,
    rest: Rest<'_>,
    open: impl FnOnce(Arch) -> Result<D, Error>,
    done: impl FnOnce(&Loaded<'_, '_, D>) -> R,
) -> Result<R, Refused> {
    let Rest { memory, scratch, pages, options, lowered, mut peaks } = rest;
    let device = open(lowered.arch)?;
    let (head, mut arena) = Arena::resume(memory, lowered.bytes).map_err(|_| broken())?;
    let kbins = Kbins::new(head, lowered.table).ok_or_else(broken)?;
    let mut payload = Streamed::over(source, work, opened.table, opened.payload_end, &options.limits);
    let mut pages = PageTable::new(pages);
    let placed = stages::place(&mut payload, opened.name, &kbins, &device, &mut pages, &mut arena, options);
    let plan = match &placed {
        Ok(plan) => plan,
        Err(error) => return Err(refused(*error, Some(&opened.table), &arena)),
    };
    peaks.arena = peaks.arena.max(arena.high_water());
    let filled = stages::fill(&mut payload, plan, &device, scratch, options);
    let passes = payload.passes().saturating_add(lowered.passes);
    let passes = passes.saturating_sub(1);
    let loaded = Loaded { plan, device: &device, kbin_bytes: lowered.bytes, passes, peaks };
    let outcome = filled.map(|()| done(&loaded));
    stages::unload(plan, &device, &mut pages);
    outcome.map_err(|error| refused(error, Some(&opened.table), &arena))
}

/// S2 and S3; gives the product's place.
#[inline(never)]
fn phase_one<'a, S: Source>(
    source: &'a mut S,
    work: Workspace<'a>,
    opened: &Opened<'_>,
    memory: &mut [u8],
    options: &Options,
    lent: usize,
    peaks: &mut Peaks,
) -> Result<Lowered, Refused> {
    let mut arena = arena(memory)?;
    let mut payload = Streamed::over(source, work, opened.table, opened.payload_end, &options.limits);
    let lowered = lend(&mut arena, lent, 0, Stage::Manifest)
        .and_then(|()| stages::parse(&mut payload, &mut arena, options))
        .and_then(|manifest| {
            lend(&mut arena, lent, MORE, Stage::Lower)?;
            stages::lower(&mut payload, &manifest, &mut arena, options)
        });
    peaks.arena = arena.high_water();
    lowered.map_err(|error| refused(error, Some(&opened.table), &arena))
}

/// What S3 has besides the buffer for JSON, in bytes.
const MORE: usize = PayloadTransfers::<()>::BYTES.saturating_sub(BUFFER_BYTES);

/// Takes what a small build takes for itself, and this one does not.
fn lend(arena: &mut Arena<'_>, lent: usize, more: usize, stage: Stage) -> Result<(), Error> {
    if CORE_SMALL == 1 || lent == 0 {
        return Ok(());
    }
    arena.lend(lent.saturating_add(more)).map(|_| ()).map_err(|full| Error::arena(stage, full))
}

fn arena(memory: &mut [u8]) -> Result<Arena<'_>, Error> {
    Arena::new(memory).map_err(|full| Error::arena(Stage::Unpack, full))
}

fn broken() -> Error {
    Error::internal(Stage::Plan, "the product of S3")
}
