//! The 1024 bytes in front (container.md §3, §15).

use super::window::stored;
use super::{HEADER_SIZE, Options, PackError};
use crate::chain;
use loader_core::container::Features;
use loader_core::json::Element;
use sha2::{Digest, Sha256};

/// Longest `name`: its field less the NUL.
const NAME_LIMIT: usize = 255;
/// Longest `neff_build_version`.
const BUILD_LIMIT: usize = 127;

/// Header values that do not follow from the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderFields {
    /// `neff_version_major`; `None` is 1, or 2 if a feature bit is set.
    pub major: Option<u64>,
    /// `neff_version_minor`.
    pub minor: u64,
    /// `neff_build_version`, at most 127 bytes.
    pub build: Vec<u8>,
    /// `num_tpb`.
    pub num_tpb: u32,
    /// `uuid`; `None` derives one of version-4 shape from name and digest.
    pub uuid: Option<[u8; 16]>,
    /// `name`, at most 255 bytes.
    pub name: Vec<u8>,
    /// `requested_tpb_count`.
    pub requested_tpb_count: u32,
    /// `tpb_per_node`.
    pub tpb_per_node: [u8; 64],
    /// `feature_bits`.
    pub feature_bits: u64,
    /// `lnc_size`.
    pub lnc_size: u32,
}

impl Default for HeaderFields {
    fn default() -> Self {
        let mut tpb_per_node = [0; 64];
        tpb_per_node[0] = 1;
        Self {
            major: None,
            minor: 0,
            build: Vec::new(),
            num_tpb: 1,
            uuid: None,
            name: b"file.neff".to_vec(),
            requested_tpb_count: 1,
            tpb_per_node,
            feature_bits: 0,
            lnc_size: 1,
        }
    }
}

impl HeaderFields {
    /// What a compiler's packager writes when its override path is taken and `info.json` is not looked at: name
    /// `file.neff`, version 1.1, no engines (manifests.md §16, Confirmed).
    #[must_use]
    pub fn overridden() -> Self {
        Self { major: Some(1), minor: 1, tpb_per_node: [0; 64], ..Self::default() }
    }

    /// The `neff_version_major` in force.
    #[must_use]
    pub const fn major(&self) -> u64 {
        match self.major {
            Some(major) => major,
            None if self.feature_bits != 0 => 2,
            None => 1,
        }
    }

    /// Takes `name`, `num_tpb`, `num_tpb_requested` and `num_tpb_per_node` from a compiler's `info.json`.
    /// Other keys do not concern the header.
    ///
    /// # Errors
    /// [`PackError::BadInfo`]; the fields before the unusable one are taken.
    pub fn apply_info(&mut self, json: &[u8]) -> Result<(), PackError> {
        let no_object = |_| PackError::BadInfo("info.json is not a JSON object");
        let info = chain::parse(b"info.json", json).map_err(no_object)?;
        if let Some(name) = info.get("name") {
            let text = name.text().map_err(|_| PackError::BadInfo("info.json: name is not a string"))?;
            self.name = text.bytes().collect();
        }
        if let Some(count) = info.get("num_tpb") {
            self.num_tpb = number(count, "info.json: num_tpb is not a number of 32 bits")?;
        }
        if let Some(count) = info.get("num_tpb_requested") {
            self.requested_tpb_count =
                number(count, "info.json: num_tpb_requested is not a number of 32 bits")?;
        }
        if let Some(list) = info.get("num_tpb_per_node") {
            self.tpb_per_node = node_list(list)?;
        }
        self.check()
    }

    /// The header of a file for logical cores of that many physical ones: `lnc_size`, and for more than one the
    /// feature bit that makes it count (container.md §5.2, bit 10).
    pub fn set_logical_core(&mut self, cores: usize) {
        self.lnc_size = u32::try_from(cores).unwrap_or(u32::MAX);
        if cores > 1 {
            self.feature_bits |= Features::VNC.bits();
        }
    }

    /// Refuses texts that are longer than their fields.
    pub(super) fn check(&self) -> Result<(), PackError> {
        if self.name.len() > NAME_LIMIT {
            return Err(PackError::TooLong { field: "name", limit: NAME_LIMIT });
        }
        if self.build.len() > BUILD_LIMIT {
            return Err(PackError::TooLong { field: "neff_build_version", limit: BUILD_LIMIT });
        }
        Ok(())
    }

    /// The identity: the given one, or the first 16 bytes of a SHA-256 over name and digest in
    /// version-4 shape.
    pub(super) fn uuid_for(&self, digest: &[u8]) -> [u8; 16] {
        self.uuid.unwrap_or_else(|| {
            let mut hasher = Sha256::new();
            for part in [b"neffload pack\0", &self.name[..], b"\0", digest] {
                hasher.update(part);
            }
            let mut uuid = [0; 16];
            uuid.copy_from_slice(&hasher.finalize()[..16]);
            uuid[6] = uuid[6] & 0x0F | 0x40;
            uuid[8] = uuid[8] & 0x3F | 0x80;
            uuid
        })
    }

    pub(super) fn emit(&self, options: &Options, data_size: u64, digest: &[u8], uuid: [u8; 16]) -> Vec<u8> {
        let mut header = vec![0; HEADER_SIZE as usize];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0x000, &options.package.number().to_le_bytes());
        put(0x008, &HEADER_SIZE.to_le_bytes());
        put(0x010, &data_size.to_le_bytes());
        put(0x018, &self.major().to_le_bytes());
        put(0x020, &self.minor.to_le_bytes());
        put(0x028, &self.build);
        put(0x0A8, &self.num_tpb.to_le_bytes());
        put(0x0AC, &stored(digest, options));
        put(0x0CC, &uuid);
        put(0x0DC, &self.name);
        put(0x1DC, &self.requested_tpb_count.to_le_bytes());
        put(0x1E0, &self.tpb_per_node);
        put(0x220, &self.feature_bits.to_le_bytes());
        put(0x228, &self.lnc_size.to_le_bytes());
        header
    }
}

fn number(value: Element<'_>, problem: &'static str) -> Result<u32, PackError> {
    value.u32().map_err(|_| PackError::BadInfo(problem))
}

fn node_list(list: Element<'_>) -> Result<[u8; 64], PackError> {
    let problem = PackError::BadInfo("info.json: num_tpb_per_node is not a list of at most 64 bytes");
    let Ok(values) = list.items() else { return Err(problem) };
    let (mut nodes, mut slots) = ([0; 64], 0);
    for value in values {
        let count = value.u64().ok().and_then(|count| u8::try_from(count).ok());
        match (nodes.get_mut(slots), count) {
            (Some(slot), Some(count)) => *slot = count,
            _ => return Err(problem),
        }
        slots += 1;
    }
    Ok(nodes)
}
