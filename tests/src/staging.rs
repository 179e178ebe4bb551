//! Helpers for tests of staging: hand-made models, a simulated device, and everything that must hold after.

pub mod audit;
pub mod claims;
pub mod hooked;
pub mod model;
pub mod recorder;

use crate::lowering::handmade::{Set, Working};
use crate::places::assert_placed;
use loader_core::arch::Arch;
use loader_core::arena::{Arena, ArenaRef, Head, Record};
use loader_core::container::MemberTable;
use loader_core::device::{CoreId, MemHandle};
use loader_core::error::{Error, NoteList};
use loader_core::limits::Limits;
use loader_core::lower::{Kbins, lower_from};
use loader_core::plan::libraries::Library;
use loader_core::plan::pages::{Page, PageTable};
use loader_core::plan::record::{DMem, LoadParams};
use loader_core::plan::{Plan, Request, Shortage, place_explained};
use loader_core::policy::Policy;
use loader_core::source::{MemberId, Payload, Visitor};
use loader_core::stage::{SCRATCH_BYTES, stage, unload};
use neuron_drivers::sim::{Config, Faults, Growing, HostSim};

/// Members of a hand-made model: member `i` is entry `i`.
#[derive(Clone, Debug, Default)]
pub struct Members {
    /// Their bytes.
    pub bytes: Vec<Vec<u8>>,
    /// Length of the pieces they are handed out in; 0 for whole members.
    pub piece: usize,
}

impl<'m> Payload<'m> for Members {
    fn table(&self) -> MemberTable<'m> {
        MemberTable::default()
    }

    fn borrow(&self, id: MemberId) -> Option<&[u8]> {
        self.bytes.get(id.0 as usize).map(Vec::as_slice)
    }

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Error> {
        for (index, bytes) in (0..).zip(&self.bytes) {
            let id = MemberId(index);
            if !visitor.wants(id) {
                continue;
            }
            let piece = if self.piece == 0 { bytes.len().max(1) } else { self.piece };
            for (number, part) in bytes.chunks(piece).enumerate() {
                visitor.data(id, (number * piece) as u64, part)?;
            }
            visitor.end(id)?;
        }
        Ok(())
    }

    fn passes(&self) -> u32 {
        1
    }
}

/// Lowers working sets in memory that is never given back.
///
/// # Errors
/// Those of lowering.
pub fn kbins(sets: Vec<Set>) -> Result<Kbins<'static>, Error> {
    let mut working = Working::new(sets);
    let input = working.clone();
    let mut arena = Arena::new(crate::lowering::memory(4 << 20)).expect("room");
    let mut notes = NoteList::<16>::new();
    lower_from(&input, &mut working, &mut arena, &Limits::DEFAULT, &Policy::DEFAULT, &mut notes)
}

/// The same product with one record changed, for faults that lowering never makes. `record` is one of its own.
///
/// # Panics
/// If it is not.
pub fn edited<T: Record>(kbins: &Kbins<'static>, record: &T, change: impl FnOnce(&mut T)) -> Kbins<'static> {
    let bytes = kbins.head().bytes();
    let at = std::ptr::from_ref(record).addr() - bytes.as_ptr().addr();
    let copy = bytes.to_vec().leak();
    change(T::mut_from_bytes(&mut copy[at..at + size_of::<T>()]).expect("a record of the product"));
    let entries = ArenaRef { off: 16.into(), len: (kbins.len() as u32).into() };
    Kbins::new(Head::from_bytes(copy, 0), entries).expect("the table is the first record")
}

/// A simulated device with the state that outlives a load.
#[derive(Debug)]
pub struct Rig {
    /// The device.
    pub sim: HostSim,
    /// Scratchpad pages.
    pub pages: Vec<Option<Page>>,
    /// Shared microcode libraries.
    pub libraries: Vec<Option<Library>>,
    paging: Option<loader_core::lower::scratchpad::Paging>,
    /// Rulings for the next load.
    pub policy: Policy,
    /// What the next load may cost.
    pub limits: Limits,
    /// Set when a placement runs out of device memory.
    pub shortage: Option<Shortage>,
    /// First core of the next load.
    pub core: u16,
    /// Cores of the logical core; 0 for as many as there are subgraphs.
    pub vcore_size: u16,
    /// Cores that the process owns.
    pub owned: (u16, u16),
    next: u32,
}

/// A loaded model.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its plan.
    pub plan: Plan<'static>,
    /// Its members.
    pub members: Members,
}

impl Rig {
    /// Device of profile FLAT, paged scratchpad of 512 MiB pages, bytes kept, log on: the setting of the cases.
    #[must_use]
    pub fn new(arch: Arch) -> Self {
        Self::with(Config::flat(arch))
    }

    /// Any device.
    #[must_use]
    pub fn with(config: Config) -> Self {
        let policy = Policy { page_size: 512 << 20, contiguous_scratchpad: false, ..Policy::DEFAULT };
        Self {
            sim: HostSim::new(config, Growing::new(true)),
            pages: vec![None; 4096],
            libraries: vec![None; 4],
            paging: None,
            policy,
            limits: Limits::DEFAULT,
            shortage: None,
            core: 0,
            vcore_size: 0,
            owned: (0, config.cores),
            next: 1,
        }
    }

