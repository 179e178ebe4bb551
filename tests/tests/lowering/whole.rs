//! The whole product region and the whole device: golden digests, and the same bytes whatever the way.

use loader_core::arch::Arch;
use loader_core::policy::Policy;
use loader_std::pack::{Options, pack};
use neffload_tests::generated::big;
use neffload_tests::lowering::whole::{Way, load};
use neffload_tests::trees::Tree;
use neffload_tests::{file_stem, fixture, full, loadable_files, shared, skip};
use sha2::{Digest, Sha256};

/// Size and digest of `product.bin` of a default load of each committed file: all records of lowering and of the
/// plan, with every address. A change here is a change of the product.
const GOLDEN: [(&str, usize, &str); 4] = [
    ("cayman-2core", 67600, "a6e1d56dab98593d7582ef6f92aacd9d818fa12795e6592ff30c7b64633dfb06"),
    ("cayman-registers", 47304, "48b04a23ef1a225951cf8605547188d70a256870e2edbc6f6a7f572cffdf4ac0"),
    ("mariana-gather", 60128, "44fa9a8180be02b452ef89dc20008d86e56bc6cc113c79fc47d75ba3de6a1c1f"),
    ("sunda-1core", 45456, "f1d1c75562c4d9de7c2e0f48336acf79b8fe649a4d189213ebf84567f21b7d9c"),
];

fn arch_of(name: &str) -> Arch {
    let archs = [Arch::Sunda, Arch::Cayman, Arch::Mariana];
    archs.into_iter().find(|arch| name.starts_with(arch.name())).unwrap()
}

#[test]
fn committed_files_have_golden_product_regions() {
    let found = GOLDEN.map(|(name, ..)| {
        let neff = std::fs::read(fixture(name)).unwrap();
        let whole = load(&neff, arch_of(name), &Policy::DEFAULT, Way::Threads(1)).unwrap();
        let digest = Sha256::digest(&whole.product);
        let hex = digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        (name, whole.product.len(), hex)
    });
    assert_eq!(found, GOLDEN.map(|(name, len, hex)| (name, len, hex.to_owned())));
}

/// Every other way gives what the first one does, or refuses as it does.
fn same(name: &str, neff: &[u8], arch: Arch, policy: &Policy) -> bool {
    let first = load(neff, arch, policy, Way::Threads(1)).map_err(|error| error.to_string());
    let mut ways = vec![Way::Threads(2), Way::Streamed, Way::Pieces(777)];
    if full() {
        ways.extend([1, 63, 64, 65, 4096, 1 << 16].map(Way::Pieces));
    }
    for way in ways {
        let other = load(neff, arch, policy, way).map_err(|error| error.to_string());
        match (&first, &other) {
            (Ok(first), Ok(other)) => {
                assert!(first.product == other.product, "{name} {way:?}: product");
                assert_eq!(first.device, other.device, "{name} {way:?}: device");
            }
            _ => assert_eq!(first.as_ref().err(), other.as_ref().err(), "{name} {way:?}"),
        }
    }
    first.is_ok()
}

#[test]
fn real_and_committed_files_load_the_same_in_every_way() {
    for path in loadable_files() {
        let (name, neff) = (file_stem(&path), std::fs::read(&path).unwrap());
        assert!(same(&name, &neff, arch_of(&name), &Policy::DEFAULT), "{name} loads");
    }
}

#[test]
fn sample_trees_load_the_same_in_every_way() {
    let Some(folder) = shared().map(|shared| shared.join("samples")) else { skip!("no shared data") };
    let mut loaded = 0;
    for name in ["alias-must", "cc-allreduce", "legacy-kelp", "lnc2-decode", "mlp-1core"] {
        let expected = std::fs::read(folder.join(name).join("expected.json")).unwrap();
        let expected: serde_json::Value = serde_json::from_slice(&expected).unwrap();
        let host = expected["host_arch"].as_u64().and_then(|arch| Arch::from_number(arch as u32));
        let neff = pack(Tree::read(&folder.join(name).join("neff")).members, &Options::default()).unwrap();
        let policy = Policy { host_arch: host, ..Policy::DEFAULT };
        loaded += u32::from(same(name, &neff, host.unwrap_or(Arch::Cayman), &policy));
    }
    assert!(loaded > 0, "some sample loads to the end");
}

#[test]
fn a_generated_file_loads_the_same_in_every_way() {
    let sizes = ["--mib", "1", "--blocks", "60", "--descs", "5", "--runs", "3", "--vars", "200"];
    let Some(neff) = big(&sizes) else { skip!("no shared data or no Python") };
    assert!(same("generated", &neff, Arch::Cayman, &Policy::DEFAULT));
}
