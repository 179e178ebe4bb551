//! Helpers for tests of lowering: working sets made by hand, and packages lowered end to end.

pub mod handmade;
pub mod ladder;
pub mod modes;
pub mod package;
pub mod whole;

use crate::places::assert_placed;
use loader_core::arena::Arena;
use loader_core::error::{Error, NoteList};
use loader_core::limits::Limits;
use loader_core::lower::input::{Input, Transfers};
use loader_core::lower::{Kbins, lower_from, measure};
use loader_core::policy::Policy;

/// A product with what was said while it was made. Its memory is never given back.
#[derive(Debug)]
pub struct Lowered {
    /// The kbins.
    pub kbins: Kbins<'static>,
    /// Remarks.
    pub notes: Vec<Error>,
    /// Bytes that `measure` announced for the product.
    pub measured: u64,
    /// Bytes at the arena's head afterwards.
    pub used: u64,
    /// The arena's high-water mark.
    pub high_water: u64,
}

impl Lowered {
    /// The remarks with that code, such as `W601`.
    #[must_use]
    pub fn noted(&self, code: &str) -> Vec<&Error> {
        self.notes.iter().filter(|note| note.id().to_string() == code).collect()
    }
}

/// Memory that lives as long as the process.
#[must_use]
pub fn memory(bytes: usize) -> &'static mut [u8] {
    vec![0xA5u8; bytes].leak()
}

/// Lowers an input in an arena that just holds it; every difference between measure and emit fails here.
///
/// # Errors
/// Those of lowering.
///
/// # Panics
/// If lowering uses more or less than `measure` says.
pub fn lower_input<I: Input, T: Transfers>(
    input: &I,
    transfers: &mut T,
    policy: &Policy,
) -> Result<Lowered, Error> {
    let limits = Limits::DEFAULT;
    let dims = measure(input, &limits, policy).inspect_err(assert_placed)?;
    let room = usize::try_from(dims.needed()).expect("fits") + 16;
    let mut arena = Arena::new(memory(room)).expect("the null area fits");
    let mut notes = NoteList::<64>::new();
    let kbins = lower_from(input, transfers, &mut arena, &limits, policy, &mut notes);
    let kbins = kbins.inspect_err(assert_placed)?;
    let used = arena.head_used() as u64;
    assert_eq!(used, dims.product_bytes(), "emit uses what measure says");
    assert_eq!(arena.high_water(), room, "the arena was as large as needed");
    assert_eq!(arena.tail_used(), 0, "scratch is given back");
    let notes = notes.kept().to_vec();
    Ok(Lowered { kbins, notes, measured: dims.product_bytes(), used, high_water: room as u64 })
}
