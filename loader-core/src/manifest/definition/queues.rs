//! One `dma_queue` entry: its keys as they come, then the checks of manifests.md §8.3.

use super::super::build::{Build, Slot, check_of, failed, fault, full, shown, word};
use super::super::class::{Fabric, Role};
use super::super::record::{DefRecord, QueueRecord, Text, queue_flag};
use super::super::verdict::{Rank, Section};
use crate::arch::{Arch, Engine};
use crate::error::{Error, ManifestCode, Name};
use crate::json::{self, Element, Kind, Want};
use crate::words::words;
use zerocopy::little_endian::U32;

/// Hardware queues of a set at most (manifests.md §8.1, Confirmed).
const QUEUES_MAX: u32 = 16;
/// Semaphores of a set at most (Confirmed).
const SEMAPHORES_MAX: usize = 32;
/// Queue sets at most: the slots of the lowered record.
pub(super) const SETS_MAX: u32 = 32;

/// Hardware-DGE queue sets at most (manifests.md §8.4, Confirmed).
pub(super) const fn dge_limit(arch: Option<Arch>) -> u32 {
    match arch {
        Some(Arch::Cayman | Arch::Mariana) => 2,
        Some(Arch::Sunda) | None => 0,
    }
}

/// A word of a fixed list, or what stands there instead.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Word<T> {
    Known(T),
    Unknown(Name<16>),
}

fn known<T: Copy, const N: usize>(
    text: json::Text<'_>,
    all: [T; N],
    name: impl Fn(T) -> &'static str,
) -> Word<T> {
    word(text, all, name).map_or_else(|| Word::Unknown(shown(text)), Word::Known)
}

/// Scratch of `dynamic_dma` (R12): both keys or neither.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Dynamic {
    Plain,
    Scratch(u32, u32),
}

fn dynamic(value: Element<'_>) -> Option<Option<Dynamic>> {
    if let Some(flag) = value.as_flag() {
        return Some(flag.then_some(Dynamic::Plain));
    }
    value.as_fields()?;
    let [offset, size] =
        ["SB_scratch_partition_offset", "SB_scratch_partition_size"].map(|key| value.get(key));
    match (offset, size) {
        (Some(offset), Some(size)) => Some(Some(Dynamic::Scratch(offset.as_u32()?, size.as_u32()?))),
        (None, None) => Some(Some(Dynamic::Plain)),
        _ => None,
    }
}

/// The entry that is being read.
#[derive(Debug, Default)]
pub(super) struct QueueDraft {
    role: Slot<Word<Role>>,
    owner: Slot<Word<Engine>>,
    num_queues: Slot<u32>,
    /// `num_queues` as it is written.
    num_written: Option<Name<32>>,
    semaphore: Slot<u32>,
    semaphore_set: Slot<([u32; SEMAPHORES_MAX], u32)>,
    /// First name of `queue_instances`.
    instances: Slot<u32>,
    instance_count: u32,
    pinned: Slot<bool>,
    dge: Slot<bool>,
    indirect: Slot<bool>,
    dynamic: Slot<Option<Dynamic>>,
    embedding: Slot<u32>,
    fabric: Slot<Option<Fabric>>,
    offset: u64,
}

words! {
    /// Keys of a queue.
    Key {
        Type = b"type",
        Owner = b"owner",
        NumQueues = b"num_queues",
        Semaphore = b"semaphore",
        SemaphoreSet = b"semaphore_set",
        Pinned = b"pinned",
        Dge = b"dge",
        IndirectMemcpy = b"indirect_memcpy",
        DynamicDma = b"dynamic_dma",
        EmbeddingUpdateSyncSemaphore = b"embedding_update_sync_semaphore",
        FabricPath = b"fabric_path",
        QueueInstances = b"queue_instances",
    }
}

/// A check that failed, with its row in §8.3 (see [`failed`]).
type Failed = Error;

impl QueueDraft {
    pub(super) fn begin(&mut self, offset: u64) {
        *self = Self { offset, ..Self::default() };
    }

    pub(super) fn value(&mut self, def: &DefRecord, key: &[u8], kind: Kind) -> Want {
        match Key::of(key) {
            Key::Type
            | Key::Owner
            | Key::NumQueues
            | Key::Semaphore
            | Key::SemaphoreSet
            | Key::Pinned
            | Key::Dge
            | Key::IndirectMemcpy
            | Key::DynamicDma
            | Key::EmbeddingUpdateSyncSemaphore
            | Key::FabricPath => Want::Take,
            Key::QueueInstances => self.instances.enter(kind, def.instance_names.len()),
            _ => Want::Skip,
        }
    }

