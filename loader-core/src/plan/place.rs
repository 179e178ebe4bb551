//! The plan of a load: every check first, then every allocation, all on the calling thread (R21, R31).

mod claim;
mod models;
mod scratchpad;
mod variables;

use claim::Claim;
pub(super) use claim::Scratch;
use scratchpad::{lay_out, sharing_core};

use super::libraries::{LibraryKey, Sought};
use super::notes::{CorePrograms, sort_out};
use super::pages::{PAGE_ALIGN, PageTable};
use super::programs::{Libraries, MOST_PROGRAMS, Notes, Program, read};
use super::record::LoadParams;
use super::rings::{CoreRings, RingRules, count};
use super::strict::{check_exact, check_slots, must_be_exact};
use super::translate::Code;
use super::usage::Shortage;
use super::vars;
use super::wants::{check_engine_block, shared_library};
use crate::arch::{Arch, Engine};
use crate::arena::{Arena, ArenaRef, Head};
use crate::device::{CoreId, Device, Usage};
use crate::error::{Error, Stage, StageCode};
use crate::layout::SMALL;
use crate::limits::Limits;
use crate::lower::record::{EngType, Extra, MemRef, MrType};
use crate::lower::scratchpad::{GROUP_MOST, Marks, Paging};
use crate::lower::{KbinView, Kbins};
use crate::policy::Policy;
use crate::source::Payload;
use core::cell::Cell;
use core::fmt;
use zerocopy::little_endian::U32;

/// What a load is asked to do, beside the file.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Name of the model, for records and logs.
    pub name: &'a [u8],
    /// First physical core of the logical core.
    pub core: CoreId,
    /// Physical cores of the logical core.
    pub vcore_size: u16,
    /// Key in the model tables, not 0.
    pub h_model: u32,
    /// Load parameters.
    pub params: LoadParams,
    /// Cores that this process owns: first and one past the last (staging.md §8.4).
    pub owned: (u16, u16),
    /// Rulings.
    pub policy: &'a Policy,
    /// What the input may cost.
    pub limits: &'a Limits,
}

/// A placed model: every block is taken, nothing is written yet. Plain data.
#[derive(Clone, Copy)]
pub struct Plan<'m> {
    pub(crate) kbins: Kbins<'m>,
    pub(crate) head: Head<'m>,
    /// Where the records of the models and the feeds are.
    pub(crate) places: (ArenaRef, ArenaRef),
    pub(crate) sharing: CoreId,
    pub(crate) pages: u32,
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("cores", &self.len()).field("pages", &self.pages).finish_non_exhaustive()
    }
}

fn fault(code: StageCode) -> Error {
    Error::new(Stage::Plan, code)
}

fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// What is known about one core while the plan is made.
pub(in crate::plan) struct Draft<'k> {
    pub(in crate::plan) kbin: &'k KbinView<'k>,
    pub(in crate::plan) arch: Arch,
    core: CoreId,
    table: Option<&'k [U32]>,
    pub(in crate::plan) marks: Marks,
    pub(in crate::plan) rings: CoreRings,
    pub(in crate::plan) programs: CorePrograms,
    /// What its only microcode library is.
    library: Option<LibraryKey>,
    vars: Cell<ArenaRef>,
    blocks: Cell<ArenaRef>,
    /// Records of `blocks` that are filled; those of scratchpad pages come first.
    taken: Cell<u32>,
}

type Drafts<'k> = heapless::Vec<Draft<'k>, GROUP_MOST>;

/// The kbins of a load, which nobody copies.
type Views<'m> = heapless::Vec<KbinView<'m>, GROUP_MOST>;

/// Places a model: checks everything that can be checked, then takes every block.
///
/// # Errors
/// The first fault. The device is then as it was, page references included, and the arena too.
pub fn place<'m, P: Payload<'m>, D: Device>(
    payload: &mut P,
    kbins: &Kbins<'m>,
    device: &D,
    request: &Request<'_>,
    pages: &mut PageTable<'_>,
    arena: &mut Arena<'m>,
) -> Result<Plan<'m>, Error> {
    place_explained(payload, kbins, device, request, pages, arena, None)
}

