//! Remarks that stop nothing: where warnings go while a stage runs.

use super::Error;
use crate::layout::SMALL;

/// Receives warnings (errors with a `W` code). A stage never decides on them.
///
/// Where small code goes before speed, unpacking and lowering have none to give: a host says them of the same file.
pub trait Notes {
    /// Takes one remark.
    fn note(&mut self, note: Error);
}

/// Makes a remark, where there is somebody to hear it.
pub(crate) fn remark(notes: &mut dyn Notes, make: impl FnOnce() -> Error) {
    if !SMALL {
        notes.note(make());
    }
}

/// Drops every remark; for callers that have no use for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignored;

impl Notes for Ignored {
    fn note(&mut self, _: Error) {}
}

/// Keeps the first `N` remarks and counts the rest.
#[derive(Clone, Debug, Default)]
pub struct NoteList<const N: usize> {
    kept: heapless::Vec<Error, N>,
    lost: u32,
}

impl<const N: usize> NoteList<N> {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { kept: heapless::Vec::new(), lost: 0 }
    }

    /// The remarks that were kept, in order.
    #[must_use]
    pub fn kept(&self) -> &[Error] {
        &self.kept
    }

    /// How many did not fit.
    #[must_use]
    pub const fn lost(&self) -> u32 {
        self.lost
    }
}

impl<const N: usize> Notes for NoteList<N> {
    fn note(&mut self, note: Error) {
        if self.kept.push(note).is_err() {
            self.lost = self.lost.saturating_add(1);
        }
    }
}

impl<T: Notes + ?Sized> Notes for &mut T {
    fn note(&mut self, note: Error) {
        (**self).note(note);
    }
}
