//! Where member bytes go in resident mode.

/// A growing run of bytes: members are appended while the archive is read, and given back as slices.
pub trait Store {
    /// Appends `bytes`.
    ///
    /// # Errors
    /// [`StoreFull`]; nothing is appended then.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreFull>;

    /// Everything that was appended, in order.
    fn bytes(&self) -> &[u8];
}

/// The store cannot take more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreFull;

/// A store in a caller-given slice.
#[derive(Debug)]
pub struct SliceStore<'a> {
    memory: &'a mut [u8],
    used: usize,
}

impl<'a> SliceStore<'a> {
    /// An empty store of `memory.len()` bytes.
    #[must_use]
    pub const fn new(memory: &'a mut [u8]) -> Self {
        Self { memory, used: 0 }
    }
}

impl Store for SliceStore<'_> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreFull> {
        let end = self.used.checked_add(bytes.len()).ok_or(StoreFull)?;
        crate::bytes::copy(self.memory.get_mut(self.used..end).ok_or(StoreFull)?, bytes);
        self.used = end;
        Ok(())
    }

    fn bytes(&self) -> &[u8] {
        self.memory.get(..self.used).unwrap_or(&[])
    }
}
