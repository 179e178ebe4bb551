//! The keys of a transfer (manifests.md §13.3), told apart once for each value.

/// A key of a transfer, or of a part of `from_arr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransferKey {
    /// `from`.
    From,
    /// `to`.
    To,
    /// `from_off` and its like.
    FromEnd(EndKey),
    /// `to_off` and its like.
    ToEnd(EndKey),
    /// A key of the transfer itself.
    Own(OwnKey),
}

/// What follows `from_` and `to_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndKey {
    Off,
    Sizes,
    Steps,
    Dtype,
}

/// A key that belongs to neither end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnKey {
    Op,
    Cast,
    Tiling,
    Size,
    Scale,
    ScaleDtype,
    Constant,
    ConstantDtype,
    TransposeShape,
    TransposeElementSize,
    TransposeOp,
}

impl OwnKey {
    /// How many there are.
    pub(super) const COUNT: usize = 11;

    /// Position among them, and spelling.
    pub(super) const fn place(self) -> (usize, &'static [u8]) {
        match self {
            Self::Op => (0, b"op"),
            Self::Cast => (1, b"cast"),
            Self::Tiling => (2, b"num_tiling_dimensions"),
            Self::Size => (3, b"size"),
            Self::Scale => (4, b"scale"),
            Self::ScaleDtype => (5, b"scale_dtype"),
            Self::Constant => (6, b"constant"),
            Self::ConstantDtype => (7, b"constant_dtype"),
            Self::TransposeShape => (8, b"transpose_shape"),
            Self::TransposeElementSize => (9, b"transpose_element_size"),
            Self::TransposeOp => (10, b"transpose_op"),
        }
    }
}

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
        Cast = b"cast",
        NumTilingDimensions = b"num_tiling_dimensions",
        Size = b"size",
        Scale = b"scale",
        ScaleDtype = b"scale_dtype",
        Constant = b"constant",
        ConstantDtype = b"constant_dtype",
        TransposeShape = b"transpose_shape",
        TransposeElementSize = b"transpose_element_size",
        TransposeOp = b"transpose_op",
    }
}

impl TransferKey {
    /// `None` for a key that says nothing to the loader.
    pub(super) fn of(key: &[u8]) -> Option<Self> {
        Some(match Word::of(key) {
            Word::From => Self::From,
            Word::FromOff => Self::FromEnd(EndKey::Off),
            Word::FromSizes => Self::FromEnd(EndKey::Sizes),
            Word::FromSteps => Self::FromEnd(EndKey::Steps),
            Word::FromDtype => Self::FromEnd(EndKey::Dtype),
            Word::To => Self::To,
            Word::ToOff => Self::ToEnd(EndKey::Off),
            Word::ToSizes => Self::ToEnd(EndKey::Sizes),
            Word::ToSteps => Self::ToEnd(EndKey::Steps),
            Word::ToDtype => Self::ToEnd(EndKey::Dtype),
            Word::Op => Self::Own(OwnKey::Op),
            Word::Cast => Self::Own(OwnKey::Cast),
            Word::NumTilingDimensions => Self::Own(OwnKey::Tiling),
            Word::Size => Self::Own(OwnKey::Size),
            Word::Scale => Self::Own(OwnKey::Scale),
            Word::ScaleDtype => Self::Own(OwnKey::ScaleDtype),
            Word::Constant => Self::Own(OwnKey::Constant),
            Word::ConstantDtype => Self::Own(OwnKey::ConstantDtype),
            Word::TransposeShape => Self::Own(OwnKey::TransposeShape),
            Word::TransposeElementSize => Self::Own(OwnKey::TransposeElementSize),
            Word::TransposeOp => Self::Own(OwnKey::TransposeOp),
            _ => return None,
        })
    }
}