    /// An element of `queue_instances`.
    pub(super) fn instance(
        &mut self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        item: Element<'_>,
    ) -> Result<(), Error> {
        let Some(name) = build.keep_string(item)? else {
            self.instances = Slot::Wrong;
            return Ok(());
        };
        self.instance_count = self.instance_count.saturating_add(1);
        def.instance_names.push(build.arena, name).map(drop).map_err(full)
    }

    pub(super) fn taken(&mut self, key: &[u8], value: Element<'_>) {
        match Key::of(key) {
            Key::Type => self.role.set(value.as_text().map(|text| known(text, Role::ALL, Role::name))),
            Key::Owner => self.owner.set(value.as_text().map(|text| known(text, Engine::ALL, Engine::key))),
            Key::NumQueues => {
                self.num_queues.set(value.as_u32());
                self.num_written = self.num_written.or_else(|| Some(Name::new(value.bytes())));
            }
            Key::Semaphore => self.semaphore.set(value.as_u32()),
            Key::SemaphoreSet => self.semaphore_set.set(semaphores(value)),
            Key::Pinned => self.pinned.set(value.as_flag()),
            Key::Dge => self.dge.set(value.as_flag()),
            Key::IndirectMemcpy => self.indirect.set(value.as_flag()),
            Key::DynamicDma => self.dynamic.set(dynamic(value)),
            Key::EmbeddingUpdateSyncSemaphore => self.embedding.set(value.as_u32()),
            Key::FabricPath => {
                self.fabric.set(value.as_text().map(|text| word(text, Fabric::ALL, Fabric::name)))
            }
            _ => {}
        }
    }

    /// The entry is complete. `ordinal` is its position in the file.
    pub(super) fn end(
        &mut self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        graph: u16,
        ordinal: u32,
        name: &[u8],
    ) -> Result<(), Error> {
        match self.check(name) {
            Ok(mut record) if def.queues.len() < SETS_MAX => {
                record.name = build.keep(name)?;
                def.queues.push(build.arena, record).map(drop).map_err(full)
            }
            // One too many is refused after the table; see `finish`.
            Ok(_) => Ok(()),
            Err(error) => {
                let row = check_of(&error);
                let rank = Rank::new(graph, Section::Queues).item(ordinal, row);
                build.offer(rank, error.offset(self.offset).element(ordinal));
                Ok(())
            }
        }
    }

    fn check(&self, name: &[u8]) -> Result<QueueRecord, Failed> {
        let role = self.role(name)?;
        let owner = self.owner(name)?;
        let num_queues = self.num_queues(name)?;
        if let Some(kind) = role.without_instances().filter(|_| !self.instances.is_absent()) {
            let error = fault(ManifestCode::QueueInstances).name(name);
            return Err(failed(4, error.name2(kind.as_bytes())));
        }
        let (semaphores, count) = self.semaphores(name)?;
        if role == Role::ActLoad && num_queues != 1 {
            let error = fault(ManifestCode::QueueActLoad).name(name);
            return Err(failed(6, error.numbers(u64::from(num_queues), 1)));
        }
        self.types(name)?;
        if role == Role::EmbeddingUpdate && self.embedding.is_absent() {
            return Err(malformed(7, name, "embedding_update"));
        }
        let scratch = match self.dynamic.get().flatten() {
            Some(Dynamic::Scratch(offset, size)) => (offset, size),
            _ => (0, 0),
        };
        let named = self.instances.get().is_some() && self.instance_count > 0;
        Ok(QueueRecord {
            name: Text::EMPTY,
            role: Role::ALL.iter().position(|&one| one == role).map_or(0, small),
            owner: owner.map_or(u8::MAX, |engine| small(engine.index())),
            flags: self.flags(named),
            fabric: fabric_number(self.fabric.get().flatten()),
            num_queues: U32::new(num_queues),
            semaphore_count: U32::new(count),
            scratch_offset: U32::new(scratch.0),
            scratch_size: U32::new(scratch.1),
            embedding_semaphore: U32::new(self.embedding.get().unwrap_or(0)),
            first_instance: U32::ZERO,
            instances: U32::new(if named { self.instance_count } else { 1 }),
            first_name: U32::new(self.instances.get().unwrap_or(0)),
            semaphores: semaphores.map(U32::new),
        })
    }

    fn role(&self, name: &[u8]) -> Result<Role, Failed> {
        match self.role {
            Slot::Got(Word::Known(role)) => Ok(role),
            Slot::Got(Word::Unknown(shown)) => {
                Err(failed(1, fault(ManifestCode::QueueRole).name(name).name2(shown.as_bytes())))
            }
            Slot::Absent | Slot::Wrong => Err(failed(0, fault(ManifestCode::QueueType).name(name))),
        }
    }

