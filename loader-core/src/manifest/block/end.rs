//! One end of a transfer while its keys come in any order.

use super::super::build::{Number, fault, numbers, shown};
use super::super::dtype;
use super::Access;
use super::key::{EndKey, end_key};
use crate::error::{Error, ManifestCode, Name};
use crate::json::{Element, Text};
use zerocopy::IntoBytes;

pub(super) fn dtype_code(text: Text<'_>) -> Option<u8> {
    let mut bytes = [0u8; 32];
    let name = text.plain().or_else(|| text.unescape(&mut bytes))?;
    dtype::descriptor(name).map(|(code, _)| code)
}

/// The keys of one end, without their `from` or `to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndDraft {
    /// Bits of the keys that were met, and of those whose value is of the wrong type. What was not met has no value.
    met: u8,
    wrong: u8,
    /// Whether a variable has the name, and whether the dtype is one.
    known: [bool; 2],
    /// Names that are not known, as they are written.
    shown: [Name<32>; 2],
    /// How many sizes and steps the file has.
    counts: [u32; 2],
    /// Where the values of the wrong type stand.
    wrong_at: [u64; 5],
    /// What was read so far; the end itself, once it was found good.
    pub(super) access: Access,
}

/// An end as its keys spell it, by the place of the first among all keys of a transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndName(usize);

impl EndName {
    pub(super) const FROM: Self = Self(0);
    pub(super) const TO: Self = Self(5);

    fn key(self, field: EndKey) -> &'static [u8] {
        end_key(self.0, field.place())
    }
}

#[inline(always)]
const fn bit(key: EndKey) -> u8 {
    match key {
        EndKey::Name => 1,
        EndKey::Off => 2,
        EndKey::Sizes => 4,
        EndKey::Steps => 8,
        EndKey::Dtype => 16,
    }
}

impl EndDraft {
    pub(super) const EMPTY: Self = Self {
        met: 0,
        wrong: 0,
        known: [false; 2],
        shown: [Name::EMPTY; 2],
        counts: [0; 2],
        wrong_at: [0; 5],
        access: Access::NONE,
    };

    /// Forgets everything: cheaper than writing [`EndDraft::EMPTY`], since only the marks are written.
    pub(super) const fn clear(&mut self) {
        (self.met, self.wrong) = (0, 0);
    }

    #[inline(always)]
    const fn met(&self, key: EndKey) -> bool {
        self.met & bit(key) != 0
    }

    /// Takes the first value of a key; `id` is what a variable's name resolves to.
    pub(super) fn take(&mut self, key: EndKey, value: Element<'_>, id: impl FnOnce(Text<'_>) -> Option<u32>) {
        if self.met(key) {
            return;
        }
        self.met |= bit(key);
        let Self { access, known: [var_known, dtype_known], shown: [name, dtype], .. } = self;
        let [size_count, step_count] = &mut self.counts;
        let good = match key {
            EndKey::Name => value.as_text().map(|text| {
                let found = id(text);
                (*var_known, access.var) = (found.is_some(), found.unwrap_or(0));
                if found.is_none() {
                    *name = shown(text);
                }
            }),
            EndKey::Off => value.as_u64().map(|off| access.off = off),
            EndKey::Sizes => {
                let count = numbers(value, Number::U64, access.sizes.as_mut_bytes());
                access.sizes.iter_mut().for_each(|size| *size = u64::from_le(*size));
                count.map(|count| *size_count = count)
            }
            EndKey::Steps => {
                let count = numbers(value, Number::I64, access.steps.as_mut_bytes());
                access.steps.iter_mut().for_each(|step| *step = i64::from_le(*step));
                count.map(|count| *step_count = count)
            }
            EndKey::Dtype => value.as_text().map(|text| {
                let code = dtype_code(text);
                (*dtype_known, access.dtype) = (code.is_some(), code.unwrap_or(0));
                if code.is_none() {
                    *dtype = shown(text);
                }
            }),
        };
        if good.is_none() {
            self.wrong |= bit(key);
            if let Some(at) = self.wrong_at.get_mut(key.place()) {
                *at = value.offset();
            }
        }
    }

    /// The first key that has the wrong type, with its place.
    fn malformed(&self, which: EndName) -> Option<Error> {
        let wrong = EndKey::ALL.into_iter().find(|&key| self.wrong & bit(key) != 0)?;
        let at = self.wrong_at.get(wrong.place()).copied().unwrap_or(0);
        Some(fault(ManifestCode::TransferMalformed).name(which.key(wrong)).offset(at))
    }

    /// Completes [`EndDraft::access`]; `size` is the transfer's own `size`, which old
    /// files have in place of sizes and steps (lowering.md §5.4).
    #[cfg_attr(small, inline(never))]
    pub(super) fn finish(&mut self, which: EndName, size: Option<u64>) -> Result<(), Error> {
        let [var_known, dtype_known] = self.known;
        let named = self.met & !self.wrong & bit(EndKey::Name) != 0;
        if named && !var_known {
            let [name, _] = &self.shown;
            return Err(fault(ManifestCode::TransferVariable).name(name.as_bytes()));
        }
        if let Some(error) = self.malformed(which) {
            return Err(error);
        }
        if !named {
            return Err(fault(ManifestCode::TransferMalformed).name(which.key(EndKey::Name)));
        }
        if !self.met(EndKey::Off) {
            self.access.off = 0;
        }
        self.walk(which, size)?;
        self.access.dtype_given = self.met(EndKey::Dtype);
        if !self.access.dtype_given {
            self.access.dtype = dtype::DESCRIPTOR_UINT8;
        } else if !dtype_known {
            let [_, dtype] = &self.shown;
            return Err(fault(ManifestCode::DtypeUnknown).name(dtype.as_bytes()));
        }
        Ok(())
    }

    /// Sizes and steps.
    fn walk(&mut self, which: EndName, size: Option<u64>) -> Result<(), Error> {
        let which = which.key(EndKey::Name);
        let [mut sizes, mut steps] = self.counts;
        let access = &mut self.access;
        match (self.met & bit(EndKey::Sizes) != 0, self.met & bit(EndKey::Steps) != 0, size) {
            (false, false, Some(size)) => {
                (sizes, steps) = (1, 1);
                (access.sizes, access.steps) = ([size, 0, 0, 0], [1, 0, 0, 0]);
            }
            (has_sizes, has_steps, _) => {
                sizes = if has_sizes { sizes } else { 0 };
                steps = if has_steps { steps } else { 0 };
            }
        }
        access.dims = match u8::try_from(sizes) {
            Ok(dims @ 1..=4) if sizes == steps => dims,
            _ => {
                let error = fault(ManifestCode::AccessShape).name(which);
                return Err(error.numbers(u64::from(sizes), u64::from(steps)));
            }
        };
        if access.sizes().contains(&0) {
            return Err(fault(ManifestCode::AccessZero).name(which));
        }
        Ok(())
    }
}
