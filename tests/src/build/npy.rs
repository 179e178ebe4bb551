//! `.npy` members as compilers write them: version 1.0, payload at byte 128 (real-files.md §4).

/// Bytes before the payload.
pub const PAYLOAD_AT: usize = 128;

/// A constant. `descr` is NumPy's: `<f4`, `<V2` (bfloat16), `|i1`, …
#[must_use]
pub fn npy(descr: &str, shape: &[u64], payload: &[u8]) -> Vec<u8> {
    let dims: Vec<String> = shape.iter().map(u64::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    let dims = dims.join(", ");
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dims}{comma}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(PAYLOAD_AT - 1, b' ');
    bytes.push(b'\n');
    bytes.extend_from_slice(payload);
    bytes
}
