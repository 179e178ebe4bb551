//! container.md §18, C-121 to C-125: cross-checks with ordinary tools, and packing.

use loader_std::pack::{Compression, Dialect, Options, Package, pack};
use neffload_tests::command::Scratch;
use neffload_tests::container::{Judged, judge};
use neffload_tests::{neffpack, skip};
use std::process::{Command, Stdio};

fn tree() -> Vec<(String, Vec<u8>)> {
    let long = format!("sg00/{}/{}.bin", "d".repeat(60), "n".repeat(90));
    vec![
        ("kelf-0.json".into(), b"{}".to_vec()),
        ("neff.json".into(), b"{}\n".to_vec()),
        (long, vec![7; 700]),
        ("sg00/pe.bin".into(), (0..64).collect()),
        ("sg00/wavegraph-bin.json".into(), b"[]".to_vec()),
    ]
}

fn table(options: &Options) -> Judged {
    judge(&pack(tree(), options).unwrap())
}

/// Names that `tar` lists for a payload, or nothing where there is no `tar`.
fn listed(file: &[u8], flags: &str) -> Option<Vec<Vec<u8>>> {
    let scratch = Scratch::new(&format!("tar{flags}"));
    std::fs::write(scratch.join("payload"), &file[1024..]).unwrap();
    let mut tar = Command::new("tar");
    let output = tar.arg(flags).arg(scratch.join("payload")).stderr(Stdio::null()).output().ok()?;
    let names = output.stdout.split(|&byte| byte == b'\n').filter(|name| !name.is_empty());
    Some(names.map(<[u8]>::to_vec).collect())
}

fn agrees(options: &Options, flags: &str) {
    let file = pack(tree(), options).unwrap();
    let Some(mut names) = listed(&file, flags) else { skip!("no `tar` command") };
    names.retain(|name| !name.ends_with(b"wavegraph-bin.json"));
    names.sort();
    assert_eq!(judge(&file).names(), names);
}

#[test]
fn container_c121_tar_lists_the_same_names() {
    agrees(&Options::default(), "tzf");
}

#[test]
fn container_c122_tar_lists_the_same_names_in_package_1() {
    agrees(&Options { package: Package::Sha256, ..Options::default() }, "tf");
}

#[test]
fn container_c123_packed_again_from_the_printed_header() {
    let Some(mut inspect) = neffpack() else { skip!("no shared data") };
    let scratch = Scratch::new("c123");
    let mut options = Options { compression: Some(Compression::Gzip(0)), ..Options::default() };
    options.header.name = b"again".to_vec();
    options.header.uuid = Some([9; 16]);
    let file = pack(tree(), &options).unwrap();
    std::fs::write(scratch.join("first.neff"), &file).unwrap();
    let printed = inspect.arg("inspect").arg(scratch.join("first.neff")).output().unwrap();
    std::fs::write(scratch.join("header.json"), printed.stdout).unwrap();
    scratch.write_tree("tree", &tree().into_iter().collect());
    let mut again = neffpack().unwrap();
    again.arg("pack").arg(scratch.join("tree")).arg(scratch.join("second.neff"));
    let status = again.args(["--gzip-level", "0", "--header-from"]).arg(scratch.join("header.json")).status();
    assert!(status.unwrap().success());
    assert_eq!(std::fs::read(scratch.join("second.neff")).unwrap(), file);
}

#[test]
fn container_c124_packing_is_a_function_of_its_input() {
    let once = || pack(tree(), &Options::default()).unwrap();
    assert_eq!(once(), once());
}

#[test]
fn container_c125_the_dialect_does_not_matter() {
    let all = [Dialect::Gnu, Dialect::Ustar, Dialect::Pax]
        .map(|dialect| table(&Options { dialect, ..Options::default() }).members().to_vec());
    assert_eq!(all[0], all[1]);
    assert_eq!(all[1], all[2]);
    assert_eq!(all[0].len(), 4);
}
