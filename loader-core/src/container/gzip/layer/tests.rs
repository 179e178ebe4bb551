#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
extern crate std;
use super::{Damage, Layer};
use std::vec::Vec;

/// Everything that comes out of `data` after its first header, cut into pieces of `chunk` bytes.
fn decode(data: &[u8], chunk: usize) -> (Vec<u8>, Result<(), Damage>) {
    let mut layer = Layer::new();
    layer.begin(u64::MAX);
    let mut out = Vec::new();
    for mut piece in data.chunks(chunk) {
        while !piece.is_empty() || layer.waiting() {
            let used = layer.feed(piece);
            out.extend_from_slice(layer.pending());
            layer.taken(usize::MAX);
            if let Some(damage) = layer.fault() {
                return (out, Err(damage));
            }
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
    // Under Miri a byte at a time takes minutes.
    let small = [1, 2, 3, 7, 8, 9, 31].into_iter().filter(|_| !cfg!(miri));
    for chunk in small.chain([512, 32768]) {
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

/// What a layer needed for its first window and the byte behind it, fed as an archive feeds it.
fn needed(data: &[u8], chunk: usize) -> u64 {
    let mut layer = Layer::new();
    layer.begin(u64::MAX);
    for mut piece in data.chunks(chunk) {
        while (!piece.is_empty() || layer.waiting()) && layer.out() <= 65536 {
            let step = if layer.waiting() { 0 } else { layer.step().min(piece.len()) };
            let used = layer.feed(&piece[..step]);
            layer.taken(usize::MAX);
            piece = &piece[used..];
        }
    }
    layer.needed()
}

/// One block of fixed codes: a literal, then `count` matches of 258 bytes at distance 1; and a trailer.
fn matches(count: usize) -> Vec<u8> {
    let (block, literal, longest, distance, end) = ("110", "00110000", "11000101", "00000", "0000000");
    let mut bits = std::format!("{block}{literal}");
    for _ in 0..count {
        bits += longest;
        bits += distance;
    }
    bits += end;
    let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | (bit & 1));
    let mut data: Vec<u8> = bits.as_bytes().chunks(8).map(byte).collect();
    data.extend_from_slice(&[0; 8]);
    data
}

#[test]
fn what_a_window_needs_does_not_depend_on_the_cut() {
    // The 255th match passes byte 65,536; its last bit is bit 3 + 8 + 255 * 13 of the data.
    let dense = (matches(300), (3 + 8 + 255 * 13u64).div_ceil(8));
    let mut stored = [stored(&[1; 65_535]), stored(&[2; 65_535])].concat();
    stored[0] = 0;
    stored.drain(65_540..65_548);
    let plain = (stored, 5 + 65_535 + 5 + 2);
    for (data, expected) in [dense, plain] {
        let small = [1, 2, 3, 5, 7, 11, 64].into_iter().filter(|_| !cfg!(miri));
        for chunk in small.chain([1000, 32768, data.len()]) {
            assert_eq!(needed(&data, chunk), expected, "pieces of {chunk}");
        }
    }
}

#[test]
fn the_limit_is_kept_to_the_byte() {
    let data = stored(&[9; 5000]);
    let run = |limit, chunk| {
        let mut layer = Layer::new();
        layer.begin(limit);
        let mut count = 0;
        for mut piece in data.chunks(chunk) {
            while !piece.is_empty() && layer.fault().is_none() {
                piece = &piece[layer.feed(piece)..];
                count += layer.pending().len();
                layer.taken(usize::MAX);
            }
        }
        (count, layer.fault())
    };
    for chunk in [1, 7, 4999, 6000] {
        assert_eq!(run(4999, chunk), (4999, Some(Damage::Limit)));
        assert_eq!(run(5000, chunk), (5000, None));
        assert_eq!(run(0, chunk), (0, Some(Damage::Limit)));
    }
}

/// Small steps are for the places between windows alone: what a layer costs grows with its bytes.
#[test]
#[cfg_attr(miri, ignore = "a million bytes take Miri minutes")]
fn steps_are_few() {
    let mut layer = Layer::new();
    layer.begin(u64::MAX);
    let data: Vec<u8> = (0..20)
        .flat_map(|_| {
            let mut block = stored(&[1; 50_000]);
            block.truncate(block.len() - 8);
            block[0] = 0;
            block
        })
        .collect();
    let (mut piece, mut steps) = (&data[..], 0);
    while !piece.is_empty() || layer.waiting() {
        let used = layer.feed(&piece[..layer.step().min(piece.len())]);
        layer.taken(usize::MAX);
        piece = &piece[used..];
        steps += 1;
    }
    assert_eq!(layer.out(), 1_000_000);
    // A million bytes fill 31 rings, and a step or two more lie between two of 16 windows.
    assert!(steps < 100, "{steps} steps");
}
