//! Filling a placed model, and giving it back.

use super::image::{Core, Filling};
use super::write::write;
use crate::arch::Engine;
use crate::device::Device;
use crate::error::{Error, Stage, StageCode};
use crate::plan::pages::PageTable;
use crate::plan::record::{Feed, FeedKind};
use crate::plan::{CoreView, Plan};
use crate::policy::Policy;
use crate::source::{MemberId, Payload, Visitor};
use core::ops::Range;

/// Scratch memory that filling a core uses well; less works, down to 1 KiB, with more passes over the rings.
pub const SCRATCH_BYTES: usize = 64 << 10;

/// Most cores of a load.
const MOST_CORES: usize = crate::lower::scratchpad::GROUP_MOST;

/// Fills all cores of a model, one after the other, in one pass over the file.
///
/// On an error the caller [`unload`]s the plan; nothing else holds its memory.
///
/// # Errors
/// The device's refusal, or the container's while it is read again.
pub fn stage<'m, P: Payload<'m>, D: Device>(
    payload: &mut P,
    plan: &Plan<'m>,
    device: &D,
    policy: &Policy,
    scratch: &mut [u8],
) -> Result<(), Error> {
    fill(payload, plan, 0..plan.len(), device, policy, scratch)
}

/// Fills core `index`. Cores may be filled by different threads at once; the bytes are the same.
///
/// # Errors
/// As [`stage`].
pub fn fill_core<'m, P: Payload<'m>, D: Device>(
    payload: &mut P,
    plan: &Plan<'m>,
    index: usize,
    device: &D,
    policy: &Policy,
    scratch: &mut [u8],
) -> Result<(), Error> {
    fill(payload, plan, index..index.saturating_add(1), device, policy, scratch)
}

#[inline(never)]
fn fill<'m, P: Payload<'m>, D: Device>(
    payload: &mut P,
    plan: &Plan<'m>,
    cores: Range<usize>,
    device: &D,
    policy: &Policy,
    scratch: &mut [u8],
) -> Result<(), Error> {
    let mut feeder = Feeder::new(plan, cores.clone(), device);
    for index in cores.clone() {
        let core = plan.core(index).ok_or_else(|| Error::internal(Stage::Stage, "core"))?;
        let located = |error: Error| at_core(error, index);
        super::constants::fill(&core, device).map_err(located)?;
        super::rings::fill(&core, device, scratch).map_err(located)?;
        feeder.start(core, index, policy).map_err(located)?;
    }
    let wanted = plan.feeds().iter().filter(|feed| feeder.is_own(feed)).count();
    if wanted > 0 {
        payload.visit_any(&mut feeder)?;
    }
    feeder.finish(wanted)
}

fn at_core(error: Error, index: usize) -> Error {
    error.subgraph(u8::try_from(index).unwrap_or(u8::MAX))
}

/// Hands the file's bytes to the blocks they fill.
struct Feeder<'a, 'm, D> {
    plan: &'a Plan<'m>,
    cores: Range<usize>,
    device: &'a D,
    /// Cores, and of each its engines.
    views: heapless::Vec<Core<'a, 'm>, MOST_CORES>,
    fillings: heapless::Vec<Filling<'m>, { 5 * MOST_CORES }>,
    /// Feeds whose last byte has come.
    fed: usize,
}

impl<'a, 'm, D: Device> Feeder<'a, 'm, D> {
    /// Not inlined: made where it lies, because it is large.
    #[inline(never)]
    const fn new(plan: &'a Plan<'m>, cores: Range<usize>, device: &'a D) -> Self {
        Self { plan, cores, device, views: heapless::Vec::new(), fillings: heapless::Vec::new(), fed: 0 }
    }

    #[inline(never)]
    fn start(&mut self, core: CoreView<'m>, index: usize, policy: &'a Policy) -> Result<(), Error> {
        let full = || Error::internal(Stage::Stage, "engines");
        let core = Core::new(core, index, policy)?;
        for engine in Engine::ALL {
            let filling = Filling::new(&core, engine)?;
            filling.frame(&core, self.device)?;
            self.fillings.push(filling).map_err(|_| full())?;
        }
        self.views.push(core).map_err(|_| full())
    }

    fn is_own(&self, feed: &Feed) -> bool {
        feed.len.get() > 0 && self.cores.contains(&usize::from(feed.core.get()))
    }

    /// Feeds of a member.
    fn of_member(&self, id: MemberId) -> &'m [Feed] {
        let all = self.plan.feeds();
        let first = all.partition_point(|feed| feed.member.get() < id.0);
        let rest = all.get(first..).unwrap_or(&[]);
        rest.get(..rest.partition_point(|feed| feed.member.get() == id.0)).unwrap_or(&[])
    }

    fn give(&mut self, feed: &Feed, at: u64, bytes: &[u8]) -> Result<(), Error> {
        let index = usize::from(feed.core.get());
        let engine = usize::from(feed.engine.get());
        if feed.kind == FeedKind::PROGRAM {
            let number = index.saturating_sub(self.cores.start);
            let first = number.saturating_mul(Engine::ALL.len());
            let filling = self.fillings.get_mut(first.saturating_add(engine));
            let none = || Error::internal(Stage::Stage, "engine");
            let (filling, core) = filling.zip(self.views.get(number)).ok_or_else(none)?;
            return filling.feed(core, self.device, bytes);
        }
        let core = self.plan.core(index);
        let block = core.and_then(|core| core.allocations().get(usize::try_from(feed.block.get()).ok()?));
        write(self.device, block.ok_or_else(|| Error::internal(Stage::Stage, "block"))?, at, bytes)
    }

    #[inline(never)]
    fn finish(&mut self, wanted: usize) -> Result<(), Error> {
        if self.fed != wanted {
            return Err(Error::new(Stage::Stage, StageCode::BadKbin).name(b"member bytes"));
        }
        let engines = self.fillings.chunks_mut(Engine::ALL.len());
        for ((index, core), engines) in self.cores.clone().zip(&self.views).zip(engines) {
            for filling in engines {
                filling.finish(core, self.device).map_err(|error| at_core(error, index))?;
            }
        }
        Ok(())
    }
}

impl<D: Device> Visitor for Feeder<'_, '_, D> {
    fn wants(&mut self, id: MemberId) -> bool {
        self.of_member(id).iter().any(|feed| self.is_own(feed))
    }

    fn data(&mut self, id: MemberId, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        for feed in self.of_member(id) {
            if !self.is_own(feed) {
                continue;
            }
            let shared = crate::plan::overlap(feed.off.get(), feed.len.get(), offset, bytes);
            let Some((at, part)) = shared else { continue };
            let located = |error: Error| at_core(error.member(id), usize::from(feed.core.get()));
            self.give(feed, at, part).map_err(located)?;
            let end = at.saturating_add(u64::try_from(part.len()).unwrap_or(u64::MAX));
            self.fed = self.fed.saturating_add(usize::from(end == feed.len.get()));
        }
        Ok(())
    }

    fn end(&mut self, _: MemberId) -> Result<(), Error> {
        Ok(())
    }
}

/// Gives back every block of a plan, core by core, the newest block first, and its page references
/// and those to shared microcode (staging.md §14). Filled or not makes no difference.
pub fn unload<D: Device>(plan: &Plan<'_>, device: &D, pages: &mut PageTable<'_>) {
    for core in plan.cores() {
        pages.give_back(core.allocations(), device);
    }
    let (sharing, count) = plan.scratchpad();
    pages.release(device, sharing, count);
}
