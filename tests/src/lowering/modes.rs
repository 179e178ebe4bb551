//! The same file lowered from memory, in passes over the file, and in small pieces.

use crate::payload::{Chunked, Mode, with_buffers};
use loader_core::arena::Arena;
use loader_core::container::{KEEP_BYTES, Resident, Streamed, scan, unpack};
use loader_core::error::{Error, Ignored, Notes};
use loader_core::limits::Limits;
use loader_core::lower::input::ManifestInput;
use loader_core::lower::{lower, measure};
use loader_core::manifest::parse;
use loader_core::policy::Policy;
use loader_core::source::Payload;
use loader_std::container::VecStore;
use loader_std::file::Buffers;

/// The product's bytes and the passes over the file.
#[derive(Debug)]
pub struct Product {
    /// The arena's head, the null area included.
    pub bytes: Vec<u8>,
    /// Passes when streamed, 1 otherwise.
    pub passes: u32,
}

/// What a lowering may use, and how it decides.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Choices.
    pub policy: &'a Policy,
    /// What the file may cost.
    pub limits: &'a Limits,
    /// Members up to this size are kept from the first pass on when streamed.
    pub keep: u64,
    /// Bytes of arena.
    pub room: usize,
}

/// Lowers a file in one of the ways, in an arena of `room` bytes.
///
/// # Errors
/// Those of S1 to S3.
///
/// # Panics
/// As [`product_in`].
pub fn product(neff: &[u8], policy: &Policy, mode: Mode, room: usize) -> Result<Product, Error> {
    let setting = Setting { policy, limits: &Limits::DEFAULT, keep: KEEP_BYTES, room };
    product_in(neff, &setting, mode, &mut Ignored)
}

/// Lowers a file in one of the ways.
///
/// # Errors
/// Those of S1 to S3.
///
/// # Panics
/// If lowering uses more or less than `measure` says, or a failed stage keeps memory.
pub fn product_in(
    neff: &[u8],
    setting: &Setting<'_>,
    mode: Mode,
    notes: &mut impl Notes,
) -> Result<Product, Error> {
    with_buffers(|buffers| product_with(buffers, neff, setting, mode, notes))
}

fn product_with(
    buffers: &mut Buffers,
    neff: &[u8],
    setting: &Setting<'_>,
    mode: Mode,
    notes: &mut impl Notes,
) -> Result<Product, Error> {
    let &Setting { policy, limits, keep, room } = setting;
    let mut memory = vec![0x5Au8; room];
    let mut arena = Arena::new(&mut memory).expect("an arena");
    let mut source = neff;
    if mode == Mode::Streamed {
        let work = buffers.workspace();
        let container = scan(&mut source, work, keep, &mut arena, limits, policy, notes)?;
        let mut payload = Streamed::new(&mut source, buffers.workspace(), container, limits)?;
        return finish(&mut payload, &mut arena, setting, notes);
    }
    let mut store = VecStore::new();
    let work = buffers.workspace();
    let container = unpack(&mut source, work, &mut store, &mut arena, limits, policy, notes)?;
    let bytes = store.into_bytes();
    let mut inner = Resident::new(container, &bytes);
    match mode {
        Mode::Chunks(bytes) => finish(&mut Chunked { inner, bytes }, &mut arena, setting, notes),
        _ => finish(&mut inner, &mut arena, setting, notes),
    }
}

fn finish<'m, P: Payload<'m>>(
    payload: &mut P,
    arena: &mut Arena<'m>,
    setting: &Setting<'_>,
    notes: &mut impl Notes,
) -> Result<Product, Error> {
    let &Setting { policy, limits, .. } = setting;
    let before = (arena.head_used(), arena.tail_used());
    let parsed = parse(payload, arena, limits, policy, notes);
    let manifest = parsed.inspect_err(|_| {
        assert_eq!((arena.head_used(), arena.tail_used()), before, "a failed reading gives back its memory");
    })?;
    let before = (arena.head_used(), arena.tail_used());
    let measured = measure(&ManifestInput::new(manifest, payload.table()), limits, policy);
    let lowered = lower(payload, &manifest, arena, limits, policy, notes);
    let kbins = lowered.inspect_err(|_| {
        assert_eq!((arena.head_used(), arena.tail_used()), before, "a failed lowering gives back its memory");
    })?;
    assert_eq!(measured.map(|dims| dims.product_bytes()).ok(), Some(arena.head_used() as u64));
    Ok(Product { bytes: kbins.head().bytes().to_vec(), passes: payload.passes() })
}
