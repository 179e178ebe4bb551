//! The same file lowered from memory, in passes over the file, and in small pieces.

use crate::payload::{Chunked, Mode};
use loader_core::arena::Arena;
use loader_core::container::{KEEP_BYTES, Resident, Streamed, scan, unpack};
use loader_core::error::{Error, Ignored};
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

/// Lowers a file in one of the ways, in an arena of `room` bytes.
///
/// # Errors
/// Those of S1 to S3.
///
/// # Panics
/// If lowering uses more or less than `measure` says.
pub fn product(neff: &[u8], policy: &Policy, mode: Mode, room: usize) -> Result<Product, Error> {
    let limits = Limits::DEFAULT;
    let mut memory = vec![0x5Au8; room];
    let mut arena = Arena::new(&mut memory).expect("an arena");
    let mut buffers = Buffers::new();
    let mut source = neff;
    if mode == Mode::Streamed {
        let work = buffers.workspace();
        let container = scan(&mut source, work, KEEP_BYTES, &mut arena, &limits, policy, &mut Ignored)?;
        let mut payload = Streamed::new(&mut source, buffers.workspace(), container, &limits)?;
        return finish(&mut payload, &mut arena, policy);
    }
    let mut store = VecStore::new();
    let work = buffers.workspace();
    let container = unpack(&mut source, work, &mut store, &mut arena, &limits, policy, &mut Ignored)?;
    let bytes = store.into_bytes();
    let mut inner = Resident::new(container, &bytes);
    match mode {
        Mode::Chunks(bytes) => finish(&mut Chunked { inner, bytes }, &mut arena, policy),
        _ => finish(&mut inner, &mut arena, policy),
    }
}

fn finish<'m, P: Payload<'m>>(
    payload: &mut P,
    arena: &mut Arena<'m>,
    policy: &Policy,
) -> Result<Product, Error> {
    let limits = Limits::DEFAULT;
    let manifest = parse(payload, arena, &limits, policy, &mut Ignored)?;
    let measured = measure(&ManifestInput::new(manifest, payload.table()), &limits, policy);
    let kbins = lower(payload, &manifest, arena, &limits, policy, &mut Ignored)?;
    assert_eq!(measured.map(|dims| dims.product_bytes()).ok(), Some(arena.head_used() as u64));
    Ok(Product { bytes: kbins.head().bytes().to_vec(), passes: payload.passes() })
}
