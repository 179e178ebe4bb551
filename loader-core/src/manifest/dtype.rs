//! Element types: two code spaces that must never be mixed (manifests.md §14).

/// A string, its code, its size in bytes.
type Row = (&'static str, u8, u8);

/// Public codes of the graph manifest (manifests.md §14.1, Confirmed).
const PUBLIC: [Row; 11] = [
    ("uint64", 1, 8),
    ("int8", 2, 1),
    ("uint8", 3, 1),
    ("int16", 4, 2),
    ("uint16", 5, 2),
    ("bfloat16", 6, 2),
    ("float16", 7, 2),
    ("int32", 8, 4),
    ("uint32", 9, 4),
    ("float32", 10, 4),
    ("int64", 12, 8),
];

/// Descriptor codes of `def.json` and engine files (manifests.md §14.2, Confirmed: exactly 19 strings).
const DESCRIPTOR: [Row; 19] = [
    ("float8e3", 1, 1),
    ("float8e4", 2, 1),
    ("float8e5", 3, 1),
    ("float16", 4, 2),
    ("float32", 5, 4),
    ("float32r", 6, 4),
    ("bfloat16", 7, 2),
    ("uint8", 8, 1),
    ("uint16", 9, 2),
    ("uint32", 10, 4),
    ("uint64", 11, 8),
    ("int8", 12, 1),
    ("int16", 13, 2),
    ("int32", 14, 4),
    ("int64", 15, 8),
    ("float8_e4m3fn", 2, 1),
    ("float8_e4m3fn_x4", 10, 4),
    ("float8_e5m2_x4", 10, 4),
    ("float4_e2m1fn_x4", 9, 2),
];

/// Descriptor code to public (SDMA) code.
const TO_PUBLIC: [u8; 16] = [0, 13, 14, 15, 7, 10, 11, 6, 3, 5, 9, 1, 2, 4, 8, 12];

/// Code that an unknown string of the graph manifest gets; its elements count one byte.
pub const UNKNOWN: u8 = 0;

/// Descriptor code of `uint8`, the default of an access pattern without a dtype.
pub const DESCRIPTOR_UINT8: u8 = 8;

fn find(table: &[Row], name: &[u8]) -> Option<(u8, u8)> {
    table.iter().find(|row| row.0.as_bytes() == name).map(|row| (row.1, row.2))
}

/// Public code and element bytes of a graph-manifest string; unknown ones are `(0, 1)` (W101).
#[must_use]
pub fn public(name: &[u8]) -> Option<(u8, u8)> {
    find(&PUBLIC, name)
}

/// The string of a public code; empty for codes that no string names.
#[must_use]
pub fn public_name(code: u8) -> &'static str {
    PUBLIC.iter().find(|row| row.1 == code).map_or("", |row| row.0)
}

/// Bytes of an element with that public code, those included that only descriptors use.
#[must_use]
pub fn public_bytes(code: u8) -> Option<u8> {
    let same = |row: &&Row| descriptor_to_public(row.1) == Some(code);
    DESCRIPTOR.iter().find(same).map(|row| row.2)
}

/// Descriptor code and element bytes of a `*_dtype` string; `None` is E377.
#[must_use]
pub fn descriptor(name: &[u8]) -> Option<(u8, u8)> {
    find(&DESCRIPTOR, name)
}

/// Bytes of an element with that descriptor code.
#[must_use]
pub fn descriptor_bytes(code: u8) -> Option<u8> {
    DESCRIPTOR.iter().find(|row| row.1 == code).map(|row| row.2)
}

/// The SDMA (public) code of a descriptor code.
#[must_use]
pub fn descriptor_to_public(code: u8) -> Option<u8> {
    TO_PUBLIC.get(usize::from(code)).copied().filter(|&public| public != 0)
}

#[cfg(test)]
mod tests;
