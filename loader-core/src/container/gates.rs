//! S1: the gates on header values, in the reference's order (container.md §7.2).

use super::digest::Algorithm;
use super::header::{Header, PAYLOAD_OFFSET};
use crate::error::{ContainerCode, Error, Stage};
use crate::policy::Policy;

/// Highest accepted format version (container.md §7.2, Confirmed).
pub const MAX_MAJOR: u64 = 2;

fn refuse(code: ContainerCode) -> Error {
    Error::new(Stage::Unpack, code)
}

/// Gates 1 and 2: format version and feature bits. They need no file size.
///
/// # Errors
/// C201 or C202, both with status 10.
pub fn version(header: &Header, policy: &Policy) -> Result<(), Error> {
    let (major, minor) = (header.neff_version_major, header.neff_version_minor);
    if major > MAX_MAJOR {
        return Err(refuse(ContainerCode::Version).numbers(major, minor).offset(0x18));
    }
    let unknown = header.feature_bits.unknown_to(policy.supported_features);
    if major == MAX_MAJOR && unknown != 0 {
        let error = refuse(ContainerCode::UnknownFeatures).numbers(unknown, minor);
        return Err(error.third(policy.supported_features).offset(0x220));
    }
    Ok(())
}

/// Gates 1 to 4 for a file of `size` bytes, of which the preflight has established at least 1024.
///
/// # Errors
/// The first gate that refuses: C201 to C204.
pub fn header(header: &Header, size: u64, policy: &Policy) -> Result<Algorithm, Error> {
    version(header, policy)?;
    if size.saturating_sub(PAYLOAD_OFFSET) < header.data_size {
        return Err(refuse(ContainerCode::DataSize).numbers(header.data_size, size).offset(0x10));
    }
    Algorithm::of(header.pkg_version)
        .ok_or_else(|| refuse(ContainerCode::Packager).numbers(header.pkg_version, 0).offset(0))
}
