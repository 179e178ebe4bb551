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

impl TransferKey {
    /// `None` for a key that says nothing to the loader.
    pub(super) const fn of(key: &[u8]) -> Option<Self> {
        Some(match key {
            b"from" => Self::From,
            b"from_off" => Self::FromEnd(EndKey::Off),
            b"from_sizes" => Self::FromEnd(EndKey::Sizes),
            b"from_steps" => Self::FromEnd(EndKey::Steps),
            b"from_dtype" => Self::FromEnd(EndKey::Dtype),
            b"to" => Self::To,
            b"to_off" => Self::ToEnd(EndKey::Off),
            b"to_sizes" => Self::ToEnd(EndKey::Sizes),
            b"to_steps" => Self::ToEnd(EndKey::Steps),
            b"to_dtype" => Self::ToEnd(EndKey::Dtype),
            b"op" => Self::Own(OwnKey::Op),
            b"cast" => Self::Own(OwnKey::Cast),
            b"num_tiling_dimensions" => Self::Own(OwnKey::Tiling),
            b"size" => Self::Own(OwnKey::Size),
            b"scale" => Self::Own(OwnKey::Scale),
            b"scale_dtype" => Self::Own(OwnKey::ScaleDtype),
            b"constant" => Self::Own(OwnKey::Constant),
            b"constant_dtype" => Self::Own(OwnKey::ConstantDtype),
            b"transpose_shape" => Self::Own(OwnKey::TransposeShape),
            b"transpose_element_size" => Self::Own(OwnKey::TransposeElementSize),
            b"transpose_op" => Self::Own(OwnKey::TransposeOp),
            _ => return None,
        })
    }
}
