//! Copying without a length that could be wrong.

/// Copies as many bytes as both have.
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = from;
    }
}
