//! Any record, or a whole kbin, field by field with its offset.
//!
//! A [`Sheet`] prints records where they lie: a heading with the record's address in the arena, then a line per field
//! with the offset within the record.
//!
//! ```
//! use loader_core::lower::print;
//! use loader_core::lower::record::PatchEntry;
//!
//! let text = print::record("patch", &PatchEntry::default()).to_string();
//! assert!(text.contains("     8  patch.kind = 0 (insert)"));
//! ```

mod kbin;
mod sheet;

pub use sheet::Sheet;

use super::record::{Lines, Path, Walk};
use core::fmt;

/// A record that prints itself under `name`, offsets from its own start.
pub const fn record<'a, T: Walk + ?Sized>(name: &'static str, record: &'a T) -> impl fmt::Display + 'a {
    Printed { name, at: 0, record }
}

/// A record that prints itself with offsets from `at` on.
pub const fn record_at<'a, T: Walk + ?Sized>(
    name: &'static str,
    at: usize,
    record: &'a T,
) -> impl fmt::Display + 'a {
    Printed { name, at, record }
}

struct Printed<'a, T: ?Sized> {
    name: &'static str,
    at: usize,
    record: &'a T,
}

impl<T: Walk + ?Sized> fmt::Display for Printed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.record.walk(self.at, &Path::root(self.name), &mut Column { f })
    }
}

struct Column<'a, 'f> {
    f: &'a mut fmt::Formatter<'f>,
}

impl Lines for Column<'_, '_> {
    fn line(&mut self, at: usize, path: &Path<'_>, value: &dyn fmt::Display) -> fmt::Result {
        write!(self.f, "{at:6}  ")?;
        fmt::Display::fmt(path, self.f)?;
        writeln!(self.f, " = {value}")
    }
}
