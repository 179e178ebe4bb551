//! The fuzz targets over their first inputs, small damages of them, and everything that is kept.

use neffload_tests::fuzz::{TARGETS, Target};
use neffload_tests::workspace;

#[test]
fn seeds_and_their_neighbours() {
    for Target { run, seeds, .. } in TARGETS {
        for seed in seeds() {
            run(&seed);
            for cut in (0..seed.len()).step_by(seed.len() / 40 + 1) {
                run(&seed[..cut]);
                let mut flipped = seed.clone();
                flipped[cut] ^= 1 << (cut % 8);
                run(&flipped);
            }
        }
    }
}

/// Inputs that the fuzzers found worth keeping, a few dozen of each target.
#[test]
fn kept_inputs() {
    for Target { name, run, .. } in TARGETS {
        let folder = workspace().join("tests/fuzz/kept").join(name);
        let kept: Vec<_> = std::fs::read_dir(folder).into_iter().flatten().flatten().collect();
        assert!(kept.len() > 20, "{name}: {} inputs", kept.len());
        for entry in kept {
            run(&std::fs::read(entry.path()).unwrap());
        }
    }
}
