//! (v) A load in memory that was set aside before allocates nothing: counted by the global allocator.

use super::Offenders;
use anyhow::{Result, anyhow};
use loader_core::arch::Arch;
use loader_core::container::{Extent, Layer};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::plan::pages::Page;
use loader_core::policy::Policy;
use loader_core::source::Source;
use neffload_agent::{Buffers, Loaded, Options, load};
use neffload_tests::fixture_files;
use neuron_drivers::sim::{Config, Content, Fixed, LocalSim, Slot};

/// Loads every fixture of the project.
pub(crate) fn check() -> Result<Offenders> {
    let mut offenders = Offenders::new();
    for file in fixture_files() {
        let bytes = std::fs::read(&file)?;
        let (counted, loaded) = counted(&mut bytes.as_slice())?;
        if counted > 0 {
            offenders.push(format!("{}: {counted} allocations", file.display()));
        }
        // Fixtures of the first generation are there to be refused; of another nothing would be learnt so.
        let is_first = file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("inf1"));
        if loaded == is_first {
            let what =
                if loaded { "loaded, which nobody expects" } else { "refused, so nothing was counted" };
            offenders.push(format!("{}: {what}", file.display()));
        }
    }
    Ok(offenders)
}

/// Allocations of one load, and whether the file was loaded.
pub(crate) fn counted<S: Source>(source: &mut S) -> Result<(u64, bool)> {
    let (mut members, mut arena) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let (mut input, mut names, mut scratch) = (vec![0; 4096], vec![0; 768], vec![0; 4096]);
    let mut layers = vec![Layer::new()];
    let mut pages: Vec<Option<Page>> = vec![None; 16];
    let mut slots = vec![Slot::EMPTY; 1024];
    let layers: &mut [Layer; 1] = layers.as_mut_slice().try_into().map_err(|_| anyhow!("one layer"))?;
    let extents: &mut [Extent] = &mut [];
    let mut buffers = Buffers {
        members: &mut members,
        arena: &mut arena,
        input: &mut input,
        layers,
        names: &mut names,
        extents,
        scratch: &mut scratch,
        pages: &mut pages,
    };
    let options = Options { limits: Limits::DEFAULT, policy: Policy::DEFAULT, keep: 4096, core: 0 };
    let mut outcome = None;
    let counts = allocation_counter::measure(|| {
        outcome = Some(once(source, &mut buffers, &options, &mut slots));
    });
    let loaded = outcome.ok_or_else(|| anyhow!("the load did not run"))?;
    Ok((counts.count_total, loaded))
}

/// One load onto a simulated device in memory of ours.
fn once<S: Source>(source: &mut S, buffers: &mut Buffers<'_>, options: &Options, slots: &mut [Slot]) -> bool {
    let open = giving(|arch: Arch| {
        let config = Config { cores: 8, content: Content::Digest, ..Config::flat(arch) };
        Ok(LocalSim::new(config, Fixed::new(slots, &mut [], &mut [])))
    });
    load(source, buffers, options, open, |_: &Loaded<'_, '_, LocalSim<'_>>| ()).is_ok()
}

fn giving<D>(open: impl FnOnce(Arch) -> Result<D, Error>) -> impl FnOnce(Arch) -> Result<D, Error> {
    open
}
