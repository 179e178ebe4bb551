//! Objects as the spec's tables of fields: which keys there are, what the value of each must be, and where in a record
//! it goes. One reader follows all tables.
//!
//! Keys come in any order, and of a key that comes twice the first value counts (manifests.md §3). So a value is
//! kept until its object is complete; the object's own checks then ask for the keys in the spec's order.

use super::build::{Build, shown};
use super::class::{Backing, Fabric, Role, VarClass};
use super::record::Text;
use crate::arch::Engine;
use crate::error::{Error, Name};
use crate::json::{Element, Kind, Want};
use core::marker::PhantomData;
use zerocopy::{FromBytes, IntoBytes};

/// What the value of a key must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    U8,
    U32,
    U64,
    I32,
    F64,
    /// `true`, `false`, `1` or `0`.
    Flag,
    /// A string, which is kept in the tail.
    Text,
    /// A string that is one of these words.
    Word(Words),
    /// What the object's own reader reads.
    Own,
}

/// The lists of words; a word is kept as its position.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Words {
    /// [`VarClass::ALL`], and behind them the areas that stand for a class (manifests.md §7.10).
    Class,
    Fabric,
    Backing,
    Role,
    Engine,
}

impl Words {
    fn nth(self, at: usize) -> Option<&'static str> {
        match self {
            Self::Class => match at.checked_sub(VarClass::ALL.len()) {
                None => VarClass::ALL.get(at).map(|class| class.name()),
                Some(at) => [Backing::Local, Backing::Shared].get(at).map(|area| area.name()),
            },
            Self::Fabric => Fabric::ALL.get(at).map(|fabric| fabric.name()),
            Self::Backing => Backing::ALL.get(at).map(|backing| backing.name()),
            Self::Role => Role::ALL.get(at).map(|role| role.name()),
            Self::Engine => Engine::ALL.get(at).map(|engine| engine.key()),
        }
    }
}

/// One key: what its value must be, and where it goes in the object's record, if it goes there as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) value: Type,
    pub(crate) at: u8,
}

/// In place of [`Row::at`] for a value that does not go to the record as it is.
pub(crate) const NOWHERE: u8 = u8::MAX;

/// A place in a record as a row has it.
#[allow(clippy::as_conversions, clippy::cast_possible_truncation, reason = "checked while compiling")]
pub(crate) const fn at(offset: usize) -> u8 {
    assert!(offset < 255);
    offset as u8
}

/// The keys of one kind of object.
pub(crate) trait Keys: Copy {
    const ROWS: &'static [Row];

    fn number(self) -> usize;

    /// The key with that number.
    fn name(number: usize) -> &'static [u8];

    /// The number of the key that is spelt so; beyond all where there is none.
    fn place_of(word: &[u8]) -> usize;
}

/// Declares the keys of an object: `Variant = b"key": Type => field` of the record where it is named.
macro_rules! fields {
    ($(#[$doc:meta])* $vis:vis $name:ident for $record:ty {
        $($variant:ident = $text:literal: $value:expr $(=> $field:ident)?,)*
    }) => {
        $crate::words::words! { $(#[$doc])* $vis $name { $($variant = $text,)* } }

        impl $crate::manifest::fields::Keys for $name {
            const ROWS: &'static [$crate::manifest::fields::Row] = &[$($crate::manifest::fields::Row {
                value: $value,
                at: $crate::manifest::fields::fields!(@at $record $(, $field)?),
            }),*];

            fn number(self) -> usize {
                self.place()
            }

            fn name(number: usize) -> &'static [u8] {
                Self::nth(number)
            }

            fn place_of(word: &[u8]) -> usize {
                Self::of(word).place()
            }
        }
    };
    (@at $record:ty) => { $crate::manifest::fields::NOWHERE };
    (@at $record:ty, $field:ident) => {
        const { $crate::manifest::fields::at(core::mem::offset_of!($record, $field)) }
    };
}
pub(crate) use fields;

