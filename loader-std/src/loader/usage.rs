//! Who holds how much of a device: the breakdown of a load and the table of a refused one (staging.md §17).

use super::Loader;
use loader_core::device::{CoreId, Device, Usage};
use loader_core::lower::record::Text;
use loader_core::plan::libraries::Library;
use loader_core::plan::{Breakdown, BreakdownLog, Holder, Shortage, UsageRow, UsageTable};
use std::fmt;

/// Device number in logs: a loader has one device.
const DEVICE: u16 = 0;

/// What one core held when a model was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreMemory {
    /// The core.
    pub core: CoreId,
    /// Everything on it, other models and scratchpad pages included, in bytes.
    pub total: u64,
    /// Its scratchpad pages in bytes.
    pub shared_scratchpad: u64,
    /// What the model itself takes.
    pub breakdown: Breakdown,
}

/// The memory breakdown of a load as the reference logs it, core by core (staging.md §17.2).
#[derive(Clone, Debug)]
pub struct MemoryLog<'a> {
    pub(super) name: Text<256>,
    pub(super) cores: &'a [CoreMemory],
}

impl fmt::Display for MemoryLog<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = String::from_utf8_lossy(self.name.as_bytes());
        for memory in self.cores {
            let log = BreakdownLog {
                device: DEVICE,
                core: memory.core.0,
                core_total: memory.total,
                shared_scratchpad: memory.shared_scratchpad,
                name: &name,
                breakdown: memory.breakdown,
            };
            log.fmt(f)?;
        }
        Ok(())
    }
}

impl<D: Device> Loader<D> {
    /// What the models of this loader, its scratchpad pages and shared libraries take on a core.
    #[must_use]
    pub fn usage(&self, core: CoreId) -> UsageRow {
        let mut row = self.models_on(core).iter().fold(UsageRow::default(), |mut sum, (_, row)| {
            sum.join(row);
            sum
        });
        row.add(Usage::Scratchpad, self.page_bytes(core));
        row.add(Usage::UcodeLib, self.library_bytes(core));
        row
    }

    /// Names and rows of the models on a core, the oldest first.
    fn models_on(&self, core: CoreId) -> Vec<(Text<256>, UsageRow)> {
        self.registry.lock().rows(core)
    }

    fn page_bytes(&self, core: CoreId) -> u64 {
        self.with_pages(|table| table.bytes(core))
    }

    fn library_bytes(&self, core: CoreId) -> u64 {
        let own = |library: &&Library| library.core == core;
        self.with_pages(|table| table.libraries.iter().filter(own).map(|library| library.taken.size).sum())
    }

    /// The out-of-memory table of a load that was refused for want of memory.
    pub(super) fn usage_table(&self, shortage: &Shortage, name: Text<256>) -> String {
        let channel = self.device.home_channel(shortage.core);
        let held = |core: CoreId| {
            shortage.held.iter().flatten().find(|(other, _)| *other == core).map(|(_, row)| *row)
        };
        let mut models = Vec::new();
        let mut overall = Vec::new();
        let mut cores = Vec::new();
        for core in (0..self.device.cores()).map(CoreId) {
            let mut own = self.models_on(core);
            own.extend(held(core).map(|row| (name, row)));
            let mut row = UsageRow::default();
            own.iter().for_each(|(_, model)| row.join(model));
            let pages = shortage.pages.filter(|(sharing, _)| *sharing == core).map(|(_, bytes)| bytes);
            row.add(Usage::Scratchpad, pages.unwrap_or_else(|| self.page_bytes(core)));
            row.add(Usage::UcodeLib, self.library_bytes(core));
            overall.push(row);
            if self.device.home_channel(core) == channel {
                cores.push(Holder { core, model: b"", row });
                models.extend(own.into_iter().map(|(name, row)| (core, name, row)));
            }
        }
        let models: Vec<_> = models
            .iter()
            .map(|(core, name, row)| Holder { core: *core, model: name.as_bytes(), row: *row })
            .collect();
        let (overall, cores, models) = (&overall[..], &cores[..], &models[..]);
        UsageTable { device: DEVICE, channel, shortage, overall, cores, models }.to_string()
    }
}
