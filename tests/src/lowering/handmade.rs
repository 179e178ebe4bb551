//! Working sets made by hand: inputs that no manifest gives, for the refusals of lowering itself.

mod input;
mod views;

pub use input::member_of;

use loader_core::arch::Engine;
use loader_core::lower::input::{BlobIn, CarveoutIn, DetailIn, DveIn, RankStep};
use loader_core::lower::record::{CarveoutType, EngType, RingType};
use loader_core::manifest::{
    Access, Backing, Block, BlockSource, Constant, DmaOp, Fabric, Fp8, Scratch, Transfer, Transpose, VarClass,
};
use loader_core::source::MemberId;
use zerocopy::little_endian::{U32, U64};

/// One variable.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields of the input")]
pub struct Var {
    pub id: u32,
    pub name: Vec<u8>,
    pub class: VarClass,
    pub size: Option<u64>,
    pub alignment: u32,
    pub dtype: Vec<u8>,
    pub shape: Vec<U64>,
    pub print: Option<(Vec<u8>, i32)>,
    pub fabric: Option<Fabric>,
    pub backing: Option<Backing>,
    pub detail: DetailIn,
    pub list: Vec<u32>,
}

impl Var {
    /// A variable of `class` with `size` bytes.
    #[must_use]
    pub fn new(id: u32, name: &str, class: VarClass, size: u64) -> Self {
        Self {
            id,
            name: name.into(),
            class,
            size: Some(size),
            alignment: 0,
            dtype: Vec::new(),
            shape: Vec::new(),
            print: None,
            fabric: None,
            backing: None,
            detail: DetailIn::None,
            list: Vec::new(),
        }
    }

    /// The same with what its class adds.
    #[must_use]
    pub fn with(mut self, detail: DetailIn) -> Self {
        self.detail = detail;
        self
    }

    /// A virtual variable.
    #[must_use]
    pub fn scratch(id: u32, name: &str, offset: u64, size: u64) -> Self {
        Self::new(id, name, VarClass::Virtual, size).with(DetailIn::Virtual { offset })
    }

    /// A pointer.
    #[must_use]
    pub fn pointer(id: u32, name: &str, referenced: u32) -> Self {
        Self::new(id, name, VarClass::Pointer, 8).with(DetailIn::Pointer { referenced })
    }

    /// A remote variable.
    #[must_use]
    pub fn remote(id: u32, name: &str, subgraph: u32, var_id: u32) -> Self {
        let mut var = Self::new(id, name, VarClass::Remote, 0);
        (var.size, var.detail) = (None, DetailIn::Remote { subgraph, var_id });
        var
    }
}

/// One queue with its instances.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields of the input")]
pub struct Queue {
    pub name: Vec<u8>,
    pub ring_type: RingType,
    pub owner: Option<EngType>,
    pub num_queues: u32,
    pub semaphores: Vec<U32>,
    pub pinned: bool,
    pub dge: bool,
    pub dynamic: bool,
    pub needs_scratch: bool,
    pub scratch: Option<Scratch>,
    pub instances: Vec<Vec<u8>>,
    pub named: bool,
}

impl Queue {
    /// A queue of pool with one instance.
    #[must_use]
    pub fn new(name: &str, ring_type: RingType) -> Self {
        Self {
            name: name.into(),
            ring_type,
            owner: Some(EngType::POOL),
            num_queues: 1,
            semaphores: Vec::new(),
            pinned: false,
            dge: false,
            dynamic: false,
            needs_scratch: false,
            scratch: None,
            instances: vec![name.into()],
            named: false,
        }
    }
}

/// One transfer.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields of the input")]
pub struct Move {
    pub op: DmaOp,
    pub cast: bool,
    pub to: Access,
    pub from: Vec<Access>,
    pub tiling: u8,
    pub scale: f64,
    pub constant: Option<Constant>,
    pub transpose: Option<([u64; 4], u32, Vec<u8>)>,
}

/// A walk of one row of `bytes`.
#[must_use]
pub fn row(var: u32, bytes: u64, dtype: Option<u8>) -> Access {
    Access::new(var, 0, dtype, &[bytes, 1], &[1, bytes as i64]).expect("two dimensions")
}

impl Move {
    /// A copy of one row.
    #[must_use]
    pub fn copy(from: u32, to: u32, bytes: u64) -> Self {
        Self {
            op: DmaOp::Copy,
            cast: false,
            to: row(to, bytes, None),
            from: vec![row(from, bytes, None)],
            tiling: 0,
            scale: 1.0,
            constant: None,
            transpose: None,
        }
    }

    /// An arithmetic transfer of `sources` rows.
    #[must_use]
    pub fn compute(op: DmaOp, sources: usize) -> Self {
        let from = vec![row(0, 64, Some(5)); sources];
        Self { op, to: row(1, 64, Some(5)), from, ..Self::copy(0, 1, 64) }
    }

