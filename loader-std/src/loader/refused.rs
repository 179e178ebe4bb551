//! A refused load: the error, and what was known by then.

use loader_core::container::{Header, MemberTable};
use loader_core::error::Error;
use loader_core::source::{MemberId, MemberNames};
use std::fmt;
use std::ops::Deref;

/// Why a load was refused. Owns what its messages need, so it outlives the memory of the load.
#[derive(Clone)]
pub struct LoadError {
    error: Error,
    member: Option<Vec<u8>>,
    header: Option<Header>,
    notes: Vec<Error>,
}

impl LoadError {
    pub(super) fn new(error: Error, header: Option<Header>, notes: &[Error]) -> Self {
        Self { error, member: None, header, notes: notes.to_vec() }
    }

    /// Resolves the member while its table is there.
    pub(super) fn named(mut self, table: &MemberTable<'_>) -> Self {
        self.member = self.error.at.member.and_then(|id| table.name_of(id)).map(<[u8]>::to_vec);
        self
    }

    /// The error.
    #[must_use]
    pub const fn error(&self) -> &Error {
        &self.error
    }

    /// The file's header, if it could be read.
    #[must_use]
    pub const fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Remarks made before the refusal.
    #[must_use]
    pub fn notes(&self) -> &[Error] {
        &self.notes
    }
}

/// Knows the name of the member that the error is about.
impl MemberNames for LoadError {
    fn name_of(&self, id: MemberId) -> Option<&[u8]> {
        self.member.as_deref().filter(|_| self.error.at.member == Some(id))
    }
}

impl Deref for LoadError {
    type Target = Error;

    fn deref(&self) -> &Error {
        &self.error
    }
}

impl From<LoadError> for Error {
    fn from(refused: LoadError) -> Self {
        refused.error
    }
}

impl From<Error> for LoadError {
    fn from(error: Error) -> Self {
        Self::new(error, None, &[])
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.with_names(self).fmt(f)
    }
}

impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LoadError {}
