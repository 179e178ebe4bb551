//! The last name that was looked up: neighbouring transfers mostly name the same variables. In the real files
//! at hand 92 to 98 % of the destinations repeat the one before (it is the state buffer), and up to 88 % of the sources.

/// Longest name that is remembered; longer ones are looked up each time.
const LONGEST: usize = 64;

/// A name and the variable it means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memo {
    name: [u8; LONGEST],
    /// Bytes of the name; 0 for none, since `find` asks for an empty name each time.
    len: usize,
    id: u32,
}

impl Memo {
    pub(super) const EMPTY: Self = Self { name: [0; LONGEST], len: 0, id: 0 };

    /// The variable of that name: the remembered one, or the one that `find` finds.
    pub(super) fn find(&mut self, name: &[u8], find: impl FnOnce(&[u8]) -> Option<u32>) -> Option<u32> {
        if self.len > 0 && self.name.get(..self.len) == Some(name) {
            return Some(self.id);
        }
        let id = find(name)?;
        if let Some(slot) = self.name.get_mut(..name.len()) {
            crate::bytes::copy(slot, name);
            (self.len, self.id) = (name.len(), id);
        }
        Some(id)
    }
}
