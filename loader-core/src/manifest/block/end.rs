//! One end of a transfer while its keys come in any order.

use super::super::build::{Slot, fault, shown};
use super::super::dtype;
use super::key::EndKey;
use super::{ACCESS_DIMS, Access};
use crate::error::{Error, ManifestCode, Name};
use crate::json::{Element, Integer, Text};

/// Up to four numbers, and how many the file has.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Four<T> {
    values: [T; ACCESS_DIMS],
    count: u32,
}

impl<T: Copy + Default> Four<T> {
    fn read(value: Element<'_>, one: impl Fn(Integer) -> Option<T>) -> Option<Self> {
        let mut four = Self { values: [T::default(); ACCESS_DIMS], count: 0 };
        for item in value.as_integers()? {
            let number = one(item?)?;
            if let Some(slot) = usize::try_from(four.count).ok().and_then(|at| four.values.get_mut(at)) {
                *slot = number;
            }
            four.count = four.count.saturating_add(1);
        }
        Some(four)
    }

    fn one(value: T) -> Self {
        let mut values = [T::default(); ACCESS_DIMS];
        if let Some(slot) = values.first_mut() {
            *slot = value;
        }
        Self { values, count: 1 }
    }

    fn slice(&self) -> Option<&[T]> {
        self.values.get(..usize::try_from(self.count).ok()?)
    }
}

/// A dtype string: its code, or what stands there instead.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Dtype {
    Known(u8),
    Unknown(Name<32>),
}

pub(super) fn dtype_code(text: Text<'_>) -> Option<u8> {
    let mut bytes = [0u8; 32];
    let name = text.plain().or_else(|| text.unescape(&mut bytes))?;
    dtype::descriptor(name).map(|(code, _)| code)
}

/// The keys of one end, without their `from` or `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndDraft {
    /// The variable's id, or `None` for a name that no variable has.
    var: Slot<Option<u32>>,
    shown: Option<Name<32>>,
    off: Slot<u64>,
    sizes: Slot<Four<u64>>,
    steps: Slot<Four<i64>>,
    dtype: Slot<Dtype>,
    /// Where the values of the wrong type stand, of those keys that have one.
    wrong_at: [u64; 5],
}

/// An end as its keys spell it: the name and its four fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndName(pub(super) [&'static str; 5]);

impl EndName {
    pub(super) const FROM: Self = Self(["from", "from_off", "from_sizes", "from_steps", "from_dtype"]);
    pub(super) const TO: Self = Self(["to", "to_off", "to_sizes", "to_steps", "to_dtype"]);

    const fn whole(self) -> &'static [u8] {
        let [whole, ..] = self.0;
        whole.as_bytes()
    }
}

impl EndDraft {
    pub(super) const EMPTY: Self = Self {
        var: Slot::Absent,
        shown: None,
        off: Slot::Absent,
        sizes: Slot::Absent,
        steps: Slot::Absent,
        dtype: Slot::Absent,
        wrong_at: [0; 5],
    };

    /// Forgets everything: cheaper than writing [`EndDraft::EMPTY`], since only the marks are written.
    pub(super) fn clear(&mut self) {
        let Self { var, shown, off, sizes, steps, dtype, wrong_at: _ } = self;
        (*var, *shown, *off) = (Slot::Absent, None, Slot::Absent);
        (*sizes, *steps, *dtype) = (Slot::Absent, Slot::Absent, Slot::Absent);
    }

