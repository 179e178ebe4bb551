//! JSON documents of many rows that are printed as they come, so that no more than one is held.

use super::{Document, Output};
use crate::trouble::Trouble;
use serde_json::Value;
use std::fmt;

/// A document that begins with one long list. It looks as if it had been printed whole.
#[derive(Debug)]
pub(crate) struct Listing {
    rows: u64,
}

impl Listing {
    /// Prints the beginning of a document of a subcommand whose list is `key`.
    pub(crate) fn begin(subcommand: &str, key: &str, output: &mut Output) -> Result<Self, Trouble> {
        let schema = Document::schema(subcommand);
        output.put(format_args!("{{\n  \"schema\": \"{schema}\",\n  \"{key}\": ["))?;
        Ok(Self { rows: 0 })
    }

    /// Prints a row.
    pub(crate) fn row(&mut self, row: &Value, output: &mut Output) -> Result<(), Trouble> {
        let comma = if self.rows == 0 { "" } else { "," };
        self.rows += 1;
        output.put(format_args!("{comma}\n    {}", Indented(row, 4)))
    }

    /// Prints the other keys, and the end.
    pub(crate) fn end(self, rest: &[(&str, Value)], output: &mut Output) -> Result<(), Trouble> {
        output.put(format_args!("{}]", if self.rows == 0 { "" } else { "\n  " }))?;
        for (key, value) in rest {
            output.put(format_args!(",\n  \"{key}\": {}", Indented(value, 2)))?;
        }
        output.put(format_args!("\n}}\n"))
    }
}

/// A value of which every line but the first is moved to the right.
struct Indented<'v>(&'v Value, usize);

impl fmt::Display for Indented<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string_pretty(self.0).map_err(|_| fmt::Error)?;
        // Line feeds within strings are escapes, so these are all between values.
        let mut lines = text.lines();
        f.write_str(lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| write!(f, "\n{:1$}{line}", "", self.1))
    }
}

#[cfg(test)]
mod tests {
    use super::Indented;
    use serde_json::json;

    #[test]
    fn values_are_moved_as_a_whole() {
        let value = json!([{ "a": 1, "b": "x\ny" }]);
        let whole = serde_json::to_string_pretty(&json!({ "k": value })).unwrap();
        assert_eq!(format!("{{\n  \"k\": {}\n}}", Indented(&value, 2)), whole);
    }
}
