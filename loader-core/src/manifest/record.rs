//! The manifest's records in the arena's tail: alignment 1, little-endian, read through the views.

use super::table::{Named, Table};
use crate::arena::{Arena, ArenaFull, Tail, TailRef};
use zerocopy::little_endian::{I32, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// "None" in a 32-bit field that holds an index or a member.
pub(crate) const NONE: u32 = u32::MAX;

/// Bytes in the tail.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Text {
    pub(crate) place: TailRef,
    pub(crate) len: U32,
}

impl Text {
    pub(crate) const EMPTY: Self = Self { place: TailRef::NULL, len: U32::ZERO };

    /// Copies `bytes` to the tail.
    pub(crate) fn keep(arena: &mut Arena<'_>, bytes: &[u8]) -> Result<Self, ArenaFull> {
        if bytes.is_empty() {
            return Ok(Self::EMPTY);
        }
        let full = ArenaFull { needed: bytes.len(), available: arena.available() };
        let len = u32::try_from(bytes.len()).map_err(|_| full)?;
        Ok(Self { place: arena.alloc_tail_bytes(bytes)?, len: U32::new(len) })
    }

    pub(crate) fn get<'m>(&self, tail: Tail<'m>) -> &'m [u8] {
        tail.octets(self.place, wide(self.len)).unwrap_or(&[])
    }
}

pub(crate) fn wide(n: U32) -> usize {
    usize::try_from(n.get()).unwrap_or(usize::MAX)
}

/// Flags of a [`VarRecord`].
pub(crate) mod var_flag {
    pub(crate) const SIZE: u8 = 1;
    pub(crate) const PRINT: u8 = 2;
    pub(crate) const FABRIC: u8 = 4;
    pub(crate) const BACKING: u8 = 8;
    /// A key of a `remote` variable gave the owner's subgraph, its id.
    pub(crate) const REMOTE_GRAPH: u8 = 16;
    pub(crate) const REMOTE_ID: u8 = 32;
}

/// One variable.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct VarRecord {
    pub(crate) name: Text,
    pub(crate) var_id: U32,
    pub(crate) class: u8,
    pub(crate) flags: u8,
    pub(crate) shape_len: u8,
    pub(crate) dtype_len: u8,
    pub(crate) size: U64,
    pub(crate) alignment: U32,
    /// `file`: member. `pointer`: referenced id. `remote`: owner's subgraph. `list`, `dge-table`: length.
    pub(crate) c: U32,
    /// `remote`: owner's variable id. `list`, `dge-table`: first of the ids in the definition's lists.
    pub(crate) d: U32,
    pub(crate) pipe: I32,
    /// `virtual`: offset in its area. `file`: offset of the payload in its member. `remote`, until its owner is known:
    /// the [`Text`] of a key with the owner's name.
    pub(crate) a: U64,
    /// `file`: bytes of the payload.
    pub(crate) b: U64,
    pub(crate) dtype: [u8; 16],
    pub(crate) shape: TailRef,
    pub(crate) prefix: Text,
    pub(crate) backing: u8,
    pub(crate) fabric: u8,
    pub(crate) pad: U16,
}

const _: () = assert!(size_of::<VarRecord>() == 88);

/// Flags of a [`QueueRecord`].
pub(crate) mod queue_flag {
    pub(crate) const PINNED: u8 = 1;
    pub(crate) const DGE: u8 = 2;
    pub(crate) const INDIRECT: u8 = 4;
    pub(crate) const DYNAMIC: u8 = 8;
    pub(crate) const EMBEDDING: u8 = 16;
    pub(crate) const INSTANCES: u8 = 32;
}

/// One queue set.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct QueueRecord {
    pub(crate) name: Text,
    pub(crate) role: u8,
    /// Engine number, 255 for none.
    pub(crate) owner: u8,
    pub(crate) flags: u8,
    pub(crate) fabric: u8,
    pub(crate) num_queues: U32,
    pub(crate) semaphore_count: U32,
    pub(crate) scratch_offset: U32,
    pub(crate) scratch_size: U32,
    pub(crate) embedding_semaphore: U32,
    /// First instance in the definition's flat numbering.
    pub(crate) first_instance: U32,
    pub(crate) instances: U32,
    /// First of its names among the definition's instance names.
    pub(crate) first_name: U32,
    pub(crate) semaphores: [U32; 32],
}

const _: () = assert!(size_of::<QueueRecord>() == 172);

/// Flags of a [`BlockRecord`].
pub(crate) mod block_flag {
    pub(crate) const SEMAPHORE: u8 = 1;
    pub(crate) const EVENT: u8 = 2;
    pub(crate) const SECTION_START: u8 = 4;
}

