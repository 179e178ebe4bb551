//! The keys of a transfer (manifests.md §13.3), told apart once for each value.

use super::super::fields::Type::{F64, Flag, Own, U8, U32, U64};
use super::super::fields::{Keys, NOWHERE, Row, Type};

/// A key of a transfer, or of a part of `from_arr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransferKey {
    /// `from`, `from_off` and its like.
    From(EndKey),
    /// `to`, `to_off` and its like.
    To(EndKey),
    /// A key of the transfer itself.
    Own(OwnKey),
}

/// `from` or `to` itself, and what follows `from_` and `to_`, in the order of [`Word`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndKey {
    Name,
    Off,
    Sizes,
    Steps,
    Dtype,
}

impl EndKey {
    pub(super) const ALL: [Self; 5] = [Self::Name, Self::Off, Self::Sizes, Self::Steps, Self::Dtype];

    /// Position in [`EndKey::ALL`].
    #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
    pub(super) const fn place(self) -> usize {
        self as usize
    }
}

/// A key that belongs to neither end, in the order of [`Word`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnKey {
    Op,
    ScaleDtype,
    Cast,
    Tiling,
    Size,
    Scale,
    Constant,
    ConstantDtype,
    TransposeShape,
    TransposeElementSize,
    TransposeOp,
}

const fn row(value: Type) -> Row {
    Row { value, at: NOWHERE }
}

impl OwnKey {
    /// How many there are.
    pub(super) const COUNT: usize = 11;

    const ALL: [Self; Self::COUNT] = [
        Self::Op,
        Self::ScaleDtype,
        Self::Cast,
        Self::Tiling,
        Self::Size,
        Self::Scale,
        Self::Constant,
        Self::ConstantDtype,
        Self::TransposeShape,
        Self::TransposeElementSize,
        Self::TransposeOp,
    ];

    /// The key as it is spelt.
    pub(super) fn word(self) -> &'static [u8] {
        Self::name(self.number())
    }
}

impl Keys for OwnKey {
    const ROWS: &'static [Row] = &[
        row(Own),
        row(Own),
        row(Flag),
        row(U8),
        row(U64),
        row(F64),
        row(Own),
        row(Own),
        row(Own),
        row(U32),
        row(Own),
    ];

    #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
    fn number(self) -> usize {
        self as usize
    }

    fn name(number: usize) -> &'static [u8] {
        Word::nth(number.saturating_add(OWN))
    }

    fn place_of(word: &[u8]) -> usize {
        Word::of(word).place().wrapping_sub(OWN)
    }
}

/// Where the keys of the destination and the transfer's own begin among all.
const TO: usize = 5;
const OWN: usize = 10;

crate::words::words! {
    /// All keys of a transfer.
    Word {
        From = b"from",
        FromOff = b"from_off",
        FromSizes = b"from_sizes",
        FromSteps = b"from_steps",
        FromDtype = b"from_dtype",
        To = b"to",
        ToOff = b"to_off",
        ToSizes = b"to_sizes",
        ToSteps = b"to_steps",
        ToDtype = b"to_dtype",
        Op = b"op",
        ScaleDtype = b"scale_dtype",
        Cast = b"cast",
        NumTilingDimensions = b"num_tiling_dimensions",
        Size = b"size",
        Scale = b"scale",
        Constant = b"constant",
        ConstantDtype = b"constant_dtype",
        TransposeShape = b"transpose_shape",
        TransposeElementSize = b"transpose_element_size",
        TransposeOp = b"transpose_op",
    }
}

/// The key of the end that begins at `first` among all words: [`EndName`](super::end::EndName).
pub(super) fn end_key(first: usize, field: usize) -> &'static [u8] {
    Word::nth(first.saturating_add(field))
}

impl TransferKey {
    /// `None` for a key that says nothing to the loader.
    pub(super) fn of(key: &[u8]) -> Option<Self> {
        let place = Word::of(key).place();
        let own = || OwnKey::ALL.get(place.checked_sub(OWN)?).copied().map(Self::Own);
        let to = || EndKey::ALL.get(place.checked_sub(TO)?).copied().map(Self::To);
        EndKey::ALL.get(place).copied().map(Self::From).or_else(to).or_else(own)
    }
}
