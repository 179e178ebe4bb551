//! HTML with the origin of every figure: whatever a page shows of the document carries the JSON pointer it came
//! from, so that a test can hold the page against `--json`.

use crate::output::{Size, shown};
use serde_json::Value;
use std::fmt::Write;

/// A page that grows, over the document it shows.
#[derive(Debug)]
pub(super) struct Html<'d> {
    document: &'d Value,
    text: String,
}

/// Text with the characters of markup replaced and hidden characters made visible, as on a terminal.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => shown::put(&mut out, other),
        }
    }
    out
}

/// Bytes that a text of the document takes on the page at most.
const MOST_TEXT: usize = 640;

/// As [`escaped`], at most `most` bytes of it and then an ellipsis: a file decides how long its names are, but not how
/// large the page becomes.
pub(super) fn cut(text: &str, most: usize) -> String {
    let mut out = String::new();
    for character in text.chars() {
        let next = escaped(character.encode_utf8(&mut [0; 4]));
        if out.len() + next.len() > most {
            out.push('…');
            break;
        }
        out.push_str(&next);
    }
    out
}

/// Decimal digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl<'d> Html<'d> {
    pub(super) const fn new(document: &'d Value) -> Self {
        Self { document, text: String::new() }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// The value at a pointer; null if there is none.
    pub(super) fn at(&self, pointer: &str) -> &'d Value {
        self.document.pointer(pointer).unwrap_or(&Value::Null)
    }

    pub(super) fn number_at(&self, pointer: &str) -> u64 {
        self.at(pointer).as_u64().unwrap_or(0)
    }

    /// How many items the array at a pointer has.
    pub(super) fn len(&self, pointer: &str) -> usize {
        self.at(pointer).as_array().map_or(0, Vec::len)
    }

    /// Markup as it is.
    pub(super) fn raw(&mut self, markup: impl AsRef<str>) -> &mut Self {
        self.text.push_str(markup.as_ref());
        self
    }

    /// A string of the document.
    pub(super) fn word(&mut self, pointer: &str) -> &mut Self {
        let shown = match self.at(pointer) {
            Value::String(text) => cut(text, MOST_TEXT),
            Value::Null => "–".to_owned(),
            other => cut(&other.to_string(), MOST_TEXT),
        };
        let _ = write!(self.text, "<span data-from=\"{pointer}\">{shown}</span>");
        self
    }

    fn data(&mut self, pointer: &str, shown: impl FnOnce(u64) -> String) -> &mut Self {
        match self.at(pointer).as_u64() {
            Some(value) => {
                let shown = shown(value);
                let _ = write!(self.text, "<data value=\"{value}\" data-from=\"{pointer}\">{shown}</data>");
            }
            None => self.text.push('–'),
        }
        self
    }

    /// A count of the document.
    pub(super) fn count(&mut self, pointer: &str) -> &mut Self {
        self.data(pointer, grouped)
    }

    /// A number of bytes of the document, in units for people.
    pub(super) fn size(&mut self, pointer: &str) -> &mut Self {
        self.data(pointer, |bytes| Size(bytes).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{Html, cut, escaped};
    use serde_json::json;

    #[test]
    fn names_from_files_turn_no_text_around() {
        assert_eq!(escaped("a\u{202e}b\u{2066}c"), "a\\u{202e}b\\u{2066}c");
    }

    #[test]
    fn names_from_files_are_no_markup() {
        assert_eq!(escaped("<a b='c'>&\"\n"), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;\\n");
    }

    #[test]
    fn long_names_end_in_an_ellipsis() {
        assert_eq!(cut("abcd", 4), "abcd");
        assert_eq!(cut("abcde", 4), "abcd…");
        assert_eq!(cut("a<<", 5), "a&lt;…", "no half of a character");
        assert_eq!(cut("aé", 2), "a…");
    }

    #[test]
    fn figures_carry_their_origin() {
        let document = json!({ "a": [1234567, "x<y"] });
        let mut html = Html::new(&document);
        html.count("/a/0").size("/a/0").word("/a/1").count("/a/2");
        let expected = "<data value=\"1234567\" data-from=\"/a/0\">1,234,567</data>\
                        <data value=\"1234567\" data-from=\"/a/0\">1.2 MiB</data>\
                        <span data-from=\"/a/1\">x&lt;y</span>–";
        assert_eq!(html.finish(), expected);
    }
}
