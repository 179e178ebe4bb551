//! The five loadable real files, staged onto the simulated device (rulings R2, R7; real-files.md §5).

use loader_core::arch::{Arch, Engine};
use loader_core::lower::record::MrType;
use loader_core::plan::CoreView;
use loader_core::policy::Policy;
use loader_core::source::{MemberId, Payload};
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::lowering::package::lower_neff;
use neffload_tests::staging::{Loaded, Members, Rig, audit};
use neffload_tests::{shared, skip};
use neuron_drivers::sim::{Config, Content, Fault, Faults, Growing, HostSim};

struct Expected {
    name: &'static str,
    arch: Arch,
    /// Per core: opaque slots, operands bound at execute.
    opaque: &'static [u32],
    bound: &'static [u32],
    blocks: &'static [usize],
}

const FILES: [Expected; 5] = [
    Expected {
        name: "cayman-attention-dge",
        arch: Arch::Cayman,
        opaque: &[0, 0],
        bound: &[4, 0],
        blocks: &[0, 0],
    },
    Expected {
        name: "cayman-lnc2-matmul",
        arch: Arch::Cayman,
        opaque: &[0, 0],
        bound: &[4, 4],
        blocks: &[0, 0],
    },
    Expected { name: "cayman-moe", arch: Arch::Cayman, opaque: &[313, 0], bound: &[16, 0], blocks: &[25, 0] },
    Expected {
        name: "mariana-lnc2-remote",
        arch: Arch::Mariana,
        opaque: &[35, 34],
        bound: &[4, 3],
        blocks: &[1, 0],
    },
    Expected { name: "sunda-pointer", arch: Arch::Sunda, opaque: &[85], bound: &[0], blocks: &[81] },
];

fn read(name: &str) -> Option<Vec<u8>> {
    std::fs::read(shared()?.join("real").join(format!("{name}.neff"))).ok()
}

fn load(rig: &mut Rig, neff: &[u8], piece: usize) -> Result<Loaded, loader_core::error::Error> {
    let (lowered, parsed) = lower_neff(neff, &Policy::DEFAULT)?;
    let count = parsed.payload.table().len();
    let bytes =
        (0..count).map(|id| parsed.payload.bytes(MemberId(id)).unwrap_or_default().to_vec()).collect();
    rig.load_kbins(&lowered.kbins, Members { bytes, piece })
}

fn rig(arch: Arch) -> Rig {
    let mut rig = Rig::new(arch);
    (rig.policy, rig.vcore_size) = (Policy::DEFAULT, 0);
    rig
}

fn sum(core: &CoreView<'_>, of: impl Fn(&loader_core::plan::record::Image) -> u32) -> u32 {
    core.images().iter().map(of).sum()
}

#[test]
fn counts_are_those_of_the_files() {
    for file in &FILES {
        let Some(neff) = read(file.name) else { skip!("no shared data") };
        let mut rig = rig(file.arch);
        let loaded = load(&mut rig, &neff, 0).unwrap_or_else(|error| panic!("{}: {error}", file.name));
        assert_eq!(loaded.plan.len(), file.opaque.len(), "{}", file.name);
        for (index, core) in loaded.plan.cores().enumerate() {
            let at = format!("{} core {index}", file.name);
            assert_eq!(sum(&core, |image| image.opaque.get()), file.opaque[index], "{at}: opaque");
            assert_eq!(core.opaques().len() as u32, file.opaque[index], "{at}: opaque records");
            assert_eq!(sum(&core, |image| image.bound.get()), file.bound[index], "{at}: bound at execute");
            assert_eq!(core.binds().len() as u32, file.bound[index], "{at}: bind records");
            assert_eq!(core.blocks().len(), file.blocks[index], "{at}: blocks");
            let mut triggers = vec![0; core.blocks().len()];
            for opaque in core.opaques().iter().filter(|opaque| opaque.opcode == 0xC1) {
                assert_eq!(opaque.trigger, 1, "{at}: every c1 resolves");
                triggers[opaque.block.get() as usize] += 1;
            }
            assert!(triggers.iter().all(|&count| count == 1), "{at}: every block is triggered once");
        }
        audit::check(&rig, &[&loaded]);
        rig.unload(&loaded);
        audit::empty(&rig);
    }
}

#[test]
fn pseudo_counts_of_the_issue() {
    let counts = [
        ("cayman-moe", 0, &[(0xC1, 25), (0xD4, 160), (0xCE, 144), (0xDA, 144)][..]),
        ("cayman-attention-dge", 0, &[(0xD4, 14)]),
        ("cayman-lnc2-matmul", 0, &[(0xD4, 5)]),
        ("cayman-lnc2-matmul", 1, &[(0xD4, 5)]),
        ("mariana-lnc2-remote", 0, &[(0xD4, 29), (0xD8, 2), (0xC1, 1)]),
        ("mariana-lnc2-remote", 1, &[(0xD4, 22), (0xD8, 2)]),
        ("sunda-pointer", 0, &[(0xC1, 81), (0xC4, 4)]),
    ];
    for (name, index, pseudo) in counts {
        let Some(neff) = read(name) else { skip!("no shared data") };
        let file = FILES.iter().find(|file| file.name == name).unwrap();
        let mut rig = rig(file.arch);
        let loaded = load(&mut rig, &neff, 0).unwrap();
        let core = loaded.plan.core(index).unwrap();
        for &(opcode, count) in pseudo {
            assert_eq!(sum(&core, |image| image.pseudo_count(opcode)), count, "{name} {index} {opcode:x}");
        }
    }
}