/// Keys at most.
const MOST: usize = 19;
/// Longest key of an object that is read whole.
const LONGEST: usize = 32;
/// Values that are remembered for messages.
const SHOWN: usize = 3;

/// What an object has said so far.
#[derive(Debug)]
pub(crate) struct Fields<K> {
    said: Said,
    keys: PhantomData<K>,
}

/// The same for objects of every kind, by numbers of keys.
#[derive(Debug)]
struct Said {
    /// Bits of the keys that were met, of those whose value is not of the type, and of those whose value is no
    /// word or name that is known. What was not met has no value.
    met: u32,
    wrong: u32,
    unknown: u32,
    values: [u64; MOST],
    /// The values of the first keys that are wrong or not known, for messages.
    shown: [Name<32>; SHOWN],
}

/// A value that is not what its key's row says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong {
    /// Empty if the value is the object itself, which is none.
    pub(crate) key: &'static [u8],
    pub(crate) found: Kind,
    pub(crate) offset: u64,
}

/// What an own reader makes of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read {
    Wrong,
    Unknown,
    Got(u64),
}

impl Read {
    /// A value, or one of the wrong type.
    pub(crate) fn or_wrong(value: Option<u64>) -> Self {
        value.map_or(Self::Wrong, Self::Got)
    }
}

#[allow(clippy::as_conversions, clippy::cast_possible_truncation, reason = "keys are less than 32")]
const fn bit(key: usize) -> u32 {
    1u32.wrapping_shl(key as u32)
}

impl Said {
    fn put(&mut self, key: usize, read: Read) {
        let bit = bit(key);
        self.met |= bit;
        match (read, self.values.get_mut(key)) {
            (Read::Wrong, _) => self.wrong |= bit,
            (Read::Unknown, _) => self.unknown |= bit,
            (Read::Got(value), Some(slot)) => *slot = value,
            (Read::Got(_), None) => {}
        }
    }

    fn show(&mut self, key: usize, value: Element<'_>) {
        if let Some(slot) = self.shown.get_mut(key) {
            *slot = value.as_text().map_or_else(|| Name::new(value.bytes()), shown);
        }
    }

    /// Takes the value of a key that was not met before; strings are for [`Said::keep`].
    #[cfg_attr(small, inline(never))]
    fn take(&mut self, row: Row, key: usize, value: Element<'_>) {
        if self.met & bit(key) != 0 {
            return;
        }
        let read = match row.value {
            Type::U8 => value.as_u8().map(u64::from),
            Type::U32 => value.as_u32().map(u64::from),
            Type::U64 => value.as_u64(),
            Type::I32 => value.as_i32().map(|n| u64::from(n.cast_unsigned())),
            Type::F64 => value.as_f64().map(f64::to_bits),
            Type::Flag => value.as_flag().map(u64::from),
            Type::Word(words) => {
                let read = read_word(words, value);
                if !matches!(read, Read::Got(_)) {
                    self.show(key, value);
                }
                return self.put(key, read);
            }
            Type::Text | Type::Own => return,
        };
        self.put(key, Read::or_wrong(read));
    }

    /// The same, keeping a string in the tail.
    #[cfg_attr(small, inline(never))]
    fn keep(
        &mut self,
        row: Row,
        key: usize,
        build: &mut Build<'_, '_>,
        value: Element<'_>,
    ) -> Result<(), Error> {
        if matches!(row.value, Type::Text) && self.met & bit(key) == 0 {
            let mut text = Text::EMPTY;
            let good = build.keep_string(value, &mut text)?;
            self.put(key, if good { Read::Got(u64_of(text)) } else { Read::Wrong });
        }
        self.take(row, key, value);
        Ok(())
    }

