//! The stages of a load, each a function of its own with only what it needs in its frame.

use crate::load::Options;
use loader_core::arch::Arch;
use loader_core::arena::{Arena, ArenaRef};
use loader_core::container::{Container, Streamed, Workspace, scan};
use loader_core::device::{CoreId, Device};
use loader_core::error::{Error, Ignored};
use loader_core::lower::Kbins;
use loader_core::manifest::{self, Manifest};
use loader_core::plan::pages::PageTable;
use loader_core::plan::record::LoadParams;
use loader_core::plan::{Plan, Request};
use loader_core::policy::Policy;
use loader_core::source::{Payload, Source};

/// What phase one leaves behind in the arena.
#[derive(Clone, Copy, Debug)]
pub struct Lowered {
    /// Bytes of the product, from the arena's start.
    pub bytes: usize,
    /// Its table.
    pub table: ArenaRef,
    /// What the file is for.
    pub arch: Arch,
    /// Passes over the file so far.
    pub passes: u32,
}

/// S0 and S1: header, digest, archive; the member table goes to its own arena.
///
/// # Errors
/// As [`scan`].
#[inline(never)]
pub fn unpack<'m, S: Source>(
    source: &mut S,
    work: Workspace<'_>,
    members: &mut Arena<'m>,
    options: &Options,
) -> Result<Container<'m>, Error> {
    scan(source, work, options.keep, members, &options.limits, &options.policy, &mut Ignored)
}

/// S2: the manifests.
///
/// # Errors
/// As [`manifest::parse`].
#[inline(never)]
pub fn parse<'m, S: Source>(
    payload: &mut Streamed<'_, 'm, S>,
    arena: &mut Arena<'m>,
    options: &Options,
) -> Result<Manifest<'m>, Error> {
    manifest::parse(payload, arena, &options.limits, &options.policy, &mut Ignored)
}

/// S3: the kbins.
///
/// # Errors
/// As [`loader_core::lower::lower`].
#[inline(never)]
pub fn lower<'m, S: Source>(
    payload: &mut Streamed<'_, 'm, S>,
    manifest: &Manifest<'m>,
    arena: &mut Arena<'m>,
    options: &Options,
) -> Result<Lowered, Error> {
    let (limits, policy) = (&options.limits, &options.policy);
    let kbins = loader_core::lower::lower(payload, manifest, arena, limits, policy, &mut Ignored)?;
    // What has no architecture was refused.
    let arch = manifest.kelf().arch().unwrap_or(Arch::Sunda);
    Ok(Lowered { bytes: arena.head_used(), table: kbins.place(), arch, passes: payload.passes() })
}

/// S4, first half: every block is taken.
///
/// # Errors
/// As [`loader_core::plan::place`].
#[inline(never)]
pub fn place<'m, S: Source, D: Device>(
    payload: &mut Streamed<'_, 'm, S>,
    name: &[u8],
    kbins: &Kbins<'m>,
    device: &D,
    pages: &mut PageTable<'_>,
    arena: &mut Arena<'m>,
    options: &Options,
) -> Result<Plan<'m>, Error> {
    let lnc = options.policy.lnc.unwrap_or(1);
    let request = Request {
        name,
        core: CoreId(options.core),
        vcore_size: u16::try_from(lnc).unwrap_or(u16::MAX),
        h_model: 1,
        params: LoadParams {
            timeout: Policy::EXEC_TIMEOUT.into(),
            verified: u8::from(options.policy.verify_digest),
            contiguous: u8::from(options.policy.contiguous_scratchpad()),
            page_size: options.policy.page_size().into(),
            ..LoadParams::default()
        },
        owned: (0, device.cores()),
        policy: &options.policy,
        limits: &options.limits,
    };
    loader_core::plan::place(payload, kbins, device, &request, pages, arena)
}

/// S4, second half, and S5: every block is filled.
///
/// # Errors
/// As [`loader_core::stage::stage`].
#[inline(never)]
pub fn fill<'m, S: Source, D: Device>(
    payload: &mut Streamed<'_, 'm, S>,
    plan: &Plan<'m>,
    device: &D,
    scratch: &mut [u8],
    options: &Options,
) -> Result<(), Error> {
    loader_core::stage::stage(payload, plan, device, &options.policy, scratch)
}

/// Gives every block back.
#[inline(never)]
pub fn unload<D: Device>(plan: &Plan<'_>, device: &D, pages: &mut PageTable<'_>) {
    loader_core::stage::unload(plan, device, pages);
}
