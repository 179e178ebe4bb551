//! Names and other text from outside, as people may see them.
//!
//! A terminal takes control characters as commands, and some invisible characters turn the text around them. All
//! text that this program did not write itself goes through here on its way to a person: tables and painted words do
//! it by themselves, paths with [`path`], whole lines, as a last resort, with [`line()`].

use loader_std::container::text as lossless;
use std::fmt::Display;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// True for characters that do something instead of being seen: control characters, marks of direction, and breaks
/// of lines and paragraphs.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The text with such characters as escapes: `\n`, `\u{1b}`.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|character| put(&mut out, character));
    out
}

/// Adds a character, or its escape if it would not be seen.
pub(crate) fn put(out: &mut String, character: char) {
    if is_hidden(character) {
        out.extend(character.escape_default());
    } else {
        out.push(character);
    }
}

/// A path the same way; bytes that are no UTF-8 as `\xNN`.
pub(crate) fn path(path: &Path) -> String {
    text(&lossless(path.as_os_str().as_bytes()))
}

/// A path for documents: all of it; bytes that are no UTF-8 as `\xNN`, and nothing escaped that a document can hold.
pub(crate) fn name(path: &Path) -> String {
    lossless(path.as_os_str().as_bytes())
}

/// The sequences that this program itself paints with; the same as in `Paint`.
const PAINTS: [&str; 6] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"];

/// Lines that this program put together: ends of lines, tabs and, if they are `painted`, its own paints stay.
pub(crate) fn line(text: &str, painted: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let paint = PAINTS.into_iter().find(|paint| painted && rest.starts_with(paint));
        let taken = match paint {
            Some(paint) => {
                out.push_str(paint);
                paint.len()
            }
            None if matches!(character, '\n' | '\t') => {
                out.push(character);
                1
            }
            None => {
                put(&mut out, character);
                character.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// Says something on standard error, on lines of its own. That nobody listens any more is no reason to stop: what a
/// load has taken it still gives back.
pub(crate) fn complain(text: impl Display) {
    let said = text.to_string();
    let _ = writeln!(io::stderr().lock(), "{}", line(said.trim_end_matches('\n'), false));
}

#[cfg(test)]
mod tests {
    use super::{line, name, path, text};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    #[test]
    fn what_a_terminal_would_obey_is_seen_instead() {
        assert_eq!(text("a\x1b[31mb\nc\u{9b}2J"), "a\\u{1b}[31mb\\nc\\u{9b}2J");
        assert_eq!(text("ab\u{202e}cd \u{feff}é ─ \u{2029}"), "ab\\u{202e}cd \\u{feff}é ─ \\u{2029}");
        assert_eq!(path(Path::new(OsStr::from_bytes(b"a\xffb\r"))), "a\\xffb\\r");
        assert_eq!(name(Path::new(OsStr::from_bytes(b"a\xffb\r"))), "a\\xffb\r");
    }

    #[test]
    fn lines_keep_their_ends_and_our_own_paints() {
        let painted = "\x1b[32mok\x1b[0m\tx\n\x1b[5mblink\x1b]0;title\x07";
        assert_eq!(line(painted, true), "\x1b[32mok\x1b[0m\tx\n\\u{1b}[5mblink\\u{1b}]0;title\\u{7}");
        assert!(!line(painted, false).contains('\x1b'));
    }
}
