//! Arenas for hosts, which have memory: a step runs again with twice as much when it ran out.

use crate::room;
use loader_core::arena::{Arena, ArenaFull};
use loader_core::error::{Error, Stage};

/// First size of an arena in bytes: nearly always enough, for every further one reads the whole file again. What is not
/// used of it costs addresses and no memory.
const FIRST: usize = 64 << 20;
/// The least that is tried, on a host with little memory.
const LEAST: usize = 1 << 20;
/// How many times as large the next one is.
const GROWTH: usize = 8;
/// Largest size in bytes: arena offsets have 32 bits.
const LAST: usize = (1 << 32) - 8;
const STAGES: [Stage; 4] = [Stage::Unpack, Stage::Manifest, Stage::Lower, Stage::Plan];

/// True if the error says that an arena was too small.
#[must_use]
pub fn is_full(error: &Error) -> bool {
    let none = ArenaFull { needed: 0, available: 0 };
    STAGES.iter().any(|stage| Error::arena(*stage, none).code() == error.code())
}

/// Runs `step` with an empty arena, and again with a larger one as long as the arena is what it lacks. A host with less
/// memory gives a smaller one.
///
/// # Errors
/// Those of `step`; C802 if the host has no larger arena.
pub fn with_arena<T>(mut step: impl FnMut(&mut Arena<'_>) -> Result<T, Error>) -> Result<T, Error> {
    let (mut most, mut least) = (FIRST, LEAST);
    loop {
        let memory = room::largest(most, least, 0);
        let mut memory = memory.map_err(|full| full.error(Stage::Unpack, "the tables of the file"))?;
        let size = memory.len();
        let made = Arena::new(&mut memory).map_err(|full| Error::arena(Stage::Unpack, full));
        match made.and_then(|mut arena| step(&mut arena)) {
            Err(error) if is_full(&error) && size < LAST => {
                least = size.saturating_add(LEAST).min(LAST);
                most = size.saturating_mul(GROWTH).min(LAST);
            }
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, with_arena};
    use loader_core::error::{Error, Stage};

    #[test]
    fn a_step_gets_what_it_needs() {
        let mut tries = 0;
        let got = with_arena(|arena| {
            tries += 1;
            arena.alloc::<u8>(5 * FIRST).map_err(|full| Error::arena(Stage::Lower, full))
        });
        assert_eq!((got.unwrap().count() as usize, tries), (5 * FIRST, 2));
    }

    #[test]
    fn other_errors_end_it() {
        let mut tries = 0;
        let outcome = with_arena(|_| {
            tries += 1;
            Err::<(), _>(Error::internal(Stage::Lower, "test"))
        });
        assert_eq!((outcome.unwrap_err().id().to_string().as_str(), tries), ("L901", 1));
    }
}
