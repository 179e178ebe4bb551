//! Which of several faults is reported: the one that the reference would meet first.
//!
//! Files are read in archive order and keys in file order; the reference goes subgraph by subgraph
//! and key by key (manifests.md §6.3). So faults are collected with the rank of their place in that
//! order, and the lowest rank wins.

use crate::arch::Engine;
use crate::error::{Error, Held};
use crate::layout::SMALL;

/// A place in the reference's order of reading, as one number: from the highest byte down the graph, the section, the
/// phase within the section, the entry, block or item within the phase (four bytes), and the check within the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u64);

/// The sections of a definition in dispatch order, then the engines, then what needs all subgraphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    Document,
    Variables,
    Queues,
    ReplicaGroups,
    Pairs,
    DefaultLibrary,
    Ucode,
    Carveouts,
    Streams,
    Dma,
    Fp8,
    Engine(Engine),
}

impl Section {
    #[inline(always)]
    const fn number(self) -> u32 {
        match self {
            Self::Document => 0,
            Self::Variables => 1,
            Self::Queues => 2,
            Self::ReplicaGroups => 3,
            Self::Pairs => 4,
            Self::DefaultLibrary => 5,
            Self::Ucode => 6,
            Self::Carveouts => 7,
            Self::Streams => 8,
            Self::Dma => 9,
            Self::Fp8 => 10,
            Self::Engine(engine) => engine.number().wrapping_add(11),
        }
    }
}

#[allow(clippy::as_conversions, reason = "to a wider type, while compiling where it can be")]
impl Rank {
    /// The start of a section. A file has at most 256 graphs.
    #[inline(always)]
    pub(crate) const fn new(graph: u16, section: Section) -> Self {
        Self((graph as u64).wrapping_shl(56) | (section.number() as u64).wrapping_shl(48))
    }

    pub(crate) const fn step(self, step: u8) -> Self {
        Self(self.0 & !(0xFF << 40) | (step as u64).wrapping_shl(40))
    }

    pub(crate) const fn item(self, item: u32, check: u8) -> Self {
        Self(self.0 & !0xFF_FFFF_FFFF | (item as u64).wrapping_shl(8) | check as u64)
    }
}

/// The fault of the lowest rank so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Verdict {
    first: Option<(Rank, Held)>,
    /// Refuses nothing by itself.
    latent: Option<(Rank, Held)>,
}

impl Verdict {
    /// Takes a fault; of two with the same rank the first stays.
    pub(crate) fn offer(&mut self, rank: Rank, error: Error) {
        if self.first.as_ref().is_none_or(|(best, _)| rank < *best) {
            self.first = Some((rank, error.into()));
        }
    }

    /// The same for a fault that counts only before another one: tools and loads then name the same first fault
    /// of a file, though tools forgive it.
    pub(crate) fn offer_latent(&mut self, rank: Rank, error: Error) {
        if self.latent.as_ref().is_none_or(|(best, _)| rank < *best) {
            self.latent = Some((rank, error.into()));
        }
    }

    /// True if nothing of this rank or a later one can change the outcome.
    pub(crate) fn settled_before(&self, rank: Rank) -> bool {
        self.first.as_ref().is_some_and(|(best, _)| *best <= rank)
    }

    pub(crate) fn error(&self) -> Option<Error> {
        let (rank, error) = self.first.as_ref()?;
        // Small code has no tools, and so no such faults.
        let before = self.latent.as_ref().filter(|(latent, _)| !SMALL && latent < rank);
        Some(before.map_or(error, |(_, latent)| latent).error())
    }
}

#[cfg(test)]
mod tests;
