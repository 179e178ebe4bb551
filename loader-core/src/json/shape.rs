//! Binding: typing one validated object with `serde-json-core` so that the result is right.
//!
//! `serde-json-core` binds well and judges badly: it turns `null` into NaN or `None`, recurses into
//! values that it ignores, does not match a key or string that is spelt with escapes, knows no
//! "bool or 0/1", and says neither which field was wrong nor where. So an object is first held
//! against its [`Shape`], a table of the fields that matter and their types. Everything wrong is
//! found there, with key and offset. A text that the binder reads correctly is then bound as it
//! stands, without a copy; any other is rewritten into the caller's scratch buffer with the known
//! fields only, each once, and bound from there.

use super::element::Element;
use super::fault::Mismatch;
use super::kind::Kind;
use super::text::Text;
use crate::error::{Code, Error, ManifestCode, Stage};
use serde::Deserialize;

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub enum Type {
    /// An unsigned integer up to this number.
    Unsigned(u64),
    /// `true`, `false`, `1` or `0`; bind it as `bool`.
    Flag,
    /// A string; bind it as [`Text`].
    Text,
}

/// Up to 2^64 − 1.
pub const U64: Type = Type::Unsigned(u64::MAX);
/// Up to 2^32 − 1.
pub const U32: Type = Type::Unsigned(0xFFFF_FFFF);
/// Up to 255.
pub const U8: Type = Type::Unsigned(0xFF);

/// The fields of an object that matter, at most 64; all others are passed over. A field is no container: the
/// objects that are bound are flat, and nothing here recurses.
///
/// Whether a field must be there is the bound struct's business: a plain field must, an `Option`
/// or `#[serde(default)]` need not.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Key and type, in any order.
    pub fields: &'static [(&'static str, Type)],
    /// What a second field of the same name is.
    pub repeats: Repeats,
}

/// What to do with a key that an object has twice (§3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// The first counts, as in the reference.
    FirstCounts,
    /// E122 if it is a known key. See [`Element::repeated_key`] for all keys.
    Refused,
}

