//! The flat header: a view on its 1024 bytes, a value with its fields, and a printer (container.md §3).
//!
//! ```
//! use loader_core::container::{Header, HeaderView};
//!
//! let mut header = Header::new(b"resnet");
//! header.data_size = 10240;
//! let view: HeaderView = header.emit();
//! assert_eq!(Header::parse(&view), header);
//! ```

use super::features::Features;
use super::text::Text;
use core::fmt;
use core::mem::{offset_of, size_of};
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Length of the header, and the file offset of the payload whatever `header_size` says.
pub const HEADER_BYTES: usize = 0x400;

/// [`HEADER_BYTES`] as a file offset.
pub const PAYLOAD_OFFSET: u64 = 0x400;

/// The 1024 bytes as they lie in the file. Judges nothing.
///
/// | offset | field | | offset | field |
/// |---|---|---|---|---|
/// | 0x000 | `pkg_version` | | 0x0CC | `uuid` |
/// | 0x008 | `header_size` | | 0x0DC | `name` |
/// | 0x010 | `data_size` | | 0x1DC | `requested_tpb_count` |
/// | 0x018 | `neff_version_major` | | 0x1E0 | `tpb_per_node` |
/// | 0x020 | `neff_version_minor` | | 0x220 | `feature_bits` |
/// | 0x028 | `neff_build_version` | | 0x228 | `lnc_size` |
/// | 0x0A8 | `num_tpb` | | 0x22C | `pad` |
/// | 0x0AC | `hash` | | | |
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
#[allow(missing_docs, reason = "the fields are documented on `Header`, which has the same names")]
pub struct HeaderView {
    pub pkg_version: U64,
    pub header_size: U64,
    pub data_size: U64,
    pub neff_version_major: U64,
    pub neff_version_minor: U64,
    pub neff_build_version: [u8; 128],
    pub num_tpb: U32,
    pub hash: [u8; 32],
    pub uuid: [u8; 16],
    pub name: [u8; 256],
    pub requested_tpb_count: U32,
    pub tpb_per_node: [u8; 64],
    pub feature_bits: U64,
    pub lnc_size: U32,
    pub pad: [u8; 468],
}

const _: () = {
    assert!(size_of::<HeaderView>() == HEADER_BYTES);
    assert!(offset_of!(HeaderView, neff_build_version) == 0x028);
    assert!(offset_of!(HeaderView, num_tpb) == 0x0A8);
    assert!(offset_of!(HeaderView, hash) == 0x0AC);
    assert!(offset_of!(HeaderView, uuid) == 0x0CC);
    assert!(offset_of!(HeaderView, name) == 0x0DC);
    assert!(offset_of!(HeaderView, requested_tpb_count) == 0x1DC);
    assert!(offset_of!(HeaderView, tpb_per_node) == 0x1E0);
    assert!(offset_of!(HeaderView, feature_bits) == 0x220);
    assert!(offset_of!(HeaderView, lnc_size) == 0x228);
    assert!(offset_of!(HeaderView, pad) == 0x22C);
};

impl HeaderView {
    /// The header at the start of a file's bytes; `None` if there are fewer than 1024.
    #[must_use]
    pub fn of(file: &[u8]) -> Option<&Self> {
        Self::ref_from_prefix(file).ok().map(|(view, _)| view)
    }
}

/// The header's fields as values. Sizes are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Digest algorithm: 1 = SHA-256, 2 = MD5. Says nothing about compression.
    pub pkg_version: u64,
    /// Declared header length; only compared with the file size.
    pub header_size: u64,
    /// Payload length as stored, zero fill included.
    pub data_size: u64,
    /// Format version; 0, 1 and 2 exist.
    pub neff_version_major: u64,
    /// Format minor version; printed, never compared.
    pub neff_version_minor: u64,
    /// Compiler build, `<version>%<branch>@<commit>` or empty.
    pub neff_build_version: Text<128>,
    /// Number of TPBs; not read by the loader.
    pub num_tpb: u32,
    /// Payload digest: 32 bytes of SHA-256, or 16 of MD5 and 16 unused ones.
    pub hash: [u8; 32],
    /// Identity of the compilation; 16 opaque bytes.
    pub uuid: [u8; 16],
    /// Model name, often a path.
    pub name: Text<256>,
    /// Cores the model wants; not gated here.
    pub requested_tpb_count: u32,
    /// Cores for each KELF node; not gated here.
    pub tpb_per_node: [u8; 64],
    /// Features the loader must know when the major version is 2.
    pub feature_bits: Features,
    /// Logical-core size, meaningful with [`Features::VNC`].
    pub lnc_size: u32,
    /// True if the 468 pad bytes are zero.
    pub pad_is_zero: bool,
}

