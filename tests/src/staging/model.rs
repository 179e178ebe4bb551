//! Short ways to write hand-made models.

use super::Members;
use crate::lowering::handmade::{DmaBlock, Library, Move, Queue, Set, Var, blob};
use loader_core::arch::Engine;
use loader_core::lower::input::{BlobIn, DetailIn};
use loader_core::lower::record::RingType;
use loader_core::manifest::{Access, VarClass};
use loader_core::source::MemberId;

/// A set with its members, for one subgraph.
#[derive(Clone, Debug)]
pub struct Hand {
    /// The working set.
    pub set: Set,
    /// The members.
    pub members: Members,
}

impl Hand {
    /// No variables, no queues, five empty streams.
    #[must_use]
    pub fn new(target: u32) -> Self {
        let mut set = Set::base();
        set.target = target;
        set.carveouts = Some(Vec::new());
        set.vars.clear();
        Self { set, members: Members::default() }
    }

    /// Cayman with a state buffer as variable 0.
    #[must_use]
    pub fn cayman() -> Self {
        Self::new(3).state_buffer()
    }

    /// Number of the next variable.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.set.vars.len() as u32
    }

    /// One member more.
    pub fn member(&mut self, bytes: &[u8]) -> BlobIn {
        self.members.bytes.push(bytes.to_vec());
        blob(self.members.bytes.len() as u32 - 1, bytes.len() as u64)
    }

    /// One variable more.
    #[must_use]
    pub fn var(mut self, name: &str, class: VarClass, size: u64) -> Self {
        let var = Var::new(self.next(), name, class, size);
        self.set.vars.push(var);
        self
    }

    /// A state buffer.
    #[must_use]
    pub fn state_buffer(mut self) -> Self {
        let mut var = Var::new(self.next(), "SB", VarClass::StateBuffer, 0);
        var.size = None;
        self.set.vars.push(var);
        self
    }

    /// A virtual variable.
    #[must_use]
    pub fn scratch(mut self, name: &str, offset: u64, size: u64) -> Self {
        let var = Var::scratch(self.next(), name, offset, size);
        self.set.vars.push(var);
        self
    }

    /// A constant with an alignment.
    #[must_use]
    pub fn constant(mut self, name: &str, bytes: &[u8], alignment: u32) -> Self {
        let blob = self.member(bytes);
        let detail = DetailIn::File { member: blob.member, payload_offset: 0, payload_len: blob.len };
        let mut var = Var::new(self.next(), name, VarClass::File, blob.len).with(detail);
        var.alignment = alignment;
        self.set.vars.push(var);
        self
    }

    /// A `dge-table`.
    #[must_use]
    pub fn table(mut self, name: &str, list: &[u32]) -> Self {
        let detail = DetailIn::DgeTable { len: list.len() as u32 };
        let mut var = Var::new(self.next(), name, VarClass::DgeTable, 0).with(detail);
        (var.size, var.list) = (None, list.to_vec());
        self.set.vars.push(var);
        self
    }

    /// A pointer.
    #[must_use]
    pub fn pointer(mut self, name: &str, referenced: u32) -> Self {
        let var = Var::pointer(self.next(), name, referenced);
        self.set.vars.push(var);
        self
    }

    /// A remote variable.
    #[must_use]
    pub fn remote(mut self, name: &str, subgraph: u32, var: u32) -> Self {
        let var = Var::remote(self.next(), name, subgraph, var);
        self.set.vars.push(var);
        self
    }

    /// A queue with its hardware instances; completion semaphores from 8 on. Queues come by name.
    #[must_use]
    pub fn queue(mut self, name: &str, kind: RingType, num_queues: u32) -> Self {
        let mut queue = Queue::new(name, kind);
        queue.num_queues = num_queues;
        queue.semaphores = (8..8 + num_queues).map(Into::into).collect();
        self.set.queues.push(queue);
        self
    }

    /// A block of pool on a queue, with a semaphore.
    #[must_use]
    pub fn block(mut self, queue: u16, id: u32, semaphore: Option<u32>, moves: Vec<Move>) -> Self {
        let mut block = DmaBlock::new(id, queue, moves);
        block.semaphore = semaphore;
        self.set.blocks.push(block);
        self
    }

    /// A microcode library.
    #[must_use]
    pub fn library(mut self, name: &str, bytes: &[u8]) -> Self {
        let content = self.member(bytes);
        self.set.libraries.push(Library { content, ..Library::new(name, 0x40) });
        self
    }

    /// The stream of an engine.
    #[must_use]
    pub fn stream(mut self, engine: Engine, slots: &[[u8; 64]]) -> Self {
        let blob = self.member(&slots.concat());
        self.set.engines[engine.index()] = (blob.len > 0).then_some(blob);
        self
    }
}

