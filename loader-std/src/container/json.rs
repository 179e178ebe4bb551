//! The container's part of `inspect --json`, with the keys, types and values that scripts depend on.

use super::survey::{PAYLOAD, Row, Survey};
use loader_core::container::guard::LncMismatch;
use loader_core::container::{Header, Lossless, Uuid};
use loader_core::error::{ContainerCode, Error};
use serde_json::{Value, json};
use std::fmt::Write;

/// Lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Bytes as text; every byte that is no UTF-8 as `\xNN`.
#[must_use]
pub fn text(bytes: &[u8]) -> String {
    Lossless(bytes).to_string()
}

/// `file`: sizes, and where the payload lies once the header passed its gates.
#[must_use]
pub fn file_json(survey: &Survey) -> Value {
    let mut file = json!({ "size": survey.size });
    if let Some(sha256) = &survey.sha256 {
        file["sha256"] = hex(sha256).into();
    }
    if let (Some(header), true) = (&survey.header, survey.gates_passed()) {
        file["payload_offset"] = PAYLOAD.into();
        file["payload_size"] = header.data_size.into();
        file["trailing_bytes"] = survey.size.saturating_sub(header.payload_end()).into();
    }
    file
}

/// `header`: every field by its name.
#[must_use]
pub fn header_json(header: &Header) -> Value {
    json!({
        "pkg_version": header.pkg_version,
        "header_size": header.header_size,
        "data_size": header.data_size,
        "neff_version_major": header.neff_version_major,
        "neff_version_minor": header.neff_version_minor,
        "neff_build_version": header.neff_build_version.to_string(),
        "num_tpb": header.num_tpb,
        "hash": hex(&header.hash),
        "uuid": Uuid(&header.uuid).to_string(),
        "name": header.name.to_string(),
        "requested_tpb_count": header.requested_tpb_count,
        "tpb_per_node": hex(&header.tpb_per_node),
        "feature_bits": format!("{:#x}", header.feature_bits.bits()),
        "lnc_size": header.lnc_size,
        "pad_is_zero": header.pad_is_zero,
    })
}

/// `features`: the set bits.
#[must_use]
pub fn features_json(header: &Header) -> Value {
    let bit = |feature: loader_core::container::features::Feature| json!({ "bit": feature.bit, "mask": format!("{:#x}", feature.mask), "name": feature.name });
    header.feature_bits.list().map(bit).collect()
}

/// `digest`: computed and stored; `computed`, `match` and `order` are null if it was not computed.
#[must_use]
pub fn digest_json(survey: &Survey) -> Option<Value> {
    let digest = survey.digest.as_ref()?;
    Some(json!({
        "algorithm": digest.algorithm.name(),
        "computed": digest.computed_bytes().map(hex),
        "stored": hex(digest.stored_bytes()),
        "match": digest.computed.map(|_| digest.matches()),
        "order": digest.order.map(|order| order.name()),
        "unused_tail": hex(digest.unused_tail()),
    }))
}

/// `table`: the members in byte order of their names.
#[must_use]
pub fn table_json(survey: &Survey) -> Value {
    survey.table.iter().map(|(name, row)| member_json(name, row)).collect()
}

/// A row of `table`.
#[must_use]
pub fn member_json(name: &[u8], row: &Row) -> Value {
    let mut member = json!({ "name": text(name), "size": row.size });
    if let Some(sha256) = &row.sha256 {
        member["sha256"] = hex(sha256).into();
    }
    member
}

/// The runtime's log text of a refusal, with the model name in full where the text has one.
#[must_use]
pub fn log(error: &Error, header: Option<&Header>) -> String {
    match header {
        Some(header) if error.code() == ContainerCode::LncMismatch.into() => {
            LncMismatch { name: header.name.as_bytes(), host: error.at().a, file: error.at().b }.to_string()
        }
        _ => error.log().to_string(),
    }
}
