//! The records of staging.md §5 and §22: sizes, and offsets where the reference has them. Every field's own
//! offset is asserted by the record's definition while it compiles; here the numbers stand a second time.

use loader_core::arch::Arch;
use loader_core::lower::record::{Counted, Kbin, MemRef, PatchEntry};
use loader_core::manifest::VarClass;
use loader_core::plan::record::reference::{
    Allocator, BlockCounts, BlockKey, BundleInstance, CodeBlock, CodeRanges, CoreObject, DeviceObject,
    FunctionRecord, GarbageNode, HashNode, HashTable, InstructionBlock, ListArm, LogicalCore, ModelSet,
    PhysicalCore, PlanSlot, PointerArm, QueueInfo, ScratchArena, ScratchPage, TableArm,
};
use loader_core::plan::record::{
    Bridge, CollectiveContext, DMem, FeatureMap, Handle, InstrAddrs, IoInfo, LoadParams, Model, ModelNode,
    NodeSlot, NodeTable, PatchList, PlaceArm, Registered, RingRec, Span, VarPlace,
};
use neffload_tests::staging::Rig;
use neffload_tests::staging::model::{Hand, join};
use std::mem::{offset_of, size_of};
use zerocopy::little_endian::U64;
use zerocopy::{IntoBytes, transmute};

#[test]
fn sizes() {
    let sizes = [
        (size_of::<Handle>(), 284),
        (size_of::<Registered>(), 480),
        (size_of::<IoInfo>(), 144),
        (size_of::<Bridge>(), 72),
        (size_of::<LoadParams>(), 32),
        (size_of::<ModelSet>(), 120),
        (size_of::<Model>(), 7744),
        (size_of::<CollectiveContext>(), 624),
        (size_of::<HashTable>(), 32),
        (size_of::<HashNode>(), 48),
        (size_of::<Counted>(), 16),
        (size_of::<FeatureMap>(), 272),
        (size_of::<MemRef>(), 152),
        (size_of::<VarPlace>(), 208),
        (size_of::<DMem>(), 192),
        (size_of::<Allocator>(), 512),
        (size_of::<GarbageNode>(), 16),
        (size_of::<ScratchArena>(), 16440),
        (size_of::<ScratchPage>(), 16),
        (size_of::<PlanSlot>(), 32),
        (size_of::<CoreObject>(), 39320),
        (size_of::<DeviceObject>(), 590_008),
        (size_of::<LogicalCore>(), 64),
        (size_of::<PhysicalCore>(), 24),
        (size_of::<QueueInfo>(), 360),
        (size_of::<BundleInstance>(), 6096),
        (size_of::<BlockKey>(), 260),
        (size_of::<BlockCounts>(), 240),
        (size_of::<Kbin>(), 424),
        (size_of::<InstructionBlock>(), 96),
        (size_of::<CodeRanges>(), 56),
        (size_of::<InstrAddrs>(), 56),
        (size_of::<FunctionRecord>(), 352),
        (size_of::<CodeBlock>(), 200),
        (size_of::<PatchEntry>(), 16),
        (size_of::<PatchList>(), 16),
        (size_of::<Span>(), 16),
        (size_of::<RingRec>(), 32),
        (size_of::<ModelNode>(), 672),
        (size_of::<NodeSlot>(), 712),
    ];
    for (row, (found, expected)) in sizes.into_iter().enumerate() {
        assert_eq!(found, expected, "row {row}");
    }
}

#[test]
fn offsets_of_the_model() {
    let offsets = [
        (offset_of!(Model, queue_set), 0x0110),
        (offset_of!(Model, blocks), 0x1898),
        (offset_of!(Model, patch_info), 0x18A0),
        (offset_of!(Model, h_model), 0x18F0),
        (offset_of!(Model, params), 0x1920),
        (offset_of!(Model, allocator), 0x1940),
        (offset_of!(Model, garbage), 0x1948),
        (offset_of!(Model, ucode), 0x1950),
        (offset_of!(Model, refs), 0x1958),
        (offset_of!(Model, inputs), 0x1960),
        (offset_of!(Model, outputs), 0x1970),
        (offset_of!(Model, target), 0x1980),
        (offset_of!(Model, addrs), 0x1988),
        (offset_of!(Model, functions), 0x19B0),
        (offset_of!(Model, exec_descs), 0x1A00),
        (offset_of!(Model, variables), 0x1A08),
        (offset_of!(Model, io_names), 0x1A10),
        (offset_of!(Model, collectives), 0x1AC8),
        (offset_of!(Model, collectives) + offset_of!(CollectiveContext, event_accelerator), 0x1C32),
        (offset_of!(Model, scratchpad), 0x1D38),
        (offset_of!(Model, node), 0x1D48),
        (offset_of!(Model, reset_event_accelerator), 0x1DA0),
        (offset_of!(Model, program_fp8), 0x1DA1),
    ];
    for (found, expected) in offsets {
        assert_eq!(found, expected);
    }
}

