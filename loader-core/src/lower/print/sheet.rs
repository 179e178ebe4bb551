//! Records of an arena part, each under a heading with its address.

use super::{record, record_at};
use crate::arena::{ArenaRef, Head, Record};
use crate::lower::record::Walk;
use core::fmt;
use zerocopy::little_endian::U32;

/// Prints records of one sealed part of an arena.
#[allow(missing_debug_implementations, reason = "a formatter has none")]
pub struct Sheet<'a, 'f, 'm> {
    head: Head<'m>,
    f: &'a mut fmt::Formatter<'f>,
}

impl<'a, 'f, 'm> Sheet<'a, 'f, 'm> {
    /// Prints records of `head`.
    pub const fn new(head: Head<'m>, f: &'a mut fmt::Formatter<'f>) -> Self {
        Self { head, f }
    }

    /// Every record of an array, and after each one what `then` prints. A null reference prints nothing.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn each<T: Record + Walk + 'm>(
        &mut self,
        name: &'static str,
        array: ArenaRef,
        mut then: impl FnMut(&mut Self, &T) -> fmt::Result,
    ) -> fmt::Result {
        for index in 0..array.count() {
            let Some(place) = array.nth::<T>(index) else { break };
            let Some(one) = self.head.get::<T>(place) else { break };
            self.heading(name, (array.count() > 1).then_some(index), place, size_of::<T>())?;
            write!(self.f, "{}", record(name, one))?;
            then(self, one)?;
        }
        Ok(())
    }

    /// Every record of an array.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn all<T: Record + Walk + 'm>(&mut self, name: &'static str, array: ArenaRef) -> fmt::Result {
        self.each(name, array, |_, _: &T| Ok(()))
    }

    /// Every record of an array, each as what `shown` makes of it.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn all_as<T: Record + 'm, W: Walk>(
        &mut self,
        name: &'static str,
        array: ArenaRef,
        shown: impl Fn(&'m T) -> W,
    ) -> fmt::Result {
        for index in 0..array.count() {
            let Some(place) = array.nth::<T>(index) else { break };
            let Some(one) = self.head.get::<T>(place) else { break };
            self.heading(name, (array.count() > 1).then_some(index), place, size_of::<T>())?;
            write!(self.f, "{}", record(name, &shown(one)))?;
        }
        Ok(())
    }

    /// A record that is part of the one printed before, `at` bytes into it.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn part<T: Walk>(&mut self, name: &'static str, at: usize, part: &T) -> fmt::Result {
        write!(self.f, "{}", record_at(name, at, part))
    }

    /// A text; nothing for an empty one.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn text(&mut self, name: &'static str, text: ArenaRef) -> fmt::Result {
        let bytes: &[u8] = self.head.slice(text).unwrap_or(&[]);
        if bytes.is_empty() {
            return Ok(());
        }
        self.heading(name, None, text, bytes.len())?;
        writeln!(self.f, "        \"{}\"", bytes.escape_ascii())
    }

    /// Numbers of an array, on one line.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn numbers(&mut self, name: &'static str, array: ArenaRef) -> fmt::Result {
        let numbers: &[U32] = self.head.slice(array).unwrap_or(&[]);
        if numbers.is_empty() {
            return Ok(());
        }
        self.heading(name, None, array, size_of_val(numbers))?;
        self.f.write_str("       ")?;
        for number in numbers {
            write!(self.f, " {number}")?;
        }
        writeln!(self.f)
    }

    fn heading(&mut self, name: &str, index: Option<u32>, place: ArenaRef, bytes: usize) -> fmt::Result {
        self.f.write_str(name)?;
        if let Some(index) = index {
            write!(self.f, "[{index}]")?;
        }
        writeln!(self.f, " @{} ({bytes} bytes)", place.off)
    }
}
