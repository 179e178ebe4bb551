//! From a source stream to device slots (staging.md §11; R1 to R8, R38).
//!
//! A [`Stream`] is fed an engine's bytes in pieces of any length and hands device slots to a [`Sink`].
//! Stretches of ordinary instructions pass through as they are, without a copy. The same code runs
//! twice: once while the plan is made (sizes, notes, every check), once to fill the image.

mod pseudo;
mod request;
mod slot;
mod stream;

pub(super) use pseudo::Trigger;
pub(super) use slot::trimmed;
pub use slot::{Slot, displacement};
pub use stream::Stream;

use super::record::{FUNCTION_NAME, SlotNote};
use crate::arch::{Arch, Engine};
use crate::error::{Error, Stage, StageCode};
use crate::lower::KbinView;
use crate::lower::record::PatchSection;
use crate::policy::Policy;
use zerocopy::little_endian::U32;

/// Part of an image that source slots go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Main code.
    Main,
    /// Functions.
    Function,
}

impl Section {
    /// Its number in the position map.
    #[must_use]
    pub const fn patch(self) -> PatchSection {
        match self {
            Self::Main => PatchSection::MAIN,
            Self::Function => PatchSection::FUNCTION,
        }
    }
}

/// Takes device slots and notes.
pub trait Sink {
    /// Whole slots for `section`, the first one at slot `at` of it.
    ///
    /// # Errors
    /// Ends the translation.
    fn slots(&mut self, section: Section, at: u32, bytes: &[u8]) -> Result<(), Error>;

    /// Something to remember about a slot.
    ///
    /// # Errors
    /// Ends the translation.
    fn note(&mut self, note: SlotNote) -> Result<(), Error>;

    /// Something to remember about a slot that names a function (32 bytes, NUL-filled).
    ///
    /// # Errors
    /// Ends the translation.
    fn named_note(&mut self, note: SlotNote, name: &[u8; FUNCTION_NAME]) -> Result<(), Error>;
}

/// What a branch wants to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal<'a> {
    /// A label by id.
    Label(u32),
    /// A function by name, without NUL fill.
    Function(&'a [u8]),
    /// The first postamble slot (R30).
    Exit,
}

/// Knows addresses, in the second run.
pub trait Places {
    /// Address of a byte of a variable that was checked in the first run.
    ///
    /// # Errors
    /// The variable has none.
    fn address(&self, var: u32, off: u64) -> Result<u64, Error>;

    /// Slot within the image of a branch goal, and of a section's first slot.
    fn goal(&self, goal: Goal<'_>) -> Option<u32>;

    /// Slot within the image of a section's first slot.
    fn base(&self, section: Section) -> u32;
}

/// The first run: nothing has a place yet.
#[derive(Clone, Copy, Debug)]
pub struct Nowhere;

impl Places for Nowhere {
    fn address(&self, _: u32, _: u64) -> Result<u64, Error> {
        Ok(0)
    }

    fn goal(&self, _: Goal<'_>) -> Option<u32> {
        Some(0)
    }

    fn base(&self, _: Section) -> u32 {
        0
    }
}

/// What translation needs to know about an engine.
#[derive(Clone, Copy, Debug)]
pub struct Code<'m> {
    /// Its kbin. Not a copy: a load has ten of these.
    pub kbin: &'m KbinView<'m>,
    /// The engine.
    pub engine: Engine,
    /// Subgraph number.
    pub core: u8,
    /// Architecture.
    pub arch: Arch,
    /// Elements of the subgraph's `dge-table`.
    pub table: Option<&'m [U32]>,
    /// How calls and requests with an extension are lowered (R38).
    pub policy: &'m Policy,
}

impl Code<'_> {
    /// An error at a source slot.
    #[must_use]
    pub fn fault(&self, code: StageCode, source: u32) -> Error {
        let error = Error::new(Stage::Plan, code).name(self.engine.key().as_bytes());
        self.located(error.numbers(u64::from(source), 0), source)
    }

    /// The same error at a source slot of the engine's instructions.
    #[must_use]
    pub fn located(&self, error: Error, source: u32) -> Error {
        error.element(source).subgraph(self.core).member_or(self.kbin.program_file(self.engine))
    }
}