    /// Takes the variable's name; `id` is what it resolves to.
    pub(super) fn name(&mut self, value: Element<'_>, id: impl FnOnce(Text<'_>) -> Option<u32>) {
        if !self.var.is_absent() {
            return;
        }
        let text = value.as_text();
        let Self { var, wrong_at: [at, ..], .. } = self;
        first(var, at, value, text.map(id));
        if self.var.get() == Some(None) {
            self.shown = text.map(shown);
        }
    }

    /// Takes the value of `*_off`, `*_sizes`, `*_steps` or `*_dtype`.
    pub(super) fn field(&mut self, field: EndKey, value: Element<'_>) {
        let Self { off, sizes, steps, dtype, wrong_at: [_, off_at, sizes_at, steps_at, dtype_at], .. } = self;
        match field {
            EndKey::Off => first(off, off_at, value, value.as_u64()),
            EndKey::Sizes => first(sizes, sizes_at, value, Four::read(value, Integer::u64)),
            EndKey::Steps => first(steps, steps_at, value, Four::read(value, Integer::i64)),
            EndKey::Dtype => {
                let code = value.as_text().map(|text| match dtype_code(text) {
                    Some(code) => Dtype::Known(code),
                    None => Dtype::Unknown(shown(text)),
                });
                first(dtype, dtype_at, value, code);
            }
        }
    }

    /// The first key that has the wrong type, with its place.
    fn malformed(&self, which: EndName) -> Option<Error> {
        let Self { var, off, sizes, steps, dtype, .. } = self;
        let wrong = [var.is_wrong(), off.is_wrong(), sizes.is_wrong(), steps.is_wrong(), dtype.is_wrong()];
        let mut keys = which.0.into_iter().zip(self.wrong_at).zip(wrong);
        let ((key, at), _) = keys.find(|(_, wrong)| *wrong)?;
        Some(fault(ManifestCode::TransferMalformed).name(key.as_bytes()).offset(at))
    }

    /// The finished end; `size` is the transfer's own `size`, which old
    /// files have in place of sizes and steps (lowering.md §5.4).
    pub(super) fn access(&self, which: EndName, size: Option<u64>) -> Result<Access, Error> {
        let malformed = || {
            let absent = fault(ManifestCode::TransferMalformed).name(which.whole());
            self.malformed(which).unwrap_or(absent)
        };
        let var = self.var.get().ok_or_else(malformed)?;
        let unknown = || {
            let shown = self.shown.unwrap_or(Name::EMPTY);
            fault(ManifestCode::TransferVariable).name(shown.as_bytes())
        };
        let var = var.ok_or_else(unknown)?;
        if let Some(error) = self.malformed(which) {
            return Err(error);
        }
        let which = which.whole();
        let (sizes, steps) = match (self.sizes.get(), self.steps.get(), size) {
            (None, None, Some(size)) => (Four::one(size), Four::one(1)),
            (sizes, steps, _) => (sizes.unwrap_or(NO_SIZES), steps.unwrap_or(NO_STEPS)),
        };
        let numbers = (u64::from(sizes.count), u64::from(steps.count));
        let shape = || fault(ManifestCode::AccessShape).numbers(numbers.0, numbers.1).name(which);
        let (Some(sizes), Some(steps)) = (sizes.slice(), steps.slice()) else { return Err(shape()) };
        if sizes.len() != steps.len() || sizes.is_empty() {
            return Err(shape());
        }
        if sizes.contains(&0) {
            return Err(fault(ManifestCode::AccessZero).name(which));
        }
        let dtype = match self.dtype.get() {
            None => None,
            Some(Dtype::Known(code)) => Some(code),
            Some(Dtype::Unknown(name)) => {
                return Err(fault(ManifestCode::DtypeUnknown).name(name.as_bytes()));
            }
        };
        Access::new(var, self.off.get().unwrap_or(0), dtype, sizes, steps).ok_or_else(shape)
    }
}

/// Takes the first value of a key; of one that has the wrong type, its place.
fn first<T: Copy>(slot: &mut Slot<T>, at: &mut u64, value: Element<'_>, read: Option<T>) {
    if slot.is_absent() {
        slot.set(read);
        if slot.is_wrong() {
            *at = value.offset();
        }
    }
}

const NO_SIZES: Four<u64> = Four { values: [0; ACCESS_DIMS], count: 0 };
const NO_STEPS: Four<i64> = Four { values: [0; ACCESS_DIMS], count: 0 };
