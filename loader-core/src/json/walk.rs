//! Steps through the items and fields of a validated container, without recursion.

use super::element::Element;
use super::lexer::wide;
use super::text::Text;

/// What is left of a validated container.
#[derive(Clone, Copy, Debug)]
struct Rest<'a> {
    text: &'a [u8],
    offset: u64,
}

impl<'a> Rest<'a> {
    /// After the opening bracket.
    fn inside(text: &'a [u8], offset: u64) -> Self {
        let mut rest = Self { text, offset };
        rest.skip(1);
        rest
    }

    fn skip(&mut self, count: usize) {
        self.text = self.text.get(count..).unwrap_or(&[]);
        self.offset = self.offset.saturating_add(wide(count));
    }

    /// The next byte that is not white space, comma or colon.
    fn next_significant(&mut self) -> Option<u8> {
        let filler = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b',' | b':');
        let count = self.text.iter().position(|byte| !filler(byte))?;
        self.skip(count);
        self.text.first().copied()
    }

    /// The value that comes next; `None` at the closing bracket.
    fn value(&mut self) -> Option<Element<'a>> {
        let first = self.next_significant()?;
        let len = match first {
            b']' | b'}' => return None,
            b'"' => string_len(self.text),
            b'{' | b'[' => container_len(self.text),
            _ => scalar_len(self.text),
        };
        let element = Element::validated(self.text.get(..len)?, self.offset);
        self.skip(len);
        Some(element)
    }
}

/// Length of the string at the front, with both quotes.
fn string_len(text: &[u8]) -> usize {
    let mut len = 1usize;
    loop {
        let rest = text.get(len..).unwrap_or(&[]);
        let Some(step) = rest.iter().position(|&byte| byte == b'"' || byte == b'\\') else {
            return text.len();
        };
        let escaped = rest.get(step) == Some(&b'\\');
        len = len.saturating_add(step).saturating_add(if escaped { 2 } else { 1 });
        if !escaped {
            return len;
        }
    }
}

/// Length of the container at the front: brackets are counted, strings stepped over.
fn container_len(text: &[u8]) -> usize {
    let (mut at, mut open) = (0usize, 0usize);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let mark = |byte: &u8| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']');
        let Some(step) = rest.iter().position(mark) else { break };
        at = at.saturating_add(step);
        let here = rest.get(step..).unwrap_or(&[]);
        let width = match here.first() {
            Some(b'"') => string_len(here),
            Some(b'{' | b'[') => {
                open = open.saturating_add(1);
                1
            }
            _ => {
                open = open.saturating_sub(1);
                1
            }
        };
        at = at.saturating_add(width);
        if open == 0 {
            return at;
        }
    }
    text.len()
}

/// Length of the number or word at the front.
fn scalar_len(text: &[u8]) -> usize {
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    text.iter().position(|byte| !inner(byte)).unwrap_or(text.len()).max(1)
}

/// The items of an array. See [`Element::items`].
#[derive(Clone, Copy, Debug)]
pub struct Items<'a>(Rest<'a>);

impl<'a> Items<'a> {
    pub(super) fn new(text: &'a [u8], offset: u64) -> Self {
        Self(Rest::inside(text, offset))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        self.0.value()
    }
}

/// The fields of an object. See [`Element::fields`].
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(Rest<'a>);

impl<'a> Fields<'a> {
    pub(super) fn new(text: &'a [u8], offset: u64) -> Self {
        Self(Rest::inside(text, offset))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Text<'a>, Element<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.0.value()?.text().ok()?;
        Some((key, self.0.value()?))
    }
}

/// Every object in a value, at any depth, in the order of their opening brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Objects<'a>(Rest<'a>);

impl<'a> Objects<'a> {
    pub(super) fn new(value: Element<'a>) -> Self {
        Self(Rest { text: value.bytes(), offset: value.offset() })
    }
}

impl<'a> Iterator for Objects<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        loop {
            let mark = |byte: &u8| matches!(byte, b'"' | b'{');
            let step = self.0.text.iter().position(mark)?;
            self.0.skip(step);
            if self.0.text.first() == Some(&b'"') {
                self.0.skip(string_len(self.0.text));
                continue;
            }
            let (text, offset) = (self.0.text, self.0.offset);
            self.0.skip(1);
            return Some(Element::validated(text, offset));
        }
    }
}
