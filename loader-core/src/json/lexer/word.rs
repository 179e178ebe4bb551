//! The words `true`, `false` and `null`.

use super::super::fault::{Expected, Found};
use super::super::kind::Kind;
use super::Refusal;

/// A word and how many of its bytes were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) kind: Kind,
    seen: u8,
}

impl Word {
    /// After the first byte.
    pub(super) const fn start(kind: Kind) -> Self {
        Self { kind, seen: 1 }
    }

    pub(super) const fn spelling(kind: Kind) -> &'static [u8] {
        match kind {
            Kind::True => b"true",
            Kind::False => b"false",
            _ => b"null",
        }
    }

    /// Consumes the rest of the word; `Some(state)` when the input ends first.
    pub(super) fn run(mut self, input: &mut &[u8]) -> Result<Option<Self>, Refusal> {
        while let Some(want) = Self::spelling(self.kind).get(usize::from(self.seen)) {
            let Some((byte, rest)) = input.split_first() else { return Ok(Some(self)) };
            if byte != want {
                return Err((Found::Byte(*byte), Expected::Literal));
            }
            self.seen = self.seen.saturating_add(1);
            *input = rest;
        }
        Ok(None)
    }
}
