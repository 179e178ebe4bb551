//! Filling the image of an engine: preamble, main, postamble, functions (staging.md §11.5; R30).

use super::write::write;
use crate::arch::{Arch, Engine};
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::plan::CoreView;
use crate::plan::record::{DMem, FUNCTION_NAME, SlotNote};
use crate::plan::translate::{Code, Goal, Places, Section, Sink, Stream};
use crate::policy::Policy;
use zerocopy::little_endian::U32;

/// One engine's translation into its image. There are many, so what a core's engines share is lent.
pub(super) struct Filling<'m> {
    engine: Engine,
    table: Option<&'m [U32]>,
    stream: Stream,
    block: &'m DMem,
}

/// A core whose images are filled.
pub(super) struct Core<'a, 'm> {
    pub(super) view: CoreView<'m>,
    index: u8,
    arch: Arch,
    policy: &'a Policy,
}

impl<'m> Core<'_, 'm> {
    /// Core `index` of a plan.
    pub(super) fn new<'a>(
        view: CoreView<'m>,
        index: usize,
        policy: &'a Policy,
    ) -> Result<Core<'a, 'm>, Error> {
        let arch = view.kbin.arch().ok_or_else(broken)?;
        Ok(Core { view, index: u8::try_from(index).unwrap_or(u8::MAX), arch, policy })
    }

    fn code<'a>(&'a self, filling: &Filling<'a>) -> Code<'a> {
        Code {
            kbin: &self.view.kbin,
            engine: filling.engine,
            core: self.index,
            arch: self.arch,
            table: filling.table,
            policy: self.policy,
        }
    }
}

fn broken() -> Error {
    Error::internal(Stage::Stage, "image")
}

impl<'m> Filling<'m> {
    /// The engine of a core. Nothing is refused any more: the plan was made by the same code.
    pub(super) fn new(core: &Core<'_, 'm>, engine: Engine) -> Result<Self, Error> {
        let table = crate::plan::vars::table(&core.view.kbin);
        let (_, block) = core.view.image(engine).ok_or_else(broken)?;
        Ok(Self { engine, table, stream: Stream::default(), block })
    }

    /// Writes preamble and postamble.
    #[inline(never)]
    pub(super) fn frame<D: Device>(&self, core: &Core<'_, 'm>, device: &D) -> Result<(), Error> {
        let (image, block) = core.view.image(self.engine).ok_or_else(broken)?;
        let end = image.preamble.get().saturating_add(image.main.get());
        blank(device, block, 0, image.preamble.get())?;
        blank(device, block, end, image.postamble.get())
    }

    /// Translates the next bytes of the stream.
    #[inline(never)]
    pub(super) fn feed<D: Device>(
        &mut self,
        core: &Core<'_, 'm>,
        device: &D,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let code = core.code(self);
        let places = Live { core: &core.view, engine: self.engine };
        let mut writer = Writer { device, block: self.block, places };
        self.stream.feed(&code, &places, bytes, &mut writer)
    }

    /// Ends the stream; it must be what was planned.
    pub(super) fn finish<D: Device>(&mut self, core: &Core<'_, 'm>, device: &D) -> Result<(), Error> {
        let code = core.code(self);
        let places = Live { core: &core.view, engine: self.engine };
        let mut writer = Writer { device, block: self.block, places };
        self.stream.finish(&code, &places, &mut writer)?;
        let (image, _) = core.view.image(self.engine).ok_or_else(broken)?;
        let counts = self.stream.counts();
        if (counts.main, counts.function) == (image.main, image.function) {
            return Ok(());
        }
        Err(Error::internal(Stage::Stage, "an image differs from its plan"))
    }
}

/// Zero slots from slot `at` on.
fn blank<D: Device>(device: &D, block: &DMem, at: u32, slots: u32) -> Result<(), Error> {
    let mut offset = u64::from(at).saturating_mul(64);
    let mut left = u64::from(slots).saturating_mul(64);
    let zeros = [0; 256];
    while left > 0 {
        let now = usize::try_from(left).unwrap_or(usize::MAX).min(zeros.len());
        write(device, block, offset, zeros.get(..now).unwrap_or(&[]))?;
        let now = u64::try_from(now).unwrap_or(0);
        (offset, left) = (offset.saturating_add(now), left.saturating_sub(now));
    }
    Ok(())
}

/// Addresses of a placed core.
#[derive(Clone, Copy)]
struct Live<'a, 'm> {
    core: &'a CoreView<'m>,
    engine: Engine,
}

impl Places for Live<'_, '_> {
    fn address(&self, var: u32, off: u64) -> Result<u64, Error> {
        self.core.resolve(var, off, 1).map(|address| address.0)
    }

    fn goal(&self, goal: Goal<'_>) -> Option<u32> {
        self.core.goal(self.engine, goal)
    }

    fn base(&self, section: Section) -> u32 {
        self.core.section_base(self.engine, section)
    }
}

struct Writer<'a, 'm, D> {
    device: &'a D,
    block: &'m DMem,
    places: Live<'a, 'm>,
}

impl<D: Device> Sink for Writer<'_, '_, D> {
    fn slots(&mut self, section: Section, at: u32, bytes: &[u8]) -> Result<(), Error> {
        let slot = u64::from(self.places.base(section)).saturating_add(u64::from(at));
        write(self.device, self.block, slot.saturating_mul(64), bytes)
    }

    fn note(&mut self, _: SlotNote) -> Result<(), Error> {
        Ok(())
    }

    fn named_note(&mut self, _: SlotNote, _: &[u8; FUNCTION_NAME]) -> Result<(), Error> {
        Ok(())
    }
}
