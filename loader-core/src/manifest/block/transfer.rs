//! One transfer while its keys come in any order, and its checks (manifests.md §13.3).

use super::super::build::{Slot, fault, shown};
use super::super::class::DmaOp;
use super::end::{EndDraft, EndName, dtype_code};
use super::key::OwnKey;
use super::{Access, Constant, SOURCES, Transfer, Transpose};
use crate::error::{Error, Held, ManifestCode, Name};
use crate::json::{Element, Kind, Text};

/// Longest `transpose_op` that is kept; `WZXY` has four.
const TRANSPOSE_OP_MAX: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Known(DmaOp, bool),
    Unknown(Name<32>),
}

fn op(text: Text<'_>) -> Op {
    let mut bytes = [0u8; 32];
    let name = text.plain().or_else(|| text.unescape(&mut bytes)).unwrap_or(&[]);
    DmaOp::from_name(name).map_or_else(|| Op::Unknown(shown(text)), |(op, cast)| Op::Known(op, cast))
}

/// A number that may become the bits of one of three types.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Number {
    float: f64,
    integer: Option<i64>,
}

/// The transfer that is being read.
#[derive(Debug)]
pub(super) struct TransferDraft {
    op: Slot<Op>,
    cast: Slot<bool>,
    pub(super) to: EndDraft,
    pub(super) from: EndDraft,
    pub(super) part: EndDraft,
    parts: heapless::Vec<Access, SOURCES>,
    part_count: u32,
    part_error: Option<Held>,
    gather: Slot<bool>,
    tiling: Slot<u8>,
    size: Slot<u64>,
    scale: Slot<f64>,
    scale_dtype: Slot<(bool, Name<32>)>,
    constant: Slot<Number>,
    constant_dtype: Slot<Option<u8>>,
    transpose_shape: Slot<[u64; 4]>,
    element_size: Slot<u32>,
    transpose_op: Slot<([u8; TRANSPOSE_OP_MAX], usize)>,
    /// Where the first values of the transfer's own keys stand, of those that it has.
    places: [Option<u64>; OwnKey::COUNT],
}

fn four(value: Element<'_>) -> Option<[u64; 4]> {
    let mut shape = [0u64; 4];
    let mut items = value.as_items()?;
    for slot in &mut shape {
        *slot = items.next()?.as_u64()?;
    }
    items.next().is_none().then_some(shape)
}

fn short(value: Element<'_>) -> Option<([u8; TRANSPOSE_OP_MAX], usize)> {
    let mut bytes = [0u8; TRANSPOSE_OP_MAX];
    let len = value.as_text()?.unescape(&mut bytes)?.len();
    Some((bytes, len))
}

fn number(value: Element<'_>) -> Option<Number> {
    Some(Number { float: value.as_f64()?, integer: value.as_i64() })
}

/// `float32`, `int32` and `uint32` as descriptor codes.
const FLOAT32: u8 = 5;
const UINT32: u8 = 10;
const INT32: u8 = 14;

impl TransferDraft {
    pub(super) const fn new() -> Self {
        const END: EndDraft = EndDraft::EMPTY;
        Self {
            op: Slot::Absent,
            cast: Slot::Absent,
            to: END,
            from: END,
            part: END,
            parts: heapless::Vec::new(),
            part_count: 0,
            part_error: None,
            gather: Slot::Absent,
            tiling: Slot::Absent,
            size: Slot::Absent,
            scale: Slot::Absent,
            scale_dtype: Slot::Absent,
            constant: Slot::Absent,
            constant_dtype: Slot::Absent,
            transpose_shape: Slot::Absent,
            element_size: Slot::Absent,
            transpose_op: Slot::Absent,
            places: [None; OwnKey::COUNT],
        }
    }

