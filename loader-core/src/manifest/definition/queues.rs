//! One `dma_queue` entry: its keys as they come, then the checks of manifests.md §8.3.

use super::super::build::{Build, Number, failed, fault, numbers, short};
use super::super::class::Role;
use super::super::fields::Type::{Flag, Own, U32 as Unsigned, Word};
use super::super::fields::{Fields, Read, Words, fields};
use super::super::record::{DefRecord, QueueRecord, Text, queue_flag};
use crate::arch::Arch;
use crate::error::{Error, ManifestCode};
use crate::json::{Element, Kind, Want};
use zerocopy::little_endian::U32;
use zerocopy::{FromZeros, IntoBytes};

/// Hardware queues of a set at most (manifests.md §8.1, Confirmed).
const QUEUES_MAX: u32 = 16;
/// Semaphores of a set at most (Confirmed).
const SEMAPHORES_MAX: u32 = 32;
/// Queue sets at most: the slots of the lowered record.
pub(super) const SETS_MAX: u32 = 32;

/// Hardware-DGE queue sets at most (manifests.md §8.4, Confirmed).
pub(super) const fn dge_limit(arch: Option<Arch>) -> u32 {
    match arch {
        Some(Arch::Cayman | Arch::Mariana) => 2,
        Some(Arch::Sunda) | None => 0,
    }
}

fields! {
    /// Keys of a queue (manifests.md §8.1). From `queue_instances` on, the type is the only rule.
    Key for QueueRecord {
        Type = b"type": Word(Words::Role) => role,
        Owner = b"owner": Word(Words::Engine) => owner,
        NumQueues = b"num_queues": Unsigned => num_queues,
        Semaphore = b"semaphore": Unsigned,
        SemaphoreSet = b"semaphore_set": Own,
        QueueInstances = b"queue_instances": Own,
        Pinned = b"pinned": Flag,
        Dge = b"dge": Flag,
        IndirectMemcpy = b"indirect_memcpy": Flag,
        DynamicDma = b"dynamic_dma": Own,
        EmbeddingUpdateSyncSemaphore = b"embedding_update_sync_semaphore": Unsigned => embedding_semaphore,
        FabricPath = b"fabric_path": Word(Words::Fabric) => fabric,
    }
}

/// The entry that is being read.
#[derive(Debug)]
pub(super) struct QueueDraft {
    said: Fields<Key>,
    /// The key whose value is being taken.
    key: Key,
    semaphores: [U32; 32],
    /// Scratch of `dynamic_dma` (R12): offset and size.
    scratch: [U32; 2],
    dynamic: bool,
    instance_count: u32,
}

/// A check that failed, with its row in §8.3 (see [`failed`]); it says nothing of the entry's name.
pub(super) type Failed = Error;

impl QueueDraft {
    pub(super) const NEW: Self = Self {
        said: Fields::NONE,
        key: Key::NONE_YET,
        semaphores: [U32::ZERO; 32],
        scratch: [U32::ZERO; 2],
        dynamic: false,
        instance_count: 0,
    };

    pub(super) const fn begin(&mut self) {
        self.said.begin();
        (self.dynamic, self.instance_count) = (false, 0);
        self.scratch = [U32::ZERO; 2];
        self.semaphores = [U32::ZERO; 32];
    }

    pub(super) fn value(&mut self, def: &DefRecord, key: &[u8], kind: Kind) -> Want {
        self.key = Key::of(key);
        match self.key {
            Key::Other => Want::Skip,
            Key::QueueInstances => self.said.enter(Key::QueueInstances, kind, def.instance_names.len()),
            _ => Want::Take,
        }
    }

    /// An element of `queue_instances`.
    pub(super) fn instance(
        &mut self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        item: Element<'_>,
    ) -> Result<(), Error> {
        let mut name = Text::EMPTY;
        if !build.keep_string(item, &mut name)? || build.bytes(name).contains(&0) {
            self.said.spoil(Key::QueueInstances);
            return Ok(());
        }
        self.instance_count = self.instance_count.saturating_add(1);
        build.push(&mut def.instance_names, &name)
    }

    pub(super) fn taken(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
        let key = self.key;
        if !self.said.is_absent(key) {
            return Ok(());
        }
        match key {
            Key::NumQueues => self.said.show_raw(key, value),
            Key::SemaphoreSet => {
                let count = numbers(value, Number::U32, self.semaphores.as_mut_bytes());
                self.said.put(key, Read::or_wrong(count.map(u64::from)));
            }
            Key::DynamicDma => {
                let read = self.dynamic(value);
                self.said.put(key, Read::or_wrong(read.map(u64::from)));
            }
            _ => {}
        }
        self.said.take(build, key, value)
    }

    /// Whether `dynamic_dma` is on; its scratch has both keys or neither (R12).
    fn dynamic(&mut self, value: Element<'_>) -> Option<bool> {
        if let Some(flag) = value.as_flag() {
            return Some(flag);
        }
        value.as_fields()?;
        let (offset, size) =
            (value.get("SB_scratch_partition_offset"), value.get("SB_scratch_partition_size"));
        if offset.is_none() && size.is_none() {
            return Some(true);
        }
        self.scratch = [U32::new(offset?.as_u32()?), U32::new(size?.as_u32()?)];
        self.dynamic = true;
        Some(true)
    }

