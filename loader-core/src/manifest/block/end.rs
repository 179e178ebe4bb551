//! One end of a transfer while its keys come in any order.

use super::super::build::{Number, fault, numbers, shown};
use super::super::dtype;
use super::key::{EndKey, end_key};
use super::{ACCESS_DIMS, Access};
use crate::error::{Error, ManifestCode, Name};
use crate::json::{Element, Text};
use zerocopy::IntoBytes;
use zerocopy::little_endian::{I64, U64};

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
    /// The variable's id, or `None` for a name that no variable has.
    var: Option<u32>,
    shown: Name<32>,
    off: u64,
    sizes: [U64; ACCESS_DIMS],
    steps: [I64; ACCESS_DIMS],
    /// How many sizes and steps the file has.
    counts: [u32; 2],
    /// Its code, or `None` for a string that is no dtype.
    dtype: Option<u8>,
    dtype_shown: Name<32>,
    /// Where the values of the wrong type stand.
    wrong_at: [u64; 5],
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
        var: None,
        shown: Name::EMPTY,
        off: 0,
        sizes: [U64::ZERO; ACCESS_DIMS],
        steps: [I64::ZERO; ACCESS_DIMS],
        counts: [0; 2],
        dtype: None,
        dtype_shown: Name::EMPTY,
        wrong_at: [0; 5],
    };

    /// Forgets everything: cheaper than writing [`EndDraft::EMPTY`], since only the marks are written.
    pub(super) const fn clear(&mut self) {
        (self.met, self.wrong) = (0, 0);
    }

    fn met(&self, key: EndKey) -> bool {
        self.met & bit(key) != 0
    }

    /// Takes the first value of a key; `id` is what a variable's name resolves to.
    pub(super) fn take(&mut self, key: EndKey, value: Element<'_>, id: impl FnOnce(Text<'_>) -> Option<u32>) {
        if self.met(key) {
            return;
        }
        self.met |= bit(key);
        let Self { sizes, steps, counts: [size_count, step_count], .. } = self;
        let good = match key {
            EndKey::Name => value.as_text().map(|text| {
                self.var = id(text);
                if self.var.is_none() {
                    self.shown = shown(text);
                }
            }),
            EndKey::Off => value.as_u64().map(|off| self.off = off),
            EndKey::Sizes => {
                *sizes = [U64::ZERO; ACCESS_DIMS];
                numbers(value, Number::U64, sizes.as_mut_bytes()).map(|count| *size_count = count)
            }
            EndKey::Steps => {
                *steps = [I64::ZERO; ACCESS_DIMS];
                numbers(value, Number::I64, steps.as_mut_bytes()).map(|count| *step_count = count)
            }
            EndKey::Dtype => value.as_text().map(|text| {
                self.dtype = dtype_code(text);
                if self.dtype.is_none() {
                    self.dtype_shown = shown(text);
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

    /// Enters the finished end; `size` is the transfer's own `size`, which old
    /// files have in place of sizes and steps (lowering.md §5.4).
    #[cfg_attr(small, inline(never))]
    pub(super) fn access(&self, which: EndName, size: Option<u64>, access: &mut Access) -> Result<(), Error> {
        if !self.met(EndKey::Name) {
            let absent = fault(ManifestCode::TransferMalformed).name(which.key(EndKey::Name));
            return Err(self.malformed(which).unwrap_or(absent));
        }
        let named = self.wrong & bit(EndKey::Name) == 0;
        let Some(var) = self.var.filter(|_| named) else {
            let unknown = || fault(ManifestCode::TransferVariable).name(self.shown.as_bytes());
            return Err(self.malformed(which).filter(|_| !named).unwrap_or_else(unknown));
        };
        if let Some(error) = self.malformed(which) {
            return Err(error);
        }
        access.var = var;
        access.off = if self.met(EndKey::Off) { self.off } else { 0 };
        self.walk(which, size, access)?;
        access.dtype_given = self.met(EndKey::Dtype);
        access.dtype = dtype::DESCRIPTOR_UINT8;
        if access.dtype_given {
            let unknown = || fault(ManifestCode::DtypeUnknown).name(self.dtype_shown.as_bytes());
            access.dtype = self.dtype.ok_or_else(unknown)?;
        }
        Ok(())
    }

    /// Sizes and steps.
    fn walk(&self, which: EndName, size: Option<u64>, access: &mut Access) -> Result<(), Error> {
        let which = which.key(EndKey::Name);
        let [mut sizes, mut steps] = self.counts;
        (access.sizes, access.steps) = (self.sizes.map(U64::get), self.steps.map(I64::get));
        match (self.met(EndKey::Sizes), self.met(EndKey::Steps), size) {
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
