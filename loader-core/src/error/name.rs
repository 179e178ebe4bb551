//! A short name inside an error: `Copy`, no heap, cut where it does not fit.

use core::fmt;

/// Up to `N` bytes of a name from a file, kept losslessly up to the cut.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Name<const N: usize> {
    pub(super) bytes: [u8; N],
    pub(super) len: u8,
    pub(super) cut: bool,
}

impl<const N: usize> Name<N> {
    /// No name.
    pub const EMPTY: Self = Self { bytes: [0; N], len: 0, cut: false };

    /// Keeps the first `N` bytes of `name`.
    #[must_use]
    pub fn new(name: &[u8]) -> Self {
        let mut kept = Self::EMPTY;
        crate::bytes::copy(&mut kept.bytes, name);
        kept.len = u8::try_from(name.len().min(N)).unwrap_or(u8::MAX);
        kept.cut = name.len() > N;
        kept
    }

    /// The kept bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&[])
    }

    /// True if there is no name.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if the name was longer.
    #[must_use]
    pub const fn is_cut(&self) -> bool {
        self.cut
    }
}

/// Keeps the first `N` bytes.
impl<const N: usize> FromIterator<u8> for Name<N> {
    fn from_iter<T: IntoIterator<Item = u8>>(name: T) -> Self {
        let (mut kept, mut name) = (Self::EMPTY, name.into_iter());
        for (slot, byte) in kept.bytes.iter_mut().zip(name.by_ref()) {
            *slot = byte;
            kept.len = kept.len.saturating_add(1);
        }
        kept.cut = name.next().is_some();
        kept
    }
}

impl<const N: usize> fmt::Display for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.as_bytes(), self.cut, f)
    }
}

fn show(bytes: &[u8], cut: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                write!(f, "{}", character.escape_default())?;
            } else {
                fmt::Write::write_char(f, character)?;
            }
        }
        write!(f, "{}", chunk.invalid().escape_ascii())?;
    }
    f.write_str(if cut { "…" } else { "" })
}

impl<const N: usize> fmt::Debug for Name<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::Name;
    use std::string::ToString;

    #[test]
    fn keeps_short_names_and_marks_cut_ones() {
        assert_eq!(Name::<8>::new(b"SB").to_string(), "SB");
        assert_eq!(Name::<4>::new(b"abcdef").to_string(), "abcd…");
        assert_eq!(Name::<8>::new(b"a\xff\n").to_string(), "a\\xff\\n");
    }
}
