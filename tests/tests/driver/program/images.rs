//! What a load leaves in device memory.

use super::{assert_clean, careful_load, code, host, load, loaded};
use loader_core::arch::Arch;
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::{fixture, shared, skip};
use neuron_drivers::sim::{self, Content, Growing, HostSim, Live, Profile};
use neuron_drivers::simdrv::{Config, Memory as _};
use serde_json::Value;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The real files that can be loaded, with their architecture, and why a device does not take them without a word: opaque
/// slots (R7), or at least activation tables, whose encoding is approximate (R37).
const REAL: [(&str, Arch, &str); 5] = [
    ("cayman-attention-dge", Arch::Cayman, "S412"),
    ("cayman-lnc2-matmul", Arch::Cayman, "S412"),
    ("cayman-moe", Arch::Cayman, "S506"),
    ("mariana-lnc2-remote", Arch::Mariana, "S506"),
    ("sunda-pointer", Arch::Sunda, "S506"),
];

fn real(name: &str) -> Option<PathBuf> {
    shared().map(|folder| folder.join("real").join(format!("{name}.neff")))
}

/// What fresh memory of the simulator reads as; fresh simulated HBM reads as 0.
const FRESH: u8 = 0xCD;
/// Blocks larger than this are made equal before the load only in pieces where something will be written: the others
/// must stay 0.
const MARKED: u64 = 16 << 20;
const PIECE: u64 = 1 << 20;

/// Runs `action` over the pieces of a block.
fn pieces(block: &Live, mut action: impl FnMut(u64, usize)) {
    let mut at = 0;
    while at < block.size {
        let now = (block.size - at).min(PIECE);
        action(at, usize::try_from(now).unwrap());
        at += now;
    }
}

/// Loads a file into the simulator with the driver's layout, then with the command onto the simulated driver, and
/// compares every byte of every block.
fn compare(file: &Path, arch: Arch, options: &[&str]) -> Option<Value> {
    let config = sim::Config { profile: Profile::Driver, content: Content::Full, ..sim::Config::flat(arch) };
    let simulated = Loader::new(HostSim::new(config, Growing::new(false)));
    let (bytes, mut memory) = (std::fs::read(file).unwrap(), Memory::new());
    let _model = simulated.load(&bytes, &mut memory, &LoadOptions::default()).unwrap();
    let blocks: Vec<Live> = simulated.device().with(|state| state.live().collect());
    assert!(!blocks.is_empty());
    let host = host(Config::new(arch));
    let expected = |block: &Live, at: u64, now: usize| {
        let mut bytes = vec![0; now];
        simulated.device().with(|state| state.read(block.handle, at, &mut bytes)).unwrap();
        let touched = block.size <= MARKED || bytes.iter().any(|byte| *byte != FRESH);
        (bytes, touched)
    };
    for block in &blocks {
        let state = host.lock();
        let file = state.driver.device(0).memory().file();
        pieces(block, |at, now| {
            if expected(block, at, now).1 {
                file.write_all_at(&vec![FRESH; now], block.base.0 + at).unwrap();
            }
        });
    }
    let (status, document) = loaded(&host, load(file, options))?;
    assert_eq!(status, 0, "{}: {}", file.display(), document["verdict"]);
    assert_clean(&host, &file.display().to_string());
    for block in &blocks {
        pieces(block, |at, now| {
            let (mut expected, touched) = expected(block, at, now);
            if !touched {
                expected.fill(0);
            }
            let mut found = vec![0; now];
            // Freed memory keeps its content, as the real one does.
            host.lock().driver.device(0).memory().read(block.base.0 + at, &mut found);
            let place = block.base.0 + at;
            assert!(expected == found, "{}: {} at {place:#x}", file.display(), block.tag.as_str());
        });
    }
    Some(document)
}

#[test]
fn real_files_hold_the_bytes_of_the_simulator() {
    for (name, arch, _) in REAL {
        let Some(file) = real(name) else { skip!("no shared data") };
        let Some(document) = compare(&file, arch, &[]) else { return };
        assert_eq!(document["device"]["kind"], "neuron");
        assert_eq!(document["device"]["path"], "/dev/neuron0");
        assert_eq!((&document["profile"], &document["mode"]), (&"DRIVER".into(), &"resident".into()));
        let count = |name: &str| document["ioctls"][name].as_u64().unwrap();
        assert_eq!(count("MEM_ALLOC_V2MT64"), count("MEM_FREE"), "{name}");
        let listed: usize = document["cores"]
            .as_array()
            .unwrap()
            .iter()
            .map(|core| core["allocations"].as_array().unwrap().len())
            .sum();
        assert!(count("MEM_ALLOC_V2MT64") as usize >= listed.min(1), "{name}");
    }
}

/// A stream, in the memory of a small machine, one thread or several, gives the same bytes.
#[test]
fn streams_and_threads_hold_the_bytes_of_the_simulator() {
    let file = fixture("cayman-2core");
    for options in [&["--max-memory", "8M"][..], &["--threads", "1"], &["--threads", "2"]] {
        let Some(document) = compare(&file, Arch::Cayman, options) else { return };
        let mode = if options.contains(&"--max-memory") { "streamed" } else { "resident" };
        assert_eq!(document["mode"], mode);
    }
}

/// Slots that are not understood stay off a device unless the caller says otherwise, and before it is asked for
/// memory (R6).
#[test]
fn opaque_slots_need_a_word() {
    for (name, arch, why) in REAL {
        let Some(file) = real(name) else { skip!("no shared data") };
        let host = host(Config::new(arch));
        let Some((status, document)) = loaded(&host, careful_load(&file, &[])) else { return };
        assert_eq!((status, code(&document)), (1, why), "{name}");
        let allocations = &document["ioctls"]["MEM_ALLOC_V2MT64"];
        assert!(allocations.is_null(), "{name}: {allocations}");
        assert_clean(&host, name);
    }
}

/// What the command line says about cores reaches the device.
#[test]
fn cores_are_chosen() {
    let file = fixture("cayman-2core");
    let config = Config::new(Arch::Cayman);
    for (options, first, claimed) in [(&["--core", "4"][..], 4, 2), (&["--lnc", "2"], 0, 2)] {
        let host = host(config);
        let Some((status, document)) = loaded(&host, load(&file, options)) else { return };
        assert_eq!((status, &document["cores"][0]["core"]), (0, &first.into()), "{}", document["verdict"]);
        assert_eq!(document["device"]["claimed"], serde_json::json!({"first": first, "count": claimed}));
        assert_clean(&host, "cores");
    }
    for (options, expected) in [(&["--core", "7"][..], "S"), (&["--core", "99"], "S"), (&["--lnc", "1"], "C")]
    {
        let host = host(config);
        let Some((status, document)) = loaded(&host, load(&file, options)) else { return };
        assert_eq!(
            (status, code(&document).starts_with(expected)),
            (1, true),
            "{options:?}: {}",
            document["verdict"]
        );
        assert_clean(&host, "cores");
    }
    // A file for another architecture is refused by what the device is, not by what the file says.
    let host = host(Config::new(Arch::Mariana));
    let Some((status, document)) = loaded(&host, load(&file, &[])) else { return };
    assert_eq!((status, &code(&document)[..1]), (1, "S"), "{}", document["verdict"]);
    assert_clean(&host, "architecture");
}