impl Header {
    /// What a writer starts from (container.md §15): package 2, version 1.0, one core.
    #[must_use]
    pub fn new(name: &[u8]) -> Self {
        let mut tpb_per_node = [0; 64];
        if let Some(first) = tpb_per_node.first_mut() {
            *first = 1;
        }
        Self {
            pkg_version: 2,
            header_size: PAYLOAD_OFFSET,
            data_size: 0,
            neff_version_major: 1,
            neff_version_minor: 0,
            neff_build_version: Text::EMPTY,
            num_tpb: 1,
            hash: [0; 32],
            uuid: [0; 16],
            name: Text::new(name),
            requested_tpb_count: 1,
            tpb_per_node,
            feature_bits: Features::empty(),
            lnc_size: 1,
            pad_is_zero: true,
        }
    }

    /// Reads the fields. Nothing can fail: every value has a meaning of its own.
    #[must_use]
    pub fn parse(view: &HeaderView) -> Self {
        Self {
            pkg_version: view.pkg_version.get(),
            header_size: view.header_size.get(),
            data_size: view.data_size.get(),
            neff_version_major: view.neff_version_major.get(),
            neff_version_minor: view.neff_version_minor.get(),
            neff_build_version: Text::from_field(view.neff_build_version),
            num_tpb: view.num_tpb.get(),
            hash: view.hash,
            uuid: view.uuid,
            name: Text::from_field(view.name),
            requested_tpb_count: view.requested_tpb_count.get(),
            tpb_per_node: view.tpb_per_node,
            feature_bits: Features::from_bits_retain(view.feature_bits.get()),
            lnc_size: view.lnc_size.get(),
            pad_is_zero: view.pad.iter().all(|&byte| byte == 0),
        }
    }

    /// The header as bytes, pad zero.
    #[must_use]
    pub fn emit(&self) -> HeaderView {
        let mut view = HeaderView::new_zeroed();
        view.pkg_version.set(self.pkg_version);
        view.header_size.set(self.header_size);
        view.data_size.set(self.data_size);
        view.neff_version_major.set(self.neff_version_major);
        view.neff_version_minor.set(self.neff_version_minor);
        view.neff_build_version = self.neff_build_version.field();
        view.num_tpb.set(self.num_tpb);
        view.hash = self.hash;
        view.uuid = self.uuid;
        view.name = self.name.field();
        view.requested_tpb_count.set(self.requested_tpb_count);
        view.tpb_per_node = self.tpb_per_node;
        view.feature_bits.set(self.feature_bits.bits());
        view.lnc_size.set(self.lnc_size);
        view
    }

    /// File offset of the first byte after the payload window.
    #[must_use]
    pub const fn payload_end(&self) -> u64 {
        PAYLOAD_OFFSET.saturating_add(self.data_size)
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\" {} NEFF {}.{}, package {}, {} payload bytes, features {:#x}, lnc {}",
            self.name,
            Uuid(&self.uuid),
            self.neff_version_major,
            self.neff_version_minor,
            self.pkg_version,
            self.data_size,
            self.feature_bits.bits(),
            self.lnc_size
        )
    }
}

/// Prints 16 bytes in the 8-4-4-4-12 form.
#[derive(Clone, Copy, Debug)]
pub struct Uuid<'a>(pub &'a [u8; 16]);

impl fmt::Display for Uuid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