    /// Takes all keys of an object; what is wrong is the object itself or the value of a key.
    #[cfg_attr(small, inline(never))]
    fn object<'e>(
        &mut self,
        rows: &[Row],
        place_of: fn(&[u8]) -> usize,
        object: Element<'e>,
        own: &mut dyn FnMut(Element<'_>) -> Option<u64>,
    ) -> Option<(Option<usize>, Element<'e>)> {
        let Some(fields) = object.as_fields() else { return Some((None, object)) };
        for (text, value) in fields {
            let mut plain = [0u8; LONGEST];
            let key = text.plain().or_else(|| text.unescape(&mut plain)).map_or(MOST, place_of);
            let Some(row) = rows.get(key).filter(|_| self.met & bit(key) == 0) else { continue };
            self.take(*row, key, value);
            if self.met & bit(key) == 0 {
                self.put(key, Read::or_wrong(own(value)));
            }
            if self.wrong & bit(key) != 0 {
                return Some((Some(key), value));
            }
        }
        None
    }

    fn get(&self, key: usize) -> Option<u64> {
        let good = self.met & !(self.wrong | self.unknown);
        self.values.get(key).copied().filter(|_| good & bit(key) != 0)
    }

    /// Puts the values into the record that the rows are made for; what was not met leaves it as it is.
    #[inline(never)]
    fn place(&self, rows: &[Row], record: &mut [u8]) {
        for (key, row) in rows.iter().enumerate() {
            let width = match row.value {
                Type::U8 | Type::Flag | Type::Word(_) => 1,
                Type::U32 | Type::I32 => 4,
                Type::U64 | Type::F64 | Type::Text | Type::Own => 8,
            };
            let slot = record.get_mut(usize::from(row.at)..).and_then(|rest| rest.get_mut(..width));
            if let (Some(value), Some(slot)) = (self.get(key), slot) {
                crate::bytes::copy(slot, &value.to_le_bytes());
            }
        }
    }
}

/// The first of the keys `from` to `to` whose bit is set.
fn first<K: Keys>(bits: u32, from: K, to: K) -> Option<&'static [u8]> {
    let upto = |key: usize| bit(key).wrapping_sub(1);
    let found = bits & (upto(to.number()) | bit(to.number())) & !upto(from.number());
    (found != 0).then(|| K::name(usize::try_from(found.trailing_zeros()).unwrap_or(usize::MAX)))
}

fn read_word(words: Words, value: Element<'_>) -> Read {
    let Some(text) = value.as_text() else { return Read::Wrong };
    let mut at = 0u8;
    while let Some(word) = words.nth(usize::from(at)) {
        if text.is(word.as_bytes()) {
            return Read::Got(u64::from(at));
        }
        at = at.saturating_add(1);
    }
    Read::Unknown
}

/// A text's record as a number.
fn u64_of(text: Text) -> u64 {
    u64::from_le_bytes(zerocopy::transmute!(text))
}

impl<K: Keys> Fields<K> {
    pub(crate) const NONE: Self = Self {
        said: Said { met: 0, wrong: 0, unknown: 0, values: [0; MOST], shown: [Name::EMPTY; SHOWN] },
        keys: PhantomData,
    };

    /// Another object begins.
    pub(crate) const fn begin(&mut self) {
        (self.said.met, self.said.wrong, self.said.unknown) = (0, 0, 0);
    }

    /// Takes the value of a key as its row says, if the key was not met before.
    pub(crate) fn take(
        &mut self,
        build: &mut Build<'_, '_>,
        key: K,
        value: Element<'_>,
    ) -> Result<(), Error> {
        match K::ROWS.get(key.number()) {
            Some(row) => self.said.keep(*row, key.number(), build, value),
            None => Ok(()),
        }
    }

    /// The same for objects without strings that are kept.
    pub(crate) fn read(&mut self, key: K, value: Element<'_>) {
        if let Some(row) = K::ROWS.get(key.number()) {
            self.said.take(*row, key.number(), value);
        }
    }

