//! All stages that use the arena, in an arena of any size: what each refusal for want of room says.

use crate::payload::{Chunked, Mode, with_buffers};
use loader_core::arch::Arch;
use loader_core::arena::Arena;
use loader_core::container::{KEEP_BYTES, Resident, Streamed, scan, unpack};
use loader_core::device::{CoreId, Device};
use loader_core::error::{Error, Ignored, Stage};
use loader_core::limits::Limits;
use loader_core::lower::lower;
use loader_core::manifest::parse;
use loader_core::plan::pages::{Page, PageTable};
use loader_core::plan::record::LoadParams;
use loader_core::plan::{Request, place};
use loader_core::policy::Policy;
use loader_core::source::Payload;
use loader_core::stage::unload;
use loader_std::container::VecStore;
use loader_std::file::Buffers;
use neuron_drivers::sim::{Config, Content, Growing, HostSim};

/// A file, a way to read it, and a device to place it on.
#[derive(Debug)]
pub struct Ladder<'a> {
    neff: &'a [u8],
    mode: Mode,
    sim: HostSim,
    pages: Vec<Option<Page>>,
    policy: Policy,
}

/// Where an arena ran out, and the two numbers it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// The stage; `None` for the arena itself.
    pub stage: Option<Stage>,
    /// What the step takes.
    pub needed: usize,
    /// What there was.
    pub available: usize,
}

/// The most that was used after each stage: unpack, manifest, lower, plan.
pub type Peaks = [usize; 4];

fn used(arena: &Arena<'_>) -> (usize, usize) {
    (arena.head_used(), arena.tail_used())
}

impl<'a> Ladder<'a> {
    /// A device of the file's architecture that keeps no bytes.
    #[must_use]
    pub fn new(neff: &'a [u8], arch: Arch, mode: Mode) -> Self {
        let config = Config { content: Content::Discard, ..Config::flat(arch) };
        let sim = HostSim::new(config, Growing::new(false));
        Self { neff, mode, sim, pages: vec![None; 1024], policy: Policy::DEFAULT }
    }

    /// All stages in an arena over `memory`.
    ///
    /// # Errors
    /// Where it ran out; the arena is then checked to be at the mark of the failed stage, the device untouched.
    ///
    /// # Panics
    /// If anything but the arena refuses.
    pub fn run(&mut self, memory: &mut [u8]) -> Result<Peaks, Full> {
        let before = self.sim.hash();
        let mut arena = Arena::new(memory).map_err(|full| Full {
            stage: None,
            needed: full.needed,
            available: full.available,
        })?;
        let outcome = with_buffers(|buffers| self.stages(buffers, &mut arena));
        assert_eq!(self.sim.hash(), before, "the device is as before");
        outcome.map_err(|error| {
            assert!(error.id().number == 801, "{error}");
            let number = |n| usize::try_from(n).expect("a size");
            assert!(number(error.at().b) <= arena.available(), "{error}");
            Full { stage: Some(error.stage()), needed: number(error.at().a), available: number(error.at().b) }
        })
    }

    fn stages<'m>(&mut self, buffers: &mut Buffers, arena: &mut Arena<'m>) -> Result<Peaks, Error> {
        let (limits, policy) = (Limits::DEFAULT, self.policy);
        let mut source = self.neff;
        let mark = used(arena);
        let clean = |arena: &Arena<'_>| assert_eq!(used(arena), mark, "a failed unpacking keeps nothing");
        let work = buffers.workspace();
        if self.mode == Mode::Streamed {
            let scanned = scan(&mut source, work, KEEP_BYTES, arena, &limits, &policy, &mut Ignored);
            let container = scanned.inspect_err(|_| clean(arena))?;
            let mut payload = Streamed::new(&mut source, buffers.workspace(), container, &limits)?;
            return self.rest(&mut payload, arena);
        }
        let mut store = VecStore::new();
        let unpacked = unpack(&mut source, work, &mut store, arena, &limits, &policy, &mut Ignored);
        let container = unpacked.inspect_err(|_| clean(arena))?;
        let bytes = store.into_bytes();
        let mut inner = Resident::new(container, &bytes);
        match self.mode {
            Mode::Chunks(bytes) => self.rest(&mut Chunked { inner, bytes }, arena),
            _ => self.rest(&mut inner, arena),
        }
    }

    fn rest<'m, P: Payload<'m>>(&mut self, payload: &mut P, arena: &mut Arena<'m>) -> Result<Peaks, Error> {
        let (limits, policy) = (Limits::DEFAULT, self.policy);
        let unpacked = arena.high_water();
        let mark = used(arena);
        let parsed = parse(payload, arena, &limits, &policy, &mut Ignored);
        let manifest = parsed.inspect_err(|_| assert_eq!(used(arena), mark))?;
        let read = arena.high_water();
        let mark = used(arena);
        let lowered = lower(payload, &manifest, arena, &limits, &policy, &mut Ignored);
        let kbins = lowered.inspect_err(|_| assert_eq!(used(arena), mark))?;
        let lowered = arena.high_water();
        let mark = used(arena);
        let request = Request {
            name: b"ladder",
            core: CoreId(0),
            vcore_size: u16::try_from(kbins.len()).unwrap_or(u16::MAX),
            h_model: 1,
            params: LoadParams::default(),
            owned: (0, self.sim.cores()),
            policy: &policy,
            limits: &limits,
        };
        let mut pages = PageTable::new(&mut self.pages);
        let placed = place(payload, &kbins, &self.sim, &request, &mut pages, arena);
        let plan = placed.inspect_err(|_| assert_eq!(used(arena), mark))?;
        unload(&plan, &self.sim, &mut pages);
        Ok([unpacked, read, lowered, arena.high_water()])
    }

    /// Raises the arena from nothing by what each refusal says, until the file fits. Gives every refusal on the
    /// way, and what was used in the end.
    ///
    /// # Panics
    /// If a `needed` is not exact: the same step must fail with 8 bytes less, and must not with the bytes it asks for.
    pub fn climb(&mut self) -> (Vec<(usize, Full)>, usize, Peaks) {
        let mut memory = vec![0x5A; 64 << 20];
        let (mut room, mut steps) = (0, Vec::<(usize, Full)>::new());
        loop {
            let full = match self.run(&mut memory[..room]) {
                Ok(peaks) => return (steps, room, peaks),
                Err(full) => full,
            };
            assert!(full.needed > full.available, "{room}: {full:?}");
            let next = room + (full.needed - full.available);
            if next - 8 > room {
                let less = self.run(&mut memory[..next - 8]).expect_err("8 bytes less do not do");
                let exact = Full { available: full.needed - 8, ..full };
                assert_eq!(less, exact, "{} of {next}", next - 8);
            }
            steps.push((room, full));
            room = next;
        }
    }
}
