//! S0 and S1: from bytes to a header, a digest verdict and a member table (container.md).

pub mod digest;
pub mod features;
pub mod gates;
pub mod guard;
mod gzip;
mod header;
mod resident;
mod store;
mod table;
mod tar;
mod text;
mod unpack;
mod workspace;

pub use digest::{Algorithm, DigestVerdict, Order};
pub use features::Features;
pub use gzip::Layer;
pub use header::{HEADER_BYTES, Header, HeaderView, PAYLOAD_OFFSET, Uuid};
pub use resident::Resident;
pub use store::{SliceStore, Store, StoreFull};
pub use table::{Member, MemberTable};
pub use tar::Extent;
pub use text::{Lossless, Text};
pub use unpack::unpack;
pub use workspace::{Layers, Workspace};

/// What S1 found out about a file.
#[derive(Clone, Copy, Debug)]
pub struct Container<'m> {
    /// The header's fields.
    pub header: Header,
    /// The payload digest and how the header holds it.
    pub digest: DigestVerdict,
    /// All members.
    pub table: MemberTable<'m>,
    /// Nested gzip layers of the payload: 0 for a plain archive.
    pub layers: u8,
    /// Bytes of the archive that were read, end marker included.
    pub archive_bytes: u64,
}
