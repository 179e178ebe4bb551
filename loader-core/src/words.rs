//! Words of a document as an enum, so that the code decides on a number.
//!
//! A match on byte strings becomes a comparison of every byte: ten bytes of code a letter, which a host has room for.
//! Where small code goes before speed, the words are one list that one function searches.

/// Bytes of the list of some words: each with its length before it.
pub(crate) const fn len(words: &[&[u8]]) -> usize {
    let (mut rest, mut len) = (words, 0usize);
    while let Some((word, more)) = rest.split_first() {
        len = len.saturating_add(1).saturating_add(word.len());
        rest = more;
    }
    len
}

/// The list itself, made by the compiler.
#[allow(
    clippy::as_conversions,
    clippy::indexing_slicing,
    reason = "runs while compiling, where a mistake is an error"
)]
#[allow(clippy::arithmetic_side_effects, reason = "the same")]
pub(crate) const fn list<const N: usize>(words: &[&[u8]]) -> [u8; N] {
    let (mut list, mut rest, mut at) = ([0; N], words, 0);
    while let Some((word, more)) = rest.split_first() {
        list[at] = word.len() as u8;
        let mut byte = 0;
        while byte < word.len() {
            list[at + 1 + byte] = word[byte];
            byte += 1;
        }
        at += 1 + word.len();
        rest = more;
    }
    list
}

/// Where in a list a word stands.
#[inline(never)]
pub(crate) fn position(list: &[u8], word: &[u8]) -> Option<usize> {
    let (mut rest, mut at) = (list, 0usize);
    while let Some((&len, more)) = rest.split_first() {
        let (known, after) = more.split_at_checked(usize::from(len))?;
        if known == word {
            return Some(at);
        }
        (rest, at) = (after, at.saturating_add(1));
    }
    None
}

/// Word `at` of a list; empty if there is none.
#[inline(never)]
pub(crate) fn nth(list: &'static [u8], at: usize) -> &'static [u8] {
    let (mut rest, mut left) = (list, at);
    while let Some((&len, more)) = rest.split_first()
        && let Some((word, after)) = more.split_at_checked(usize::from(len))
    {
        if left == 0 {
            return word;
        }
        (rest, left) = (after, left.saturating_sub(1));
    }
    &[]
}

/// Declares an enum of words with `Other` for every other one.
macro_rules! words {
    ($(#[$doc:meta])* $vis:vis $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, zerocopy::TryFromBytes)]
        #[repr(u8)]
        $vis enum $name {
            $($variant,)*
            Other,
        }

        #[allow(dead_code, reason = "not every enum of words is counted and named")]
        impl $name {
            $vis const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// What stands in a field before any word was met; all zero bits, as the fields around it.
            $vis const NONE_YET: Self = Self::from_first(Self::ALL);

            const fn from_first(all: &[Self]) -> Self {
                match all {
                    [first, ..] => *first,
                    [] => Self::Other,
                }
            }

            fn list() -> &'static [u8] {
                const WORDS: &[&[u8]] = &[$($text),*];
                static LIST: [u8; $crate::words::len(WORDS)] = $crate::words::list(WORDS);
                &LIST
            }

            /// Position among the words; `Other` has the one after the last.
            #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
            $vis const fn place(self) -> usize {
                self as usize
            }

            /// The word in that place; empty if there is none.
            $vis fn nth(place: usize) -> &'static [u8] {
                $crate::words::nth(Self::list(), place)
            }

            /// The word itself; empty for `Other`.
            $vis fn word(self) -> &'static [u8] {
                Self::nth(self.place())
            }

            $vis fn of(word: &[u8]) -> Self {
                if $crate::layout::SMALL {
                    let found = $crate::words::position(Self::list(), word);
                    let number = found.and_then(|at| u8::try_from(at).ok());
                    let read = |number| zerocopy::TryFromBytes::try_read_from_bytes(&[number]).ok();
                    return number.and_then(read).unwrap_or(Self::Other);
                }
                match word {
                    $($text => Self::$variant,)*
                    _ => Self::Other,
                }
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::{len, list, nth, position};

    #[test]
    fn a_list_finds_its_words_and_no_others() {
        const WORDS: &[&[u8]] = &[b"from", b"", b"from_off", b"f"];
        static LIST: [u8; len(WORDS)] = list(WORDS);
        for (at, word) in WORDS.iter().enumerate() {
            assert_eq!(position(&LIST, word), Some(at));
            assert_eq!(nth(&LIST, at), *word);
        }
        assert_eq!(nth(&LIST, WORDS.len()), b"");
        for other in [&b"fro"[..], b"from_", b"\x04from", b"o"] {
            assert_eq!(position(&LIST, other), None);
        }
    }
}
