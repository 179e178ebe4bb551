//! A document as serde_json reads it, with nothing lost: objects keep their order and repeated keys.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// Digits that 64 bits hold.
    Unsigned(u64),
    /// The same with a minus sign.
    Signed(i64),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Tree>),
    /// An object.
    Object(Vec<(String, Tree)>),
    /// Text that is written as it stands, JSON or not.
    Raw(Vec<u8>),
}

impl Tree {
    /// Values in it, at any depth, that are arrays or objects; itself included.
    #[must_use]
    pub fn containers(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::containers).sum::<usize>(),
            Self::Object(fields) => 1 + fields.iter().map(|(_, value)| value.containers()).sum::<usize>(),
            _ => 0,
        }
    }

    /// Container number `*left` in the order of the text; what is passed is counted off.
    pub fn container(&mut self, left: &mut usize) -> Option<&mut Self> {
        if !matches!(self, Self::Array(_) | Self::Object(_)) {
            return None;
        }
        if *left == 0 {
            return Some(self);
        }
        *left -= 1;
        match self {
            Self::Array(items) => items.iter_mut().find_map(|item| item.container(left)),
            Self::Object(fields) => fields.iter_mut().find_map(|(_, value)| value.container(left)),
            _ => None,
        }
    }

    /// Adds every key and every string in it.
    pub fn words(&self, keys: &mut Vec<String>, texts: &mut Vec<String>) {
        match self {
            Self::Text(text) => texts.push(text.clone()),
            Self::Array(items) => items.iter().for_each(|item| item.words(keys, texts)),
            Self::Object(fields) => fields.iter().for_each(|(key, value)| {
                keys.push(key.clone());
                value.words(keys, texts);
            }),
            _ => {}
        }
    }

    /// Writes it; `gap` stands after every colon and comma.
    pub fn write(&self, gap: &str, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend(b"null"),
            Self::Bool(value) => out.extend(value.to_string().bytes()),
            Self::Unsigned(value) => out.extend(value.to_string().bytes()),
            Self::Signed(value) => out.extend(value.to_string().bytes()),
            Self::Float(value) => out.extend(format!("{value:?}").bytes()),
            Self::Text(text) => quote(text, out),
            Self::Raw(bytes) => out.extend(bytes),
            Self::Array(items) => list(b"[]", items, gap, out, |item, out| item.write(gap, out)),
            Self::Object(fields) => list(b"{}", fields, gap, out, |(key, value), out| {
                quote(key, out);
                out.push(b':');
                out.extend(gap.bytes());
                value.write(gap, out);
            }),
        }
    }
}

fn list<T>(ends: &[u8; 2], items: &[T], gap: &str, out: &mut Vec<u8>, each: impl Fn(&T, &mut Vec<u8>)) {
    out.push(ends[0]);
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            out.push(b',');
            out.extend(gap.bytes());
        }
        each(item, out);
    }
    out.push(ends[1]);
}

fn quote(text: &str, out: &mut Vec<u8>) {
    out.extend(serde_json::to_vec(text).unwrap_or_default());
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Signed(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut kept = Vec::new();
        while let Some(item) = items.next_element()? {
            kept.push(item);
        }
        Ok(Tree::Array(kept))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Tree, A::Error> {
        let mut kept = Vec::new();
        while let Some(field) = fields.next_entry()? {
            kept.push(field);
        }
        Ok(Tree::Object(kept))
    }
}
