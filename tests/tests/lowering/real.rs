//! Real files and sample trees through lowering: counts, sizes, and the same bytes however they come.

use loader_core::arch::{Arch, Engine};
use loader_core::arena::Arena;
use loader_core::error::Ignored;
use loader_core::limits::Limits;
use loader_core::lower::record::{ActSet, Extra, MrType, Op};
use loader_core::lower::{KbinView, lower};
use loader_core::policy::Policy;
use loader_std::pack::{Options, pack};
use neffload_tests::lowering::Lowered;
use neffload_tests::lowering::package::{Parsed, dims, lower_neff, parse_neff};
use neffload_tests::trees::Tree;
use neffload_tests::{real_files, shared, skip};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

fn real(name: &str) -> Option<Vec<u8>> {
    let file = real_files().into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == name))?;
    Some(std::fs::read(file).unwrap())
}

fn lowered(name: &str) -> Option<(Lowered, Parsed)> {
    Some(lower_neff(&real(name)?, &Policy::DEFAULT).unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// Variables by class, then queues, blocks, descriptors, activation sets.
fn counts(kbin: &KbinView<'_>) -> (BTreeMap<&'static str, usize>, [usize; 4]) {
    let mut classes = BTreeMap::new();
    for var in kbin.mem_refs() {
        *classes.entry(var.mr_type.name().unwrap()).or_insert(0) += 1;
    }
    let instances: Vec<_> = kbin.queues().flat_map(|queue| queue.instances()).collect();
    let blocks = instances.iter().map(|one| one.blocks().count()).sum();
    let descs = instances.iter().map(|one| one.descs().len()).sum();
    (classes, [kbin.queues().count(), blocks, descs, kbin.act_sets().count()])
}

fn classes<const N: usize>(rows: [(&'static str, usize); N]) -> BTreeMap<&'static str, usize> {
    rows.into()
}

/// Every constant is there, every table in its slot, every program whole slots.
fn check(lowered: &Lowered, parsed: &Parsed) {
    for kbin in lowered.kbins.iter() {
        for var in kbin.vars() {
            assert_eq!(kbin.var_by_name(var.name).unwrap().record.var_id, var.record.var_id);
            if var.record.mr_type == MrType::BUFFER {
                let bytes = parsed.bytes(kbin.blob(var.record.buffer).unwrap());
                assert_eq!(bytes.len() as u64, var.record.size.get());
            }
        }
        for engine in Engine::ALL {
            let view = kbin.engine(engine).unwrap();
            let bytes = view.blob.map_or(0, |blob| parsed.bytes(blob).len());
            assert_eq!(bytes, view.ninstr as usize * 64);
        }
        for desc in kbin.queues().flat_map(|queue| queue.instances()).flat_map(|one| one.descs()) {
            for ap in kbin.from(desc).iter().chain(kbin.to(desc)) {
                let var = kbin.mem_ref(ap.var_id.get()).unwrap();
                let dims = kbin.dims(ap).iter();
                let last: i64 = dims.map(|dim| (dim.size.get() as i64 - 1) * dim.step.get()).sum();
                let end = ap.off.get() as i64 + last;
                assert!(var.size.get() == 0 || (end as u64) < var.size.get(), "inside the variable");
            }
        }
    }
}

#[test]
fn attention() {
    let Some((lowered, parsed)) = lowered("cayman-attention-dge") else { skip!("no shared data") };
    check(&lowered, &parsed);
    let (vars, rest) = counts(&lowered.kbins.kbin(0).unwrap());
    let table =
        [("dge-table", 1), ("file", 2), ("input", 3), ("output", 1), ("state-buffer", 1), ("virtual", 2)];
    assert_eq!((vars, rest), (classes(table), [3, 0, 0, 1]));
    let (_, idle) = counts(&lowered.kbins.kbin(1).unwrap());
    assert_eq!(idle, [0, 0, 0, 0]);
    let set = kbin_set(&lowered);
    assert_eq!(
        (set.num_functions, set.profile_data[0].func_id.get(), set.profile_data[1].func_id.get()),
        (15, 7, 1)
    );
    let first = &set.profile_data[0];
    assert_eq!((first.exp_offset.get(), first.fpinf_result.get()), (-19, 2_139_095_040));
    assert!(lowered.noted("W608").is_empty());
    assert_eq!(lowered.used, 11752);
}

fn kbin_set(lowered: &Lowered) -> ActSet {
    *lowered.kbins.kbin(0).unwrap().act_sets().next().unwrap().record
}

#[test]
fn matmul() {
    let Some((lowered, parsed)) = lowered("cayman-lnc2-matmul") else { skip!("no shared data") };
    check(&lowered, &parsed);
    for kbin in lowered.kbins.iter() {
        assert_eq!(counts(&kbin).1, [2, 0, 0, 1]);
        assert_eq!((kbin.arch(), kbin.carveouts().unwrap().len()), (Some(Arch::Cayman), 1));
        assert_eq!(kbin.carveouts().unwrap()[0].offset.get(), 229_368);
        assert_eq!((kbin.fp8().emax_fp8_e4m3.get(), kbin.num_streams()), (8, 0), "R13");
    }
    assert_eq!(lowered.used, 13632);
}

#[test]
fn moe() {
    let Some((lowered, parsed)) = lowered("cayman-moe") else { skip!("no shared data") };
    check(&lowered, &parsed);
    let kbin = lowered.kbins.kbin(0).unwrap();
    assert_eq!(counts(&kbin).1, [3, 25, 25, 1]);
    let queue = kbin.queue_by_name(b"qPoolIO0").unwrap();
    assert_eq!((queue.rings(), queue.semaphores().len()), (16, 16));
    let first = &queue.instances().next().unwrap().descs()[0];
    assert_eq!(kbin.block_end(first).unwrap().semaphore, Some(40), "R9");
    let dynamic = kbin.queue_by_name(b"qPoolDynamic").unwrap();
    assert_eq!((dynamic.record.dge_sb_scratch_size.get(), dynamic.record.flags.get()), (16384, 4));
    assert_eq!(lowered.used, 15640);
}

#[test]
fn mariana() {
    let Some((lowered, parsed)) = lowered("mariana-lnc2-remote") else { skip!("no shared data") };
    check(&lowered, &parsed);
    let kbin = lowered.kbins.kbin(0).unwrap();
    assert_eq!(counts(&kbin).1, [4, 1, 1, 3]);
    let remote = kbin.var_by_name(b"SB{1}").unwrap();
    let Extra::Remote(arm) = remote.record.extra() else { panic!("remote") };
    let peer = lowered.kbins.kbin(1).unwrap().mem_ref(arm.remote_var_id.get()).unwrap();
    assert_eq!((arm.remote_vtpb_rel_sg_id.get(), peer.mr_type, remote.record.size.get()), (1, MrType::SB, 0));
    let queue = kbin.queue_by_name(b"qPooSpillReload0").unwrap();
    let gather = queue.instances().next().unwrap().descs()[0];
    assert_eq!((gather.operation(), gather.n_from.get()), (Op::ADD, 2));
    let ids: Vec<_> =
        kbin.from(&gather).iter().map(|ap| kbin.mem_ref(ap.var_id.get()).unwrap().mr_type).collect();
    assert!(ids.contains(&MrType::REMOTE), "one source is the other core's state buffer: {ids:?}");
    assert_eq!(lowered.used, 23752);
}

#[test]
fn sunda() {
    let Some((lowered, parsed)) = lowered("sunda-pointer") else { skip!("no shared data") };
    check(&lowered, &parsed);
    let kbin = lowered.kbins.kbin(0).unwrap();
    let (vars, rest) = counts(&kbin);
    let table = [("file", 73), ("input", 3), ("output", 1), ("pointer", 2), ("state-buffer", 1)];
    assert_eq!((vars, rest), (classes(table), [4, 81, 81, 4]));
    let dve = kbin.dve().unwrap();
    assert!(dve.control_fast.is_some() && dve.control_slow.is_none(), "R19");
    assert!(kbin.carveouts().is_none());
    assert_eq!(lowered.used, 42504);
}

#[test]
fn neuron_core_v1_is_refused_before() {
    let Some(neff) = real("inf1-legacy") else { skip!("no shared data") };
    let error = lower_neff(&neff, &Policy::DEFAULT).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), ("E204", 2), "R22");
}

const LOADABLE: [&str; 5] =
    ["cayman-attention-dge", "cayman-lnc2-matmul", "cayman-moe", "mariana-lnc2-remote", "sunda-pointer"];

/// Lowers `parsed` in an arena of `room` bytes: the refusal's numbers, or the product's digest.
fn try_in(parsed: &Parsed, memory: &mut [u8]) -> Result<Vec<u8>, (u64, u64)> {
    let policy = Policy::DEFAULT;
    let mut arena = Arena::new(memory).unwrap();
    let mark = arena.mark();
    let (mut payload, manifest) = (parsed.payload, parsed.manifest);
    match lower(&mut payload, &manifest, &mut arena, &Limits::DEFAULT, &policy, &mut Ignored) {
        Ok(kbins) => Ok(Sha256::digest(kbins.head().bytes()).to_vec()),
        Err(error) => {
            assert_eq!((error.id().to_string().as_str(), arena.mark()), ("L801", mark));
            Err((error.at().a, error.at().b))
        }
    }
}

#[test]
fn arenas_of_every_size_fail_cleanly_until_they_suffice() {
    for name in LOADABLE {
        let Some(neff) = real(name) else { skip!("no shared data") };
        let parsed = parse_neff(&neff, &Policy::DEFAULT, 4 << 20).unwrap();
        let needed = dims(&parsed, &Policy::DEFAULT).unwrap().needed();
        let enough = usize::try_from(needed).unwrap() + 16;
        let mut memory = vec![0x5A; enough + 8];
        let mut digest = None;
        for room in (16..enough).step_by(8).chain([enough, enough + 8]) {
            match try_in(&parsed, &mut memory[..room]) {
                Err((asked, available)) => {
                    assert!(room < enough, "{name}: {room} bytes should do");
                    assert_eq!((asked, available), (needed, room as u64 - 16));
                }
                Ok(found) => {
                    assert!(room >= enough, "{name}: {room} bytes should not do");
                    assert_eq!(*digest.get_or_insert(found.clone()), found);
                }
            }
        }
    }
}

#[test]
fn sample_trees_lower_and_agree_with_their_answers() {
    let Some(folder) = shared().map(|shared| shared.join("samples")) else { skip!("no shared data") };
    for name in ["alias-must", "cc-allreduce", "legacy-kelp", "lnc2-decode", "mlp-1core"] {
        let tree = Tree::read(&folder.join(name).join("neff"));
        let expected: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder.join(name).join("expected.json")).unwrap()).unwrap();
        let host = expected["host_arch"].as_u64().and_then(|arch| Arch::from_number(arch as u32));
        let policy = Policy { host_arch: host, ..Policy::DEFAULT };
        let neff = pack(tree.members, &Options::default()).unwrap();
        let (lowered, _) = lower_neff(&neff, &policy).unwrap_or_else(|error| panic!("{name}: {error}"));
        for (kbin, sg) in lowered.kbins.iter().zip(expected["subgraphs"].as_array().unwrap()) {
            agree(name, &kbin, sg);
        }
    }
}

fn agree(name: &str, kbin: &KbinView<'_>, sg: &serde_json::Value) {
    assert_eq!(kbin.mem_refs().len() as u64, sg["var"]["count"].as_u64().unwrap(), "{name}");
    for (var, answer) in sg["vars"].as_object().unwrap() {
        let found = kbin.var_by_name(var.as_bytes()).unwrap_or_else(|| panic!("{name}: {var}"));
        assert_eq!(u64::from(found.record.var_id.get()), answer["var_id"].as_u64().unwrap(), "{name}: {var}");
        assert_eq!(
            u64::from(found.record.mr_type.get()),
            answer["mr_type"].as_u64().unwrap(),
            "{name}: {var}"
        );
    }
    for (queue, answer) in sg["dma_queues"].as_object().unwrap() {
        let found = kbin.queue_by_name(queue.as_bytes()).unwrap_or_else(|| panic!("{name}: {queue}"));
        assert_eq!(
            u64::from(found.record.ring_type.get()),
            answer["ring_type"].as_u64().unwrap(),
            "{name}: {queue}"
        );
    }
    for engine in Engine::ALL {
        let answer = &sg["engines"][engine.key()];
        assert_eq!(
            u64::from(kbin.engine(engine).unwrap().ninstr),
            answer["ninstr"].as_u64().unwrap(),
            "{name}"
        );
    }
    assert_eq!(kbin.num_streams(), sg["num_streams"].as_u64().unwrap(), "{name}");
    assert_eq!(kbin.carveouts().is_some(), !sg["sb_carveouts"].is_null(), "{name}");
}

#[test]
fn every_record_prints_with_offsets() {
    let Some((lowered, _)) = lowered("mariana-lnc2-remote") else { skip!("no shared data") };
    let text = lowered.kbins.kbin(0).unwrap().to_string();
    for line in [
        "   416  kbin.target = 4 (mariana)",
        "     0  mem_ref.mr_type = 11 (remote)",
        "   136  remote.remote_vtpb_rel_sg_id = 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