    fn owner(&self, name: &[u8]) -> Result<Option<Engine>, Failed> {
        match self.owner {
            Slot::Absent => Ok(None),
            Slot::Got(Word::Known(engine)) => Ok(Some(engine)),
            Slot::Got(Word::Unknown(shown)) => {
                Err(failed(2, fault(ManifestCode::QueueOwner).name(name).name2(shown.as_bytes())))
            }
            Slot::Wrong => Err(failed(2, fault(ManifestCode::QueueOwner).name(name))),
        }
    }

    fn num_queues(&self, name: &[u8]) -> Result<u32, Failed> {
        let count = match self.num_queues {
            Slot::Absent => 1,
            Slot::Wrong => 0,
            Slot::Got(count) => count,
        };
        let numbers = (u64::from(count), u64::from(QUEUES_MAX));
        let written = self.num_written.unwrap_or(Name::EMPTY);
        let error = || {
            let error = fault(ManifestCode::QueueCount).name(written.as_bytes()).name2(name);
            error.numbers(numbers.0, numbers.1)
        };
        if (1..=QUEUES_MAX).contains(&count) { Ok(count) } else { Err(failed(3, error())) }
    }

    fn semaphores(&self, name: &[u8]) -> Result<([u32; SEMAPHORES_MAX], u32), Failed> {
        let mut one = [0u32; SEMAPHORES_MAX];
        match (self.semaphore_set, self.semaphore) {
            (Slot::Wrong, _) => Err(malformed(5, name, "semaphore_set")),
            (Slot::Got((_, count)), _) if count > 32 => {
                let error = fault(ManifestCode::QueueSemaphores).name(name);
                Err(failed(5, error.numbers(u64::from(count), 32)))
            }
            (Slot::Got(set), _) => Ok(set),
            (Slot::Absent, Slot::Got(semaphore)) => {
                if let Some(slot) = one.first_mut() {
                    *slot = semaphore;
                }
                Ok((one, 1))
            }
            (Slot::Absent, Slot::Absent) => Ok((one, 0)),
            (Slot::Absent, Slot::Wrong) => Err(malformed(5, name, "semaphore")),
        }
    }

    /// The keys whose only rule is their type.
    fn types(&self, name: &[u8]) -> Result<(), Failed> {
        let wrong = [
            (self.instances.is_wrong(), "queue_instances"),
            (self.pinned.is_wrong(), "pinned"),
            (self.dge.is_wrong(), "dge"),
            (self.indirect.is_wrong(), "indirect_memcpy"),
            (self.dynamic.is_wrong(), "dynamic_dma"),
            (self.embedding.is_wrong(), "embedding_update"),
            (self.fabric.is_wrong() || self.fabric.get() == Some(None), "fabric_path"),
        ];
        match wrong.into_iter().find(|(wrong, _)| *wrong) {
            Some((_, key)) => Err(malformed(7, name, key)),
            None => Ok(()),
        }
    }

    fn flags(&self, named: bool) -> u8 {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let scratch = matches!(self.dynamic.get().flatten(), Some(Dynamic::Scratch(..)));
        flag(self.pinned.get() == Some(true), queue_flag::PINNED)
            | flag(self.dge.get() == Some(true), queue_flag::DGE)
            | flag(self.indirect.get() == Some(true), queue_flag::INDIRECT)
            | flag(scratch, queue_flag::DYNAMIC)
            | flag(self.embedding.get().is_some(), queue_flag::EMBEDDING)
            | flag(named, queue_flag::INSTANCES)
    }
}

fn malformed(row: u8, name: &[u8], key: &str) -> Failed {
    failed(row, fault(ManifestCode::QueueTable).name(name).name2(key.as_bytes()))
}

fn fabric_number(fabric: Option<Fabric>) -> u8 {
    fabric.and_then(|fabric| Fabric::ALL.iter().position(|&one| one == fabric)).map_or(0, small)
}

fn small(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

/// The first 32 semaphores, and how many there are.
fn semaphores(value: Element<'_>) -> Option<([u32; SEMAPHORES_MAX], u32)> {
    let mut set = [0u32; SEMAPHORES_MAX];
    let mut count = 0u32;
    for item in value.as_items()? {
        let semaphore = item.as_u32()?;
        if let Some(slot) = usize::try_from(count).ok().and_then(|at| set.get_mut(at)) {
            *slot = semaphore;
        }
        count = count.saturating_add(1);
    }
    Some((set, count))
}
