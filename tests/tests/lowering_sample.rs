//! lowering.md §14.1: the package inside the vendor's runtime library.

use loader_core::arch::{Arch, Engine};
use loader_core::lower::record::{EngType, ExportDesc, MrType, Op, RingType};
use neffload_tests::lowering::Lowered;
use neffload_tests::lowering::package::{Package, Parsed, dims};
use serde_json::{Value, json};

fn block(queue: &str, from: &str, to: &str) -> Value {
    json!({"id": 0, "queue": queue, "desc": [{
        "from": from, "from_off": 0, "from_sizes": [128, 1], "from_steps": [1, 128],
        "to": to, "to_off": 0, "to_sizes": [128, 1], "to_steps": [1, 128],
    }]})
}

/// The sample as §14.1 lists it.
fn sample() -> Package {
    let mut package = Package::base().host(Arch::Cayman);
    package.target = "*";
    package.defs = vec![json!({
        "replica_groups": [[]],
        "runtime_statebuffer_reservation": [],
        "dma_queue": {
            "q_gradient_in": {"owner": "pool", "semaphore": 10, "type": "in"},
            "q_gradient_out": {"owner": "pool", "semaphore": 11, "type": "out"},
        },
        "var": {
            "SB": {"type": "state-buffer", "var_id": 1},
            "input": {"type": "input", "var_id": 0, "size": 128},
            "output": {"type": "output", "var_id": 2, "size": 128},
            "gradient_in": {"type": "tmp-buf", "var_id": 3, "size": 128},
            "gradient_out": {"type": "tmp-buf", "var_id": 4, "size": 128},
        },
    })];
    let mut pe = vec![0xC8, 0x10, 0, 0, 4, 0x0A, 0x13, 0x16];
    pe.resize(64, 0);
    let mut pool = vec![0; 192];
    for (slot, opcode) in pool.chunks_mut(64).zip([0xC1, 0xC1, 0xA0]) {
        slot[..2].copy_from_slice(&[opcode, 0x10]);
    }
    let blocks =
        [block("q_gradient_in", "input", "gradient_in"), block("q_gradient_out", "gradient_out", "output")];
    package
        .engine("pe", json!({"dma": []}), &pe)
        .engine("pool", json!({"dma": blocks}), &pool)
        .engine("act", json!({"dma": [], "act_semaphore": 9}), &[])
        .engine("dve", json!({"dma": []}), &[])
        .member("sg00/sp.bin", &[])
}

