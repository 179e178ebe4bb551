//! What a load says, line by line.

use crate::load::{Loaded, Refused};
use core::fmt::{self, Write};
use loader_core::arch::Engine;
use loader_core::container::{Algorithm, Hasher};
use loader_core::plan::CoreView;

/// The verdict on one core, as one line.
#[derive(Clone, Copy, Debug)]
pub struct Verdict<'m>(pub CoreView<'m>);

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let core = &self.0;
        let mut sums = [0u32; 4];
        for (image, _) in Engine::ALL.into_iter().filter_map(|engine| core.image(engine)) {
            let counts = [image.main.get(), image.patched.get(), image.bound.get(), image.opaque.get()];
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum = sum.saturating_add(count);
            }
        }
        let [slots, patched, bound, opaque] = sums;
        write!(f, "core {} {}: ready, ", core.core().0, core.kbin.subgraph_name().escape_ascii())?;
        write!(f, "{} blocks, {slots} slots, {patched} patched, ", core.allocations().len())?;
        let approximate = core.tally().approximate.get();
        write!(f, "{bound} bound, {opaque} opaque, {approximate} approximate")
    }
}

/// MD5 of the kbins of all cores: the first bytes of the product, the same on every host.
#[must_use]
pub fn digest_of<D>(loaded: &Loaded<'_, '_, D>) -> [u8; 16] {
    let mut hasher = Hasher::new(Algorithm::Md5);
    hasher.update(loaded.plan.kbins().head().bytes());
    let [digest @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = hasher.finish();
    digest
}

/// Prints a load: one line per core, then the kbins' digest and what was used.
///
/// # Errors
/// The writer's.
#[inline(never)]
pub fn print<D>(out: &mut impl Write, loaded: &Loaded<'_, '_, D>) -> fmt::Result {
    for core in loaded.plan.cores() {
        writeln!(out, "{}", Verdict(core))?;
    }
    write!(out, "kbins {} bytes, md5 ", loaded.kbin_bytes)?;
    for byte in digest_of(loaded) {
        write!(out, "{byte:02x}")?;
    }
    let (peaks, passes) = (loaded.peaks, loaded.passes);
    writeln!(out, "\nmembers {}, arena {}, passes {passes}", peaks.members, peaks.arena)
}

/// The refusal, as one line without the remedy, which takes memory for text; where an arena ran out, also how large it must be for the step that failed.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused, status {}: {}", self.error.status().number(), self.error.in_brief(self))?;
        if self.least > 0 { write!(f, " (that arena must have {} bytes)", self.least) } else { Ok(()) }
    }
}