/// One DMA block.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct BlockRecord {
    pub(crate) id: U32,
    pub(crate) queue: U16,
    pub(crate) flags: u8,
    pub(crate) priority_class: u8,
    pub(crate) instance: U32,
    pub(crate) transfers: U32,
    pub(crate) semaphore: U32,
    pub(crate) event: U32,
    pub(crate) function: Text,
    pub(crate) remotes: TailRef,
    pub(crate) remote_count: U32,
}

const _: () = assert!(size_of::<BlockRecord>() == 40);

/// What the blocks of one source hold for one queue instance.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct TotalsRecord {
    pub(crate) blocks: U32,
    pub(crate) transfers: U32,
    pub(crate) accesses: U32,
    pub(crate) arithmetic: U32,
    pub(crate) transposes: U32,
    pub(crate) dims: U32,
    pub(crate) extra: U32,
}

/// One activation set.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct ActSetRecord {
    pub(crate) name: Text,
    pub(crate) bkt: U32,
    pub(crate) ctrl: U32,
    pub(crate) profile: U32,
}

/// One entry of `act_info.json`.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct ActInfoRecord {
    pub(crate) name: Text,
    pub(crate) bkt: Text,
    pub(crate) ctrl: Text,
    pub(crate) profile: Text,
}

/// One engine file, or the definition itself as a source of blocks.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct EngineRecord {
    /// Name of the file as `def.json` gives it.
    pub(crate) file: Text,
    /// `<engine>_instr` of `def.json`.
    pub(crate) fallback: Text,
    /// Blob name that counts in the end.
    pub(crate) instr: Text,
    pub(crate) act_info: Text,
    pub(crate) member: U32,
    pub(crate) blob: U32,
    pub(crate) blob_bytes: U64,
    pub(crate) transfers: U32,
    pub(crate) act_semaphore: U32,
    pub(crate) flags: u8,
    pub(crate) profile_functions: u8,
    pub(crate) pad: U16,
    /// `opcode`, `control`, `control_fast`, `control_slow`, `datapath`.
    pub(crate) dve: [U32; 5],
    pub(crate) blocks: Table,
    pub(crate) act_sets: Table,
}

/// Flags of an [`EngineRecord`].
pub(crate) mod engine_flag {
    /// The definition names a file.
    pub(crate) const NAMED: u8 = 1;
    /// No blob: the placeholder stands in.
    pub(crate) const PLACEHOLDER: u8 = 2;
    /// `act_semaphore` is present.
    pub(crate) const ACT_SEMAPHORE: u8 = 4;
    /// `dve_tables` is present.
    pub(crate) const DVE: u8 = 8;
    /// `activation_function_sets` is present.
    pub(crate) const ACT_SETS: u8 = 16;
}

/// One carve-out of the state buffer.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct CarveoutRecord {
    pub(crate) offset: U64,
    pub(crate) size: U64,
    pub(crate) start_partition: U64,
    pub(crate) num_partitions: U64,
}

/// One ucode library.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct LibraryRecord {
    pub(crate) name: Text,
    pub(crate) version: Text,
    pub(crate) member: U32,
    pub(crate) opcode: I32,
    pub(crate) total_cpus: U32,
    pub(crate) first_function: U32,
    pub(crate) functions: U32,
    pub(crate) add_lib: u8,
    pub(crate) pad: [u8; 3],
}

/// One function of a ucode library.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct FunctionRecord {
    pub(crate) name: Text,
    pub(crate) opcode: I32,
    pub(crate) sub_opcode: I32,
}

/// `fp8_conversion_config`.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Fp8Record {
    pub(crate) emax_e4m3: U32,
    pub(crate) emax_e5m2: U32,
    pub(crate) range_extension: u8,
    pub(crate) ocp_sat: u8,
    pub(crate) sis: u8,
    pub(crate) sns: u8,
}

/// Flags of a [`DefRecord`].
pub(crate) mod def_flag {
    pub(crate) const CARVEOUTS: u32 = 1;
    pub(crate) const FP8: u32 = 2;
    pub(crate) const REPLICA_GROUPS: u32 = 4;
    pub(crate) const PAIRS: u32 = 8;
    pub(crate) const WORLD_SIZE: u32 = 16;
    pub(crate) const EXT_ISA: u32 = 32;
    pub(crate) const EXT_ISA_ADD: u32 = 64;
    pub(crate) const DMA: u32 = 128;
    pub(crate) const VAR: u32 = 256;
    /// `runtime_statebuffer_reservation` is there and no array.
    pub(crate) const CARVEOUTS_WRONG: u32 = 512;
}

