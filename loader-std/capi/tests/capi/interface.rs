//! Names, numbers and sizes against the list of facts.

use super::programs::{compiler, installed};
use neffload_tests::capi::{self, Fact};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// Exported beside the public interface.
const OURS: [&str; 1] = ["neffload_last_error"];

fn functions() -> BTreeSet<String> {
    let names = capi::facts().into_iter().filter_map(|fact| match fact {
        Fact::Function(name, _) => Some(name),
        _ => None,
    });
    names.chain(OURS.map(str::to_owned)).collect()
}

#[test]
fn the_library_exports_every_name_and_no_other() {
    let Some(nm) = compiler("nm") else { return };
    let library = installed().join("lib").join("libnrt.so.1");
    let output = Command::new(nm).args(["-D", "--defined-only"]).arg(library).output().unwrap();
    let listing = String::from_utf8(output.stdout).unwrap();
    let exported = listing.lines().filter_map(|line| line.rsplit(' ').next()).map(str::to_owned);
    assert_eq!(exported.collect::<BTreeSet<_>>(), functions());
}

#[test]
fn the_library_is_found_by_its_name() {
    let Some(readelf) = compiler("readelf") else { return };
    let library = installed().join("lib").join("libnrt.so.1");
    let output = Command::new(readelf).arg("-d").arg(library).output().unwrap();
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(listing.contains("soname: [libnrt.so.1]"), "{listing}");
}

/// Every header that is ours.
fn headers() -> Vec<String> {
    let folder = fs::read_dir(capi::capi().join("include").join("nrt")).unwrap();
    let mut names: Vec<_> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_function_is_declared_in_its_header() {
    let mut declared = BTreeSet::new();
    for header in headers() {
        let path = capi::capi().join("include").join("nrt").join(&header);
        let text = fs::read_to_string(path).unwrap();
        for fact in capi::facts() {
            let Fact::Function(name, place) = fact else { continue };
            let here = text.contains(&format!("{name}("));
            if place == header {
                assert!(here, "{header} lacks {name}");
                declared.insert(name);
            }
        }
    }
    assert_eq!(declared.len() + OURS.len(), functions().len());
}

/// A C program that fails to compile where a number or a size differs, and calls the status table.
fn judge() -> String {
    let mut program: String = headers().iter().fold(String::new(), |mut text, header| {
        let _ = writeln!(text, "#include \"nrt/{header}\"");
        text
    });
    program += "#include <string.h>\n";
    let mut checks = String::new();
    for fact in capi::facts() {
        match fact {
            Fact::Status(name, number) => {
                let _ = writeln!(program, "_Static_assert({name} == {number}, \"{name}\");");
                let _ = writeln!(checks, "  bad += strcmp(nrt_get_status_as_str({name}), \"{name}\") != 0;");
            }
            Fact::Constant(name, number) => {
                let _ = writeln!(program, "_Static_assert({name} == {number}, \"{name}\");");
            }
            Fact::Size(name, bytes) => {
                let _ = writeln!(program, "_Static_assert(sizeof({name}) == {bytes}, \"{name}\");");
            }
            Fact::Function(name, _) => {
                let _ = writeln!(checks, "  bad += (void (*)(void)){name} == 0;");
            }
        }
    }
    program + "int main(void) {\n  int bad = 0;\n" + &checks + "  return bad;\n}\n"
}

#[test]
fn numbers_sizes_and_texts_are_those_of_the_public_interface() {
    let Some(cc) = compiler("cc") else { return };
    let folder = installed();
    let (source, program) = (folder.join("judge.c"), folder.join("judge"));
    fs::write(&source, judge()).unwrap();
    let lib = folder.join("lib");
    let built = Command::new(cc)
        .args(["-std=c11", "-Wall", "-Wno-address", "-Werror"])
        .arg("-I")
        .arg(folder.join("include"))
        .arg(&source)
        .arg("-L")
        .arg(&lib)
        .arg("-lnrt")
        .arg(format!("-Wl,-rpath,{}", lib.display()))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    assert_eq!(Command::new(program).status().unwrap().code(), Some(0));
}

#[test]
fn every_status_is_in_the_list() {
    let listed = capi::facts().iter().filter(|fact| matches!(fact, Fact::Status(..))).count();
    let header = fs::read_to_string(capi::capi().join("include/nrt/nrt_status.h")).unwrap();
    assert_eq!(header.lines().filter(|line| line.trim_start().starts_with("NRT_")).count(), listed);
    let table = fs::read_to_string(capi::capi().join("src/status.rs")).unwrap();
    assert_eq!(table.lines().filter(|line| line.trim_start().starts_with("NRT_")).count(), listed);
}