    /// The entry is complete: checks it and keeps it, or says what is wrong with it.
    pub(super) fn end(
        &mut self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        name: &[u8],
    ) -> Result<Option<Failed>, Error> {
        let mut record = QueueRecord::new_zeroed();
        if let Err(error) = self.check(name, &mut record) {
            return Ok(Some(error));
        }
        // One too many is refused after the table; see `finish`.
        if def.queues.len() < SETS_MAX {
            build.keep(name, &mut record.name)?;
            build.push(&mut def.queues, &record)?;
        }
        Ok(None)
    }

    fn check(&self, name: &[u8], record: &mut QueueRecord) -> Result<(), Failed> {
        let said = &self.said;
        record.owner = u8::MAX;
        record.num_queues = U32::new(if said.is_absent(Key::NumQueues) { 1 } else { 0 });
        said.place(record);
        let role = self.role()?;
        if said.is_wrong(Key::Owner) || said.is_unknown(Key::Owner) {
            let error = fault(ManifestCode::QueueOwner);
            let unknown = said.is_unknown(Key::Owner);
            return Err(failed(2, if unknown { error.name2(short(said.shown(Key::Owner))) } else { error }));
        }
        let queues = record.num_queues.get();
        if !(1..=QUEUES_MAX).contains(&queues) {
            let error = fault(ManifestCode::QueueCount).name(said.shown(Key::NumQueues)).name2(name);
            return Err(failed(3, error.numbers(u64::from(queues), u64::from(QUEUES_MAX))));
        }
        if let Some(kind) = role.without_instances().filter(|_| !said.is_absent(Key::QueueInstances)) {
            return Err(failed(4, fault(ManifestCode::QueueInstances)).name2(kind.as_bytes()));
        }
        self.semaphores(record)?;
        if role == Role::ActLoad && queues != 1 {
            return Err(failed(6, fault(ManifestCode::QueueActLoad)).numbers(u64::from(queues), 1));
        }
        if let Some(key) = said.first_bad(Key::QueueInstances, Key::FabricPath) {
            return Err(malformed(7, key));
        }
        if role == Role::EmbeddingUpdate && said.is_absent(Key::EmbeddingUpdateSyncSemaphore) {
            return Err(malformed(7, Key::EmbeddingUpdateSyncSemaphore.word()));
        }
        // Records end a name there, and two would read as one.
        if name.contains(&0) {
            return Err(malformed(7, b"name"));
        }
        self.rest(record);
        Ok(())
    }

    fn role(&self) -> Result<Role, Failed> {
        let word = self.said.get(Key::Type).and_then(|word| usize::try_from(word).ok());
        if let Some(role) = word.and_then(|word| Role::ALL.get(word)) {
            return Ok(*role);
        }
        if self.said.is_unknown(Key::Type) {
            return Err(failed(1, fault(ManifestCode::QueueRole)).name2(short(self.said.shown(Key::Type))));
        }
        Err(failed(0, fault(ManifestCode::QueueType)))
    }

    /// `semaphore_set`, else the one `semaphore`.
    fn semaphores(&self, record: &mut QueueRecord) -> Result<(), Failed> {
        let said = &self.said;
        if said.is_wrong(Key::SemaphoreSet) {
            return Err(malformed(5, Key::SemaphoreSet.word()));
        }
        record.semaphores = self.semaphores;
        if !said.is_absent(Key::SemaphoreSet) {
            let count = said.u32(Key::SemaphoreSet);
            record.semaphore_count = U32::new(count);
            if count > SEMAPHORES_MAX {
                return Err(failed(5, fault(ManifestCode::QueueSemaphores))
                    .numbers(u64::from(count), u64::from(SEMAPHORES_MAX)));
            }
        } else if said.is_wrong(Key::Semaphore) {
            return Err(malformed(5, Key::Semaphore.word()));
        } else if said.has(Key::Semaphore) {
            let [first, ..] = &mut record.semaphores;
            *first = U32::new(said.u32(Key::Semaphore));
            record.semaphore_count = U32::new(1);
        }
        Ok(())
    }

    /// What no check looks at.
    fn rest(&self, record: &mut QueueRecord) {
        let said = &self.said;
        let named = said.has(Key::QueueInstances) && self.instance_count > 0;
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        record.flags = flag(said.is_set(Key::Pinned), queue_flag::PINNED)
            | flag(said.is_set(Key::Dge), queue_flag::DGE)
            | flag(said.is_set(Key::IndirectMemcpy), queue_flag::INDIRECT)
            | flag(self.dynamic, queue_flag::DYNAMIC)
            | flag(said.has(Key::EmbeddingUpdateSyncSemaphore), queue_flag::EMBEDDING)
            | flag(named, queue_flag::INSTANCES);
        [record.scratch_offset, record.scratch_size] = self.scratch;
        record.instances = U32::new(if named { self.instance_count } else { 1 });
        record.first_name = U32::new(said.u32(Key::QueueInstances));
    }
}

/// Names the key; the long one by its first 16 bytes, which is what there is room for.
fn malformed(row: u8, key: &[u8]) -> Failed {
    failed(row, fault(ManifestCode::QueueTable)).name2(short(key))
}