/// Joins the subgraphs of one model; member numbers are moved.
#[must_use]
pub fn join(hands: Vec<Hand>) -> (Vec<Set>, Members) {
    let mut sets = Vec::new();
    let mut members = Members::default();
    for (index, mut hand) in (0..).zip(hands) {
        let base = members.bytes.len() as u32;
        let moved = |blob: BlobIn| BlobIn { member: MemberId(blob.member.0 + base), ..blob };
        for engine in &mut hand.set.engines {
            *engine = engine.map(moved);
        }
        for var in &mut hand.set.vars {
            if let DetailIn::File { member, .. } = &mut var.detail {
                member.0 += base;
            }
        }
        for (_, bkt, ctl, _) in &mut hand.set.act_sets {
            (*bkt, *ctl) = (moved(*bkt), moved(*ctl));
        }
        for library in &mut hand.set.libraries {
            library.content = moved(library.content);
        }
        if let Some(dve) = &mut hand.set.dve {
            dve.tables = dve.tables.map(|table| if table == BlobIn::NONE { table } else { moved(table) });
        }
        members.bytes.append(&mut hand.members.bytes);
        sets.push(hand.set.at(index));
    }
    (sets, members)
}

/// A walk of one side.
#[must_use]
pub fn side(var: u32, off: u64, sizes: &[u64], steps: &[i64]) -> Access {
    Access::new(var, off, None, sizes, steps).expect("a walk")
}

/// A plain copy between two walks.
#[must_use]
pub fn copy(from: Access, to: Access) -> Move {
    Move { from: vec![from], to, ..Move::copy(0, 0, 1) }
}

/// Bytes that differ from place to place.
#[must_use]
pub fn pattern(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|at| (at as u8).wrapping_mul(31).wrapping_add((at >> 8) as u8).wrapping_add(seed)).collect()
}

/// Slots by hand.
pub mod slot {
    /// A slot with an opcode and zeros.
    #[must_use]
    pub fn plain(opcode: u8) -> [u8; 64] {
        let mut slot = [0; 64];
        (slot[0], slot[1]) = (opcode, 0x10);
        slot
    }

    /// The same with bytes from `at` on.
    #[must_use]
    pub fn with(mut slot: [u8; 64], at: usize, bytes: &[u8]) -> [u8; 64] {
        slot[at..at + bytes.len()].copy_from_slice(bytes);
        slot
    }

    /// A static trigger.
    #[must_use]
    pub fn trigger(queue: &str, block: u32) -> [u8; 64] {
        with(with(plain(0xC1), 12, queue.as_bytes()), 48, &block.to_le_bytes())
    }

    /// An operand: low word, id, marker.
    #[must_use]
    pub fn operand(low: u32, id: u32, marker: u8) -> [u8; 8] {
        let [a, b, c, d] = low.to_le_bytes();
        let [e, f, g, _] = id.to_le_bytes();
        [a, b, c, d, e, f, g, marker]
    }

    /// A descriptor-generation request with a kind.
    #[must_use]
    pub fn request(kind: u8, source: [u8; 8], destination: [u8; 8]) -> [u8; 64] {
        with(with(with(plain(0xD4), 15, &[kind]), 0x10, &source), 0x28, &destination)
    }
}
