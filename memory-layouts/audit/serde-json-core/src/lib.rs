//! What the loader uses of the JSON binder, without the binder.
#![no_std]

pub mod de {
    /// Nothing could be bound.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Error {
        EofWhileParsingObject,
        InvalidNumber,
        InvalidType,
    }
}

/// Binds nothing.
///
/// # Errors
/// Always.
pub fn from_slice<'a, T: serde::de::Deserialize<'a>>(text: &'a [u8]) -> Result<(T, usize), de::Error> {
    let all = [de::Error::EofWhileParsingObject, de::Error::InvalidNumber];
    let which = core::hint::black_box(text.len()) % 3;
    Err(all.get(which).copied().unwrap_or(de::Error::InvalidType))
}
