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
    #[cfg_attr(small, inline(never))]
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

/// Shows text as it is, but for control characters, and bytes that are no text as numbers.
fn show(bytes: &[u8], cut: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut rest = bytes;
    while !rest.is_empty() {
        let valid = core::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
        let (text, after) = crate::bytes::split(rest, valid);
        for character in core::str::from_utf8(text).unwrap_or("").chars() {
            match character {
                '\t' => f.write_str("\\t")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                control if control.is_control() => write!(f, "\\u{{{:x}}}", u32::from(control))?,
                plain => fmt::Write::write_char(f, plain)?,
            }
        }
        let Some((byte, after)) = after.split_first() else { break };
        write!(f, "\\x{byte:02x}")?;
        rest = after;
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
        assert_eq!(Name::<9>::new(b"\x7f\r\xe2\x80\xc3\xb6\t").to_string(), "\\u{7f}\\r\\xe2\\x80\u{f6}\\t");
    }
}