#[test]
fn the_gather_reads_the_state_buffer_of_both_cores() {
    let Some(neff) = read("mariana-lnc2-remote") else { skip!("no shared data") };
    let mut rig = rig(Arch::Mariana);
    let loaded = load(&mut rig, &neff, 0).unwrap();
    let core = loaded.plan.core(0).unwrap();
    let remote = core.variables().iter().find(|var| var.mr_type == MrType::REMOTE).unwrap();
    assert_eq!(remote.address().unwrap().0, 0x8000_0200_0000);
    let rows: Vec<usize> = (0..core.rings().len()).filter(|&row| core.rings()[row].used.get() > 0).collect();
    assert_eq!(rows.len(), 32, "16 instances, both halves");
    let tx = audit::entries(&rig, &core, rows[0]);
    let rx = audit::entries(&rig, &core, rows[1]);
    // 128 runs over 16 instances, two sources each, and one semaphore copy.
    assert_eq!((tx.len(), rx.len()), (17, 17));
    assert_eq!(tx[0].address.get(), 0x8000_0000_0000 + 16896);
    assert_eq!(tx[1].address.get(), 0x8000_0200_0000 + 16384);
    assert_eq!(
        (rx[0].address.get(), rx[1].address.get()),
        (0x8000_0000_0000 + 17408, 0x8000_0000_0000 + 17408)
    );
    assert_eq!(rx[0].control.get(), 0x2500_0200, "first of its packet, strongly ordered");
    assert_eq!(tx[16].bytes(), 4);
    assert_eq!(rx[16].address.get(), 0xA000_0270_1800 + 4 * 58);
    assert!(core.blocks()[0].is_approximate());
}

#[test]
fn pieces_and_threads_make_no_difference() {
    for file in &FILES {
        let Some(neff) = read(file.name) else { skip!("no shared data") };
        let mut hashes = Vec::new();
        for piece in [0, 1 << 16, 4096, 777] {
            let mut rig = rig(file.arch);
            load(&mut rig, &neff, piece).unwrap();
            hashes.push(rig.sim.hash());
        }
        for threads in [1, 2] {
            let loader = Loader::new(HostSim::new(Config::flat(file.arch), Growing::new(false)));
            let mut memory = Memory::with_arena(64 << 20);
            let options = LoadOptions { threads, ..LoadOptions::default() };
            let model = loader.load(&neff, &mut memory, &options).unwrap();
            hashes.push(loader.device().hash());
            drop(model);
        }
        assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "{}: {hashes:x?}", file.name);
    }
}

#[test]
fn two_loads_and_two_unloads_leave_nothing() {
    for file in &FILES {
        let Some(neff) = read(file.name) else { skip!("no shared data") };
        for content in [Content::Full, Content::Digest] {
            let config = Config { content, ..Config::flat(file.arch) };
            let loader = Loader::new(HostSim::new(config, Growing::new(false)));
            let before = loader.device().hash();
            let (mut first, mut second) = (Memory::with_arena(64 << 20), Memory::with_arena(64 << 20));
            let a = loader.load(&neff, &mut first, &LoadOptions::default()).unwrap();
            let one = loader.device().hash();
            let b = loader.load(&neff, &mut second, &LoadOptions::default()).unwrap();
            assert_eq!((a.h_nn(), b.h_nn(), a.h_model(), b.h_model()), (1, 2, 1, 2));
            assert_eq!(loader.models(), [1, 2]);
            loader.device().audit().unwrap();
            drop(b);
            assert_eq!(loader.device().hash(), one, "{}", file.name);
            drop(a);
            assert_eq!(loader.device().hash(), before, "{}", file.name);
        }
    }
}

#[test]
fn every_operation_may_fail() {
    for name in ["cayman-lnc2-matmul", "cayman-attention-dge"] {
        let Some(neff) = read(name) else { skip!("no shared data") };
        let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
        let before = loader.device().hash();
        let mut memory = Memory::with_arena(64 << 20);
        let options = LoadOptions { threads: 1, ..LoadOptions::default() };
        loader.device().set_faults(Faults::NONE);
        drop(loader.load(&neff, &mut memory, &options).unwrap());
        let operations = loader.device().operations();
        for k in 1..=operations {
            loader.device().set_faults(Faults::one(Fault::Operation(k)));
            let error = loader.load(&neff, &mut memory, &options).expect_err("the k-th operation fails");
            assert!([1, 4].contains(&error.status().number()), "{name} {k}: {error}");
            assert_eq!(loader.device().hash(), before, "{name} {k}");
            assert!(loader.models().is_empty());
        }
        loader.device().set_faults(Faults::NONE);
        drop(loader.load(&neff, &mut memory, &options).unwrap());
        assert_eq!(loader.device().hash(), before);
    }
}

#[test]
fn strict_refuses_by_engine_slot_and_opcode() {
    let Some(neff) = read("cayman-moe") else { skip!("no shared data") };
    let mut rig = rig(Arch::Cayman);
    rig.policy.strict = true;
    let error = load(&mut rig, &neff, 0).unwrap_err();
    assert!(["S412", "S506"].contains(&error.id().to_string().as_str()), "{error}");
    assert!(rig.log().is_empty());
}

#[test]
fn positions_of_a_label_stream() {
    let Some(neff) = read("cayman-attention-dge") else { skip!("no shared data") };
    let mut rig = rig(Arch::Cayman);
    let loaded = load(&mut rig, &neff, 0).unwrap();
    let core = loaded.plan.core(0).unwrap();
    // b1, then a label that has no slot, then the rest: positions 1 and 3 are neighbours.
    assert_eq!(core.source_position(Engine::Pe, 64), Some(1));
    assert_eq!(core.source_position(Engine::Pe, 128), Some(3));
    assert_eq!(core.device_range(Engine::Pe, 2), Some((128, 0)));
}
