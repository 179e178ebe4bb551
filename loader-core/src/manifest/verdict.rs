//! Which of several faults is reported: the one that the reference would meet first.
//!
//! Files are read in archive order and keys in file order; the reference goes subgraph by subgraph
//! and key by key (manifests.md §6.3). So faults are collected with the rank of their place in that
//! order, and the lowest rank wins.

use crate::error::{Error, Held};

/// A place in the reference's order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) graph: u16,
    pub(crate) section: Section,
    /// Phase within the section.
    pub(crate) step: u8,
    /// Entry, block or item within the phase.
    pub(crate) item: u32,
    /// Check within the item.
    pub(crate) check: u8,
}

/// The sections of a definition in dispatch order, then the engines, then what needs all subgraphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    Engine(u8),
}

impl Rank {
    pub(crate) const fn new(graph: u16, section: Section) -> Self {
        Self { graph, section, step: 0, item: 0, check: 0 }
    }

    pub(crate) const fn step(mut self, step: u8) -> Self {
        self.step = step;
        self
    }

    pub(crate) const fn item(mut self, item: u32, check: u8) -> Self {
        self.item = item;
        self.check = check;
        self
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
        if self.first.is_none_or(|(best, _)| rank < best) {
            self.first = Some((rank, error.into()));
        }
    }

    /// The same for a fault that counts only before another one: tools and loads then name the same first fault
    /// of a file, though tools forgive it.
    pub(crate) fn offer_latent(&mut self, rank: Rank, error: Error) {
        if self.latent.is_none_or(|(best, _)| rank < best) {
            self.latent = Some((rank, error.into()));
        }
    }

    /// True if nothing of this rank or a later one can change the outcome.
    pub(crate) fn settled_before(&self, rank: Rank) -> bool {
        self.first.is_some_and(|(best, _)| best <= rank)
    }

    pub(crate) fn error(&self) -> Option<Error> {
        let (rank, error) = self.first?;
        let before = self.latent.filter(|(latent, _)| *latent < rank);
        Some(before.map_or(error, |(_, latent)| latent).error())
    }
}

#[cfg(test)]
mod tests;
