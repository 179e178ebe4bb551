//! The KELF descriptor: version, target, list of subgraphs (manifests.md §5).

pub(crate) mod reader;

use super::engine::member;
use super::record::{RootRecord, wide};
use crate::arch::Arch;
use crate::arena::Tail;
use crate::source::MemberId;

/// The KELF descriptor's own fields; its graphs are [`super::Definition`]s.
#[derive(Clone, Copy, Debug)]
pub struct Kelf<'m> {
    pub(crate) tail: Tail<'m>,
    pub(crate) record: &'m RootRecord,
}

/// `MAJOR.MINOR` or `MAJOR.MINOR-suffix`; never compared with anything (manifests.md §5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version<'m> {
    /// As written.
    pub text: &'m [u8],
    /// Before the first `.`.
    pub major: u32,
    /// Between the first `.` and the first `-` after it.
    pub minor: u32,
    /// After that `-`; empty if there is none.
    pub suffix: &'m [u8],
}

impl<'a> Version<'a> {
    /// Takes a version apart; `None` is E201.
    #[must_use]
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let dot = text.iter().position(|&byte| byte == b'.')?;
        let (major, rest) = (text.get(..dot)?, text.get(dot.checked_add(1)?..)?);
        let dash = rest.iter().position(|&byte| byte == b'-');
        let (minor, suffix) = match dash {
            Some(dash) => (rest.get(..dash)?, rest.get(dash.checked_add(1)?..)?),
            None => (rest, &[][..]),
        };
        Some(Self { text, major: decimal(major)?, minor: decimal(minor)?, suffix })
    }
}

/// A number of at least one decimal digit.
pub(crate) fn decimal(text: &[u8]) -> Option<u32> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u32, |value, &byte| {
        let digit = char::from(byte).to_digit(10)?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// What the `target` string means (manifests.md §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// One architecture.
    Arch(Arch),
    /// `*`: whatever the host is.
    Any,
    /// No key at all: a NeuronCore-v1 file, which cannot be loaded (R22).
    NeuronCoreV1,
}

crate::words::words! {
    /// Targets (manifests.md §5.3).
    TargetWord {
        None = b"",
        Sunda = b"sunda",
        V2 = b"v2",
        Cayman = b"cayman",
        V3 = b"v3",
        Mariana = b"mariana",
        V4 = b"v4",
        Any = b"*",
    }
}

impl Target {
    /// The meaning of a `target` string; `None` is E202.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        Some(match TargetWord::of(text) {
            TargetWord::None | TargetWord::Sunda | TargetWord::V2 => Self::Arch(Arch::Sunda),
            TargetWord::Cayman | TargetWord::V3 => Self::Arch(Arch::Cayman),
            TargetWord::Mariana | TargetWord::V4 => Self::Arch(Arch::Mariana),
            TargetWord::Any => Self::Any,
            TargetWord::Other => return None,
        })
    }
}

impl<'m> Kelf<'m> {
    /// The descriptor's member.
    #[must_use]
    pub fn member(&self) -> Option<MemberId> {
        member(self.record.kelf_member.get())
    }

    /// Name of the member, as the graph manifest gives it.
    #[must_use]
    pub fn member_name(&self) -> &'m [u8] {
        self.record.kelf_name.get(self.tail)
    }

    /// Name of the graph node that names the descriptor.
    #[must_use]
    pub fn node(&self) -> &'m [u8] {
        self.record.node_name.get(self.tail)
    }

    /// Nodes whose `func_name` is `__kelf`; only the first counts.
    #[must_use]
    pub fn kelf_nodes(&self) -> u32 {
        self.record.kelf_nodes.get()
    }

    /// `version`, taken apart.
    #[must_use]
    pub fn version(&self) -> Version<'m> {
        let text = self.record.version.get(self.tail);
        Version {
            text,
            major: self.record.major.get(),
            minor: self.record.minor.get(),
            suffix: text.get(wide(self.record.suffix_at)..).unwrap_or(&[]),
        }
    }

    /// `target` as written; `None` if the key is absent.
    #[must_use]
    pub fn target_text(&self) -> Option<&'m [u8]> {
        (self.record.target_present.get() != 0).then(|| self.record.target.get(self.tail))
    }

    /// What `target` means.
    #[must_use]
    pub fn target(&self) -> Target {
        match self.target_text() {
            Some(text) => Target::parse(text).unwrap_or(Target::NeuronCoreV1),
            None => Target::NeuronCoreV1,
        }
    }

    /// Architecture of the file; the host's for `*`; `None` for a NeuronCore-v1 file.
    #[must_use]
    pub fn arch(&self) -> Option<Arch> {
        Arch::from_number(self.record.arch.get())
    }
}
