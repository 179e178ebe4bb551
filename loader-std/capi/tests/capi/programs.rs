//! Programs in C and C++, compiled against the project's headers and run against its library.

use neffload_tests::command::Scratch;
use neffload_tests::{capi, fixture, real_files, skip};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The installed interface, made once for all tests of this file.
pub(crate) fn installed() -> &'static Path {
    static INSTALLED: OnceLock<Scratch> = OnceLock::new();
    let install = || {
        let folder = Scratch::new("capi");
        capi::install(&capi::beside(), &folder.join("neuron")).unwrap_or_else(|error| panic!("{error}"));
        folder
    };
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| INSTALLED.get_or_init(install).join("neuron"))
}

/// A compiler that is there; `None` prints why the test skips.
pub(crate) fn compiler(name: &str) -> Option<&str> {
    let found = Command::new(name).arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: there is no `{name}`");
    }
    found.then_some(name)
}

/// Compiles a source of `tests/programs` with all warnings as errors.
fn compile(compiler: &str, source: &str, standard: &str) -> PathBuf {
    let folder = installed();
    let program = folder.join(source.replace('.', "-"));
    let lib = folder.join("lib");
    let built = Command::new(compiler)
        .args([standard, "-Wall", "-Wextra", "-Werror", "-O1", "-g"])
        .arg("-I")
        .arg(folder.join("include"))
        .arg(capi::capi().join("tests").join("programs").join(source))
        .arg("-L")
        .arg(&lib)
        .arg("-lnrt")
        .arg(format!("-Wl,-rpath,{}", lib.display()))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(built.status.success(), "{source}: {}", String::from_utf8_lossy(&built.stderr));
    program
}

/// Runs a program in a clean environment and wants its last line to be `done`.
fn run(program: &Path, arguments: &[&Path], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(environment.iter().copied());
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.ends_with("done\n"), "{}: {out}{err}", program.display());
    output
}

#[test]
fn a_c_program_loads_binds_and_unloads() {
    let Some(cc) = compiler("cc") else { return };
    let program = compile(cc, "load.c", "-std=c11");
    let output = run(&program, &[&fixture("cayman-2core")], &[]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("input x: dtype 6, 65536 bytes, extents 128 256\n"), "{said}");
    assert!(said.contains("output output0: dtype 6, 32768 bytes, extents 128 128\n"), "{said}");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(log.contains("neffload: nrt_execute: not implemented"), "{log}");
    let quiet = run(&program, &[&fixture("cayman-2core")], &[("NEFFLOAD_LOG", "off")]);
    assert!(quiet.stderr.is_empty());
}

#[test]
fn the_c_program_loads_real_files() {
    let Some(cc) = compiler("cc") else { return };
    let files = real_files();
    let cayman: Vec<_> = files.iter().filter(|file| file.to_string_lossy().contains("cayman")).collect();
    if cayman.is_empty() {
        skip!("no real files");
    }
    let program = compile(cc, "load.c", "-std=c11");
    for file in cayman {
        run(&program, &[file], &[("NEFFLOAD_LOG", "off")]);
    }
}

#[test]
fn a_cpp_program_works_with_tensors() {
    let Some(cpp) = compiler("c++") else { return };
    run(&compile(cpp, "tensors.cpp", "-std=c++17"), &[], &[]);
}

#[test]
fn wrong_callers_survive() {
    let Some(cc) = compiler("cc") else { return };
    run(&compile(cc, "hostile.c", "-std=gnu11"), &[&fixture("cayman-2core")], &[("NEFFLOAD_LOG", "off")]);
}
