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

/// How many pieces of `size` hold `all`; none where a piece has no size.
pub(crate) const fn pieces(all: u64, size: u64) -> u64 {
    match (all.checked_div(size), all.checked_rem(size)) {
        (Some(whole), Some(0)) => whole,
        (Some(whole), Some(_)) => whole.saturating_add(1),
        _ => 0,
    }
}