/// The same; if the device is out of memory, `shortage`, where it is wanted, says what was asked for and what this load
/// held by then, for a [`UsageTable`](super::UsageTable).
///
/// # Errors
/// As [`place`].
pub fn place_explained<'m, P: Payload<'m>, D: Device>(
    payload: &mut P,
    kbins: &Kbins<'m>,
    device: &D,
    request: &Request<'_>,
    pages: &mut PageTable<'_>,
    arena: &mut Arena<'m>,
    shortage: Option<&mut Option<Shortage>>,
) -> Result<Plan<'m>, Error> {
    let mark = arena.mark();
    let mut views = Views::new();
    for kbin in kbins.iter().take(GROUP_MOST) {
        views.push(kbin).map_err(|_| Error::internal(Stage::Plan, "subgraphs"))?;
    }
    let mut drafts = Drafts::new();
    let checked = check(kbins.len(), &views, device, request, &mut drafts);
    checked.map_err(|error| with_definition(error, kbins))?;
    check_members(payload, &drafts)?;
    let exact = must_be_exact(request.policy, device);
    let result = prepare(payload, &mut drafts, request, exact, arena)
        .and_then(|()| claim(kbins, &drafts, device, request, pages, arena, shortage));
    if result.is_err() {
        arena.release(mark);
    }
    result.map_err(|error| with_definition(error, kbins))
}

/// Names the definition of the subgraph that a refusal is about, where nothing closer is known.
fn with_definition(error: Error, kbins: &Kbins<'_>) -> Error {
    let kbin = error.at().subgraph.and_then(|index| kbins.kbin(usize::from(index)));
    error.member_or(kbin.and_then(|kbin| kbin.definition_file()))
}

/// The gates P4, P5 and B1, and the variables. Small code counts subgraphs in S2 (E207, E208) and S3 (L702) alone.
#[inline(never)]
fn check<'k, D: Device>(
    count: usize,
    kbins: &'k [KbinView<'k>],
    device: &D,
    request: &Request<'_>,
    drafts: &mut Drafts<'k>,
) -> Result<(), Error> {
    let (need, size) = (wide(count), u64::from(request.vcore_size));
    if !SMALL && need > size {
        return Err(fault(StageCode::NotEnoughCores).numbers(need, size));
    }
    if !SMALL && count != 1 && need != size {
        return Err(fault(StageCode::CoreShape).numbers(need, size));
    }
    if !SMALL && (count == 0 || count > GROUP_MOST) {
        return Err(fault(StageCode::TooManySubgraphs).numbers(need, wide(GROUP_MOST)));
    }
    if size > wide(GROUP_MOST) {
        return Err(fault(StageCode::CoreSize).numbers(need, size));
    }
    let end = u64::from(request.core.0).saturating_add(need);
    if end > u64::from(device.cores()) {
        let left = u64::from(device.cores().saturating_sub(request.core.0));
        return Err(fault(StageCode::BehindDevice).numbers(need, left));
    }
    check_engine_block(u64::from(request.policy.engine_block()))?;
    for (index, kbin) in (0u8..).zip(kbins) {
        draft(kbin, index, device, request, drafts).map_err(|error| error.subgraph(index))?;
    }
    if drafts.len() != count {
        return Err(fault(StageCode::BadKbin).name(b"subgraph table"));
    }
    check_remotes(drafts)
}

/// Begins the draft of a core.
#[inline(never)]
fn draft<'k, D: Device>(
    kbin: &'k KbinView<'k>,
    index: u8,
    device: &D,
    request: &Request<'_>,
    drafts: &mut Drafts<'k>,
) -> Result<(), Error> {
    let arch = kbin.arch().ok_or_else(|| fault(StageCode::BadKbin).name(b"target"))?;
    // Where the caller lets such a file pass, it is placed by its own architecture's rules (manifests.md §5.4).
    if arch != device.arch() && !request.policy.allow_legacy() {
        let (file, host) = (u64::from(arch.number()), u64::from(device.arch().number()));
        return Err(fault(StageCode::Architecture).numbers(file, host).third(u64::from(index)));
    }
    // The order in which S3 makes them.
    if !SMALL && kbin.engine_hdrs().last().map(|header| header.eng_type) != Some(EngType::from(Engine::Sp)) {
        return Err(fault(StageCode::EngineOrder));
    }
    vars::check(kbin)?;
    let draft = Draft {
        kbin,
        arch,
        core: CoreId(request.core.0.saturating_add(u16::from(index))),
        table: vars::table(kbin),
        marks: kbin.marks(),
        rings: CoreRings::default(),
        programs: CorePrograms::default(),
        library: None,
        vars: Cell::new(ArenaRef::NULL),
        blocks: Cell::new(ArenaRef::NULL),
        taken: Cell::new(0),
    };
    drafts.push(draft).map_err(|_| Error::internal(Stage::Plan, "subgraphs"))
}