/// One subgraph definition.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct DefRecord {
    /// Name in the KELF.
    pub(crate) name: Text,
    /// The `definition` string.
    pub(crate) definition: Text,
    pub(crate) version: Text,
    /// Length of `sg_dir` within `definition`.
    pub(crate) dir_len: U32,
    pub(crate) member: U32,
    pub(crate) arch: U32,
    pub(crate) flags: U32,
    pub(crate) num_inputs: U32,
    pub(crate) num_outputs: U32,
    /// Variables in file order.
    pub(crate) vars: Table,
    /// U32 per element of a `list` or `dge-table`.
    pub(crate) lists: Table,
    /// U32 per variable: index in `vars`, ids ascending.
    pub(crate) by_id: TailRef,
    /// U32 per variable: index in `vars`, names ascending.
    pub(crate) by_name: TailRef,
    /// Queue sets in file order.
    pub(crate) queues: Table,
    /// U32 per queue set: index in `queues`, names ascending.
    pub(crate) queues_by_name: TailRef,
    /// `Text` per named instance of any queue set.
    pub(crate) instance_names: Table,
    pub(crate) instances: U32,
    /// `InstanceRecord` per instance, names ascending.
    pub(crate) instance_index: TailRef,
    /// `TotalsRecord` per source and instance.
    pub(crate) totals: TailRef,
    pub(crate) num_streams: U64,
    pub(crate) world_size: U64,
    /// Counts and ranks of `replica_groups`; U32.
    pub(crate) groups: Table,
    pub(crate) pairs: Table,
    pub(crate) carveouts: Table,
    pub(crate) libraries: Table,
    pub(crate) functions: Table,
    /// Functions of `ext_isa_ucode_lib_def`.
    pub(crate) ext_isa: Table,
    /// `Text` per feature name.
    pub(crate) features: Table,
    /// Member that `ucode_lib` names.
    pub(crate) ucode_manifest: Text,
    pub(crate) fp8: Fp8Record,
    /// Entries of `act_info.json`.
    pub(crate) act_infos: Table,
    /// The five engines by number, then the definition's own `dma`.
    pub(crate) engines: [EngineRecord; 6],
}

impl DefRecord {
    /// `sg_dir`: what the names of its members are relative to.
    pub(crate) fn dir(&self) -> Text {
        Text { place: self.definition.place, len: self.dir_len }
    }
}

/// The place of record `at` in the array at `place`: an array goes on towards the tail's end.
/// Null, where nothing is, for one before the tail's end.
pub(crate) fn nth<T>(place: TailRef, at: u32) -> TailRef {
    let size = u32::try_from(size_of::<T>()).unwrap_or(u32::MAX);
    TailRef(U32::new(place.0.get().saturating_sub(size.saturating_mul(at))))
}

/// A queue instance's name and place, for lookup.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct InstanceRecord {
    pub(crate) name: Text,
    pub(crate) queue: U32,
    pub(crate) instance: U32,
}

/// One input or output of the graph manifest.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct TensorRecord {
    pub(crate) name: Text,
    pub(crate) dtype: Text,
    pub(crate) size: U64,
    pub(crate) eid: U32,
    pub(crate) code: u8,
    pub(crate) ndim: u8,
    pub(crate) pad: U16,
    /// U32 per dimension.
    pub(crate) shape: TailRef,
}

/// What the graph manifest and the KELF say, once per file.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct RootRecord {
    pub(crate) inputs: TailRef,
    pub(crate) input_count: U32,
    pub(crate) outputs: TailRef,
    pub(crate) output_count: U32,
    pub(crate) graph_member: U32,
    pub(crate) kelf_nodes: U32,
    pub(crate) node_name: Text,
    pub(crate) kelf_name: Text,
    pub(crate) kelf_member: U32,
    pub(crate) major: U32,
    pub(crate) minor: U32,
    pub(crate) suffix_at: U32,
    pub(crate) version: Text,
    pub(crate) target: Text,
    pub(crate) target_present: U32,
    pub(crate) arch: U32,
    /// `DefRecord` per graph.
    pub(crate) definitions: TailRef,
    pub(crate) definition_count: U32,
}

impl Named for VarRecord {}
impl Named for QueueRecord {}
impl Named for LibraryRecord {}
impl Named for ActInfoRecord {}
impl Named for TensorRecord {}

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(VarRecord, name) == 0 && offset_of!(QueueRecord, name) == 0);
    assert!(offset_of!(LibraryRecord, name) == 0 && offset_of!(ActInfoRecord, name) == 0);
    assert!(offset_of!(TensorRecord, name) == 0);
};
