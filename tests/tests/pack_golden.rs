//! Files of the packer: the golden files of container.md §15, and what an independent reader makes of
//! everything the packer can write.

use loader_std::pack::{Compression, Dialect, DigestForm, Options, Package, PaxTimes, pack};
use neffload_tests::{neffpack, skip};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

const UUID: [u8; 16] =
    [0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x46, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF];

fn golden_tree() -> [(&'static str, Vec<u8>); 2] {
    [("neff.json", b"{}\n".to_vec()), ("sg00/pe.bin", (0..64).collect())]
}

/// The options of G2, which the others vary.
fn golden_options() -> Options {
    let mut options = Options { compression: Some(Compression::Gzip(0)), ..Options::default() };
    options.header.name = b"golden".to_vec();
    options.header.uuid = Some(UUID);
    options
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn expect(options: &Options, size: usize, hash: &str, sha256: &str) {
    let file = pack(golden_tree(), options).unwrap();
    assert_eq!(file.len(), size);
    assert_eq!(hex(&file[0xAC..0xCC]), format!("{hash:0<64}"));
    assert_eq!(hex(&Sha256::digest(&file)), sha256);
}

#[test]
fn pack_golden_g1() {
    let options = Options { package: Package::Sha256, compression: None, ..golden_options() };
    expect(
        &options,
        11264,
        "d61f9d6136a670c3e17009b805079d93ade4f3bfec1efbc75a2055000155b789",
        "5da520de7cf0a819b21190941da8a56579898be47c183a16e4f8361fe2d2e414",
    );
}

#[test]
fn pack_golden_g2() {
    expect(
        &golden_options(),
        11264,
        "70ca68e5550962122cdcfb14286ad82a",
        "15eb7332892406411bc4f34dcff928d68e1ea754eddf94a80ff84612d48c2729",
    );
}

#[test]
fn pack_golden_g3() {
    let mut options = Options { digest_form: DigestForm::Swapped, ..golden_options() };
    options.header.feature_bits = 0x100_0002;
    options.header.minor = 5;
    options.header.build = b"1.2.3%main@deadbeef".to_vec();
    expect(
        &options,
        11264,
        "e568ca701262095514fbdc2c2ad86a28",
        "62585f5a210905c7eb068e761b1ead1e68246dbde2e3c4a3bb75cf813699fe59",
    );
}

#[test]
fn pack_golden_g4() {
    let options = Options { dialect: Dialect::Gnu, payload_align: 1, tar_align: 10240, ..golden_options() };
    expect(
        &options,
        11287,
        "b8c153d3d99bdf9361b66454c120e1b3",
        "d8ba249367f86847202f0f555d333f264c992971b4e87cfb396e0885dc24668c",
    );
}

/// Names that exercise every way a header can hold one.
fn wide_tree(dialect: Dialect) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut names: Vec<Vec<u8>> = vec![
        b"neff.json".to_vec(),
        b"sg00/empty.bin".to_vec(),
        [&[b'd'; 120][..], b"/", &[b'f'; 90]].concat(),
        vec![b'x'; 100],
    ];
    if dialect != Dialect::Ustar {
        names.push(vec![b'y'; 101]);
        names.push([&[b'p'; 200][..], b"/", &[b'q'; 200]].concat());
        names.push("wörter/größe.npy".as_bytes().to_vec());
    }
    if dialect == Dialect::Pax {
        names.push(b"latin/gr\xF6\xDFe.npy".to_vec());
    }
    let content = |n: usize| (0..n * 700).map(|byte| byte as u8).collect();
    names
        .into_iter()
        .enumerate()
        .map(|(n, name)| (name, if n == 1 { Vec::new() } else { content(n) }))
        .collect()
}

fn write_temporary(label: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("neffload-pack-{}-{label}.neff", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    path
}

/// How the independent tool shows a name that is not UTF-8.
fn shown(name: &[u8]) -> String {
    name.utf8_chunks()
        .map(|chunk| {
            let invalid: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
            format!("{}{invalid}", chunk.valid())
        })
        .collect()
}

fn inspect(paths: &[PathBuf]) -> Vec<Value> {
    let output = neffpack().unwrap().args(["inspect", "--verify-hash"]).args(paths).output().unwrap();
    serde_json::Deserializer::from_slice(&output.stdout).into_iter().map(Result::unwrap).collect()
}

/// Packs a wide tree with each of the options and compares with what the independent tool sees.
fn check_with_neffpack(label: &str, variants: &[Options]) {
    let packed = |options: &Options| pack(wide_tree(options.dialect), options).unwrap();
    let paths: Vec<PathBuf> = variants
        .iter()
        .enumerate()
        .map(|(n, options)| write_temporary(&format!("{label}{n}"), &packed(options)))
        .collect();
    let seen = inspect(&paths);
    assert_eq!(seen.len(), variants.len());
    for ((options, seen), path) in variants.iter().zip(&seen).zip(&paths) {
        assert_eq!(std::fs::read(path).unwrap(), packed(options), "the same twice");
        std::fs::remove_file(path).unwrap();
        compare(options, seen);
    }
}

fn compare(options: &Options, seen: &Value) {
    let label = format!("{:?} {:?}", options.dialect, options.compression);
    assert_eq!(seen["verdict"]["accepted"], true, "{label}: {}", seen["verdict"]);
    let form = if options.digest_form == DigestForm::Plain { "plain" } else { "swapped" };
    assert_eq!(seen["digest"]["order"], form, "{label}");
    let tree = wide_tree(options.dialect);
    let mut expected: Vec<(String, String)> =
        tree.iter().map(|(name, bytes)| (shown(name), hex(&Sha256::digest(bytes)))).collect();
    expected.sort();
    let table = seen["table"].as_array().unwrap().iter();
    let mut found: Vec<(String, String)> = table
        .map(|row| (row["name"].as_str().unwrap().to_owned(), row["sha256"].as_str().unwrap().to_owned()))
        .collect();
    found.sort();
    assert_eq!(found, expected, "{label}");
}

#[test]
fn an_independent_reader_accepts_every_variant() {
    if neffpack().is_none() {
        skip!("the independent container tool or Python is not here");
    }
    let compressions = [Compression::None, Compression::Gzip(0), Compression::Gzip(1), Compression::Gzip(9)];
    let digests = [(Package::Sha256, DigestForm::Plain), (Package::Md5, DigestForm::Swapped)];
    let mut variants = Vec::new();
    for dialect in [Dialect::Ustar, Dialect::Pax, Dialect::Gnu] {
        for compression in compressions.map(Some) {
            for (package, digest_form) in digests {
                variants.push(Options { package, digest_form, compression, dialect, ..Options::default() });
            }
        }
    }
    check_with_neffpack("variant", &variants);
}

#[test]
fn times_become_pax_records_before_every_member() {
    let times = Some(PaxTimes { accessed: 1, changed: 22, modified: 333 });
    let compression = Some(Compression::None);
    let options = Options { pax_times: times, compression, payload_align: 1, ..Options::default() };
    let file = pack(golden_tree(), &options).unwrap();
    let records = b"11 atime=1\n12 ctime=22\n13 mtime=333\n";
    assert_eq!(&file[1024 + 512..][..records.len()], records);
    assert_eq!(file[1024 + 156], b'x');
    if neffpack().is_none() {
        skip!("the independent container tool or Python is not here");
    }
    check_with_neffpack("times", &[options]);
}

#[test]
fn identity_follows_from_the_content() {
    let options = Options::default();
    let uuid = |bytes: &[u8]| {
        let file = pack([("neff.json", bytes)], &options).unwrap();
        <[u8; 16]>::try_from(&file[0xCC..0xDC]).unwrap()
    };
    assert_eq!(uuid(b"{}"), uuid(b"{}"));
    assert_ne!(uuid(b"{}"), uuid(b"{ }"));
    assert_eq!((uuid(b"{}")[6] >> 4, uuid(b"{}")[8] >> 6), (4, 2));
}

#[test]
fn info_json_fills_the_header() {
    let mut options = Options::default();
    let nodes: Vec<u32> = (0..64).map(|n| u32::from(n < 2)).collect();
    let info = serde_json::json!({
        "tool_version": "1", "kelp_version": "Dynamic", "name": "dir/model.neff",
        "num_tpb": 3, "num_tpb_requested": 2, "num_tpb_per_node": nodes,
    });
    options.header.apply_info(info.to_string().as_bytes()).unwrap();
    let file = pack(golden_tree(), &options).unwrap();
    assert_eq!(&file[0xDC..0xDC + 15], b"dir/model.neff\0");
    assert_eq!((file[0xA8], file[0x1DC], &file[0x1E0..0x1E4]), (3, 2, &[1, 1, 0, 0][..]));
    for bad in ["[]", r#"{"name": 3}"#, r#"{"num_tpb": -1}"#, r#"{"num_tpb_per_node": [256]}"#] {
        assert!(options.header.apply_info(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut options = Options { dialect: Dialect::Ustar, ..Options::default() };
    let name = "n".repeat(101);
    let refusal = pack([(&name, "")], &options).unwrap_err().to_string();
    assert!(refusal.contains("does not fit"), "{refusal}");
    options.header.name = vec![b'n'; 256];
    assert_eq!(pack([("a", "")], &options).unwrap_err().to_string(), "name: at most 255 bytes");
}
