//! Variables, queues and libraries of hand-made sets as lowering asks for them.

use super::{Library, Queue, Var};
use loader_core::lower::input::{BlobIn, DetailIn, FunctionIn, LibraryIn, QueueIn, VarIn};
use loader_core::lower::record::{EngType, RingType};
use loader_core::manifest::{Backing, Fabric, Print, Scratch, VarClass};
use zerocopy::little_endian::{U32, U64};

impl<'a> VarIn<'a> for &'a Var {
    fn id(&self) -> u32 {
        self.id
    }

    fn name(&self) -> &'a [u8] {
        &self.name
    }

    fn class(&self) -> VarClass {
        self.class
    }

    fn size(&self) -> Option<u64> {
        self.size
    }

    fn alignment(&self) -> u32 {
        self.alignment
    }

    fn dtype(&self) -> &'a [u8] {
        &self.dtype
    }

    fn shape(&self) -> &'a [U64] {
        &self.shape
    }

    fn print(&self) -> Option<Print<'a>> {
        self.print.as_ref().map(|(prefix, pipe)| Print { prefix, pipe: *pipe })
    }

    fn fabric(&self) -> Option<Fabric> {
        self.fabric
    }

    fn backing(&self) -> Option<Backing> {
        self.backing
    }

    fn detail(&self) -> DetailIn {
        self.detail
    }

    fn element(&self, at: u32) -> Option<u32> {
        self.list.get(at as usize).copied()
    }
}

/// A queue and where its instances stand among all.
#[derive(Debug)]
pub struct QueueOf<'a> {
    pub(super) queue: &'a Queue,
    pub(super) first_instance: u32,
}

impl<'a> QueueIn<'a> for QueueOf<'a> {
    fn name(&self) -> &'a [u8] {
        &self.queue.name
    }

    fn ring_type(&self) -> RingType {
        self.queue.ring_type
    }

    fn owner(&self) -> Option<EngType> {
        self.queue.owner
    }

    fn num_queues(&self) -> u32 {
        self.queue.num_queues
    }

    fn semaphores(&self) -> &'a [U32] {
        &self.queue.semaphores
    }

    fn pinned(&self) -> bool {
        self.queue.pinned
    }

    fn dge(&self) -> bool {
        self.queue.dge
    }

    fn dynamic(&self) -> bool {
        self.queue.dynamic
    }

    fn needs_scratch(&self) -> bool {
        self.queue.needs_scratch
    }

    fn scratch(&self) -> Option<Scratch> {
        self.queue.scratch
    }

    fn instances(&self) -> u32 {
        self.queue.instances.len() as u32
    }

    fn named_instances(&self) -> bool {
        self.queue.named
    }

    fn first_instance(&self) -> u32 {
        self.first_instance
    }

    fn instance_name(&self, instance: u32) -> Option<&'a [u8]> {
        self.queue.instances.get(instance as usize).map(Vec::as_slice)
    }
}

/// A library and its number.
#[derive(Debug)]
pub struct LibraryOf<'a> {
    pub(super) library: &'a Library,
    pub(super) index: u32,
}

impl<'a> LibraryIn<'a> for LibraryOf<'a> {
    fn name(&self) -> &'a [u8] {
        &self.library.name
    }

    fn version(&self) -> &'a [u8] {
        &self.library.version
    }

    fn content(&self) -> BlobIn {
        self.library.content
    }

    fn opcode(&self) -> i32 {
        self.library.opcode
    }

    fn cpu_id(&self) -> u32 {
        self.library.cpu_id
    }

    fn total_cpus(&self) -> u32 {
        self.library.total_cpus
    }

    fn index(&self) -> u32 {
        self.index
    }

    fn function(&self, at: u32) -> Option<FunctionIn<'a>> {
        let (name, opcode, sub_opcode) = self.library.functions.get(at as usize)?;
        Some(FunctionIn { name, opcode: *opcode, sub_opcode: *sub_opcode })
    }
}
