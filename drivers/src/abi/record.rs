//! The argument structures, as the driver lays them out (driver-abi.md §5).
//!
//! Little endian, natural alignment of LP64 with the gaps as named padding, so that every record is plain
//! bytes. A field named after an address is a user-space address that the driver follows.

mod device;
mod dma;
mod host;
mod later;
mod memory;
mod sync;

pub use device::*;
pub use dma::*;
pub use host::*;
pub use later::*;
pub use memory::*;
pub use sync::*;

/// A record that a request takes.
pub trait Record:
    zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable + zerocopy::KnownLayout + Copy
{
    /// Its size in bytes.
    const BYTES: usize = size_of::<Self>();

    /// The record in the first bytes of `bytes`; `None` if they are too few.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::read_from_prefix(bytes).ok().map(|(record, _)| record)
    }
}

macro_rules! records {
    ($($doc:literal $name:ident: $size:literal { $($field:ident: $kind:ty, $text:literal;)* })*) => {
        $(
            #[doc = $doc]
            #[derive(
                Clone, Copy, Debug,
                zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout,
                zerocopy::Unaligned,
            )]
            #[repr(C)]
            pub struct $name {
                $(#[doc = $text] pub $field: $kind,)*
            }

            const _: () = assert!(size_of::<$name>() == $size);

            impl $crate::abi::record::Record for $name {}

            impl Default for $name {
                fn default() -> Self {
                    zerocopy::FromZeros::new_zeroed()
                }
            }
        )*
    };
}
use records;

#[cfg(test)]
mod tests;
