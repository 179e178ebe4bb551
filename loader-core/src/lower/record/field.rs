//! What a field can be, and how it prints: one line per field with its offset.

use crate::arena::ArenaRef;
use core::fmt;
use zerocopy::little_endian::{I32, I64, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A name in front of a value: a field, or an element of an array, of an outer name.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    outer: Option<&'a Path<'a>>,
    part: Part,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Field(&'static str),
    Element(usize),
    Rest(usize, usize),
}

impl<'a> Path<'a> {
    /// A name without an outer one.
    #[must_use]
    pub const fn root(name: &'static str) -> Self {
        Self { outer: None, part: Part::Field(name) }
    }

    /// The field `name` of this.
    #[must_use]
    pub const fn field(&'a self, name: &'static str) -> Self {
        Self { outer: Some(self), part: Part::Field(name) }
    }

    /// Element `index` of this.
    #[must_use]
    pub const fn element(&'a self, index: usize) -> Self {
        Self { outer: Some(self), part: Part::Element(index) }
    }

    const fn rest(&'a self, from: usize, to: usize) -> Self {
        Self { outer: Some(self), part: Part::Rest(from, to) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(outer) = self.outer {
            fmt::Display::fmt(outer, f)?;
        }
        match self.part {
            Part::Field(name) if self.outer.is_some_and(|outer| !outer.is_empty()) => write!(f, ".{name}"),
            Part::Field(name) => f.write_str(name),
            Part::Element(index) => write!(f, "[{index}]"),
            Part::Rest(from, to) => write!(f, "[{from}..{to}]"),
        }
    }
}

impl Path<'_> {
    fn is_empty(&self) -> bool {
        self.outer.is_none() && matches!(self.part, Part::Field(""))
    }
}

/// Takes the lines of a printed record.
pub trait Lines {
    /// One field: its offset in bytes, its name and its value.
    ///
    /// # Errors
    /// Those of the writer behind it.
    fn line(&mut self, at: usize, path: &Path<'_>, value: &dyn fmt::Display) -> fmt::Result;
}

/// A value that can print itself field by field.
pub trait Walk {
    /// Gives one line per field; `at` is the offset of this value.
    ///
    /// # Errors
    /// Those of `lines`.
    fn walk(&self, at: usize, path: &Path<'_>, lines: &mut dyn Lines) -> fmt::Result;
}

/// Implements [`Walk`] as one line for types that implement `Display`.
macro_rules! leaf {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::lower::record::Walk for $type {
            fn walk(
                &self,
                at: usize,
                path: &$crate::lower::record::Path<'_>,
                lines: &mut dyn $crate::lower::record::Lines,
            ) -> core::fmt::Result {
                lines.line(at, path, self)
            }
        }
    )*};
}
pub(crate) use leaf;

leaf!(U16, U32, U64, I32, I64, u8, i8);

impl Walk for ArenaRef {
    fn walk(&self, at: usize, path: &Path<'_>, lines: &mut dyn Lines) -> fmt::Result {
        if self.is_null() {
            return lines.line(at, path, &"null");
        }
        lines.line(at, path, &format_args!("@{} ×{}", self.off.get(), self.len.get()))
    }
}

/// Arrays print element by element; a run of zero elements at the end prints as one line.
impl<T: Walk + IntoBytes + Immutable, const N: usize> Walk for [T; N] {
    fn walk(&self, at: usize, path: &Path<'_>, lines: &mut dyn Lines) -> fmt::Result {
        let used = self.iter().rposition(|item| item.as_bytes().iter().any(|&byte| byte != 0));
        let used = used.map_or(0, |last| last.saturating_add(1));
        let mut offset = at;
        for (index, item) in self.iter().take(used).enumerate() {
            item.walk(offset, &path.element(index), lines)?;
            offset = offset.saturating_add(size_of::<T>());
        }
        if used < N {
            lines.line(offset, &path.rest(used, N), &"zero")?;
        }
        Ok(())
    }
}

/// Bytes that the layout leaves free. Printed only if they are not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(transparent)]
pub struct Pad<const N: usize>(pub [u8; N]);

impl<const N: usize> Walk for Pad<N> {
    fn walk(&self, at: usize, path: &Path<'_>, lines: &mut dyn Lines) -> fmt::Result {
        if self.0.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        lines.line(at, path, &format_args!("{:02x?}", self.0))
    }
}

/// NUL-filled text of at most `N - 1` bytes.
#[derive(Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(transparent)]
pub struct Text<const N: usize>(pub [u8; N]);

/// The text does not leave room for its NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl<const N: usize> Text<N> {
    /// Most bytes that fit.
    pub const MOST: usize = N.saturating_sub(1);

    /// `text` with NUL fill.
    ///
    /// # Errors
    /// [`TooLong`] if it has more than `N - 1` bytes; nothing is cut (lowering.md O-13).
    pub fn new(text: &[u8]) -> Result<Self, TooLong> {
        let mut bytes = [0; N];
        if text.len() > Self::MOST {
            return Err(TooLong);
        }
        for (slot, &byte) in bytes.iter_mut().zip(text) {
            *slot = byte;
        }
        Ok(Self(bytes))
    }

    /// Puts a text that was held against [`Text::MOST`] into a place of zeros.
    pub(crate) fn set(&mut self, text: &[u8]) {
        crate::bytes::copy(self.0.get_mut(..Self::MOST).unwrap_or(&mut []), text);
    }

    /// The bytes before the first NUL.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        let end = self.0.iter().position(|&byte| byte == 0).unwrap_or(N);
        self.0.get(..end).unwrap_or(&[])
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.as_bytes().escape_ascii())
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> Walk for Text<N> {
    fn walk(&self, at: usize, path: &Path<'_>, lines: &mut dyn Lines) -> fmt::Result {
        lines.line(at, path, self)
    }
}
