//! container.md §18, C-01 to C-49: preflight, versions, features, sizes, package, digest.

use loader_core::container::{Features, Order, guard};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::pack::{Compression, Dialect, DigestForm, Options, Package, pack};
use neffload_tests::build::filler;
use neffload_tests::container::{File, Judged, judge, judge_with, md5, sha256, swap_words, tar};

fn verify(file: &File) -> Judged {
    judge_with(&file.bytes(), &Policy::DEFAULT, &Limits::DEFAULT)
}

fn is_base(judged: &Judged) {
    assert_eq!(judged.members(), tar::base_members());
}

/// A base file whose header was edited.
fn with(edit: impl FnOnce(&mut File)) -> File {
    let mut file = File::base();
    edit(&mut file);
    file
}

fn major_2(features: u64) -> File {
    with(|file| {
        file.header.neff_version_major = 2;
        file.header.feature_bits = Features::from_bits_retain(features);
    })
}

fn with_lnc(file: &File, host: u32) -> Judged {
    let policy = Policy { verify_digest: false, lnc: Some(host), ..Policy::DEFAULT };
    judge_with(&file.bytes(), &policy, &Limits::DEFAULT)
}

const UNSUPPORTED: u32 = 10;

#[test]
fn container_c01_the_base_file() {
    is_base(&judge(&File::base().bytes()));
}

#[test]
fn container_c02_no_buffer() {
    let error = guard::buffer(None).unwrap_err();
    assert_eq!(error.status().number(), 2);
    assert_eq!(error.log().to_string(), "Invalid NEFF buffer");
}

#[test]
fn container_c03_nothing() {
    judge(b"").refused(2, "Invalid number of NEFF bytes received 0");
    assert_eq!(
        guard::buffer(Some(b"")).unwrap_err().log().to_string(),
        "Invalid number of NEFF bytes received 0"
    );
}

#[test]
fn container_c04_one_byte_short() {
    judge(&File::base().bytes()[..1023]).refused(2, "Invalid number of NEFF bytes received 3ff");
}

#[test]
fn container_c05_the_header_alone() {
    judge(&File::base().bytes()[..1024]).refused(2, "Invalid NEFF file size hdr sz: 400, file sz: 400:");
}

#[test]
fn container_c06_the_header_alone_without_header_size() {
    let file = with(|file| file.header.header_size = 0).bytes();
    judge(&file[..1024]).refused(2, "Invalid NEFF data size(2800 vs 400)");
}

#[test]
fn container_c07_the_header_alone_without_sizes() {
    let file = with(|file| (file.header.header_size, file.header.data_size) = (0, 0)).bytes();
    judge(&file[..1024]).not_opened();
}

#[test]
fn container_c08_small_header_size() {
    is_base(&judge(&with(|file| file.header.header_size = 0x200).bytes()));
}

#[test]
fn container_c09_large_header_size() {
    is_base(&judge(&with(|file| file.header.header_size = 0x500).bytes()));
}

#[test]
fn container_c10_header_size_of_the_file() {
    let size = File::base().bytes().len() as u64;
    judge(&with(|file| file.header.header_size = size).bytes())
        .refused(2, "Invalid NEFF file size hdr sz: 2c00");
}

#[test]
fn container_c11_header_size_one_below() {
    let size = File::base().bytes().len() as u64;
    is_base(&judge(&with(|file| file.header.header_size = size - 1).bytes()));
}

#[test]
fn container_c12_header_size_of_all_ones() {
    let file = with(|file| file.header.header_size = u64::MAX).bytes();
    judge(&file).refused(2, "Invalid NEFF file size hdr sz: ffffffffffffffff, file sz: 2c00:");
}

