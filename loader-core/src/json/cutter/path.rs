//! Where in the document a value stands.

use super::ENTERED_MAX;
use super::keys::Keys;
use crate::error::{Error, Stage};
use core::fmt;
use core::ops::Range;

/// How a container is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// Its values are asked about.
    Plain,
    /// The same, and its keys are compared.
    Unique,
    /// Its keys are compared, its values are of no interest.
    Silent,
}

/// One entered container.
#[derive(Clone, Debug)]
pub(super) struct Level {
    object: bool,
    pub(super) unique: bool,
    pub(super) silent: bool,
    /// Where its keys start in the key memory.
    pub(super) base: usize,
    /// Where its present key stands there.
    pub(super) key: Range<usize>,
    values: u32,
}

impl Level {
    pub(super) const fn new(object: bool, entry: Entry, base: usize) -> Self {
        let (unique, silent) = (!matches!(entry, Entry::Plain), matches!(entry, Entry::Silent));
        Self { object, unique, silent, base, key: base..base, values: 0 }
    }

    pub(super) const fn values(&self) -> u32 {
        self.values
    }
}

/// The entered containers, outermost first.
#[derive(Clone, Debug)]
pub(super) struct Levels(heapless::Vec<Level, ENTERED_MAX>);

impl Levels {
    pub(super) const fn new() -> Self {
        Self(heapless::Vec::new())
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn depth(&self) -> u16 {
        u16::try_from(self.0.len()).unwrap_or(u16::MAX)
    }

    /// True if another container can be entered.
    pub(super) fn room(&self) -> bool {
        !self.0.is_full()
    }

    pub(super) fn last(&self) -> Option<&Level> {
        self.0.last()
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut Level> {
        self.0.last_mut()
    }

    /// Another value begins in the innermost container.
    pub(super) fn count(&mut self) {
        if let Some(level) = self.0.last_mut() {
            level.values = level.values.saturating_add(1);
        }
    }

    pub(super) fn push(&mut self, level: Level) -> Result<(), Error> {
        let full = |_| Error::internal(Stage::Manifest, "too many containers entered");
        self.0.push(level).map_err(full)
    }

    pub(super) fn pop(&mut self) -> Option<Level> {
        self.0.pop()
    }
}

/// One step from a container to a value in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'p> {
    /// Of an object: the key, unescaped.
    Key(&'p [u8]),
    /// Of an array: the position.
    Index(u32),
}

/// The steps from the root to a value. The root's own path is empty.
#[derive(Clone, Copy)]
pub struct Path<'p> {
    levels: &'p Levels,
    keys: &'p Keys<'p>,
    /// The innermost key, where it is not in the key memory.
    last: Option<&'p [u8]>,
}

impl<'p> Path<'p> {
    pub(super) const fn new(levels: &'p Levels, keys: &'p Keys<'p>, last: Option<&'p [u8]>) -> Self {
        Self { levels, keys, last }
    }

    /// Number of steps.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.0.len()
    }

    /// Step `step`, counted from the root.
    #[must_use]
    pub fn segment(&self, step: usize) -> Option<Segment<'p>> {
        let (level, inner) = self.levels.0.get(step..)?.split_first()?;
        let last = self.last.filter(|_| inner.is_empty());
        Some(match level.object {
            true => Segment::Key(last.unwrap_or_else(|| self.keys.at(&level.key))),
            false => Segment::Index(level.values.saturating_sub(1)),
        })
    }

    /// The steps, from the root.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'p>> {
        let path = *self;
        (0..self.depth()).filter_map(move |step| path.segment(step))
    }

    /// The last step.
    #[must_use]
    pub fn last(&self) -> Option<Segment<'p>> {
        self.segment(self.depth().checked_sub(1)?)
    }

    /// The key of step `step`; empty if that is an index.
    #[must_use]
    pub fn key(&self, step: usize) -> &'p [u8] {
        match self.segment(step) {
            Some(Segment::Key(key)) => key,
            _ => b"",
        }
    }

    /// The index of step `step`; `None` if that is a key.
    #[must_use]
    pub fn index(&self, step: usize) -> Option<u32> {
        match self.segment(step) {
            Some(Segment::Index(index)) => Some(index),
            _ => None,
        }
    }

    /// True if the path has exactly these steps: a key as it is, any index or key as `*`.
    #[must_use]
    pub fn is(&self, steps: &[&str]) -> bool {
        let same =
            |(segment, step): (Segment<'_>, &&str)| *step == "*" || segment == Segment::Key(step.as_bytes());
        self.depth() == steps.len() && self.segments().zip(steps).all(same)
    }

    /// Names the value in an error: its last key, and the last index as the element.
    #[must_use]
    pub fn name(&self, mut error: Error) -> Error {
        for segment in self.segments() {
            match segment {
                Segment::Key(key) => error = error.name(key),
                Segment::Index(index) => error = error.element(index),
            }
        }
        error
    }
}

/// As in `nodes[3].attrs`.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (step, segment) in self.segments().enumerate() {
            match segment {
                Segment::Key(key) if step == 0 => write!(f, "{}", key.escape_ascii())?,
                Segment::Key(key) => write!(f, ".{}", key.escape_ascii())?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
