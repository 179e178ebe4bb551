//! CRC-32 by tables, sixteen bytes a step; where code must be small, by one of sixteen words, half a byte a step.

use crate::layout::SMALL;

/// Bytes of a step.
const SLICES: usize = 16;

static TABLES: [[u32; 256]; SLICES] = tables();
/// What four bits shift in.
static NIBBLES: [u32; 16] = nibbles();

/// The polynomial, from the lowest bit on.
const POLYNOMIAL: u32 = 0xEDB8_8320;

#[allow(clippy::arithmetic_side_effects, reason = "evaluated at compile time")]
const fn shifted(mut crc: u32, bits: u32) -> u32 {
    let mut bit = 0;
    while bit < bits {
        crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
        bit += 1;
    }
    crc
}

#[allow(
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated at compile time, where a wrong index is a compile error"
)]
const fn tables() -> [[u32; 256]; SLICES] {
    let mut tables = [[0u32; 256]; SLICES];
    let mut byte = 0;
    while byte < 256 {
        tables[0][byte] = shifted(byte as u32, 8);
        byte += 1;
    }
    let mut slice = 1;
    while slice < SLICES {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[slice - 1][byte];
            tables[slice][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        slice += 1;
    }
    tables
}

#[allow(
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated at compile time, where a wrong index is a compile error"
)]
const fn nibbles() -> [u32; 16] {
    let mut nibbles = [0; 16];
    let mut value = 0;
    while value < 16 {
        nibbles[value] = shifted(value as u32, 4);
        value += 1;
    }
    nibbles
}

/// One byte, as two halves.
fn halves(crc: u32, byte: u8) -> u32 {
    let half = |crc: u32| {
        let low = usize::try_from(crc & 0xF).unwrap_or(0);
        (crc >> 4) ^ NIBBLES.get(low).copied().unwrap_or(0)
    };
    half(half(crc ^ u32::from(byte)))
}

fn look(slice: usize, byte: u8) -> u32 {
    TABLES.get(slice).and_then(|table| table.get(usize::from(byte))).copied().unwrap_or(0)
}

/// A running CRC-32.
#[derive(Clone, Debug)]
pub(in super::super) struct Crc32(u32);

impl Crc32 {
    pub(in super::super) const fn new() -> Self {
        Self(!0)
    }

    pub(in super::super) const fn value(&self) -> u32 {
        !self.0
    }

    pub(in super::super) fn update(&mut self, bytes: &[u8]) {
        let mut crc = self.0;
        if SMALL {
            self.0 = bytes.iter().fold(crc, |crc, &byte| halves(crc, byte));
            return;
        }
        let (blocks, rest) = bytes.as_chunks::<SLICES>();
        for block in blocks {
            crc = step(crc, block);
        }
        for &byte in rest {
            let [low, ..] = (crc ^ u32::from(byte)).to_le_bytes();
            crc = (crc >> 8) ^ look(0, low);
        }
        self.0 = crc;
    }
}

/// Sixteen bytes at once: each byte's table already holds the shift by the bytes after it.
fn step(crc: u32, block: &[u8; SLICES]) -> u32 {
    let [b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15] = *block;
    let [c0, c1, c2, c3] = crc.to_le_bytes();
    look(15, b0 ^ c0)
        ^ look(14, b1 ^ c1)
        ^ look(13, b2 ^ c2)
        ^ look(12, b3 ^ c3)
        ^ look(11, b4)
        ^ look(10, b5)
        ^ look(9, b6)
        ^ look(8, b7)
        ^ look(7, b8)
        ^ look(6, b9)
        ^ look(5, b10)
        ^ look(4, b11)
        ^ look(3, b12)
        ^ look(2, b13)
        ^ look(1, b14)
        ^ look(0, b15)
}

#[cfg(test)]
mod tests {
    use super::{halves, look};

    #[test]
    fn half_bytes_shift_in_what_bytes_do() {
        for byte in 0..=u8::MAX {
            assert_eq!(halves(0, byte), look(0, byte), "{byte}");
        }
    }
}
