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
        for item in value.integers().ok()? {
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
}

impl EndDraft {
    pub(super) const EMPTY: Self = Self {
        var: Slot::Absent,
        shown: None,
        off: Slot::Absent,
        sizes: Slot::Absent,
        steps: Slot::Absent,
        dtype: Slot::Absent,
    };

    /// Forgets everything: cheaper than writing [`EndDraft::EMPTY`], since only the marks are written.
    pub(super) fn clear(&mut self) {
        let Self { var, shown, off, sizes, steps, dtype } = self;
        (*var, *shown, *off) = (Slot::Absent, None, Slot::Absent);
        (*sizes, *steps, *dtype) = (Slot::Absent, Slot::Absent, Slot::Absent);
    }

    /// Takes the variable's name; `id` is what it resolves to.
    pub(super) fn name(&mut self, value: Element<'_>, id: impl FnOnce(Text<'_>) -> Option<u32>) {
        if !self.var.is_absent() {
            return;
        }
        let text = value.text();
        self.var.set(text.map(id));
        if self.var.get() == Some(None) {
            self.shown = text.ok().map(shown);
        }
    }

    /// Takes the value of `*_off`, `*_sizes`, `*_steps` or `*_dtype`.
    pub(super) fn field(&mut self, field: EndKey, value: Element<'_>) {
        match field {
            EndKey::Off => self.off.set(value.u64()),
            EndKey::Sizes => self.sizes.set(Four::read(value, Integer::u64).ok_or(())),
            EndKey::Steps => self.steps.set(Four::read(value, Integer::i64).ok_or(())),
            EndKey::Dtype => self.dtype.set(value.text().map(|text| match dtype_code(text) {
                Some(code) => Dtype::Known(code),
                None => Dtype::Unknown(shown(text)),
            })),
        }
    }

    /// The finished end. `which` is `from` or `to`; `size` is the transfer's own `size`, which old
    /// files have in place of sizes and steps (lowering.md §5.4).
    pub(super) fn access(&self, which: &'static [u8], size: Option<u64>) -> Result<Access, Error> {
        let malformed = || fault(ManifestCode::TransferMalformed).name(which);
        let var = self.var.get().ok_or_else(malformed)?;
        let unknown = || {
            let shown = self.shown.unwrap_or(Name::EMPTY);
            fault(ManifestCode::TransferVariable).name(shown.as_bytes())
        };
        let var = var.ok_or_else(unknown)?;
        if self.sizes.is_wrong() || self.steps.is_wrong() || self.off.is_wrong() || self.dtype.is_wrong() {
            return Err(malformed());
        }
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

const NO_SIZES: Four<u64> = Four { values: [0; ACCESS_DIMS], count: 0 };
const NO_STEPS: Four<i64> = Four { values: [0; ACCESS_DIMS], count: 0 };