    /// Enters what the object's own reader read, the first time.
    pub(crate) fn put(&mut self, key: K, read: Read) {
        if self.is_absent(key) {
            self.said.put(key.number(), read);
        }
    }

    /// A value begins that should be an array, whose items go to a table from `first` on.
    pub(crate) fn enter(&mut self, key: K, kind: Kind, first: u32) -> Want {
        if !self.is_absent(key) {
            return Want::Skip;
        }
        let array = kind == Kind::Array;
        self.said.put(key.number(), if array { Read::Got(u64::from(first)) } else { Read::Wrong });
        Want::Enter
    }

    /// The value of that key is of the wrong type after all.
    pub(crate) fn spoil(&mut self, key: K) {
        self.said.put(key.number(), Read::Wrong);
    }

    /// Remembers for a message what stands at a key.
    pub(crate) fn show(&mut self, key: K, value: Element<'_>) {
        self.said.show(key.number(), value);
    }

    /// The same, with the quotes of a string.
    pub(crate) fn show_raw(&mut self, key: K, value: Element<'_>) {
        if let Some(slot) = self.said.shown.get_mut(key.number()) {
            *slot = Name::new(value.bytes());
        }
    }

    /// The value of one of the first keys, if it is wrong or not known, as it is written.
    pub(crate) fn shown(&self, key: K) -> &[u8] {
        self.said.shown.get(key.number()).map_or(&[], |name| name.as_bytes())
    }

    /// The value, if it is of the type and known.
    pub(crate) fn get(&self, key: K) -> Option<u64> {
        self.said.get(key.number())
    }

    /// The same for keys of 32 bits, and 0 where there is none.
    pub(crate) fn u32(&self, key: K) -> u32 {
        self.get(key).and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
    }

    /// The same for a string.
    pub(crate) fn text(&self, key: K) -> Text {
        zerocopy::transmute!(self.get(key).unwrap_or(0).to_le_bytes())
    }

    pub(crate) fn has(&self, key: K) -> bool {
        let Said { met, wrong, unknown, .. } = self.said;
        met & !(wrong | unknown) & bit(key.number()) != 0
    }

    pub(crate) fn is_absent(&self, key: K) -> bool {
        self.said.met & bit(key.number()) == 0
    }

    pub(crate) fn is_wrong(&self, key: K) -> bool {
        self.said.wrong & bit(key.number()) != 0
    }

    pub(crate) fn is_unknown(&self, key: K) -> bool {
        self.said.unknown & bit(key.number()) != 0
    }

    /// True if the flag is there and set.
    pub(crate) fn is_set(&self, key: K) -> bool {
        self.get(key) == Some(1)
    }

    /// The first of these keys, which follow each other, whose value is of the wrong type or not known.
    pub(crate) fn first_bad(&self, from: K, to: K) -> Option<&'static [u8]> {
        first::<K>(self.said.wrong | self.said.unknown, from, to)
    }

    /// The first of these keys, which follow each other, that was not met.
    pub(crate) fn first_absent(&self, from: K, to: K) -> Option<&'static [u8]> {
        first::<K>(!self.said.met, from, to)
    }

    /// Takes all keys of an object; `own` reads what only it can read. Returns the first value that is wrong.
    pub(crate) fn object(
        &mut self,
        object: Element<'_>,
        own: &mut dyn FnMut(Element<'_>) -> Option<u64>,
    ) -> Option<Wrong> {
        self.said.object(K::ROWS, K::place_of, object, own).map(|(key, at)| Wrong {
            key: key.map_or(&[], K::name),
            found: at.kind(),
            offset: at.offset(),
        })
    }

    /// See [`Said::place`].
    pub(crate) fn place<R: IntoBytes + FromBytes>(&self, record: &mut R) {
        self.said.place(K::ROWS, record.as_mut_bytes());
    }
}

#[cfg(test)]
mod tests;