    fn with<R>(&self, each: impl FnOnce(&Transfer<'_>) -> R) -> R {
        let transpose = self.transpose.as_ref().map(|(shape, element_size, op)| Transpose {
            shape: *shape,
            element_size: *element_size,
            op,
        });
        each(&Transfer {
            op: self.op,
            cast: self.cast,
            to: self.to,
            from: &self.from,
            gather: self.from.len() > 1,
            tiling: self.tiling,
            scale: self.scale,
            constant: self.constant,
            transpose,
        })
    }
}

/// One block with its transfers.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields of the input")]
pub struct DmaBlock {
    pub source: BlockSource,
    pub id: u32,
    pub queue: u16,
    pub instance: u32,
    pub semaphore: Option<u32>,
    pub event: Option<u32>,
    pub function: Vec<u8>,
    pub section_start: bool,
    pub remote_semaphores: Vec<U32>,
    pub priority_class: u8,
    pub moves: Vec<Move>,
}

impl DmaBlock {
    /// A block of pool on instance 0 of a queue.
    #[must_use]
    pub fn new(id: u32, queue: u16, moves: Vec<Move>) -> Self {
        Self {
            source: BlockSource::Engine(Engine::Pool),
            id,
            queue,
            instance: 0,
            semaphore: None,
            event: None,
            function: Vec::new(),
            section_start: false,
            remote_semaphores: Vec::new(),
            priority_class: 0,
            moves,
        }
    }

    fn view(&self) -> Block<'_> {
        Block {
            id: self.id,
            queue: self.queue,
            instance: self.instance,
            transfers: self.moves.len() as u32,
            semaphore: self.semaphore,
            event: self.event,
            function_start: &self.function,
            section_start: self.section_start,
            remote_semaphores: &self.remote_semaphores,
            priority_class: self.priority_class,
        }
    }
}

/// One library.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields of the input")]
pub struct Library {
    pub name: Vec<u8>,
    pub version: Vec<u8>,
    pub content: BlobIn,
    pub opcode: i32,
    pub cpu_id: u32,
    pub total_cpus: u32,
    pub functions: Vec<(Vec<u8>, i32, i32)>,
}

impl Library {
    /// A library without functions.
    #[must_use]
    pub fn new(name: &str, opcode: i32) -> Self {
        Self {
            name: name.into(),
            version: b"1.21.1.0".to_vec(),
            content: blob(90, 100),
            opcode,
            cpu_id: 0,
            total_cpus: 1,
            functions: Vec::new(),
        }
    }
}

/// Bytes in a member.
#[must_use]
pub const fn blob(member: u32, len: u64) -> BlobIn {
    BlobIn { member: MemberId(member), len }
}

/// One subgraph.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields of the input")]
pub struct Set {
    pub name: Vec<u8>,
    pub dir: Vec<u8>,
    pub target: u32,
    pub num_streams: u64,
    pub act_semaphore: u32,
    pub fp8: Option<Fp8>,
    pub carveouts: Option<Vec<CarveoutIn>>,
    pub dve: Option<DveIn>,
    pub vars: Vec<Var>,
    pub queues: Vec<Queue>,
    pub blocks: Vec<DmaBlock>,
    pub engines: [Option<BlobIn>; 5],
    /// Name, buckets, control, number of profiles.
    pub act_sets: Vec<(Vec<u8>, BlobIn, BlobIn, u32)>,
    pub groups: Vec<RankStep>,
    pub pairs: Vec<RankStep>,
    pub libraries: Vec<Library>,
    pub ext_isa: Option<Vec<Vec<u8>>>,
    /// Totals that lie by that many transfers, for checks of the input itself.
    pub lie: u32,
}

impl Set {
    /// The base package of the conformance cases: a state buffer, an output of 64 bytes, sunda.
    #[must_use]
    pub fn base() -> Self {
        let mut state_buffer = Var::new(0, "SB", VarClass::StateBuffer, 0);
        state_buffer.size = None;
        Self {
            name: b"sg00".to_vec(),
            dir: b"sg00".to_vec(),
            target: 2,
            num_streams: 1,
            act_semaphore: 0,
            fp8: None,
            carveouts: None,
            dve: None,
            vars: vec![state_buffer, Var::new(1, "out", VarClass::Output, 64)],
            queues: Vec::new(),
            blocks: Vec::new(),
            engines: [None; 5],
            act_sets: Vec::new(),
            groups: Vec::new(),
            pairs: Vec::new(),
            libraries: Vec::new(),
            ext_isa: None,
            lie: 0,
        }
    }

    /// The same with one more variable.
    #[must_use]
    pub fn var(mut self, var: Var) -> Self {
        self.vars.push(var);
        self
    }

    /// The same as subgraph `index`.
    #[must_use]
    pub fn at(mut self, index: u32) -> Self {
        self.name = format!("sg{index:02}").into_bytes();
        self.dir.clone_from(&self.name);
        self
    }

    fn of(&self, source: BlockSource) -> impl Iterator<Item = &DmaBlock> {
        self.blocks.iter().filter(move |block| block.source == source)
    }

    fn first_instance(&self, queue: usize) -> u32 {
        self.queues[..queue].iter().map(|queue| queue.instances.len() as u32).sum()
    }
}

/// Working sets of all subgraphs.
#[derive(Clone, Debug)]
pub struct Working {
    /// One per subgraph.
    pub sets: Vec<Set>,
    /// Visits the sources from the last to the first.
    pub backwards: bool,
}

impl Working {
    /// Working sets whose variables and queues are put in the order of their names.
    #[must_use]
    pub fn new(mut sets: Vec<Set>) -> Self {
        for set in &mut sets {
            set.vars.sort_by(|a, b| a.name.cmp(&b.name));
        }
        Self { sets, backwards: false }
    }

    fn set(&self, sg: u32) -> &Set {
        &self.sets[sg as usize]
    }
}

/// The one legal carve-out.
#[must_use]
pub const fn evtaccel() -> CarveoutIn {
    CarveoutIn {
        kind: CarveoutType::EVTACCEL,
        offset: 0x37FF8,
        size: 8,
        start_partition: 0,
        num_partitions: 128,
    }
}
