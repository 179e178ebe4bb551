//! One gzip member without name, time or host: header, raw deflate, trailer (container.md §15).

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress, create_comp_flags_from_zip_params,
};
use std::io::{self, Write};

/// Most bytes of a stored deflate block.
const STORED_MOST: usize = 65535;

enum Deflater {
    /// Bytes of the block that is not full yet.
    Stored(Vec<u8>),
    Packed(Box<CompressorOxide>),
}

pub(super) struct GzipWriter<W: Write> {
    out: W,
    deflater: Deflater,
    crc: u32,
    /// Inflated length modulo 2³².
    length: u32,
}

impl<W: Write> GzipWriter<W> {
    pub(super) fn new(mut out: W, level: u8) -> io::Result<Self> {
        let extra_flags = match level {
            1 => 4,
            9.. => 2,
            _ => 0,
        };
        out.write_all(&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, extra_flags, 3])?;
        let deflater = match level {
            0 => Deflater::Stored(Vec::with_capacity(STORED_MOST)),
            _ => {
                let flags = create_comp_flags_from_zip_params(i32::from(level.min(10)), -15, 0);
                Deflater::Packed(Box::new(CompressorOxide::new(flags)))
            }
        };
        Ok(Self { out, deflater, crc: !0, length: 0 })
    }

    /// Ends the deflate stream and writes the trailer.
    pub(super) fn finish(mut self) -> io::Result<W> {
        match &mut self.deflater {
            Deflater::Stored(block) => write_stored(&mut self.out, block, true)?,
            Deflater::Packed(state) => deflate(&mut self.out, state, &[], TDEFLFlush::Finish)?,
        }
        self.out.write_all(&(!self.crc).to_le_bytes())?;
        self.out.write_all(&self.length.to_le_bytes())?;
        Ok(self.out)
    }
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.crc = crc32(self.crc, bytes);
        self.length = self.length.wrapping_add(bytes.len() as u32);
        match &mut self.deflater {
            Deflater::Stored(block) => store(&mut self.out, block, bytes)?,
            Deflater::Packed(state) => deflate(&mut self.out, state, bytes, TDEFLFlush::None)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Takes bytes into the open block and writes each full one that more bytes follow.
fn store(out: &mut impl Write, block: &mut Vec<u8>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        if block.len() == STORED_MOST {
            write_stored(out, block, false)?;
            block.clear();
        }
        let (now, later) = bytes.split_at(bytes.len().min(STORED_MOST - block.len()));
        block.extend_from_slice(now);
        bytes = later;
    }
    Ok(())
}

fn write_stored(out: &mut impl Write, block: &[u8], last: bool) -> io::Result<()> {
    let length = block.len() as u16;
    out.write_all(&[u8::from(last)])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&(!length).to_le_bytes())?;
    out.write_all(block)
}

fn deflate(
    out: &mut impl Write,
    state: &mut CompressorOxide,
    mut bytes: &[u8],
    flush: TDEFLFlush,
) -> io::Result<()> {
    let mut buffer = [0; 32768];
    loop {
        let (status, taken, made) = compress(state, bytes, &mut buffer, flush);
        out.write_all(&buffer[..made])?;
        bytes = &bytes[taken..];
        match status {
            TDEFLStatus::Done => return Ok(()),
            TDEFLStatus::Okay if flush == TDEFLFlush::None && bytes.is_empty() && made < buffer.len() => {
                return Ok(());
            }
            TDEFLStatus::Okay => {}
            TDEFLStatus::BadParam | TDEFLStatus::PutBufFailed => {
                return Err(io::Error::other("the deflate encoder refused its own state"));
            }
        }
    }
}

/// CRC-32 of gzip, continued from `crc` (kept inverted between calls).
fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(crc, |crc, &byte| TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { 0xEDB8_8320 ^ (value >> 1) } else { value >> 1 };
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::{GzipWriter, crc32};
    use std::io::Write;

    fn gzip(bytes: &[u8], level: u8, chunk: usize) -> Vec<u8> {
        let mut writer = GzipWriter::new(Vec::new(), level).unwrap();
        for piece in bytes.chunks(chunk) {
            writer.write_all(piece).unwrap();
        }
        writer.finish().unwrap()
    }

    fn sample(len: usize) -> Vec<u8> {
        (0..len as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8 & 0x3F).collect()
    }

    #[test]
    fn crc_of_the_check_string() {
        assert_eq!(!crc32(!0, b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn every_level_inflates_to_the_same_bytes() {
        let bytes = sample(200_000);
        for level in 0..=10 {
            let file = gzip(&bytes, level, 7777);
            let body = &file[10..file.len() - 8];
            assert_eq!(miniz_oxide::inflate::decompress_to_vec(body).unwrap(), bytes, "level {level}");
            assert_eq!(file[file.len() - 4..], 200_000u32.to_le_bytes());
        }
    }

    #[test]
    fn stored_blocks_do_not_depend_on_the_chunks() {
        let bytes = sample(3 * 65535);
        assert_eq!(gzip(&bytes, 0, 1), gzip(&bytes, 0, usize::MAX));
        assert_eq!(gzip(&bytes, 0, 4096).len(), 18 + 3 * (65535 + 5));
        assert_eq!(gzip(&[], 0, 1).len(), 18 + 5);
    }
}
