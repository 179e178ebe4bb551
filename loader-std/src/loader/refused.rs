//! A refused load: the error, and what was known by then.

use crate::growing::is_full;
use loader_core::container::{Header, MemberTable};
use loader_core::error::Error;
use loader_core::source::{MemberId, MemberNames};
use std::fmt;
use std::ops::Deref;

/// Why a load was refused. Owns what its messages need, so it outlives the memory of the load.
#[derive(Clone)]
pub struct LoadError(Box<Known>);

#[derive(Clone)]
struct Known {
    error: Error,
    member: Option<Vec<u8>>,
    header: Option<Header>,
    notes: Vec<Error>,
    usage_table: Option<String>,
}

impl LoadError {
    pub(crate) fn new(error: Error, header: Option<Header>, notes: &[Error]) -> Self {
        Self(Box::new(Known { error, member: None, header, notes: notes.to_vec(), usage_table: None }))
    }

    /// Another error with what was known.
    pub(super) fn but(&self, error: Error) -> Self {
        let Known { header, notes, .. } = &*self.0;
        Self::new(error, *header, notes)
    }

    /// Resolves the member while its table is there.
    pub(crate) fn named(self, table: &MemberTable<'_>) -> Self {
        self.named_by(|id| table.name_of(id))
    }

    /// Resolves the member by whoever knows its name.
    pub(super) fn named_by<'n>(mut self, name_of: impl Fn(MemberId) -> Option<&'n [u8]>) -> Self {
        let member = self.0.error.at().member.and_then(name_of);
        self.0.member = member.map(<[u8]>::to_vec);
        self
    }

    /// Of a load that lacked memory: says how many bytes would do in all, where `given` were there.
    #[must_use]
    pub fn needing(mut self, total: u64, given: u64) -> Self {
        if is_full(&self.0.error) {
            self.0.error = self.0.error.numbers(total, given);
        }
        self
    }

    /// Adds the table of who holds the memory that was missing.
    pub(super) fn with_usage(mut self, table: String) -> Self {
        self.0.usage_table = Some(table);
        self
    }

    /// If the device ran out of memory: who held it by then, as lines of columns (staging.md §17.6).
    #[must_use]
    pub fn usage_table(&self) -> Option<&str> {
        self.0.usage_table.as_deref()
    }

    /// The error.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.0.error
    }

    /// The file's header, if it could be read.
    #[must_use]
    pub fn header(&self) -> Option<&Header> {
        self.0.header.as_ref()
    }

    /// Remarks made before the refusal.
    #[must_use]
    pub fn notes(&self) -> &[Error] {
        &self.0.notes
    }
}

/// Knows the name of the member that the error is about.
impl MemberNames for LoadError {
    fn name_of(&self, id: MemberId) -> Option<&[u8]> {
        self.0.member.as_deref().filter(|_| self.0.error.at().member == Some(id))
    }
}

impl Deref for LoadError {
    type Target = Error;

    fn deref(&self) -> &Error {
        &self.0.error
    }
}

impl From<LoadError> for Error {
    fn from(refused: LoadError) -> Self {
        refused.0.error
    }
}

impl From<Error> for LoadError {
    fn from(error: Error) -> Self {
        Self::new(error, None, &[])
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.error.with_names(self).fmt(f)
    }
}

impl fmt::Debug for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for LoadError {}