    /// Another transfer begins. The room for sources is not written again.
    pub(super) fn begin(&mut self) {
        let Self { parts, from, to, part_count, part_error, gather, .. } = self;
        parts.clear();
        from.clear();
        to.clear();
        (*part_count, *part_error, *gather) = (0, None, Slot::Absent);
        let Self { op, cast, tiling, size, scale, scale_dtype, .. } = self;
        (*op, *cast, *tiling, *size) = (Slot::Absent, Slot::Absent, Slot::Absent, Slot::Absent);
        (*scale, *scale_dtype) = (Slot::Absent, Slot::Absent);
        let Self { constant, constant_dtype, transpose_shape, element_size, transpose_op, .. } = self;
        (*constant, *constant_dtype) = (Slot::Absent, Slot::Absent);
        (*transpose_shape, *element_size, *transpose_op) = (Slot::Absent, Slot::Absent, Slot::Absent);
        self.places = [None; OwnKey::COUNT];
    }

    /// `from_arr` begins; false if it was met before.
    pub(super) fn begin_parts(&mut self, kind: Kind) -> bool {
        let first = self.gather.is_absent();
        self.gather.set((kind == Kind::Array).then_some(true));
        first
    }

    /// An element of `from_arr` is complete.
    pub(super) fn end_part(&mut self) {
        self.part_count = self.part_count.saturating_add(1);
        match self.part.access(EndName::FROM, None) {
            // A source beyond the last that any chip takes is counted, and refused with the count.
            Ok(access) => drop(self.parts.push(access)),
            Err(error) => self.part_error = self.part_error.or(Some(error.into())),
        }
        self.part.clear();
    }

    /// Takes the value of a key that is not one of an end's.
    pub(super) fn field(&mut self, key: OwnKey, value: Element<'_>) {
        if let Some(place) = self.places.get_mut(key.place().0) {
            place.get_or_insert(value.offset());
        }
        match key {
            OwnKey::Op => self.op.set(value.as_text().map(op)),
            OwnKey::Cast => self.cast.set(value.as_flag()),
            OwnKey::Tiling => self.tiling.set(value.as_u8()),
            OwnKey::Size => self.size.set(value.as_u64()),
            OwnKey::Scale => self.scale.set(value.as_f64()),
            OwnKey::ScaleDtype => {
                self.scale_dtype.set(value.as_text().map(|text| (text.is(b"float32"), shown(text))))
            }
            OwnKey::Constant => self.constant.set(number(value)),
            OwnKey::ConstantDtype => self.constant_dtype.set(value.as_text().map(dtype_code)),
            OwnKey::TransposeShape => self.transpose_shape.set(four(value)),
            OwnKey::TransposeElementSize => self.element_size.set(value.as_u32()),
            OwnKey::TransposeOp => self.transpose_op.set(short(value)),
        }
    }

