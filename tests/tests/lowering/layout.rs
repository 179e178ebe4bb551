//! lowering.md §11.9 and §0.5: sizes that other programs rely on, and every offset through the printer.

use loader_core::lower::print;
use loader_core::lower::record::{
    ActProfile, ActSet, Blob, Carveout, CarveoutSetHdr, CceInfo, DebugMd, Desc, DveCfg, EngineHdr, ExportAp,
    ExportDesc, Fp8Cfg, Group, Kbin, MemRef, MemRefSetHdr, Pair, PatchEntry, QueueHdr, RingInstHdr,
    SrcTgtSet, SubgraphEntry, Subgroup, TransposeInfo, UcodeFn, UcodeLib, Walk,
};

/// Offsets and names of a record's fields, as printed.
fn fields(record: &dyn Walk) -> Vec<(usize, String)> {
    let text = print::record("r", record).to_string();
    text.lines()
        .map(|line| {
            let (at, rest) = line.trim_start().split_once("  ").unwrap();
            let name = rest.split_once(" = ").unwrap().0;
            (at.parse().unwrap(), name.trim_start_matches("r.").to_owned())
        })
        .collect()
}

#[test]
fn lowering_t119() {
    let sizes = [
        size_of::<Kbin>(),
        size_of::<EngineHdr>(),
        size_of::<QueueHdr>(),
        size_of::<RingInstHdr>(),
        size_of::<ExportAp>(),
        size_of::<CceInfo>(),
        size_of::<TransposeInfo>(),
        size_of::<ExportDesc>(),
        size_of::<MemRefSetHdr>(),
        size_of::<MemRef>(),
        size_of::<DebugMd>(),
        size_of::<ActProfile>(),
        size_of::<ActSet>(),
        size_of::<DveCfg>(),
        size_of::<CarveoutSetHdr>(),
        size_of::<Carveout>(),
        size_of::<UcodeLib>(),
        size_of::<UcodeFn>(),
        size_of::<Pair>(),
        size_of::<Group>(),
        size_of::<Subgroup>(),
        size_of::<SrcTgtSet>(),
        size_of::<Fp8Cfg>(),
        size_of::<PatchEntry>(),
        size_of::<Blob>(),
        size_of::<SubgraphEntry>(),
        size_of::<Desc>(),
    ];
    let expected = [
        424, 320, 296, 264, 160, 140, 140, 5456, 24, 152, 516, 76, 2192, 64, 8, 40, 40, 258, 16, 16, 16, 32,
        16, 16, 24, 24, 48,
    ];
    assert_eq!(sizes, expected);
}

#[test]
fn printed_offsets_are_the_layout() {
    let kbin = fields(&Kbin::default());
    for (at, name) in [
        (0, "engine[0..5]"),
        (40, "dma[0..32]"),
        (296, "mem_ref_set"),
        (304, "act_function_sets.sets"),
        (312, "act_function_sets.num_function_sets"),
        (320, "act_function_sets.act_tbl_semaphore"),
        (328, "dve_config"),
        (336, "sb_carveouts"),
        (344, "replica_groups.items"),
        (360, "src_target_pairs.items"),
        (376, "ucode_lib_set.items"),
        (392, "cc_streams.num_streams"),
        (400, "fp8_conv_cfg.fp8_range_extension"),
        (416, "target"),
    ] {
        assert!(kbin.contains(&(at, name.to_owned())), "{at} {name}: {kbin:?}");
    }
    let mut desc = ExportDesc::default();
    desc.from.0[1].idx.set(7);
    let desc = fields(&desc);
    for (at, name) in
        [(8, "to.idx"), (168 + 160, "from[1].idx"), (5288, "num_tiling_dims"), (5432, "block_id")]
    {
        assert!(desc.contains(&(at, name.to_owned())), "{at} {name}");
    }
    let var = fields(&MemRef::default());
    for (at, name) in [
        (8, "name"),
        (32, "var_id"),
        (36, "dtype"),
        (56, "shape[0..8]"),
        (120, "dtensor_md"),
        (128, "buffer.index_plus_one"),
    ] {
        assert!(var.contains(&(at, name.to_owned())), "{at} {name}: {var:?}");
    }
}