    /// Runs `action` with the page table.
    pub fn with_pages<R>(&mut self, action: impl FnOnce(&mut PageTable<'_>, &HostSim) -> R) -> R {
        let mut table = PageTable::resume(&mut self.pages, self.paging).with_libraries(&mut self.libraries);
        let result = action(&mut table, &self.sim);
        self.paging = table.paging();
        result
    }

    /// Places a model.
    ///
    /// # Errors
    /// Those of placement; the device is then checked to be as before.
    pub fn place(&mut self, kbins: &Kbins<'static>, members: &mut Members) -> Result<Plan<'static>, Error> {
        let before = self.state();
        let (policy, limits) = (self.policy, self.limits);
        let request = Request {
            name: b"hand-made",
            core: CoreId(self.core),
            vcore_size: if self.vcore_size == 0 { kbins.len() as u16 } else { self.vcore_size },
            h_model: self.next,
            params: LoadParams::default(),
            owned: self.owned,
            policy: &policy,
            limits: &limits,
        };
        self.next += 1;
        let mut arena = Arena::new(crate::lowering::memory(4 << 20)).expect("room");
        let mut shortage = None;
        let result = self.with_pages(|pages, sim| {
            place_explained(members, kbins, sim, &request, pages, &mut arena, Some(&mut shortage))
        });
        self.shortage = shortage;
        if let Err(error) = &result {
            assert_placed(error);
            assert_eq!(self.state(), before, "a failed placement leaves nothing behind");
            assert_eq!((arena.head_used(), arena.tail_used()), (16, 0), "and no arena memory");
        }
        result
    }

    /// Places and fills a model.
    ///
    /// # Errors
    /// Those of staging; the device is then checked to be as before.
    pub fn load_kbins(&mut self, kbins: &Kbins<'static>, mut members: Members) -> Result<Loaded, Error> {
        let before = self.state();
        let plan = self.place(kbins, &mut members)?;
        let mut scratch = vec![0; SCRATCH_BYTES];
        match stage(&mut members, &plan, &self.sim, &self.policy, &mut scratch) {
            Ok(()) => Ok(Loaded { plan, members }),
            Err(error) => {
                self.unload_plan(&plan);
                assert_eq!(self.state(), before, "a failed load leaves nothing behind");
                Err(error)
            }
        }
    }

    /// Lowers, places and fills working sets.
    ///
    /// # Errors
    /// Those of all three.
    pub fn load(&mut self, sets: Vec<Set>, members: Members) -> Result<Loaded, Error> {
        self.load_kbins(&kbins(sets)?, members)
    }

    fn unload_plan(&mut self, plan: &Plan<'_>) {
        self.with_pages(|pages, sim| unload(plan, sim, pages));
    }

    /// Unloads a model.
    pub fn unload(&mut self, loaded: &Loaded) {
        self.unload_plan(&loaded.plan);
    }

    /// Everything that must be as before after a failure: device and references to pages and libraries.
    #[must_use]
    pub fn state(&self) -> (u64, Vec<(u16, u32, u32)>) {
        let pages = self.pages.iter().flatten().map(|page| (page.core.0, page.index, page.refs));
        let libraries = self.libraries.iter().flatten().map(|one| (one.core.0, u32::MAX, one.refs));
        (self.sim.hash(), pages.chain(libraries).collect())
    }

    /// The event log's lines.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.sim.with(|state| state.events().iter().map(ToString::to_string).collect())
    }

    /// Empties the event log.
    pub fn clear_log(&self) {
        self.sim.with(|state| state.clear_events());
    }

    /// Bytes of a live block.
    #[must_use]
    pub fn read(&self, block: &DMem) -> Vec<u8> {
        self.read_at(block.handle(), block.skip.get(), block.size.get())
    }

    /// Bytes at a place in a block.
    #[must_use]
    pub fn read_at(&self, handle: MemHandle, at: u64, len: u64) -> Vec<u8> {
        use loader_core::device::Device;
        let mut bytes = vec![0; len as usize];
        self.sim.read(handle, at, &mut bytes).expect("a live block");
        bytes
    }

    /// Counts the device operations of an action, then repeats it with each of them failing in turn.
    /// After every failure the state must be as before and the action must then succeed.
    pub fn sweep(&mut self, mut action: impl FnMut(&mut Self) -> Result<Loaded, Error>) -> Vec<Error> {
        let before = self.state();
        self.sim.set_faults(Faults::NONE);
        let loaded = action(self).expect("the action succeeds without faults");
        let operations = self.sim.operations();
        self.unload(&loaded);
        let mut errors = Vec::new();
        for k in 1..=operations {
            self.sim.set_faults(Faults::one(neuron_drivers::sim::Fault::Operation(k)));
            match action(self) {
                Err(error) => errors.push(error),
                Ok(loaded) => self.unload(&loaded),
            }
            assert_eq!(self.state(), before, "operation {k} of {operations}");
        }
        self.sim.set_faults(Faults::NONE);
        let loaded = action(self).expect("a later load succeeds");
        self.unload(&loaded);
        assert_eq!(self.state(), before);
        errors
    }
}