/// G1 to G4 of container.md §15: the packer's bytes, pinned by the digest of the whole file.
fn golden() -> [(Vec<u8>, &'static str, Order); 4] {
    let uuid = *b"\x00\x11\x22\x33\x44\x55\x46\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff";
    let mut g2 = Options { compression: Some(Compression::Gzip(0)), ..Options::default() };
    (g2.header.name, g2.header.uuid) = (b"golden".to_vec(), Some(uuid));
    let g1 = Options { package: Package::Sha256, compression: None, ..g2.clone() };
    let mut g3 = Options { digest_form: DigestForm::Swapped, ..g2.clone() };
    (g3.header.feature_bits, g3.header.minor) = (0x100_0002, 5);
    g3.header.build = b"1.2.3%main@deadbeef".to_vec();
    let g4 = Options { dialect: Dialect::Gnu, payload_align: 1, tar_align: 10240, ..g2.clone() };
    let tree = [("neff.json", b"{}\n".to_vec()), ("sg00/pe.bin", (0..64).collect())];
    let file = |options: &Options| pack(tree.clone(), options).unwrap();
    [
        (file(&g1), "5da520de7cf0a819b21190941da8a56579898be47c183a16e4f8361fe2d2e414", Order::Plain),
        (file(&g2), "15eb7332892406411bc4f34dcff928d68e1ea754eddf94a80ff84612d48c2729", Order::Plain),
        (file(&g3), "62585f5a210905c7eb068e761b1ead1e68246dbde2e3c4a3bb75cf813699fe59", Order::Swapped),
        (file(&g4), "d8ba249367f86847202f0f555d333f264c992971b4e87cfb396e0885dc24668c", Order::Plain),
    ]
}

#[test]
fn container_c13_golden_files() {
    for (file, digest, order) in golden() {
        assert_eq!(loader_std::container::hex(&sha256(&file)), digest);
        let header = guard::buffer(Some(&file)).unwrap();
        assert_eq!(header.name.as_bytes(), b"golden");
        assert_eq!(header.uuid[..4], [0x00, 0x11, 0x22, 0x33]);
        let swapped = order == Order::Swapped;
        assert_eq!(header.neff_version_major, if swapped { 2 } else { 1 });
        assert_eq!(header.feature_bits.bits(), if swapped { 0x100_0002 } else { 0 });
        assert_eq!(
            header.neff_build_version.as_bytes(),
            if swapped { &b"1.2.3%main@deadbeef"[..] } else { b"" }
        );
        let judged = judge_with(&file, &Policy::DEFAULT, &Limits::DEFAULT);
        assert_eq!(judged.names(), [&b"neff.json"[..], b"sg00/pe.bin"]);
        assert_eq!(judged.order, Some(order));
        assert_eq!(judged.content(b"neff.json"), b"{}\n");
    }
}

#[test]
fn container_c14_random_pad() {
    let mut file = File::base().bytes();
    file[0x22C..0x400].copy_from_slice(&filler(14, 468));
    is_base(&judge(&file));
}

#[test]
fn container_c15_a_name_without_nul() {
    let mut file = File::base().bytes();
    file[0xDC..0x1DC].fill(b'n');
    is_base(&judge(&file));
    let header = guard::buffer(Some(&file)).unwrap();
    assert_eq!(header.name.to_string(), "n".repeat(256));
}

#[test]
fn container_c16_a_name_that_is_not_utf8() {
    let mut file = File::base().bytes();
    file[0xDC..0xE0].copy_from_slice(b"\xff\xfea\0");
    is_base(&judge(&file));
    assert_eq!(guard::buffer(Some(&file)).unwrap().name.to_string(), "\\xff\\xfea");
}

#[test]
fn container_c17_accepted_majors() {
    for major in 0..=2 {
        is_base(&judge(&with(|file| file.header.neff_version_major = major).bytes()));
    }
}

fn version(major: u64, minor: u64) -> Judged {
    let edit = |file: &mut File| {
        (file.header.neff_version_major, file.header.neff_version_minor) = (major, minor);
    };
    judge(&with(edit).bytes())
}

#[test]
fn container_c18_major_3() {
    let text = "NEFF version: 3.7 is not supported, accepted version range: 0.x-2.x";
    version(3, 7).refused(UNSUPPORTED, text);
}

#[test]
fn container_c19_the_largest_major() {
    version(u64::MAX, 0).refused(UNSUPPORTED, "NEFF version: 18446744073709551615.0 is not supported");
}

#[test]
fn container_c20_minors_are_free() {
    is_base(&version(2, 999));
}

#[test]
fn container_c21_all_supported_features() {
    let mut file = major_2(0x7FF_FFFF);
    file.header.lnc_size = 2;
    is_base(&with_lnc(&file, 2));
}

#[test]
fn container_c22_the_first_unknown_feature() {
    let judged = judge(&major_2(1 << 27).bytes());
    judged.refused(
        UNSUPPORTED,
        "This NEFF (version: 2.0, features: 0x8000000) has been compiled by a newer version",
    );
    assert!(judged.error().log().to_string().contains("Runtime: 0x7ffffff. Please"));
}

#[test]
fn container_c23_only_unknown_features_are_printed() {
    let mut file = major_2(0x800_0401);
    file.header.lnc_size = 2;
    with_lnc(&file, 2).refused(UNSUPPORTED, "This NEFF (version: 2.0, features: 0x8000000) has");
}

#[test]
fn container_c24_the_last_tested_feature() {
    judge(&major_2(1 << 62).bytes())
        .refused(UNSUPPORTED, "This NEFF (version: 2.0, features: 0x4000000000000000)");
}

#[test]
fn container_c25_bit_63_is_not_tested() {
    is_base(&judge(&major_2(1 << 63).bytes()));
}

#[test]
fn container_c26_major_1_does_not_look_at_features() {
    let features = Features::from_bits_retain(0x7FFF_FFFF_FFFF_FBFF);
    is_base(&judge(&with(|file| file.header.feature_bits = features).bytes()));
}

#[test]
fn container_c27_every_single_feature() {
    for bit in 0..27 {
        let mut file = major_2(1 << bit);
        file.header.lnc_size = 2;
        is_base(&with_lnc(&file, 2));
    }
}

#[test]
fn container_c28_lnc_mismatch() {
    let mut file = with(|file| file.header.feature_bits = Features::VNC);
    file.header.lnc_size = 2;
    let text = "Mismatch detected between Runtime configuration and NEFF. Runtime currently configured with \
                `NEURON_LOGICAL_NC_CONFIG=1` but NEFF test was compiled with `--lnc=2`. To resolve, either \
                recompile the NEFF with `--lnc=1` or re-run with `NEURON_LOGICAL_NC_CONFIG=2`.";
    let judged = with_lnc(&file, 1);
    judged.refused(2, text);
    assert_eq!(loader_std::container::log(judged.error(), Some(&file.header)), text);
    let long = "m".repeat(200);
    file.header.name = loader_core::container::Text::new(long.as_bytes());
    let judged = with_lnc(&file, 1);
    assert!(loader_std::container::log(judged.error(), Some(&file.header)).contains(&long));
}

#[test]
fn container_c29_lnc_without_the_feature() {
    is_base(&with_lnc(&with(|file| file.header.lnc_size = 2), 1));
}

#[test]
fn container_c30_lnc_before_version() {
    let mut file = with(|file| file.header.feature_bits = Features::VNC);
    (file.header.lnc_size, file.header.neff_version_major) = (2, 3);
    with_lnc(&file, 1).refused(2, "Mismatch detected");
}

#[test]
fn container_c31_version_before_size() {
    let edit = |file: &mut File| {
        (file.header.neff_version_major, file.header.data_size) = (3, 1 << 40);
    };
    judge(&with(edit).bytes()).refused(UNSUPPORTED, "NEFF version: 3.0");
}

#[test]
fn container_c32_features_before_package() {
    let mut file = major_2(1 << 30);
    file.header.pkg_version = 9;
    judge(&file.bytes()).refused(UNSUPPORTED, "This NEFF (version: 2.0, features: 0x40000000)");
}

#[test]
fn container_c33_data_size_one_too_large() {
    judge(&with(|file| file.header.data_size += 1).bytes())
        .refused(2, "Invalid NEFF data size(2801 vs 2c00)");
}

#[test]
fn container_c34_data_size_of_all_ones() {
    let file = with(|file| file.header.data_size = u64::MAX).bytes();
    judge(&file).refused(2, "Invalid NEFF data size(ffffffffffffffff vs 2c00)");
}

#[test]
fn container_c35_trailing_bytes() {
    let file = with(|file| file.trailing = filler(35, 1000));
    is_base(&judge(&file.bytes()));
    let judged = verify(&file);
    is_base(&judged);
    assert_eq!(judged.notes, ["W710"]);
}

#[test]
fn container_c36_data_size_cuts_the_stream() {
    let gz = neffload_tests::container::gzip(&tar::base().finish());
    let mut file = File::new(2, gz);
    file.header.data_size -= 100;
    judge(&file.bytes()).not_opened();
}

#[test]
fn container_c37_size_before_package() {
    let edit = |file: &mut File| (file.header.data_size, file.header.pkg_version) = (1 << 40, 9);
    judge(&with(edit).bytes()).refused(2, "Invalid NEFF data size(");
}

#[test]
fn container_c38_unknown_packages() {
    for package in [0, 3, 1 << 63] {
        let judged = judge(&with(|file| file.header.pkg_version = package).bytes());
        judged.refused(UNSUPPORTED, &format!("Unsupported NEFF packager: {package}"));
    }
}

#[test]
fn container_c39_package_1() {
    let judged = verify(&File::new(1, tar::base().finish()));
    is_base(&judged);
    assert_eq!(judged.order, Some(Order::Plain));
}

#[test]
fn container_c40_package_1_wrong_digest() {
    let mut file = File::new(1, tar::base().finish());
    file.header.hash[31] ^= 1;
    verify(&file).refused(2, "SHA256 mismatch!");
}

#[test]
fn container_c41_package_1_wrong_digest_not_verified() {
    let mut file = File::new(1, tar::base().finish());
    file.header.hash[31] ^= 1;
    is_base(&judge(&file.bytes()));
}

#[test]
fn container_c42_the_second_half_of_the_field_is_free() {
    let file = with(|file| file.header.hash[16..].copy_from_slice(&filler(42, 16)));
    is_base(&verify(&file));
}

#[test]
fn container_c43_md5_of_the_inflated_archive() {
    verify(&with(|file| file.set_hash(&md5(&tar::base().finish())))).refused(2, "MD5 mismatch!");
}

#[test]
fn container_c43a_word_swapped_md5() {
    let file = with(|file| file.set_hash(&swap_words(&md5(&file.payload))));
    let judged = verify(&file);
    is_base(&judged);
    assert_eq!(judged.order, Some(Order::Swapped));
    let strict = Policy { strict_digest: true, ..Policy::DEFAULT };
    judge_with(&file.bytes(), &strict, &Limits::DEFAULT).refused(2, "MD5 mismatch!");
}

#[test]
fn container_c43b_other_swaps() {
    let plain = md5(&File::base().payload);
    let reversed: Vec<u8> = plain.iter().rev().copied().collect();
    let halves: Vec<u8> = plain.chunks(2).flat_map(|pair| pair.iter().rev()).copied().collect();
    for digest in [reversed, halves] {
        verify(&with(|file| file.set_hash(&digest))).refused(2, "MD5 mismatch!");
    }
}

#[test]
fn container_c43c_word_swapped_sha256() {
    let mut file = File::new(1, tar::base().finish());
    file.set_hash(&swap_words(&sha256(&file.payload)));
    verify(&file).refused(2, "SHA256 mismatch!");
}

#[test]
fn container_c43d_digest_without_the_fill() {
    let gz = neffload_tests::container::gzip(&tar::base().finish());
    verify(&with(|file| file.set_hash(&md5(&gz)))).refused(2, "MD5 mismatch!");
}

#[test]
fn container_c44_damaged_gzip_checksum() {
    let gz = neffload_tests::container::gzip(&tar::base().finish()).len();
    let file = with(|file| file.payload[gz - 8] ^= 1);
    let judged = judge(&file.bytes());
    is_base(&judged);
    assert_eq!(judged.notes, ["W701"]);
    verify(&file).refused(2, "MD5 mismatch!");
}

#[test]
fn container_c45_raw_archive_in_package_2() {
    is_base(&verify(&File::raw(tar::base().finish())));
}

#[test]
fn container_c46_gzip_in_package_1() {
    is_base(&verify(&File::new(1, File::base().payload)));
}

#[test]
fn container_c47_the_digest_does_not_cover_the_header() {
    for at in [0x28, 0xA8, 0xCC, 0xDC, 0x1DC, 0x1E0, 0x22C, 0x3FF] {
        let mut file = File::base().bytes();
        file[at] ^= 0x55;
        is_base(&judge_with(&file, &Policy::DEFAULT, &Limits::DEFAULT));
    }
}

#[test]
fn container_c48_digest_before_archive() {
    let mut file = File::new(2, filler(48, 4096));
    file.header.hash[0] ^= 1;
    verify(&file).refused(2, "MD5 mismatch!");
}

#[test]
fn container_c49_empty_payload() {
    let file = File::new(2, Vec::new());
    let mut file = with(|base| base.header = file.header);
    file.header.header_size = 0;
    verify(&file).refused(2, "empty payload");
    judge(&file.bytes()).not_opened();
}
