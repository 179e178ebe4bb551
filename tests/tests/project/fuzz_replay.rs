//! The fuzz targets over their first inputs, small damages of them, and everything that is kept.

use neffload_tests::fuzz::TARGETS;
use neffload_tests::workspace;

#[test]
fn seeds_and_their_neighbours() {
    for (_, target, seeds) in TARGETS {
        for seed in seeds() {
            target(&seed);
            for cut in (0..seed.len()).step_by(seed.len() / 40 + 1) {
                target(&seed[..cut]);
                let mut flipped = seed.clone();
                flipped[cut] ^= 1 << (cut % 8);
                target(&flipped);
            }
        }
    }
}

#[test]
fn kept_inputs() {
    for (name, target, _) in TARGETS {
        let folder = workspace().join("tests/fuzz/kept").join(name);
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            target(&std::fs::read(entry.path()).unwrap());
        }
    }
}
