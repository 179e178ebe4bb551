//! Copies, exchanges, cuts and divisions that cannot panic, whatever the lengths.

/// Copies the elements that both have room for, from the first on.
pub(crate) fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    for (slot, &value) in to.iter_mut().zip(from) {
        *slot = value;
    }
}

/// Exchanges two elements; nothing if they are one, or not there.
pub(crate) fn swap<T>(slots: &mut [T], one: usize, other: usize) {
    if let Ok([one, other]) = slots.get_disjoint_mut([one, other]) {
        core::mem::swap(one, other);
    }
}

/// Splits where asked, or at the end if that is before.
pub(crate) fn split<T>(slots: &[T], at: usize) -> (&[T], &[T]) {
    slots.split_at_checked(at).unwrap_or((slots, &[]))
}

/// Splits where asked, or at the end if that is before.
pub(crate) fn split_mut<T>(slots: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
    let at = at.min(slots.len());
    // The minimum lies inside, so the fallback is for the compiler's sake.
    slots.split_at_mut_checked(at).unwrap_or((&mut [], &mut []))
}

/// Cuts a text at the first such byte, which must be ASCII, and leaves it out.
pub(crate) fn cut(text: &str, at: u8) -> Option<(&str, &str)> {
    let place = text.bytes().position(|byte| byte == at)?;
    Some((text.get(..place)?, text.get(place.checked_add(1)?..)?))
}

/// Whether bytes are UTF-8. Where code must be small, by a check of our own, which is slower.
pub(crate) fn is_utf8(bytes: &[u8]) -> bool {
    if crate::layout::SMALL { characters(bytes) } else { core::str::from_utf8(bytes).is_ok() }
}

/// The same, character by character: how many bytes follow the first one, and between which bytes the first of these lies.
fn characters(mut bytes: &[u8]) -> bool {
    while let Some((&first, after)) = bytes.split_first() {
        let (more, low, high) = match first {
            0..=0x7F => (0, 0, 0),
            0xC2..=0xDF => (1, 0x80, 0xBF),
            0xE0 => (2, 0xA0, 0xBF),
            0xED => (2, 0x80, 0x9F),
            0xE1..=0xEF => (2, 0x80, 0xBF),
            0xF0 => (3, 0x90, 0xBF),
            0xF1..=0xF3 => (3, 0x80, 0xBF),
            0xF4 => (3, 0x80, 0x8F),
            _ => return false,
        };
        let (mut low, mut high) = (low, high);
        let Some((rest, behind)) = after.split_at_checked(more) else { return false };
        for &byte in rest {
            if byte < low || byte > high {
                return false;
            }
            (low, high) = (0x80, 0xBF);
        }
        bytes = behind;
    }
    true
}

/// How many pieces of `size` hold `all`; none where a piece has no size.
pub(crate) const fn pieces(all: u64, size: u64) -> u64 {
    match (all.checked_div(size), all.checked_rem(size)) {
        (Some(whole), Some(0)) => whole,
        (Some(whole), Some(_)) => whole.saturating_add(1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::characters;

    /// Every start of a character, alone and with every second byte, cut and whole.
    #[test]
    fn characters_are_those_of_the_core_library() {
        let same =
            |bytes: &[u8]| assert_eq!(characters(bytes), core::str::from_utf8(bytes).is_ok(), "{bytes:x?}");
        for first in 0..=u8::MAX {
            same(&[first]);
            for second in 0..=u8::MAX {
                same(&[first, second]);
                for third in [0, 0x7F, 0x80, 0xBF, 0xC0, 0xFF] {
                    same(&[first, second, third]);
                    for fourth in [0, 0x7F, 0x80, 0xBF, 0xC0, 0xFF] {
                        same(&[first, second, third, fourth]);
                        same(&[b'a', first, second, third, fourth, b'b']);
                    }
                }
            }
        }
    }
}