    /// Checks the transfer and hands it to `give`.
    pub(super) fn end<R>(
        &self,
        sources_max: usize,
        give: impl FnOnce(&Transfer<'_>) -> R,
    ) -> Result<R, Error> {
        let (op, cast) = self.operation()?;
        let to = self.to.access(EndName::TO, self.size.get())?;
        let one;
        let from = if self.gather.is_absent() {
            one = [self.from.access(EndName::FROM, self.size.get())?];
            one.as_slice()
        } else {
            self.sources(sources_max)?
        };
        self.arithmetic(op, &to, from)?;
        let transpose = self.transpose(op)?;
        Ok(give(&Transfer {
            op,
            cast: cast || self.cast.get() == Some(true),
            to,
            from,
            gather: !self.gather.is_absent(),
            tiling: self.plain(self.tiling, OwnKey::Tiling)?.unwrap_or(0),
            scale: self.plain(self.scale, OwnKey::Scale)?.unwrap_or(1.0),
            constant: self.constant(op)?,
            transpose,
        }))
    }

    /// A key of the transfer is absent or wrong: at its value, if it has one.
    fn malformed(&self, key: OwnKey) -> Error {
        let (place, spelling) = key.place();
        let error = fault(ManifestCode::TransferMalformed).name(spelling);
        match self.places.get(place).copied().flatten() {
            Some(at) => error.offset(at),
            None => error,
        }
    }

    fn plain<T: Copy>(&self, slot: Slot<T>, key: OwnKey) -> Result<Option<T>, Error> {
        if slot.is_wrong() { Err(self.malformed(key)) } else { Ok(slot.get()) }
    }

    fn operation(&self) -> Result<(DmaOp, bool), Error> {
        self.plain(self.cast, OwnKey::Cast)?;
        match self.plain(self.op, OwnKey::Op)? {
            None => Ok((DmaOp::Copy, false)),
            Some(Op::Known(op, cast)) => Ok((op, cast)),
            Some(Op::Unknown(name)) => Err(fault(ManifestCode::TransferOp).name(name.as_bytes())),
        }
    }

    fn sources(&self, most: usize) -> Result<&[Access], Error> {
        if let Some(error) = self.part_error {
            return Err(error.error());
        }
        if self.gather.is_wrong() || self.part_count == 0 {
            return Err(fault(ManifestCode::TransferMalformed).name(b"from_arr"));
        }
        let many = usize::try_from(self.part_count).unwrap_or(usize::MAX) > most;
        let numbers = (u64::from(self.part_count), u64::try_from(most).unwrap_or(u64::MAX));
        if many {
            return Err(fault(ManifestCode::TransferSources).numbers(numbers.0, numbers.1));
        }
        Ok(&self.parts)
    }

    fn arithmetic(&self, op: DmaOp, to: &Access, from: &[Access]) -> Result<(), Error> {
        if !op.is_arithmetic() {
            return Ok(());
        }
        if !to.dtype_given || from.iter().any(|source| !source.dtype_given) {
            return Err(fault(ManifestCode::AccessDtype));
        }
        let scale = self.plain(self.scale_dtype, OwnKey::ScaleDtype)?;
        match scale.filter(|_| op == DmaOp::Fma) {
            Some((false, name)) => Err(fault(ManifestCode::ScaleDtype).name(name.as_bytes())),
            _ => Ok(()),
        }
    }

    /// The constant of `min` and `max`; ignored without its dtype.
    fn constant(&self, op: DmaOp) -> Result<Option<Constant>, Error> {
        let malformed = || self.malformed(OwnKey::Constant);
        let dtype = self.plain(self.constant_dtype, OwnKey::ConstantDtype)?;
        let (Some(dtype), DmaOp::Min | DmaOp::Max) = (dtype, op) else { return Ok(None) };
        let value = self.plain(self.constant, OwnKey::Constant)?.ok_or_else(malformed)?;
        let bits = match dtype {
            Some(FLOAT32) => Some(float32_bits(value.float)),
            Some(INT32) => value.integer.and_then(|n| i32::try_from(n).ok()).map(i32::cast_unsigned),
            Some(UINT32) => value.integer.and_then(|n| u32::try_from(n).ok()),
            _ => return Err(self.malformed(OwnKey::ConstantDtype)),
        };
        let dtype = dtype.unwrap_or(FLOAT32);
        Ok(Some(Constant { dtype, bits: bits.ok_or_else(malformed)? }))
    }

    fn transpose(&self, op: DmaOp) -> Result<Option<Transpose<'_>>, Error> {
        let shape = self.plain(self.transpose_shape, OwnKey::TransposeShape)?;
        let element_size = self.plain(self.element_size, OwnKey::TransposeElementSize)?;
        self.plain(self.transpose_op, OwnKey::TransposeOp)?;
        let absent = shape.is_none() && element_size.is_none() && self.transpose_op.is_absent();
        if absent && op != DmaOp::Transpose {
            return Ok(None);
        }
        let op = match &self.transpose_op {
            Slot::Got((bytes, len)) => bytes.get(..*len).unwrap_or(&[]),
            _ => &[],
        };
        Ok(Some(Transpose {
            shape: shape.ok_or_else(|| self.malformed(OwnKey::TransposeShape))?,
            element_size: element_size.ok_or_else(|| self.malformed(OwnKey::TransposeElementSize))?,
            op,
        }))
    }
}

/// The nearest `float32`, as bits. `as` is the only such conversion that `core` has.
#[allow(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounding is what is wanted")]
const fn float32_bits(value: f64) -> u32 {
    (value as f32).to_bits()
}