/// Every member is as long as the records say, before anything is read or taken (T06).
#[inline(never)]
fn check_members<'m, P: Payload<'m>>(payload: &P, drafts: &Drafts<'_>) -> Result<(), Error> {
    for (index, draft) in (0u8..).zip(drafts) {
        for blob in draft.kbin.blobs() {
            let Some(id) = blob.member_id() else { continue };
            let listed = payload.table().get(id).map(|member| member.size);
            let Some(held) = listed.or_else(|| payload.borrow(id).map(|bytes| wide(bytes.len()))) else {
                continue;
            };
            let end = blob.off.get().checked_add(blob.len.get());
            if end.is_none_or(|end| end > held) {
                let short = fault(StageCode::MemberLength).numbers(held, end.unwrap_or(u64::MAX));
                return Err(short.member(id).subgraph(index));
            }
        }
    }
    Ok(())
}

/// Every remote variable has a target with an address (staging.md §8.5). That there is one, small code leaves to S2 (E380,
/// E385).
#[inline(never)]
fn check_remotes(drafts: &Drafts<'_>) -> Result<(), Error> {
    let has_address = |target: &MemRef| {
        let placed = vars::is_placed(target.mr_type) && vars::size_of(target) > 0;
        placed && !matches!(target.mr_type, MrType::REMOTE | MrType::PTR)
    };
    for (index, draft) in (0u8..).zip(drafts) {
        for var in draft.kbin.mem_refs() {
            let Extra::Remote(arm) = var.extra() else { continue };
            let (rel, id) = (arm.remote_vtpb_rel_sg_id.get(), arm.remote_var_id.get());
            let peer = usize::try_from(rel).ok().and_then(|rel| drafts.get(rel));
            let target = peer.and_then(|peer| peer.kbin.mem_ref(id));
            let error = match target {
                Some(target) if has_address(target) => continue,
                None if !SMALL && peer.is_none() => {
                    fault(StageCode::RemoteSubgraph).numbers(u64::from(rel), wide(drafts.len()))
                }
                None if !SMALL => fault(StageCode::RemoteMissing).numbers(u64::from(id), u64::from(rel)),
                _ => fault(StageCode::RemoteUnplaced),
            };
            return Err(error.name(draft.kbin.name(var)).subgraph(index).element(var.var_id.get()));
        }
    }
    Ok(())
}

/// Everything that needs no device: rings and blocks, programs, their records.
#[inline(never)]
fn prepare<'m, P: Payload<'m>>(
    payload: &mut P,
    drafts: &mut Drafts<'_>,
    request: &Request<'_>,
    exact: bool,
    arena: &mut Arena<'m>,
) -> Result<(), Error> {
    let mut programs = Programs::new();
    list_programs(drafts, request, arena, &mut programs)?;
    let mark = arena.mark();
    let mut notes = Notes::default();
    read_all(payload, drafts, &mut programs, arena, &mut notes)?;
    for (index, draft) in (0u8..).zip(drafts.iter_mut()) {
        sort_out(index, draft, &programs, &notes, request, arena)?;
    }
    for (index, draft) in (0u8..).zip(drafts.iter()).filter(|_| exact) {
        check_slots(index, draft.kbin, &notes, arena)?;
    }
    arena.release_tail(mark);
    for (index, draft) in (0u8..).zip(drafts.iter()).filter(|_| exact) {
        check_exact(index, draft.kbin, &draft.rings, arena)?;
    }
    Ok(())
}

