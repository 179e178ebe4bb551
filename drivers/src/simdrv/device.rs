//! The state of one simulated device.

use super::config::Config;
use super::handle::Handles;
use super::mapping::Mapped;
use super::modellock::ModelLock;
use super::notify::Queues;
use super::queue::Engine;
use crate::abi::value::{
    ATTACH_SLOTS, DATASTORES, MAX_CORES_PER_DEVICE, MAX_DMA_ENGINES, SEMAPHORES, cinit, device_state,
};
use crate::map;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use loader_core::device::Place;

/// How long a chunk lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Until its process closes the device.
    Process,
    /// Until the driver frees it.
    Device,
}

/// One allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// First physical address.
    pub base: u64,
    /// Bytes, a multiple of the page.
    pub bytes: u64,
    /// Where.
    pub place: Place,
    /// The core it was asked for.
    pub nc: u32,
    /// Memory type.
    pub kind: u32,
    /// The process that asked for it; 0 for the driver itself.
    pub tgid: u32,
    /// How long it lives.
    pub life: Life,
    /// Its handle, if it was given one.
    pub handle: Option<u32>,
}

/// A process that has the device open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attach {
    pub(super) tgid: u32,
    pub(super) count: u32,
}

/// A reset that was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResetRequest {
    pub(super) tgid: u32,
    pub(super) whole: bool,
    pub(super) done_at: u64,
    pub(super) failed: bool,
}

/// One of the two asynchronous contexts of a kernel copy queue, with the copy it has not done yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CopyContext {
    pub(super) pending: Option<(u64, u64, u64)>,
    pub(super) busy: bool,
}

/// What belongs to a core.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub(super) semaphores: [i32; SEMAPHORES as usize],
    /// 257, because event 256 is accepted by mistake.
    pub(super) events: [u32; SEMAPHORES as usize + 1],
    pub(super) init: u32,
    pub(super) lock: ModelLock,
    pub(super) started: u64,
}

/// One device. See the fields' types; books are in [`super::Books`].
#[derive(Debug)]
pub struct DeviceState<M> {
    pub(super) state: u8,
    pub(super) ready_at: Option<u64>,
    pub(super) open_count: u32,
    pub(super) attach: [Option<Attach>; ATTACH_SLOTS],
    pub(super) resets: Vec<ResetRequest>,
    pub(super) chunks: BTreeMap<u64, Chunk>,
    pub(super) handles: Handles,
    pub(super) scratch: Vec<u64>,
    pub(super) mappings: Vec<Mapped>,
    pub(super) engines: Vec<Engine>,
    pub(super) cores: Vec<Core>,
    pub(super) core_queues: Vec<Queues>,
    pub(super) top_sp_queues: Vec<Queues>,
    pub(super) copies: Vec<[CopyContext; 2]>,
    pub(super) datastores: [Option<u32>; DATASTORES],
    pub(super) datastore_chunks: [u64; DATASTORES],
    pub(super) dummy_ring: u64,
    pub(super) scrubs: Vec<Option<u32>>,
    /// Scrubbed memory that nobody had since: first address, end, word.
    pub(super) fresh: Vec<(u64, u64, u32)>,
    pub(super) memory: M,
}

impl<M> DeviceState<M> {
    pub(super) fn new(config: &Config, memory: M) -> Self {
        let core = Core {
            semaphores: [0; SEMAPHORES as usize],
            events: [0; SEMAPHORES as usize + 1],
            init: cinit::INVALID,
            lock: ModelLock::FREE,
            started: 0,
        };
        let cores = usize::from(map::cores(config.arch));
        let hbms = map::hbms(config.arch);
        let booting = config.boot_reset_us > 0;
        Self {
            state: if booting { device_state::RESET } else { device_state::READY },
            ready_at: booting.then_some(config.boot_reset_us),
            open_count: 0,
            attach: [None; ATTACH_SLOTS],
            resets: Vec::new(),
            chunks: BTreeMap::new(),
            handles: Handles::new(config.max_handles),
            scratch: (0..hbms).map(|hbm| config.main_end(hbm)).collect(),
            mappings: Vec::new(),
            engines: (0..MAX_DMA_ENGINES).map(|_| Engine::default()).collect(),
            cores: alloc::vec![core; cores],
            core_queues: (0..cores).map(|_| Queues::default()).collect(),
            top_sp_queues: (0..map::top_sps(config.arch)).map(|_| Queues::default()).collect(),
            copies: alloc::vec![[CopyContext::default(); 2]; MAX_CORES_PER_DEVICE as usize],
            datastores: [None; DATASTORES],
            datastore_chunks: [0; DATASTORES],
            dummy_ring: 0,
            scrubs: alloc::vec![None; usize::from(hbms)],
            fresh: Vec::new(),
            memory,
        }
    }

    /// Live chunks by address.
    pub fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.chunks.values()
    }

    /// The chunk that contains an address.
    #[must_use]
    pub fn chunk_at(&self, address: u64) -> Option<&Chunk> {
        let (_, chunk) = self.chunks.range(..=address).next_back()?;
        (address - chunk.base < chunk.bytes).then_some(chunk)
    }

    /// The chunk that a handle names.
    #[must_use]
    pub fn chunk_of(&self, handle: u64) -> Option<&Chunk> {
        self.chunks.get(&self.handles.get(handle)?)
    }

    /// Device state: 0 reset, 1 ready, 2 invalid.
    #[must_use]
    pub const fn state(&self) -> u8 {
        self.state
    }

    /// How many full-lane opens a process has, if it is attached.
    #[must_use]
    pub fn attached(&self, tgid: u32) -> Option<u32> {
        self.attach.iter().flatten().find(|slot| slot.tgid == tgid).map(|slot| slot.count)
    }

    /// Attach slots in use.
    #[must_use]
    pub fn attach_slots(&self) -> usize {
        self.attach.iter().flatten().count()
    }

    /// Full-lane opens of the node.
    #[must_use]
    pub const fn open_count(&self) -> u32 {
        self.open_count
    }

    /// What the device's addresses hold.
    pub const fn memory(&self) -> &M {
        &self.memory
    }

    /// What the device's addresses hold, to change.
    pub const fn memory_mut(&mut self) -> &mut M {
        &mut self.memory
    }

    /// Mapping records.
    #[must_use]
    pub fn mappings(&self) -> &[Mapped] {
        &self.mappings
    }

    /// The value of a semaphore.
    #[must_use]
    pub fn semaphore(&self, core: u16, index: u32) -> Option<i32> {
        self.cores.get(usize::from(core))?.semaphores.get(index as usize).copied()
    }

    /// Base addresses of a queue's rings, and the process that initialised it last.
    #[must_use]
    pub fn queue(&self, engine: u32, queue: u32) -> Option<(u64, u64, u32)> {
        let queue = self.engines.get(engine as usize)?.queues.get(queue as usize)?;
        Some((queue.tx.base, queue.rx.base, queue.owner))
    }

    /// Whether an engine stopped on a bad descriptor.
    #[must_use]
    pub fn engine_aborted(&self, engine: u32) -> bool {
        self.engines.get(engine as usize).is_some_and(|engine| engine.state == super::queue::ABORT)
    }

    /// The ring that abandoned queues point to.
    #[must_use]
    pub const fn dummy_ring(&self) -> u64 {
        self.dummy_ring
    }
}
