//! The same bytes give the same events however they are cut.

use neffload_tests::container::tar::Tar;
use neffload_tests::container::{File, gzip_level};
use neffload_tests::fuzz;
use proptest::collection::vec;
use proptest::prelude::*;

/// A small archive with names and sizes around the edges that matter.
fn archive() -> impl Strategy<Value = Vec<u8>> {
    let size = prop_oneof![Just(0usize), Just(1), Just(511), Just(512), Just(513), 0usize..3000];
    let member = ("[a-z/.]{0,120}", size, any::<bool>());
    vec(member, 0..6).prop_map(|members| {
        let mut tar = Tar::new();
        for (name, size, pax) in members {
            if pax {
                tar.pax(&[("path", name.as_bytes()), ("mtime", b"1.5")]);
            }
            tar.file(name, vec![size as u8; size]);
        }
        tar.finish()
    })
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    (archive(), 0u8..3, 0u8..10, vec(any::<u8>(), 0..40)).prop_map(|(tar, layers, level, fill)| {
        let payload = (0..layers).fold(tar, |inner, _| gzip_level(&inner, level));
        File::new(2, [payload, fill].concat()).bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sound_files(file in file(), cuts in any::<[u8; 8]>()) {
        fuzz::chunking(&[&cuts[..], &file].concat());
    }

    #[test]
    fn damaged_files(mut file in file(), at in any::<prop::sample::Index>(), bit in 0u8..8, cuts in any::<[u8; 8]>()) {
        let at = at.index(file.len());
        file[at] ^= 1 << bit;
        fuzz::chunking(&[&cuts[..], &file].concat());
    }

    #[test]
    fn cut_files(file in file(), at in any::<prop::sample::Index>(), cuts in any::<[u8; 8]>()) {
        fuzz::chunking(&[&cuts[..], &file[..at.index(file.len())]].concat());
    }
}

#[test]
fn the_trailer_on_every_edge() {
    let mut tar = Tar::new();
    tar.file("a", vec![7; 100]);
    let file = File::new(2, [gzip_level(&tar.finish(), 6), vec![0; 9]].concat()).bytes();
    for cut in 1..60u8 {
        // The pieces have cut² / 8 + 1 bytes; every position of the short stream is an edge of some.
        fuzz::chunking(&[&[cut; 8][..], &file].concat());
    }
    for edge in 1024..file.len() {
        fuzz::two_pieces(&file, edge);
    }
}
