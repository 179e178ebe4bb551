//! One transfer while its keys come in any order, and its checks (manifests.md §13.3).

use super::super::build::{Number, fault, numbers};
use super::super::class::DmaOp;
use super::super::fields::{Fields, Read};
use super::end::{EndDraft, EndName, dtype_code};
use super::key::OwnKey;
use super::{Access, Constant, SOURCES, Transfer, Transpose};
use crate::error::{Error, Held, ManifestCode};
use crate::json::{Element, Kind, Text};
use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

/// Longest `transpose_op` that is kept; `WZXY` has four.
const TRANSPOSE_OP_MAX: usize = 16;

fn op(text: Text<'_>) -> Option<(DmaOp, bool)> {
    let mut bytes = [0u8; 32];
    let name = text.plain().or_else(|| text.unescape(&mut bytes)).unwrap_or(&[]);
    DmaOp::from_name(name)
}

/// The transfer that is being read.
#[derive(Debug)]
pub(super) struct TransferDraft {
    /// Its own keys.
    said: Fields<OwnKey>,
    op: DmaOp,
    cast: bool,
    pub(super) to: EndDraft,
    pub(super) from: EndDraft,
    pub(super) part: EndDraft,
    parts: heapless::Vec<Access, SOURCES>,
    part_count: u32,
    part_error: Option<Held>,
    /// Whether `from_arr` was met, and is an array.
    gather: Option<bool>,
    /// `constant`, if it is an integer.
    integer: Option<i64>,
    transpose_shape: [U64; 4],
    transpose_op: [u8; TRANSPOSE_OP_MAX],
    /// Where the first values of the transfer's own keys stand, of those that it has.
    places: [u64; OwnKey::COUNT],
}

/// `float32`, `int32` and `uint32` as descriptor codes.
const FLOAT32: u8 = 5;
const UINT32: u8 = 10;
const INT32: u8 = 14;

impl TransferDraft {
    pub(super) const fn new() -> Self {
        const END: EndDraft = EndDraft::EMPTY;
        Self {
            said: Fields::NONE,
            op: DmaOp::Copy,
            cast: false,
            to: END,
            from: END,
            part: END,
            parts: heapless::Vec::new(),
            part_count: 0,
            part_error: None,
            gather: None,
            integer: None,
            transpose_shape: [U64::ZERO; 4],
            transpose_op: [0; TRANSPOSE_OP_MAX],
            places: [0; OwnKey::COUNT],
        }
    }

    /// Another transfer begins. Nothing is written again but what tells that nothing was said.
    pub(super) fn begin(&mut self) {
        self.said.begin();
        self.from.clear();
        self.to.clear();
        self.parts.clear();
        (self.op, self.cast) = (DmaOp::Copy, false);
        (self.part_count, self.part_error, self.gather) = (0, None, None);
    }

    /// `from_arr` begins; false if it was met before.
    pub(super) fn begin_parts(&mut self, kind: Kind) -> bool {
        let first = self.gather.is_none();
        self.gather = self.gather.or(Some(kind == Kind::Array));
        first
    }

    /// An element of `from_arr` is complete.
    pub(super) fn end_part(&mut self) {
        self.part_count = self.part_count.wrapping_add(1);
        match self.part.finish(EndName::FROM, None) {
            // A source beyond the last that any chip takes is counted, and refused with the count.
            Ok(()) => drop(self.parts.push(self.part.access)),
            Err(error) => self.part_error = self.part_error.or(Some(error.into())),
        }
        self.part.clear();
    }

    /// Takes the value of a key that is not one of an end's.
    pub(super) fn field(&mut self, key: OwnKey, value: Element<'_>) {
        if !self.said.is_absent(key) {
            return;
        }
        if let Some(place) = self.places.get_mut(crate::manifest::fields::Keys::number(key)) {
            *place = value.offset();
        }
        let text = value.as_text();
        let read = match key {
            OwnKey::Op => text.map(|text| {
                let found = op(text)?;
                (self.op, self.cast) = found;
                Some(0)
            }),
            OwnKey::ScaleDtype => text.map(|text| text.is(b"float32").then_some(0)),
            OwnKey::Constant => {
                self.integer = value.as_i64();
                value.as_f64().map(|float| Some(float.to_bits()))
            }
            OwnKey::ConstantDtype => text.map(|text| dtype_code(text).map(u64::from)),
            OwnKey::TransposeShape => {
                let count = numbers(value, Number::U64, self.transpose_shape.as_mut_bytes());
                count.filter(|count| *count == 4).map(|_| Some(0))
            }
            OwnKey::TransposeOp => {
                let text = text.and_then(|text| text.unescape(&mut self.transpose_op));
                text.map(|text| u64::try_from(text.len()).ok())
            }
            _ => return self.said.read(key, value),
        };
        if matches!(read, Some(None)) {
            self.said.show(key, value);
        }
        self.said.put(key, read.map_or(Read::Wrong, |known| known.map_or(Read::Unknown, Read::Got)));
    }

