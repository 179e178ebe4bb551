//! CRC-32 as gzip uses it: by the processor's carry-less products where the feature `fast-crc` is on and it has them,
//! else by tables, sixteen bytes a step.

#[cfg(feature = "fast-crc")]
pub(super) use fast::Crc32;
#[cfg(not(feature = "fast-crc"))]
pub(super) use tables::Crc32;

#[cfg(feature = "fast-crc")]
mod fast {
    use crc32fast::Hasher;

    /// A running CRC-32.
    #[derive(Clone, Debug)]
    pub(in super::super) struct Crc32(u32);

    impl Crc32 {
        pub(in super::super) const fn new() -> Self {
            Self(0)
        }

        pub(in super::super) const fn value(&self) -> u32 {
            self.0
        }

        pub(in super::super) fn update(&mut self, bytes: &[u8]) {
            let mut hasher = Hasher::new_with_initial(self.0);
            hasher.update(bytes);
            self.0 = hasher.finalize();
        }
    }
}

#[cfg(any(not(feature = "fast-crc"), test))]
mod tables;

#[cfg(test)]
mod tests {
    use super::tables;

    #[test]
    fn known_values() {
        for (text, want) in [
            (&b""[..], 0),
            (b"123456789", 0xCBF4_3926),
            (b"The quick brown fox jumps over the lazy dog", 0x414F_A339),
        ] {
            let (mut crc, mut table) = (super::Crc32::new(), tables::Crc32::new());
            crc.update(text);
            table.update(text);
            assert_eq!((crc.value(), table.value()), (want, want));
        }
    }

    /// Both ways to it, whatever the pieces.
    #[test]
    fn pieces_make_no_difference() {
        let mut text = [0u8; 5000];
        for (byte, number) in text.iter_mut().zip(1u32..) {
            *byte = number.wrapping_mul(0x9E37_79B9).to_le_bytes()[3];
        }
        for size in [1, 3, 15, 16, 17, 63, 64, 65, 200, 1024, 5000] {
            let (mut crc, mut table, mut whole) =
                (super::Crc32::new(), tables::Crc32::new(), tables::Crc32::new());
            whole.update(&text);
            for piece in text.chunks(size) {
                crc.update(piece);
                table.update(piece);
            }
            assert_eq!((crc.value(), table.value()), (whole.value(), whole.value()), "pieces of {size}");
        }
    }
}
