//! A string field of the header: NUL-terminated inside its field, printed losslessly.

use core::fmt;

/// The bytes of a fixed field; its text ends at the first NUL or with the field (container.md §3).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<const N: usize> {
    field: [u8; N],
}

impl<const N: usize> Text<N> {
    /// No text.
    pub const EMPTY: Self = Self { field: [0; N] };

    /// The first `N - 1` bytes of `text`, so that a NUL always fits.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let mut field = [0; N];
        for (slot, &byte) in field.iter_mut().take(N.saturating_sub(1)).zip(text) {
            *slot = byte;
        }
        Self { field }
    }

    /// A field as it stands in a file.
    #[must_use]
    pub const fn from_field(field: [u8; N]) -> Self {
        Self { field }
    }

    /// The whole field, what follows the NUL included.
    #[must_use]
    pub const fn field(&self) -> [u8; N] {
        self.field
    }

    /// The text's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        cut_at_nul(&self.field)
    }
}

/// The bytes before the first NUL, or all of them.
#[must_use]
pub(super) fn cut_at_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Lossless(self.as_bytes()), f)
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// Prints bytes as UTF-8, every byte that is none as `\xNN`.
#[derive(Clone, Copy, Debug)]
pub struct Lossless<'a>(pub &'a [u8]);

impl fmt::Display for Lossless<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            f.write_str(chunk.valid())?;
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}
