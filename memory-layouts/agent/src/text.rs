//! Text and numbers, piece by piece: an image without the core library's formatting is 5 KB smaller.

/// Writes text to whoever takes the pieces.
pub struct Text<'o>(&'o mut dyn FnMut(&[u8]));

impl core::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Text")
    }
}

/// Most digits of a number: of 2^64 - 1 in tens.
const MOST_DIGITS: usize = 20;

impl<'o> Text<'o> {
    /// Text for `out`.
    pub fn new(out: &'o mut dyn FnMut(&[u8])) -> Self {
        Self(out)
    }

    /// Text as it is.
    #[inline(never)]
    pub fn text(&mut self, text: &str) -> &mut Self {
        (self.0)(text.as_bytes());
        self
    }

    /// A number in tens.
    pub fn number(&mut self, number: impl Into<u64>) -> &mut Self {
        self.tens(number.into())
    }

    /// A number of bytes or things.
    pub fn count(&mut self, count: usize) -> &mut Self {
        self.tens(u64::try_from(count).unwrap_or(u64::MAX))
    }

    /// A text and the number that it is of, if there is one.
    #[inline(never)]
    pub fn given(&mut self, text: &str, number: Option<u64>) -> &mut Self {
        match number {
            Some(number) => self.text(text).tens(number),
            None => self,
        }
    }

    #[inline(never)]
    fn tens(&mut self, number: u64) -> &mut Self {
        self.digits(number, 10, 1)
    }

    /// A number to that base of at most 16, with zeros before it up to `least` digits.
    #[inline(never)]
    pub fn digits(&mut self, number: u64, base: u64, least: usize) -> &mut Self {
        let mut digits = [0; MOST_DIGITS];
        let mut rest = number;
        let mut count = 0usize;
        for slot in digits.iter_mut().rev() {
            if rest == 0 && count >= least {
                break;
            }
            let digit = rest.checked_rem(base).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0);
            *slot = b"0123456789abcdef".get(digit).copied().unwrap_or(b'?');
            rest = rest.checked_div(base).unwrap_or(0);
            count = count.saturating_add(1);
        }
        (self.0)(digits.get(MOST_DIGITS.saturating_sub(count)..).unwrap_or(&[]));
        self
    }

    /// Bytes of a file, as [`slice::escape_ascii`] writes them.
    pub fn escaped(&mut self, bytes: &[u8]) -> &mut Self {
        self.shown(bytes, b"'\"\\")
    }

    /// A name within an error: the same with quotes and backslashes as they are.
    pub fn name(&mut self, bytes: &[u8]) -> &mut Self {
        self.shown(bytes, b"")
    }

    #[inline(never)]
    fn shown(&mut self, bytes: &[u8], marked: &[u8]) -> &mut Self {
        for &byte in bytes {
            let short = match byte {
                b'\t' => b't',
                b'\r' => b'r',
                b'\n' => b'n',
                b' '..=b'~' if !marked.contains(&byte) => {
                    (self.0)(&[byte]);
                    continue;
                }
                b' '..=b'~' => byte,
                _ => {
                    self.text("\\x").digits(u64::from(byte), 16, 2);
                    continue;
                }
            };
            (self.0)(&[b'\\', short]);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::Text;
    use std::format;
    use std::vec::Vec;

    fn of(write: impl FnOnce(&mut Text<'_>)) -> std::string::String {
        let mut all = Vec::new();
        write(&mut Text::new(&mut |piece: &[u8]| all.extend_from_slice(piece)));
        std::string::String::from_utf8_lossy(&all).into_owned()
    }

    #[test]
    fn writes_what_the_core_library_would() {
        for number in [0, 7, 10, 1234, u64::MAX] {
            assert_eq!(
                of(|text| {
                    text.number(number);
                }),
                format!("{number}")
            );
            assert_eq!(
                of(|text| {
                    text.digits(number, 16, 16);
                }),
                format!("{number:016x}")
            );
        }
        assert_eq!(
            of(|text| {
                text.count(12).text(" of ").number(5u8);
            }),
            "12 of 5"
        );
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(
            of(|text| {
                text.escaped(&all);
            }),
            format!("{}", all.escape_ascii())
        );
        let name = of(|text| {
            text.name(b"'a\\\n\x01\xc3");
        });
        assert_eq!(name, r"'a\\n\x01\xc3");
    }
}
