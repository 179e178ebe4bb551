//! S1 from a source: the resident way and the streamed way.

use super::{Container, Store, Workspace};
use crate::arena::Arena;
use crate::error::{Error, Notes, Stage};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::source::Source;

/// Checks the file and unpacks it: member bytes are appended to `store`, the member table is sealed at
/// the arena's tail.
///
/// # Errors
/// The first refusal in the order of container.md §7.2; a digest mismatch goes before archive errors.
pub fn unpack<'m, S: Source, K: Store>(
    source: &mut S,
    work: Workspace<'_>,
    store: &mut K,
    arena: &mut Arena<'m>,
    limits: &Limits,
    policy: &Policy,
    notes: &mut impl Notes,
) -> Result<Container<'m>, Error> {
    let _ = (source, work, store, arena, limits, policy, notes);
    Err(Error::internal(Stage::Unpack, "not built"))
}