    /// Checks the transfer and hands it to `give`.
    pub(super) fn end<R>(
        &mut self,
        sources_max: usize,
        give: impl FnOnce(&Transfer<'_>) -> R,
    ) -> Result<R, Error> {
        self.operation()?;
        let size = self.said.get(OwnKey::Size);
        self.to.finish(EndName::TO, size)?;
        let from = match self.gather {
            None => {
                self.from.finish(EndName::FROM, size)?;
                core::slice::from_ref(&self.from.access)
            }
            Some(array) => {
                self.sources(array, sources_max)?;
                &self.parts
            }
        };
        let said = &self.said;
        let mut transfer = Transfer {
            op: self.op,
            cast: self.cast || said.is_set(OwnKey::Cast),
            to: self.to.access,
            from,
            gather: self.gather.is_some(),
            tiling: u8::try_from(said.u32(OwnKey::Tiling)).unwrap_or(0),
            scale: said.get(OwnKey::Scale).map_or(1.0, f64::from_bits),
            constant: None,
            transpose: None,
        };
        self.arithmetic(&transfer)?;
        self.transpose(&mut transfer)?;
        self.typed(&[OwnKey::Tiling, OwnKey::Scale, OwnKey::ConstantDtype])?;
        self.constant(&mut transfer)?;
        Ok(give(&transfer))
    }

    /// A key of the transfer is absent or wrong: at its value, if it has one.
    fn malformed(&self, key: OwnKey) -> Error {
        let error = fault(ManifestCode::TransferMalformed).name(key.word());
        if self.said.is_absent(key) {
            return error;
        }
        let place = self.places.get(crate::manifest::fields::Keys::number(key));
        place.map_or(error, |at| error.offset(*at))
    }

    /// The values of those keys, where there are any, must be of their types.
    #[cfg_attr(small, inline(never))]
    fn typed(&self, keys: &[OwnKey]) -> Result<(), Error> {
        let wrong = keys.iter().find(|key| self.said.is_wrong(**key));
        wrong.map_or(Ok(()), |key| Err(self.malformed(*key)))
    }

    fn operation(&self) -> Result<(), Error> {
        self.typed(&[OwnKey::Cast, OwnKey::Op])?;
        if self.said.is_unknown(OwnKey::Op) {
            return Err(fault(ManifestCode::TransferOp).name(self.said.shown(OwnKey::Op)));
        }
        Ok(())
    }

    /// The sources of `from_arr`, which must be an array.
    fn sources(&self, array: bool, most: usize) -> Result<(), Error> {
        if let Some(error) = &self.part_error {
            return Err(error.error());
        }
        if !array || self.part_count == 0 {
            return Err(fault(ManifestCode::TransferMalformed).name(b"from_arr"));
        }
        let (count, most) = (u64::from(self.part_count), u64::try_from(most).unwrap_or(u64::MAX));
        if count > most {
            return Err(fault(ManifestCode::TransferSources).numbers(count, most));
        }
        Ok(())
    }

    fn arithmetic(&self, Transfer { op, to, from, .. }: &Transfer<'_>) -> Result<(), Error> {
        if !op.is_arithmetic() {
            return Ok(());
        }
        if !to.dtype_given || from.iter().any(|source| !source.dtype_given) {
            return Err(fault(ManifestCode::AccessDtype));
        }
        self.typed(&[OwnKey::ScaleDtype])?;
        if *op == DmaOp::Fma && self.said.is_unknown(OwnKey::ScaleDtype) {
            return Err(fault(ManifestCode::ScaleDtype).name(self.said.shown(OwnKey::ScaleDtype)));
        }
        Ok(())
    }

    /// The constant of `min` and `max`; ignored without its dtype.
    fn constant(&self, transfer: &mut Transfer<'_>) -> Result<(), Error> {
        let (said, key) = (&self.said, OwnKey::ConstantDtype);
        if said.is_absent(key) || !matches!(transfer.op, DmaOp::Min | DmaOp::Max) {
            return Ok(());
        }
        let malformed = || self.malformed(OwnKey::Constant);
        let float = said.get(OwnKey::Constant).map(f64::from_bits).ok_or_else(malformed)?;
        let dtype = u8::try_from(said.u32(key)).unwrap_or(0);
        let bits = match dtype {
            FLOAT32 => Some(float32_bits(float)),
            INT32 => self.integer.and_then(|n| i32::try_from(n).ok()).map(i32::cast_unsigned),
            UINT32 => self.integer.and_then(|n| u32::try_from(n).ok()),
            _ => return Err(self.malformed(key)),
        };
        transfer.constant = Some(Constant { dtype, bits: bits.ok_or_else(malformed)? });
        Ok(())
    }

    fn transpose<'a>(&'a self, transfer: &mut Transfer<'a>) -> Result<(), Error> {
        let said = &self.said;
        let (shape, size, op) = (OwnKey::TransposeShape, OwnKey::TransposeElementSize, OwnKey::TransposeOp);
        self.typed(&[shape, size, op])?;
        let absent = said.is_absent(shape) && said.is_absent(size) && said.is_absent(op);
        if absent && transfer.op != DmaOp::Transpose {
            return Ok(());
        }
        if let Some(key) = said.first_absent(shape, size) {
            return Err(fault(ManifestCode::TransferMalformed).name(key));
        }
        let len = usize::try_from(said.u32(op)).unwrap_or(0);
        transfer.transpose = Some(Transpose {
            shape: self.transpose_shape.map(U64::get),
            element_size: said.u32(size),
            op: self.transpose_op.get(..len).unwrap_or(&[]),
        });
        Ok(())
    }
}

/// The nearest `float32`, as bits. `as` is the only such conversion that `core` has.
#[allow(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounding is what is wanted")]
const fn float32_bits(value: f64) -> u32 {
    (value as f32).to_bits()
}
