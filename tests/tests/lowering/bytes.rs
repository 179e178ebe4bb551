//! The product is a function of the manifests alone: golden digests, and the same bytes in every mode and order.

use loader_core::policy::Policy;
use loader_std::pack::{Options, pack};
use neffload_tests::build::Tree;
use neffload_tests::lowering::modes::product;
use neffload_tests::lowering::package::Package;
use neffload_tests::payload::Mode;
use neffload_tests::{file_stem as stem, fixture_files, loadable_files};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

const ROOM: usize = 4 << 20;

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Product sizes and digests of the committed files. A change here is a change of the product's layout.
const GOLDEN: [(&str, usize, &str); 4] = [
    ("cayman-2core", 18928, "d513542dbef9c68609b1c075fccec6a2d57bc0bbb39de80f9300d5cda74a465e"),
    ("cayman-registers", 12440, "ee0c8871bb0d46b86bc6a8645188da9a5c86f3deee712ebc5286f80a053e3bc5"),
    ("mariana-gather", 18208, "e91f9d57da0bf6d4d74cc3081155d614c7799c9d603275545ec35f9f9dacb28a"),
    ("sunda-1core", 11776, "9f40c3a285cb41e77030bbcffc190b3bc06a7acc97c40b0d4d9878f99d2adb52"),
];

#[test]
fn committed_files_have_golden_products() {
    let found: Vec<_> = fixture_files()
        .iter()
        .filter(|path| !stem(path).starts_with("inf1"))
        .map(|path| {
            let neff = std::fs::read(path).unwrap();
            let product = product(&neff, &Policy::DEFAULT, Mode::Resident, ROOM)
                .unwrap_or_else(|error| panic!("{error}"));
            (stem(path), product.bytes.len(), digest(&product.bytes))
        })
        .collect();
    let golden: Vec<_> =
        GOLDEN.iter().map(|(name, len, hex)| ((*name).to_owned(), *len, (*hex).to_owned())).collect();
    assert_eq!(found, golden);
}

#[test]
fn every_mode_gives_the_same_bytes() {
    for path in &loadable_files() {
        let neff = std::fs::read(path).unwrap();
        let resident = product(&neff, &Policy::DEFAULT, Mode::Resident, ROOM).unwrap();
        for mode in [Mode::Streamed, Mode::Chunks(1), Mode::Chunks(7), Mode::Chunks(4096)] {
            let other = product(&neff, &Policy::DEFAULT, mode, ROOM).unwrap();
            assert!(other.bytes == resident.bytes, "{} {mode:?}", stem(path));
            assert!(other.passes <= 6, "{}: {} passes", stem(path), other.passes);
        }
    }
}

/// Two cores with blocks of several engines on one queue.
fn shuffled() -> Package {
    let desc = |size: u64| {
        json!({"from": "out", "from_off": 0, "from_sizes": [size, 1], "from_steps": [1, size],
               "to": "SB", "to_off": 0, "to_sizes": [size, 1], "to_steps": [1, size], "op": "copy"})
    };
    let block = |id: u64, size: u64| json!({"id": id, "queue": "q", "semaphore": 3, "desc": [desc(size), desc(size + 1)]});
    let mut package =
        Package::base().queue("q", json!({"type": "data", "owner": "sp", "semaphore": 3})).twice();
    package.defs[0]["dma"] = json!([block(0, 1)]);
    package
        .engine("sp", json!({"dma": [block(4, 9), block(3, 7)]}), &[0; 64])
        .engine("pe", json!({"dma": [block(1, 3)]}), &[0; 128])
        .engine("act", json!({"dma": [block(2, 5)]}), &[0; 192])
}

#[test]
fn the_order_of_members_does_not_matter() {
    let tree: Tree = shuffled().tree();
    let neff = |members: Vec<(&String, &Vec<u8>)>| pack(members, &Options::default()).unwrap();
    let mut members: Vec<_> = tree.iter().collect();
    let first = product(&neff(members.clone()), &Policy::DEFAULT, Mode::Resident, ROOM).unwrap();
    for turn in 0..members.len() {
        members.rotate_left(1);
        if turn % 2 == 0 {
            members.reverse();
        }
        // Member ids are positions in the archive, so the blob rows differ; everything else must not.
        let other = product(&neff(members.clone()), &Policy::DEFAULT, Mode::Resident, ROOM).unwrap();
        assert_eq!(without_members(&other.bytes), without_members(&first.bytes));
    }
}

/// The product with the member numbers of its blob tables cleared.
fn without_members(bytes: &[u8]) -> Vec<u8> {
    use loader_core::arena::{ArenaRef, Head};
    use loader_core::lower::Kbins;
    let entries = ArenaRef { off: 16.into(), len: 2.into() };
    let kbins = Kbins::new(Head::from_bytes(bytes, 0), entries).unwrap();
    let mut cleared = bytes.to_vec();
    for kbin in kbins.iter() {
        // What manifests an engine block comes from.
        for header in kbin.record().engine {
            let at = header.off.get() as usize + 280;
            cleared[at..at + 8].fill(0);
        }
        let blobs = kbin.engine_hdrs().next().unwrap().blobs;
        for row in 0..blobs.len.get() as usize {
            let at = blobs.off.get() as usize + 24 * row;
            cleared[at..at + 4].fill(0);
        }
    }
    cleared
}
