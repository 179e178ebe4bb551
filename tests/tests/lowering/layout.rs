//! lowering.md §11.9 and §0.5: sizes that other programs rely on, and every offset through the printer.

use loader_core::arena::Record;
use loader_core::lower::print;
use loader_core::lower::record::{
    ActProfile, ActSet, Blob, Carveout, CarveoutSetHdr, CceFma, CceInfo, CceMinMax, DebugMd, Desc, DveCfg,
    EngineHdr, ExportAp, ExportDesc, Fp8Cfg, Group, Kbin, ListArm, MemRef, MemRefSetHdr, Pair, PatchEntry,
    PtrArm, QueueHdr, RemoteArm, RingInstHdr, SrcTgtSet, SubgraphEntry, Subgroup, TransposeInfo, UcodeFn,
    UcodeLib, VirtualArm, Walk,
};
use neffload_tests::{shared, skip, workspace};
use std::collections::BTreeSet;
use std::fs;

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

/// Offsets of all fields of a record whose every byte is set, so that padding and arrays print in full.
fn offsets<T: Record + Walk>() -> BTreeSet<usize> {
    let record = T::read_from_bytes(&vec![1; size_of::<T>()]).unwrap();
    fields(&record).into_iter().map(|(at, _)| at).collect()
}

/// Offsets and the size of a record.
type Shape = (BTreeSet<usize>, usize);

fn shape<T: Record + Walk>() -> Shape {
    (offsets::<T>(), size_of::<T>())
}

/// The records of the tables of lowering.md §2 whose first column is `Off`, in order.
fn tables() -> Vec<(&'static str, Shape)> {
    vec![
        ("kbin", shape::<Kbin>()),
        ("engine block", shape::<EngineHdr>()),
        ("queue", shape::<QueueHdr>()),
        ("ring instance", shape::<RingInstHdr>()),
        ("descriptor", shape::<ExportDesc>()),
        ("descriptor's data arm", shape::<ExportDesc>()),
        ("access pattern", shape::<ExportAp>()),
        ("cce_info", shape::<CceInfo>()),
        ("mem_ref_set", shape::<MemRefSetHdr>()),
        ("mem_ref", shape::<MemRef>()),
        ("activation set", shape::<ActSet>()),
        ("profile", shape::<ActProfile>()),
        ("carve-outs", shape::<CarveoutSetHdr>()),
        ("ucode library", shape::<UcodeLib>()),
        ("fp8", shape::<Fp8Cfg>()),
    ]
}

#[test]
fn every_offset_of_the_specification_is_a_field() {
    let Some(folder) = shared() else { skip!("no shared data") };
    let page = fs::read_to_string(folder.join("spec/lowering.md")).unwrap();
    let part = page.split("\n## 2. ").nth(1).unwrap().split("\n## 3. ").next().unwrap();
    let mut tables = tables().into_iter();
    let (mut current, mut checked) = (None, 0);
    for line in part.lines() {
        let cell = line.strip_prefix('|').and_then(|rest| rest.split('|').next()).map(str::trim);
        match cell {
            Some("Off") => current = Some(tables.next().expect("a record for every table")),
            Some(cell) => {
                let Some((name, (offsets, size))) = &current else { continue };
                let Ok(at) = cell.parse::<usize>() else { continue };
                if cell.starts_with('+') {
                    continue;
                }
                // What follows a header is not part of it.
                assert!(at == *size || offsets.contains(&at), "{name}: nothing at {at}: {line}");
                checked += 1;
            }
            None => current = None,
        }
    }
    assert!(tables.next().is_none() && checked > 110, "{checked} rows");
}

#[test]
fn records_without_a_table_have_their_offsets() {
    let all = [
        (offsets::<PtrArm>(), vec![0, 4, 5]),
        (offsets::<VirtualArm>(), vec![0, 8, 12]),
        (offsets::<ListArm>(), vec![0, 4, 8]),
        (offsets::<RemoteArm>(), vec![0, 4, 8]),
        (offsets::<DebugMd>(), vec![0, 512]),
        (offsets::<DveCfg>(), vec![0, 4, 8, 16, 20, 24, 32, 36, 40, 48, 52, 56]),
        (offsets::<Carveout>(), vec![0, 4, 8, 16, 24, 32]),
        (offsets::<Group>(), vec![0, 8]),
        (offsets::<Subgroup>(), vec![0, 8]),
        (offsets::<SrcTgtSet>(), vec![0, 8, 16, 24]),
        (offsets::<Pair>(), vec![0, 8]),
        (offsets::<UcodeFn>(), vec![0, 256, 257]),
        (offsets::<PatchEntry>(), vec![0, 4, 8, 12]),
        (offsets::<CceMinMax>(), vec![0, 1, 4, 8, 12]),
        (offsets::<CceFma>(), (0..33).map(|word| 4 * word).collect()),
    ];
    for (found, expected) in all {
        assert_eq!(found, expected.into_iter().collect());
    }
}

/// Types beside the records that may be declared by hand: views, marks, and one array.
const BY_HAND: [&str; 7] = ["DescFlags", "SourceSlots", "Path", "Pad", "Text", "TooLong", "BlockFlags"];

#[test]
fn every_record_is_declared_by_the_macro_that_asserts_every_field() {
    let (mut fields, mut records) = (0, 0);
    for folder in ["lower/record", "plan/record"] {
        for entry in fs::read_dir(workspace().join("loader-core/src").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with("layout.rs") {
                continue;
            }
            for line in fs::read_to_string(&path).unwrap().lines() {
                if let Some(rest) = line.strip_prefix("pub struct ") {
                    let name: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
                    assert!(BY_HAND.contains(&name.as_str()), "{}: {line}", path.display());
                }
                // `Name: size {` and `offset field: type,`.
                let words: Vec<&str> = line.split_whitespace().collect();
                let number = |word: &str| word.parse::<usize>().is_ok();
                match words[..] {
                    [name, size, "{"] if name.ends_with(':') && number(size) => records += 1,
                    [at, name, ..] if number(at) && name.ends_with(':') && line.ends_with(',') => fields += 1,
                    _ => {}
                }
            }
        }
    }
    let assertion = "$(assert!(core::mem::offset_of!($name, $field) == $offset);)*";
    let source = fs::read_to_string(workspace().join("loader-core/src/lower/record/layout.rs")).unwrap();
    assert_eq!(source.matches(assertion).count(), 1, "one assertion per field");
    assert_eq!(
        source.matches("end.saturating_add(core::mem::size_of::<$type>())").count(),
        1,
        "and its size"
    );
    assert!(records >= 55 && fields >= 330, "{records} records with {fields} fields");
    println!("{records} records, {fields} fields, {fields} offsets and {fields} sizes asserted");
}