/// Why an object was not bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unbound {
    /// This field is of the wrong type. The key is empty if the value as a whole is no object.
    Type(&'static str, Mismatch),
    /// A key occurs again at this offset.
    Repeated(&'static str, u64),
    /// The scratch buffer is too small to rewrite the object at this offset.
    Scratch(u64),
    /// The binder refused although the shape was right: a field that the struct demands is missing.
    Missing(u64),
}

impl Unbound {
    /// The same as a loader error: wrong types and missing fields with the caller's code, the key
    /// as first name and the found kind as second; the others with their own codes.
    #[must_use]
    pub fn error(self, stage: Stage, code: impl Into<Code>) -> Error {
        match self {
            Self::Type(key, wrong) => {
                let error = wrong.error(stage, code).name(key.as_bytes());
                error.name2(wrong.found.name().as_bytes())
            }
            Self::Missing(offset) => Error::new(stage, code).offset(offset),
            Self::Repeated(key, offset) => {
                let error = Error::new(stage, ManifestCode::JsonDuplicateKey).offset(offset);
                error.name(key.as_bytes())
            }
            Self::Scratch(offset) => Error::new(stage, ManifestCode::JsonElementTooLarge).offset(offset),
        }
    }
}

/// A text of this length cannot nest deeper than the binder may recurse on a small stack.
const SHALLOW: usize = 32;

impl<'a> Element<'a> {
    /// Types the object with `serde-json-core`. `scratch` needs at most the element's length plus
    /// 8 bytes per field; a usual text is bound without touching it.
    ///
    /// # Errors
    /// See [`Unbound`].
    pub fn bind<'s, T: Deserialize<'s>>(self, shape: &Shape, scratch: &'s mut [u8]) -> Result<T, Unbound>
    where
        'a: 's,
    {
        let text = if shape.check(self)? {
            self.bytes()
        } else {
            let mut out = Out { buffer: scratch, used: 0 };
            shape.rewrite(self, &mut out).ok_or(Unbound::Scratch(self.offset()))?;
            let Out { buffer, used } = out;
            buffer.get(..used).unwrap_or(&[])
        };
        crate::boundary::bind(text).ok_or(Unbound::Missing(self.offset()))
    }

    /// Holds the object against a shape without binding it, for fields that are read by getters.
    ///
    /// # Errors
    /// See [`Unbound`].
    pub fn shaped(self, shape: &Shape) -> Result<(), Unbound> {
        shape.check(self).map(drop)
    }

    /// The first key, at any depth, that an object in this value has twice, with its offset. Costs
    /// no memory, and time quadratic in the keys of one object (bounded by the element buffer).
    #[must_use]
    pub fn repeated_key(self) -> Option<(Text<'a>, u64)> {
        super::walk::Objects::new(self).find_map(repeated_in)
    }
}

/// The first key that this object itself has twice.
fn repeated_in(object: Element<'_>) -> Option<(Text<'_>, u64)> {
    let mut seen = Seen::default();
    let mut fields = object.fields().ok()?.enumerate();
    fields.find_map(|(place, (key, value))| {
        let maybe = seen.maybe(key);
        let mut before = object.fields().ok()?.take(if maybe { place } else { 0 });
        before.any(|(other, _)| other.equals(key)).then_some((key, value.offset()))
    })
}

/// A filter that knows for most new keys that they are new.
#[derive(Default)]
struct Seen {
    bits: [u64; 16],
}

impl Seen {
    /// Notes the key; false if it was certainly not noted before.
    fn maybe(&mut self, key: Text<'_>) -> bool {
        let hash = key.bytes().fold(0xCBF2_9CE4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        let [low, mid, ..] = (hash ^ (hash >> 32)).to_le_bytes();
        let bit = 1u64.wrapping_shl(u32::from(low & 63));
        let Some(word) = self.bits.get_mut(usize::from(mid & 15)) else { return true };
        let noted = *word & bit != 0;
        *word |= bit;
        noted
    }
}

impl Shape {
    fn find(&self, key: Text<'_>) -> Option<(usize, &'static str, Type)> {
        let plain = key.plain();
        let known = |(name, _): &(&str, Type)| match plain {
            Some(plain) => plain == name.as_bytes(),
            None => key.is(name.as_bytes()),
        };
        let place = self.fields.iter().position(known)?;
        self.fields.get(place).map(|&(name, kind)| (place, name, kind))
    }

    /// Checks an object; true if the binder reads its text correctly as it stands.
    fn check(&self, object: Element<'_>) -> Result<bool, Unbound> {
        let fields = object.fields().map_err(|wrong| Unbound::Type("", wrong))?;
        let (mut seen, mut clean) = (0u64, true);
        for (key, value) in fields {
            let Some((place, name, kind)) = self.find(key) else {
                clean &= value.bytes().len() <= SHALLOW || !value.kind().is_container();
                continue;
            };
            let bit = 1u64.wrapping_shl(u32::try_from(place).unwrap_or(63));
            if seen & bit != 0 {
                self.repeated(name, value)?;
                clean = false;
                continue;
            }
            seen |= bit;
            clean &= key.plain().is_some() & kind.check(name, value)?;
        }
        Ok(clean)
    }

    fn repeated(&self, name: &'static str, value: Element<'_>) -> Result<(), Unbound> {
        match self.repeats {
            Repeats::FirstCounts => Ok(()),
            Repeats::Refused => Err(Unbound::Repeated(name, value.offset())),
        }
    }

    /// Writes the known fields of a checked object, each once; `None` if they do not fit.
    fn rewrite(&self, object: Element<'_>, out: &mut Out<'_>) -> Option<()> {
        out.put(b"{")?;
        let mut comma: &[u8] = b"";
        for &(name, kind) in self.fields {
            let Some(value) = object.get(name) else { continue };
            for part in [comma, b"\"", name.as_bytes(), b"\":"] {
                out.put(part)?;
            }
            kind.rewrite(value, out)?;
            comma = b",";
        }
        out.put(b"}")
    }
}

impl Type {
    /// Checks a value; true if the binder reads its text correctly as it stands.
    fn check(self, name: &'static str, value: Element<'_>) -> Result<bool, Unbound> {
        let wrong = |wrong| Unbound::Type(name, wrong);
        match self {
            Self::Unsigned(most) => {
                let fits = value.u64().map_err(wrong)? <= most;
                let large = || wrong(value.mismatch("a smaller number"));
                fits.then_some(true).ok_or_else(large)
            }
            Self::Flag => value.flag().map(|_| value.kind() != Kind::Number).map_err(wrong),
            Self::Text => value.text().map(|_| true).map_err(wrong),
        }
    }

    fn rewrite(self, value: Element<'_>, out: &mut Out<'_>) -> Option<()> {
        match self {
            Self::Flag => out.put(if value.flag().ok()? { b"true" } else { b"false" }),
            Self::Unsigned(_) | Self::Text => out.put(value.bytes()),
        }
    }
}

/// A buffer that is filled from the front.
struct Out<'s> {
    buffer: &'s mut [u8],
    used: usize,
}

impl Out<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.used.checked_add(bytes.len())?;
        crate::bytes::copy(self.buffer.get_mut(self.used..end)?, bytes);
        self.used = end;
        Some(())
    }
}

#[cfg(test)]
mod tests;
