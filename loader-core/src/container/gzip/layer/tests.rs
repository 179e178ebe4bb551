#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
extern crate std;
use super::{Damage, Layer};
use std::vec::Vec;

/// Everything that comes out of `data` after its first header, cut into pieces of `chunk` bytes.
fn decode(data: &[u8], chunk: usize) -> (Vec<u8>, Result<(), Damage>) {
    let mut layer = Layer::new();
    layer.begin();
    let mut out = Vec::new();
    for mut piece in data.chunks(chunk) {
        while !piece.is_empty() || layer.has_more() {
            let used = match layer.feed(piece) {
                Ok(used) => used,
                Err(damage) => {
                    out.extend_from_slice(layer.pending());
                    return (out, Err(damage));
                }
            };
            out.extend_from_slice(layer.pending());
            layer.taken(usize::MAX);
            piece = &piece[used..];
        }
    }
    let end = layer.finish();
    (out, end)
}

/// One stored block with its trailer.
fn stored(text: &[u8]) -> Vec<u8> {
    let len = u16::try_from(text.len()).unwrap();
    let mut data = std::vec![1];
    data.extend_from_slice(&len.to_le_bytes());
    data.extend_from_slice(&(!len).to_le_bytes());
    data.extend_from_slice(text);
    data.extend_from_slice(&[0; 8]);
    data
}

#[test]
fn output_and_trailer_do_not_depend_on_the_cut() {
    let mut data = stored(b"0123456789");
    data.extend_from_slice(b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    data.extend_from_slice(&stored(&[7; 40000]));
    data.extend_from_slice(&[0; 77]);
    let whole = decode(&data, data.len());
    assert_eq!(whole.0.len(), 40010);
    assert_eq!(whole.1, Ok(()));
    for chunk in [1, 2, 3, 7, 8, 9, 31, 512, 32768] {
        assert_eq!(decode(&data, chunk), whole, "pieces of {chunk}");
    }
}

#[test]
fn a_distance_behind_the_start_is_damage() {
    // Fixed codes: one literal, then a match of length 3 at distance 2.
    let (out, end) = decode(&[0x4B, 0x04, 0x42, 0x00, 0, 0, 0, 0, 0, 0, 0, 0], 100);
    assert_eq!((out.len(), end), (1, Err(Damage::Deflate)));
}

#[test]
fn a_cut_stream_gives_all_it_has() {
    let data = stored(&[3; 33000]);
    for cut in [1, 5, 6, 32772, 32773, 32774, data.len() - 9] {
        let (out, end) = decode(&data[..cut], 20000);
        assert_eq!(out.len(), cut.saturating_sub(5));
        assert_eq!(end, Err(Damage::Truncated));
    }
    assert_eq!(decode(&data[..data.len() - 1], 20000).1, Err(Damage::Trailer));
}
