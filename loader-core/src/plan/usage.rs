//! Bytes by usage, and the table that is printed when a device runs out of memory (staging.md §7.6, §17.6).

use super::breakdown::Breakdown;
use super::show::ShowBytes;
use super::view::CoreView;
use crate::device::{CoreId, Usage};
use crate::lower::scratchpad::GROUP_MOST;
use core::fmt;

/// Bytes of one holder by usage: a row of the device's ledger without its sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageRow {
    by_usage: [u64; 22],
}

impl UsageRow {
    /// Bytes of one usage.
    #[must_use]
    pub fn get(&self, usage: Usage) -> u64 {
        usize::try_from(super::block::usage_number(usage))
            .ok()
            .and_then(|index| self.by_usage.get(index))
            .copied()
            .unwrap_or(0)
    }

    /// Counts `bytes` more.
    pub fn add(&mut self, usage: Usage, bytes: u64) {
        let index = usize::try_from(super::block::usage_number(usage)).ok();
        if let Some(sum) = index.and_then(|index| self.by_usage.get_mut(index)) {
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Counts another row in.
    pub fn join(&mut self, other: &Self) {
        for (sum, bytes) in self.by_usage.iter_mut().zip(other.by_usage) {
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Sum of all usages.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_usage.iter().fold(0, |sum, &bytes| sum.saturating_add(bytes))
    }
}

impl CoreView<'_> {
    /// What this core's own blocks take.
    #[must_use]
    pub fn usage(&self) -> UsageRow {
        let mut row = UsageRow::default();
        for usage in Usage::ALL {
            row.add(usage, self.bytes_of(usage));
        }
        row
    }
}

/// An allocation that a device refused for want of memory, and what the failing load held by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The core it was for.
    pub core: CoreId,
    /// Bytes asked for.
    pub size: u64,
    /// Alignment asked for; 0 for none.
    pub align: u64,
    /// What for.
    pub usage: Usage,
    /// Cores of the failing load with what it had taken for each.
    pub held: [Option<(CoreId, UsageRow)>; GROUP_MOST],
    /// Scratchpad pages of the sharing core in bytes, those that the failing load added among them.
    pub pages: Option<(CoreId, u64)>,
}

/// What one core holds, or one model on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder<'a> {
    /// The core.
    pub core: CoreId,
    /// Name of the model; empty for the core itself.
    pub model: &'a [u8],
    /// What it holds.
    pub row: UsageRow,
}

/// The out-of-memory table. Prints as lines of columns; sizes as in the breakdown.
#[derive(Clone, Copy, Debug)]
pub struct UsageTable<'a> {
    /// Device number.
    pub device: u16,
    /// HBM channel that ran out.
    pub channel: u8,
    /// What was refused.
    pub shortage: &'a Shortage,
    /// All memory of the device in use, by core: its sum is the first row.
    pub overall: &'a [UsageRow],
    /// Cores of the HBM that ran out.
    pub cores: &'a [Holder<'a>],
    /// Models on those cores.
    pub models: &'a [Holder<'a>],
}

/// Headings in order.
const COLUMNS: [&str; 14] = [
    "TOTAL",
    "Model Code",
    "Model Constants",
    "Tensors",
    "Shared Scratchpad",
    "Scratchpad",
    "Runtime",
    "DMA Rings IO",
    "DMA Rings Spill",
    "DMA Rings Collectives",
    "DMA Rings Runtime",
    "Collectives",
    "XT CC",
    "Profiler Buffers",
];
/// Columns that a model has no part in: tensors, shared scratchpad, XT CC, profiler buffers.
const NOT_OF_MODELS: [usize; 4] = [3, 4, 12, 13];
/// Width of the first column, and of the others.
const WIDTHS: (usize, usize) = (24, 22);

/// The cells of a row, in the order of [`COLUMNS`]. XT CC has a column of its own here (staging.md §17.3).
fn cells(row: &UsageRow) -> [u64; 14] {
    let items = Breakdown::from_usages(|usage| if usage == Usage::XtCc { 0 } else { row.get(usage) });
    [
        row.total(),
        items.model_code,
        items.model_constants,
        row.get(Usage::Tensor),
        row.get(Usage::Scratchpad),
        items.scratchpad,
        items.runtime,
        items.dma_rings_io,
        items.dma_rings_spill,
        items.dma_rings_collectives,
        items.dma_rings_runtime,
        items.collectives,
        row.get(Usage::XtCc),
        0,
    ]
}

fn line(f: &mut fmt::Formatter<'_>, first: &dyn fmt::Display, row: &UsageRow, model: bool) -> fmt::Result {
    let (wide, narrow) = WIDTHS;
    write!(f, "{first:<wide$}")?;
    for (column, bytes) in cells(row).into_iter().enumerate() {
        if model && NOT_OF_MODELS.contains(&column) {
            write!(f, "{:>narrow$}", "n/a")?;
        } else {
            write!(f, "{:>narrow$}", ShowBytes(bytes))?;
        }
    }
    writeln!(f)
}

/// A label of bounded length: an alignment of width needs the text as one value.
struct Label<'a>(u16, &'a Holder<'a>);

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(device, holder) = self;
        let mut text = heapless::String::<320>::new();
        // A name that does not fit is cut, which a table may do.
        let _ = if holder.model.is_empty() {
            fmt::write(&mut text, format_args!("ND {device}:NC {}", holder.core.0))
        } else {
            fmt::write(&mut text, format_args!("  [{}]", holder.model.escape_ascii()))
        };
        f.pad(&text)
    }
}

impl fmt::Display for UsageTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, channel, shortage, .. } = self;
        write!(
            f,
            "[ND {device}:HBM {channel}] Failed to allocate {} (alignment: ",
            ShowBytes(shortage.size)
        )?;
        match shortage.align {
            0 => write!(f, "none")?,
            align => write!(f, "{}", ShowBytes(align))?,
        }
        writeln!(f, ", usage: {})", shortage.usage.name())?;
        let (wide, narrow) = WIDTHS;
        write!(f, "{:<wide$}", "")?;
        for heading in COLUMNS {
            write!(f, "{heading:>narrow$}")?;
        }
        writeln!(f)?;
        let mut all = UsageRow::default();
        self.overall.iter().for_each(|row| all.join(row));
        line(f, &format_args!("{:<wide$}", "device"), &all, false)?;
        for core in self.cores {
            line(f, &Label(*device, core), &core.row, false)?;
            for model in self.models.iter().filter(|model| model.core == core.core) {
                line(f, &Label(*device, model), &model.row, true)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