fn lowered() -> (Lowered, Parsed) {
    sample().lower().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn lowering_t01() {
    let (lowered, _) = lowered();
    assert_eq!(lowered.kbins.len(), 1);
    let kbin = lowered.kbins.kbin(0).unwrap();
    assert_eq!(kbin.record().target.get(), 3);
    assert_eq!(kbin.num_streams(), 1);
    assert_eq!(kbin.io_counts(), (1, 1));
    assert!(!sample().policy.allow_legacy);
}

#[test]
fn lowering_t02() {
    let (lowered, parsed) = lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let slots: Vec<_> = kbin
        .engine_hdrs()
        .map(|hdr| (hdr.eng_type.get(), hdr.name.as_bytes().to_vec(), hdr.ninstr.get()))
        .collect();
    let expected = [(1, "act", 0), (3, "dve", 0), (0, "pe", 1), (2, "pool", 3), (4, "sp", 0)];
    let expected: Vec<_> =
        expected.map(|(number, name, count)| (number, name.as_bytes().to_vec(), count)).into();
    assert_eq!(slots, expected);
    let pe = parsed.bytes(kbin.engine(Engine::Pe).unwrap().blob.unwrap());
    assert_eq!(pe[..8], [0xC8, 0x10, 0, 0, 4, 0x0A, 0x13, 0x16]);
    let pool = parsed.bytes(kbin.engine(Engine::Pool).unwrap().blob.unwrap());
    let heads: Vec<_> = pool.chunks(64).map(|slot| (slot[0], slot[1])).collect();
    assert_eq!(heads, [(0xC1, 0x10), (0xC1, 0x10), (0xA0, 0x10)]);
    assert_eq!(lowered.noted("W361").len(), 1, "sp alone is absent");
    let with_sp = sample().engine("sp", json!({"dma": []}), &[]).lowered();
    assert!(with_sp.noted("W361").is_empty());
}

#[test]
fn lowering_t03() {
    let (lowered, _) = lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let vars: Vec<_> = kbin.vars().map(|var| (var.record.mr_type, var.name, var.record.size.get())).collect();
    let expected: [(MrType, &[u8], u64); 5] = [
        (MrType::INPUT, b"input", 128),
        (MrType::SB, b"SB", 0),
        (MrType::OUTPUT, b"output", 128),
        (MrType::TMP_BUF, b"gradient_in", 128),
        (MrType::TMP_BUF, b"gradient_out", 128),
    ];
    assert_eq!(vars, expected);
    for var in kbin.mem_refs() {
        assert_eq!(var.buffer.index_plus_one.get(), 0);
        assert_eq!(var.arm.0, [0; 16]);
    }
    assert_eq!(kbin.scratchpad(), (0, 0));
}

#[test]
fn lowering_t04() {
    let (lowered, _) = lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let queues: Vec<_> = kbin.queues().collect();
    assert_eq!(queues.len(), 2);
    let expected: [(RingType, u32, &[u8]); 2] =
        [(RingType::IN, 10, b"q_gradient_in"), (RingType::OUT, 11, b"q_gradient_out")];
    for (queue, (ring_type, semaphore, name)) in queues.iter().zip(expected) {
        assert_eq!((queue.record.ring_type, queue.record.owner), (ring_type, EngType::POOL));
        assert_eq!(queue.semaphores().iter().map(|one| one.get()).collect::<Vec<_>>(), [semaphore]);
        assert_eq!(queue.record.ring_instance_count.get(), 1);
        let instances: Vec<_> = queue.instances().collect();
        assert_eq!((instances.len(), instances[0].name(), queue.name()), (1, name, name));
        assert_eq!(instances[0].record.ndesc.get(), 1);
    }
    assert!(kbin.record().dma[2..].iter().all(|slot| slot.is_null()));
}

#[test]
fn lowering_t05() {
    let (lowered, _) = lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let descs: Vec<_> =
        kbin.queues().flat_map(|queue| queue.instances()).flat_map(|one| one.descs()).collect();
    for (desc, (to, from)) in descs.iter().zip([(3, 0), (2, 4)]) {
        assert_eq!((desc.desc_type, desc.operation()), (0, Op::COPY));
        let ends = [kbin.to(desc).unwrap(), &kbin.from(desc)[0]];
        for (ap, var) in ends.into_iter().zip([to, from]) {
            assert_eq!((ap.var_id.get(), ap.off.get(), ap.ndims, ap.dtype), (var, 0, 2, 0));
            let dims: Vec<_> = kbin.dims(ap).iter().map(|dim| (dim.size.get(), dim.step.get())).collect();
            assert_eq!(dims, [(128, 1), (1, 128)]);
        }
        assert_eq!((desc.block_id.get(), desc.ends_block()), (0, true));
        assert!(desc.fname.is_null() && kbin.function(desc).is_empty());
        let mut export = ExportDesc::default();
        kbin.export_desc(desc, &mut export);
        assert_eq!(export.reset_engine_round_robin, 0);
    }
}

#[test]
fn lowering_t06() {
    let (lowered, parsed) = lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let groups: Vec<_> = kbin.replica_groups().map(|group| group.subgroups().count()).collect();
    assert_eq!(groups, [0]);
    assert_eq!(kbin.record().replica_groups.count.get(), 1);
    let sets = kbin.record().act_function_sets;
    assert_eq!((sets.num_function_sets.get(), sets.act_tbl_semaphore.get()), (0, 0));
    assert!(kbin.record().dve_config.is_null() && kbin.dve().is_none());
    assert_eq!(kbin.carveouts().map(<[_]>::len), Some(0));
    assert_eq!(dims(&parsed, &sample().policy).unwrap().product_bytes(), 4456);
    assert_eq!((lowered.measured, lowered.used), (4456, 4456));
    assert_eq!(lowered.kbins.head().bytes().len(), 4456);
}

#[test]
fn lowering_t79() {
    let (lowered, _) = lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let first = kbin.queues().next().unwrap().instances().next().unwrap().descs();
    let mut export = ExportDesc::default();
    kbin.export_desc(&first[0], &mut export);
    let mut expected = vec![0u8; 5456];
    let mut put = |at: usize, bytes: &[u8]| expected[at..at + bytes.len()].copy_from_slice(bytes);
    for (start, var) in [(8, 3u32), (168, 0)] {
        put(start, &var.to_le_bytes());
        put(start + 16, &2u32.to_le_bytes());
        for (dim, (size, step)) in [(128u64, 1i64), (1, 128)].into_iter().enumerate() {
            put(start + 24 + 8 * dim, &step.to_le_bytes());
            put(start + 88 + 8 * dim, &size.to_le_bytes());
        }
    }
    put(5436, &[1]);
    assert_eq!(zerocopy::IntoBytes::as_bytes(&export), expected);
}
