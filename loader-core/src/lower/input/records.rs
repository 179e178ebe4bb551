//! Sealed records of a manifest as what lowering reads: a reference each, and no copy of a field before it is used.

use super::manifest::function_in;
use super::{BlobIn, DetailIn, FunctionIn, LibraryIn, QueueIn, VarIn};
use crate::arch::Engine;
use crate::lower::record::{EngType, RingType};
use crate::manifest::record::{LibraryRecord, QueueRecord, Text, VarRecord, queue_flag, var_flag, wide};
use crate::manifest::{Backing, Definition, Fabric, Function, Print, Role, Scratch, VarClass};
use crate::source::MemberId;
use zerocopy::little_endian::{U32, U64};

/// A variable's record.
#[derive(Clone, Copy, Debug)]
pub struct VarOf<'m> {
    pub(super) definition: Definition<'m>,
    pub(super) record: &'m VarRecord,
}

impl VarOf<'_> {
    const fn has(&self, flag: u8) -> bool {
        self.record.flags & flag != 0
    }
}

impl<'m> VarIn<'m> for VarOf<'m> {
    fn id(&self) -> u32 {
        self.record.var_id.get()
    }

    fn name(&self) -> &'m [u8] {
        self.record.name.get(self.definition.tail)
    }

    fn class(&self) -> VarClass {
        // S2 stores no other number.
        VarClass::from_code(self.record.class).unwrap_or(VarClass::StateBuffer)
    }

    fn size(&self) -> Option<u64> {
        self.has(var_flag::SIZE).then(|| self.record.size.get())
    }

    fn alignment(&self) -> u32 {
        self.record.alignment.get()
    }

    fn dtype(&self) -> &'m [u8] {
        self.record.dtype.get(..usize::from(self.record.dtype_len)).unwrap_or(&[])
    }

    fn shape(&self) -> &'m [U64] {
        self.definition.tail.slice(self.record.shape, usize::from(self.record.shape_len)).unwrap_or(&[])
    }

    fn print(&self) -> Option<Print<'m>> {
        let print =
            || Print { prefix: self.record.prefix.get(self.definition.tail), pipe: self.record.pipe.get() };
        (self.has(var_flag::PRINT) && self.class().can_print()).then(print)
    }

    fn fabric(&self) -> Option<Fabric> {
        let fabric = Fabric::ALL.get(usize::from(self.record.fabric)).copied();
        fabric.filter(|_| self.has(var_flag::FABRIC))
    }

    fn backing(&self) -> Option<Backing> {
        let backing = Backing::ALL.get(usize::from(self.record.backing)).copied();
        backing.filter(|_| self.has(var_flag::BACKING))
    }

    fn detail(&self) -> DetailIn {
        let VarRecord { a, b, c, d, .. } = self.record;
        match self.class() {
            VarClass::Virtual => DetailIn::Virtual { offset: a.get() },
            VarClass::File => {
                DetailIn::File { member: MemberId(c.get()), payload_offset: a.get(), payload_len: b.get() }
            }
            VarClass::Pointer => DetailIn::Pointer { referenced: c.get() },
            VarClass::List => DetailIn::List { len: c.get() },
            VarClass::DgeTable => DetailIn::DgeTable { len: c.get() },
            VarClass::Remote => DetailIn::Remote { subgraph: c.get(), var_id: d.get() },
            VarClass::StateBuffer | VarClass::TmpBuf | VarClass::Input | VarClass::Output => DetailIn::None,
        }
    }

    fn element(&self, at: u32) -> Option<u32> {
        let VarRecord { c: count, d: first, .. } = self.record;
        let at = first.get().checked_add(at).filter(|_| at < count.get())?;
        Some(self.definition.record.lists.get::<U32>(self.definition.tail, at)?.get())
    }
}

/// A queue set's record.
#[derive(Clone, Copy, Debug)]
pub struct QueueOf<'m> {
    pub(super) definition: Definition<'m>,
    pub(super) record: &'m QueueRecord,
}

impl QueueOf<'_> {
    const fn has(&self, flag: u8) -> bool {
        self.record.flags & flag != 0
    }

    fn role(&self) -> Role {
        // S2 stores no other number.
        Role::ALL.get(usize::from(self.record.role)).copied().unwrap_or(Role::Data)
    }
}

impl<'m> QueueIn<'m> for QueueOf<'m> {
    fn name(&self) -> &'m [u8] {
        self.record.name.get(self.definition.tail)
    }

    fn ring_type(&self) -> RingType {
        RingType::new(self.role().ring_type(self.has(queue_flag::INDIRECT)))
    }

    fn owner(&self) -> Option<EngType> {
        Engine::from_number(u32::from(self.record.owner)).map(Into::into)
    }

    fn num_queues(&self) -> u32 {
        self.record.num_queues.get()
    }

    fn semaphores(&self) -> &'m [U32] {
        self.record.semaphores.get(..wide(self.record.semaphore_count)).unwrap_or(&[])
    }

    fn pinned(&self) -> bool {
        self.has(queue_flag::PINNED)
    }

    fn dge(&self) -> bool {
        self.has(queue_flag::DGE)
    }

    fn dynamic(&self) -> bool {
        self.has(queue_flag::DYNAMIC) || self.role() == Role::Dynamic
    }

    fn needs_scratch(&self) -> bool {
        self.has(queue_flag::DYNAMIC)
    }

    fn scratch(&self) -> Option<Scratch> {
        let scratch =
            Scratch { offset: self.record.scratch_offset.get(), size: self.record.scratch_size.get() };
        self.has(queue_flag::DYNAMIC).then_some(scratch)
    }

    fn instances(&self) -> u32 {
        self.record.instances.get()
    }

    fn named_instances(&self) -> bool {
        self.has(queue_flag::INSTANCES)
    }

    fn first_instance(&self) -> u32 {
        self.record.first_instance.get()
    }

    fn instance_name(&self, instance: u32) -> Option<&'m [u8]> {
        if !self.named_instances() {
            return (instance == 0).then(|| self.name());
        }
        let at =
            self.record.first_name.get().checked_add(instance).filter(|_| instance < self.instances())?;
        Some(
            self.definition
                .record
                .instance_names
                .get::<Text>(self.definition.tail, at)?
                .get(self.definition.tail),
        )
    }
}

/// A library's record.
#[derive(Clone, Copy, Debug)]
pub struct LibraryOf<'m> {
    pub(super) definition: Definition<'m>,
    pub(super) record: &'m LibraryRecord,
    pub(super) index: u32,
    /// Bytes of its member.
    pub(super) len: u64,
}

impl<'m> LibraryIn<'m> for LibraryOf<'m> {
    fn name(&self) -> &'m [u8] {
        self.record.name.get(self.definition.tail)
    }

    fn version(&self) -> &'m [u8] {
        self.record.version.get(self.definition.tail)
    }

    fn content(&self) -> BlobIn {
        BlobIn { member: MemberId(self.record.member.get()), len: self.len }
    }

    fn opcode(&self) -> i32 {
        self.record.opcode.get()
    }

    fn cpu_id(&self) -> u32 {
        0
    }

    fn total_cpus(&self) -> u32 {
        self.record.total_cpus.get()
    }

    fn index(&self) -> u32 {
        self.index
    }

    fn functions(&self) -> u32 {
        self.record.functions.get()
    }

    fn function(&self, at: u32) -> Option<FunctionIn<'m>> {
        let first = self.record.first_function.get();
        let at = first.checked_add(at).filter(|_| at < self.record.functions.get())?;
        Function::of(self.definition.tail, &self.definition.record.functions, at).map(function_in)
    }
}
