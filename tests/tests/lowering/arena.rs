//! Arenas of every size: each refusal on the way to enough is `ArenaFull` with an exact `needed`, at its mark.

use loader_core::arch::Arch;
use loader_core::error::Stage;
use loader_std::needs::needs;
use loader_std::{LoadOptions, loader::Usage};
use neffload_tests::generated::big;
use neffload_tests::lowering::ladder::Ladder;
use neffload_tests::payload::Mode;
use neffload_tests::{file_stem, full, loadable_files, skip};
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use std::path::Path;

fn arch_of(path: &Path) -> Arch {
    let archs = [Arch::Sunda, Arch::Cayman, Arch::Mariana];
    archs.into_iter().find(|arch| file_stem(path).starts_with(arch.name())).unwrap()
}

/// The arena in use after each stage, as `plan` finds it.
fn planned(neff: &[u8]) -> Vec<Usage> {
    let open =
        |arch| HostSim::new(Config { content: Content::Discard, ..Config::flat(arch) }, Growing::new(false));
    needs(&mut &*neff, &LoadOptions::default(), open).unwrap().0.facts.usage
}

#[test]
fn raising_the_arena_by_what_is_needed_ends_at_what_plan_says() {
    let modes: &[Mode] =
        if full() { &[Mode::Streamed, Mode::Resident, Mode::Chunks(64)] } else { &[Mode::Streamed] };
    // Every step of every file takes minutes; the short run climbs for one committed and one real file.
    let short = ["cayman-registers", "sunda-pointer"];
    for path in loadable_files() {
        let (name, neff) = (file_stem(&path), std::fs::read(&path).unwrap());
        if !full() && !short.contains(&name.as_str()) {
            continue;
        }
        let usage = planned(&neff);
        for &mode in modes {
            let mut ladder = Ladder::new(&neff, arch_of(&path), mode);
            let (steps, enough, peaks) = ladder.climb();
            assert_eq!(peaks[3], enough, "{name} {mode:?}: the high-water mark is the least size");
            let stages =
                [None, Some(Stage::Unpack), Some(Stage::Manifest), Some(Stage::Lower), Some(Stage::Plan)];
            for stage in stages {
                let some = steps.iter().any(|(_, full)| full.stage == stage);
                assert!(some, "{name} {mode:?}: no refusal of {stage:?}");
            }
            if mode == Mode::Streamed {
                let said: Vec<usize> = usage.iter().map(|usage| usage.peak).collect();
                assert_eq!(said, peaks, "{name}");
                println!("{name}: {peaks:?} bytes after each stage, {} refusals on the way", steps.len());
            }
        }
    }
}

#[test]
fn a_plain_descriptor_takes_at_most_176_bytes() {
    let (blocks, descs) = if full() { ("50000", 1_000_000) } else { ("500", 10_000) };
    let arguments = ["--mib", "1", "--blocks", blocks, "--descs", "10", "--runs", "1"];
    let Some(neff) = big(&arguments) else { skip!("no shared data or no Python") };
    let most = 176 * descs + (64 << 10);
    for usage in planned(&neff) {
        let each = usage.peak as f64 / descs as f64;
        println!("{}: {} bytes, {each:.2} for each of {descs} descriptors", usage.stage, usage.peak);
        assert!(usage.peak <= most, "{}: {} of {most}", usage.stage, usage.peak);
    }
}

#[test]
fn no_smaller_size_suffices() {
    for path in loadable_files() {
        let neff = std::fs::read(&path).unwrap();
        let mut ladder = Ladder::new(&neff, arch_of(&path), Mode::Resident);
        let [.., resident] = ladder.run(&mut vec![0x5A; 16 << 20]).unwrap();
        let mut memory = vec![0x5A; resident + 8];
        // All sizes in the full run; else a few over the range and all near the end.
        let stride = if full() { 8 } else { (resident / 24) & !7 };
        let sizes = (0..resident).step_by(stride).chain((resident - 40..resident).step_by(8));
        for room in sizes.chain([1, 7, 15, 17, resident - 1]) {
            let error = ladder.run(&mut memory[..room]).expect_err("too small");
            assert!(error.needed > error.available && error.available <= room, "{room}: {error:?}");
        }
        ladder.run(&mut memory[..resident]).unwrap();
        ladder.run(&mut memory).unwrap();
    }
}
