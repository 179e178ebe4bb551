//! How many bytes a product takes.

use crate::arena::NULL_AREA;

/// Bytes of the arena that a product and its making take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dims {
    product: u64,
    scratch: u64,
}

impl Dims {
    pub(crate) const fn new(product: u64, scratch: u64) -> Self {
        Self { product, scratch }
    }

    /// Bytes of the product, the null area of 16 included: where the arena's head stands afterwards.
    #[must_use]
    pub const fn product_bytes(&self) -> u64 {
        self.product
    }

    /// Bytes of scratch at the arena's tail while lowering runs.
    #[must_use]
    pub const fn scratch_bytes(&self) -> u64 {
        self.scratch
    }

    /// Bytes that must be free between head and tail of an arena whose null area is taken already.
    #[must_use]
    pub const fn needed(&self) -> u64 {
        self.product.saturating_sub(16).saturating_add(self.scratch)
    }
}

const _: () = assert!(NULL_AREA == 16);

/// `bytes` rounded up to 8.
pub(crate) const fn up8(bytes: u64) -> u64 {
    bytes.saturating_add(7) & !7
}
