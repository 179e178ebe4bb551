//! All twenty invariants on the store that keeps a digest alone: what was written to rings and programs is noted on the way
//! there, the digest proves it, and the judge reads that.

use crate::case::{memory, options};
use crate::churn::{Mixed, mixed};
use loader_core::arch::Arch;
use loader_std::Loader;
use neffload_tests::staging::claims::{self, Model};
use neffload_tests::staging::recorder::Recorder;
use neuron_drivers::sim::{Config, Content, Growing, HostSim, Violation};

/// Loads a file and judges the device; `spoil` changes what is said about a block.
fn judged(file: &Mixed, threads: usize, spoil: impl Fn(&mut Vec<u8>)) -> Result<(), Violation> {
    let config = Config { content: Content::Digest, ..Config::flat(file.case.arch) };
    let loader = Loader::new(Recorder::new(HostSim::new(config, Growing::new(false))));
    let mut memory = memory();
    let model = loader.load(&file.case.file, &mut memory, &options(threads)).unwrap();
    let written = |handle| {
        let mut bytes = loader.device().written(handle);
        spoil(&mut bytes);
        bytes
    };
    let claim = Model::recorded(model.plan(), &file.members, written);
    let pages: Vec<_> = loader.scratchpad().iter().map(claims::page).collect();
    let shared: Vec<_> = loader.libraries().iter().map(claims::library).collect();
    claims::with((&pages, &shared), &[&claim], |claims| loader.device().sim.judge(claims))
}

#[test]
fn a_digest_proves_rings_and_programs_of_every_file() {
    let mut count = 0;
    for arch in [Arch::Sunda, Arch::Cayman, Arch::Mariana] {
        for file in mixed(arch) {
            for threads in [1, 2] {
                judged(&file, threads, |_| ())
                    .unwrap_or_else(|violation| panic!("{}: {violation}", file.case.name));
            }
            // One bit of anything that is said, and it is no longer proven.
            let flipped = |bytes: &mut Vec<u8>| bytes.iter_mut().skip(16).take(1).for_each(|byte| *byte ^= 1);
            let violation = judged(&file, 1, flipped).unwrap_err();
            assert!([11, 13].contains(&violation.invariant), "{}: {violation}", file.case.name);
            count += 1;
        }
    }
    println!("{count} files on the store that keeps a digest alone");
    assert!(count >= 4);
}
