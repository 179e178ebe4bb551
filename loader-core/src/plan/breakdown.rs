//! The memory breakdown of a loaded core (staging.md §17).

use super::show::ShowBytes;
use super::view::CoreView;
use crate::device::Usage;
use core::fmt::{self, Write};

/// Bytes by the vendor's nine columns. MODEL-class memory only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the vendor's own")]
pub struct Breakdown {
    pub model_code: u64,
    pub model_constants: u64,
    pub scratchpad: u64,
    pub runtime: u64,
    pub dma_rings_io: u64,
    pub dma_rings_spill: u64,
    pub dma_rings_collectives: u64,
    pub dma_rings_runtime: u64,
    pub collectives: u64,
}

impl Breakdown {
    /// Sums `bytes_of` over the usages of every column (staging.md §17.3, Inferred).
    #[must_use]
    pub fn from_usages(bytes_of: impl Fn(Usage) -> u64) -> Self {
        let sum =
            |usages: &[Usage]| usages.iter().fold(0u64, |sum, &usage| sum.saturating_add(bytes_of(usage)));
        Self {
            model_code: sum(&[
                Usage::InstrPe,
                Usage::InstrAct,
                Usage::InstrPool,
                Usage::InstrDve,
                Usage::InstrSp,
                Usage::UcodeLib,
            ]),
            model_constants: sum(&[Usage::Weight]),
            scratchpad: sum(&[Usage::ScratchpadNotShared]),
            runtime: sum(&[
                Usage::Generic,
                Usage::Io,
                Usage::DramSpill,
                Usage::ActTable,
                Usage::PoolStdio,
                Usage::XtCc,
            ]),
            dma_rings_io: sum(&[Usage::DmaRingIo]),
            dma_rings_spill: sum(&[Usage::DmaRingSpill]),
            dma_rings_collectives: sum(&[Usage::DmaRingCollectives]),
            dma_rings_runtime: sum(&[Usage::DmaRing]),
            collectives: sum(&[Usage::Cc]),
        }
    }

    /// Names and bytes in the order of the log.
    #[must_use]
    pub const fn items(&self) -> [(&'static str, u64); 9] {
        [
            ("model code", self.model_code),
            ("model constants", self.model_constants),
            ("scratchpad", self.scratchpad),
            ("runtime", self.runtime),
            ("dma rings io", self.dma_rings_io),
            ("dma rings spill", self.dma_rings_spill),
            ("dma rings collectives", self.dma_rings_collectives),
            ("dma rings runtime", self.dma_rings_runtime),
            ("collectives", self.collectives),
        ]
    }

    /// Sum of the nine; the shared scratchpad and the core's baseline are not in it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.items().into_iter().fold(0, |sum, (_, bytes)| sum.saturating_add(bytes))
    }
}

impl CoreView<'_> {
    /// What this core takes.
    #[must_use]
    pub fn breakdown(&self) -> Breakdown {
        Breakdown::from_usages(|usage| self.bytes_of(usage))
    }
}

/// The log block of one core (staging.md §17.2).
#[derive(Clone, Copy, Debug)]
pub struct BreakdownLog<'a> {
    /// Device number.
    pub device: u16,
    /// Core on the device.
    pub core: u16,
    /// Everything the core holds.
    pub core_total: u64,
    /// Scratchpad pages of the core.
    pub shared_scratchpad: u64,
    /// Name of the model.
    pub name: &'a str,
    /// What the model takes.
    pub breakdown: Breakdown,
}

impl fmt::Display for BreakdownLog<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, core, core_total, shared_scratchpad, name, breakdown } = self;
        writeln!(f, "[ND {device}:NC {core}] Current Usage Total: {}", ShowBytes(*core_total))?;
        writeln!(f, "        shared scratchpad: {}", ShowBytes(*shared_scratchpad))?;
        // One line, whatever the name: scripts go by lines.
        f.write_str("Per NEFF memory usage breakdown for [")?;
        for letter in name.chars() {
            if letter.is_control() {
                write!(f, "{}", letter.escape_default())?
            } else {
                f.write_char(letter)?
            }
        }
        f.write_str("]:\n")?;
        writeln!(f, "        Total: {}", ShowBytes(breakdown.total()))?;
        for (name, bytes) in breakdown.items() {
            writeln!(f, "        * {name}: {}", ShowBytes(bytes))?;
        }
        Ok(())
    }
}