/// Streams of all engines.
type Programs<'k> = heapless::Vec<Program<'k>, MOST_PROGRAMS>;

/// Rings and streams of every core.
#[inline(never)]
fn list_programs<'p, 'k: 'p>(
    drafts: &mut Drafts<'k>,
    request: &Request<'p>,
    arena: &mut Arena<'_>,
    programs: &mut Programs<'p>,
) -> Result<(), Error> {
    for (core, draft) in (0u8..).zip(drafts.iter_mut()) {
        let &mut Draft { kbin, arch, table, .. } = draft;
        let rules = RingRules { arch, core, entries: request.limits.ring_entries };
        count(kbin, &rules, arena, &mut draft.rings)?;
        for engine in Engine::ALL {
            let code = Code { kbin, engine, core, arch, table, policy: request.policy };
            let blob = kbin.program(engine);
            programs.push(Program::new(code, blob)).map_err(|_| Error::internal(Stage::Plan, "programs"))?;
        }
    }
    Ok(())
}

/// Reads all streams, and the libraries that cores share, in one pass. The state of a digest per library lies in this
/// frame, not in its caller's.
#[inline(never)]
fn read_all<'k, 'm, P: Payload<'m>>(
    payload: &mut P,
    drafts: &mut Drafts<'k>,
    programs: &mut Programs<'_>,
    arena: &mut Arena<'m>,
    notes: &mut Notes,
) -> Result<(), Error> {
    let mut libraries = Libraries::new();
    // See [`super::libraries`]: where small code goes before speed, nobody asks which library it is.
    let shared = |draft: &Draft<'k>| if SMALL { None } else { shared_library(draft.kbin) };
    for blob in drafts.iter().filter_map(shared) {
        let full = |_| Error::internal(Stage::Plan, "libraries");
        libraries.push(Sought::new(blob)).map_err(full)?;
    }
    read(payload, programs, &mut libraries, arena, notes)?;
    let mut sought = libraries.iter();
    for draft in drafts.iter_mut().filter(|draft| shared(draft).is_some()) {
        draft.library = sought.next().map(Sought::key);
    }
    Ok(())
}

/// Takes pages and blocks; gives all of them back on any fault.
#[inline(never)]
fn claim<'m, D: Device>(
    kbins: &Kbins<'m>,
    drafts: &[Draft<'_>],
    device: &D,
    request: &Request<'_>,
    pages: &mut PageTable<'_>,
    arena: &mut Arena<'m>,
    mut shortage: Option<&mut Option<Shortage>>,
) -> Result<Plan<'m>, Error> {
    let policy = request.policy;
    let planned = |error: Error| error.of_stage(Stage::Plan);
    let paging = Paging::new(policy.page_size(), policy.contiguous_scratchpad()).map_err(planned)?;
    let laid = lay_out(drafts, &paging).map_err(planned)?;
    let [needed, ..] = laid.pages;
    let sharing = if needed == 0 { request.core } else { sharing_core(device, request)? };
    // The pages are listed among the blocks of the first subgraph.
    let mut full = shortage.as_deref_mut().map(|shortage| {
        |bytes| {
            *shortage = Some(Shortage {
                core: sharing,
                size: paging.page_size(),
                align: PAGE_ALIGN,
                usage: Usage::Scratchpad,
                held: [None; GROUP_MOST],
                pages: Some((sharing, bytes)),
            });
        }
    });
    let full: Option<&mut dyn FnMut(u64)> = match &mut full {
        Some(full) => Some(full),
        None => None,
    };
    let got = pages.reserve(device, sharing, needed, paging, full);
    let got = got.map_err(|error| error.subgraph(0))?;
    let scratch = Scratch { paging, local: laid.local_offset, sharing, pages: got };
    let mut claim =
        Claim { drafts, device, request, pages: &mut *pages, arena, scratch, feeds: ArenaRef::NULL, fed: 0 };
    match claim.run(kbins) {
        Ok(plan) => Ok(plan),
        Err(error) => {
            if let Some(shortage) = shortage {
                *shortage = claim.shortage(&error);
            }
            claim.undo();
            pages.release(device, sharing, got);
            Err(error)
        }
    }
}