#[test]
fn offsets_of_the_others() {
    let offsets = [
        (offset_of!(Registered, interned), 0x118),
        (offset_of!(Registered, uuid), 0x120),
        (offset_of!(Registered, mac_count), 0x130),
        (offset_of!(Registered, timeout), 0x138),
        (offset_of!(Registered, inputs), 0x140),
        (offset_of!(Registered, outputs), 0x170),
        (offset_of!(Registered, bridge), 0x1A0),
        (offset_of!(Registered, state), 0x1A8),
        (offset_of!(Registered, refs), 0x1B0),
        (offset_of!(Registered, datastore), 0x1B8),
        (offset_of!(Registered, replica_groups), 0x1C8),
        (offset_of!(Bridge, params), 0x28),
        (offset_of!(ModelSet, last_nn_id), 0x70),
        (offset_of!(IoInfo, ndim), 0x8C),
        (offset_of!(VarPlace, arm), 32),
        (offset_of!(VarPlace, arm) + offset_of!(PlaceArm, offset), 48),
        (offset_of!(VarPlace, arm) + offset_of!(TableArm, index), 64),
        (offset_of!(VarPlace, arm) + offset_of!(PointerArm, var_id), 40),
        (offset_of!(VarPlace, arm) + offset_of!(PointerArm, is_io), 48),
        (offset_of!(VarPlace, dtype), 72),
        (offset_of!(VarPlace, shape), 88),
        (offset_of!(VarPlace, metadata), 152),
        (offset_of!(VarPlace, node), 160),
        (offset_of!(DMem, granted), 48),
        (offset_of!(DMem, refs), 128),
        (offset_of!(Allocator, largest_oversized), 448),
        (offset_of!(ScratchArena, pages), 56),
        (offset_of!(CoreObject, scratchpad), 22200),
        (offset_of!(CoreObject, exec_queue), 38640),
        (offset_of!(CoreObject, ucode), 17032 + 2904),
        (offset_of!(DeviceObject, memory_log), 576_768),
        (offset_of!(QueueInfo, vring), 0x140),
        (offset_of!(BundleInstance, queues), 336),
        (offset_of!(FunctionRecord, node), 304),
        (offset_of!(CodeBlock, placed), 176),
        (offset_of!(ModelNode, name), 12),
        (offset_of!(ModelNode, uuid), 268),
        (offset_of!(ModelNode, host), 288),
        (offset_of!(NodeTable, in_use), 0x520),
        (offset_of!(NodeTable, slots), 0x528),
    ];
    for (found, expected) in offsets {
        assert_eq!(found, expected);
    }
}

/// Every field of staging.md §5.7 that is known when a load ends.
#[test]
fn runtime_records_of_variables_have_their_fields() {
    let mut hand = Hand::cayman()
        .var("t", VarClass::TmpBuf, 100)
        .var("in", VarClass::Input, 64)
        .var("out", VarClass::Output, 64)
        .pointer("p", 1)
        .pointer("q", 2)
        .table("g", &[3, 1, 2]);
    hand.set.vars[1].dtype = b"float32".to_vec();
    hand.set.vars[1].shape = [5, 5].map(U64::new).to_vec();
    let other = Hand::cayman().var("u", VarClass::Output, 8).remote("t{0}", 0, 1);
    let (sets, members) = join(vec![hand, other]);
    let loaded = Rig::new(Arch::Cayman).load(sets, members).unwrap();
    let core = loaded.plan.core(0).unwrap();
    let vars = core.variables();
    let bytes = vars[1].as_bytes();
    assert_eq!(&bytes[72..88], b"float32\0\0\0\0\0\0\0\0\0");
    assert_eq!(vars[1].shape.map(U64::get), [5, 5, 0, 0, 0, 0, 0, 0]);
    assert!(vars[2].dtype.as_bytes().is_empty() && vars[2].shape.as_bytes().iter().all(|&byte| byte == 0));
    let placed = |at: usize| {
        core.allocations().iter().find(|block| block.what.get() == 2 && block.index.get() == at as u32)
    };
    for (at, referenced, is_io) in [(4, 1, 0), (5, 2, 1)] {
        let arm: PointerArm = transmute!(vars[at].arm);
        assert_eq!((arm.var_id.get(), arm.is_io), (referenced, is_io));
        assert_eq!(arm.slot.get(), placed(at).unwrap().address().0);
        assert_eq!(vars[at].address().unwrap().0, arm.slot.get());
    }
    let arm: TableArm = transmute!(vars[6].arm);
    assert_eq!((arm.len.get(), arm.index.get()), (3, 0));
    assert_eq!(core.kbin.list(core.kbin.mem_ref(6).unwrap()).len(), 3);
    assert_eq!(arm.ids.len.get(), 3);
    assert!(vars[6].address().is_none() && vars[2].address().is_none());
    // A dump shows the union of each class under its own names (§5.7).
    let text = core.to_string();
    let shown = |at: usize| -> Vec<String> {
        let start = text.find(&format!("variable[{at}] @")).unwrap();
        let lines = text[start..].lines().skip(1).take_while(|line| line.starts_with(' '));
        let arm = lines.filter_map(|line| line.split_once("variable.arm."));
        arm.map(|(at, field)| format!("{} {}", at.trim(), field.split(' ').next().unwrap())).collect()
    };
    assert_eq!(shown(4), ["32 slot", "40 var_id", "48 is_io"]);
    assert_eq!(shown(6)[..2], ["32 len", "40 ids"]);
    assert_eq!(shown(1)[..3], ["32 phys", "40 block", "48 offset"]);
    // A remote record has the block of the owner's core, and does not own it.
    let far = loaded.plan.core(1).unwrap();
    let remote = &far.variables()[2];
    assert_eq!((remote.remote, remote.arm.as_bytes()), (1, vars[1].arm.as_bytes()));
    assert!(!remote.arm.block.is_null());
    assert!(far.allocations().iter().all(|block| block.address() != remote.address().unwrap()));
    // Names by id.
    assert_eq!(core.model.io_names.count(), vars.len() as u32);
    assert_eq!(size_of::<ListArm>(), 40);
}
