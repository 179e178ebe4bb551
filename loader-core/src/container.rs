//! S0 and S1: from bytes to a header, a digest verdict and a member table (container.md).

mod archive;
pub mod digest;
mod events;
pub mod features;
pub mod gates;
pub mod guard;
mod gzip;
mod header;
mod reader;
mod resident;
mod store;
mod streamed;
mod table;
mod tar;
mod text;
mod unpack;
mod workspace;

pub use digest::{Algorithm, DigestVerdict, Hasher, Order};
pub use events::{DROPPED_SUFFIX, Entry, Events, Kind, zeros};
pub use features::Features;
pub use gzip::{Inflate, Inflated, Layer, Oxide, Stop};
pub use header::{HEADER_BYTES, Header, HeaderView, PAYLOAD_OFFSET, Uuid};
pub use reader::{Digesting, Progress, Reader, Summary};
pub use resident::Resident;
pub use store::{SliceStore, Store, StoreFull};
pub use streamed::{KEEP_BYTES, KEEP_GRAPH_BYTES, Streamed, scan};
pub use table::{Member, MemberTable};
pub use tar::Extent;
pub use text::{Lossless, Text};
pub use unpack::{drive, unpack};
pub use workspace::{AnyLayer, Layers, Workspace};

/// What S1 found out about a file.
#[derive(Clone, Copy, Debug)]
pub struct Container<'m> {
    /// The header's fields.
    pub header: Header,
    /// The payload digest and how the header holds it.
    pub digest: DigestVerdict,
    /// All members.
    pub table: MemberTable<'m>,
    /// The payload as it was found.
    pub payload: PayloadShape,
}

/// The payload as it was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PayloadShape {
    /// Nested gzip layers: 0 for a plain archive.
    pub layers: u8,
    /// Gzip members of the outermost layer.
    pub gzip_members: u32,
    /// Every gzip trailer that was read fits its data.
    pub trailers_fit: bool,
    /// Bytes of the archive that were read, the first block of the end marker included.
    pub archive_bytes: u64,
}
