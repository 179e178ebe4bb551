//! What an image needs for a file: the agent's own code, run here in more memory than it will ask for.

use crate::room::{Full, collect, zeroed};
use loader_core::arch::Arch;
use loader_core::container::{Extent, Layer};
use loader_core::error::{Error, Stage};
use loader_core::limits::Limits;
use loader_core::plan::pages::Page;
use loader_core::policy::Policy;
use loader_core::source::Source;
use neffload_agent::{Buffers, Loaded, Options, Peaks, load_lending};
use neuron_drivers::sim::{Config, Content, Fixed, LocalSim, Slot};

/// Bytes of `core.json_element` and `core.json_keys` of the project's images, which have that buffer in the arena.
pub const LENT: usize = 1536 + 512;
/// Members that the project's images keep, in bytes.
const KEEP: u64 = 4096;
/// Nested gzip layers, and extents and pages, with which files are tried.
const LAYERS: usize = 4;
const MOST: usize = 4096;
/// Sizes of both arenas that are tried.
const ROOM: [usize; 3] = [1 << 20, 64 << 20, 1 << 30];

/// Sizes for the layout of an image. All are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageNeeds {
    /// The least `memory.members` of a build as this one; an image has no index of names and may do with up to the
    /// length of the model's name less. With `memory.keep` this suffices as well, but then nothing is kept.
    pub members: usize,
    /// The least `memory.members` with which all members up to `memory.keep` 4096 are kept.
    pub members_kept: usize,
    /// The least `memory.arena`.
    pub arena: usize,
}

/// Loads the file as an image does, twice: what both arenas held at most is what they must have.
///
/// # Errors
/// The refusal of the file; one that no arena of a GiB holds is refused with an arena that is full.
pub fn image_needs<S: Source>(source: &mut S, limits: Limits, policy: Policy) -> Result<ImageNeeds, Error> {
    let options = Options { limits, policy, keep: KEEP, core: 0 };
    let kept = grown(source, &options)?;
    let bare = grown(source, &Options { keep: 0, ..options })?;
    Ok(ImageNeeds { members: bare.members, members_kept: kept.members, arena: kept.arena.max(bare.arena) })
}

fn grown<S: Source>(source: &mut S, options: &Options) -> Result<Peaks, Error> {
    let mut refused = Error::internal(Stage::Unpack, "memory");
    for room in ROOM {
        match within(source, options, room, room) {
            Ok(peaks) => return Ok(peaks),
            Err((error, 0)) => return Err(error),
            Err((error, _)) => refused = error,
        }
    }
    Err(refused)
}

/// One load in arenas of these sizes.
///
/// # Errors
/// The refusal, and what the arena that ran out must have at least; 0 if none did.
pub fn within<S: Source>(
    source: &mut S,
    options: &Options,
    members: usize,
    arena: usize,
) -> Result<Peaks, (Error, usize)> {
    let full = |full: Full| (full.error(Stage::Unpack, "what an image would hold"), 0);
    let mut memory = [members, arena, 4096, 3 << 12, 4096].into_iter().map(zeroed::<u8>);
    let mut next = || memory.next().unwrap_or_else(|| Ok(Vec::new())).map_err(full);
    let (mut members, mut arena, mut input, mut names, mut scratch) =
        (next()?, next()?, next()?, next()?, next()?);
    let mut layers = collect((0..LAYERS).map(|_| Layer::new())).map_err(full)?;
    let mut extents = collect((0..MOST).map(|_| Extent::default())).map_err(full)?;
    let mut pages = collect((0..MOST).map(|_| None::<Page>)).map_err(full)?;
    let mut slots = collect((0..4 * MOST).map(|_| Slot::EMPTY)).map_err(full)?;
    let layers = <&mut [Layer; LAYERS]>::try_from(layers.as_mut_slice());
    let layers = layers.map_err(|_| (Error::internal(Stage::Unpack, "layers"), 0))?;
    let mut buffers = Buffers {
        members: &mut members,
        arena: &mut arena,
        input: &mut input,
        layers,
        names: &mut names,
        extents: &mut extents,
        scratch: &mut scratch,
        pages: &mut pages,
    };
    let slots = &mut slots;
    let peaks = |loaded: &Loaded<'_, '_, LocalSim<'_>>| loaded.peaks;
    load_lending(source, &mut buffers, options, LENT, |arch| open(arch, slots), peaks)
        .map_err(|refused| (refused.error, refused.least))
}

fn open<'s>(arch: Arch, slots: &'s mut [Slot]) -> Result<LocalSim<'s>, Error> {
    let config = Config { content: Content::Discard, ..Config::flat(arch) };
    Ok(LocalSim::new(config, Fixed::new(slots, &mut [], &mut [])))
}
