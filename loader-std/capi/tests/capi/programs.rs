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
        .args([standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-pthread"])
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

/// The simulated kernel driver, if it is built.
fn driver() -> Option<Command> {
    let test = std::env::current_exe().unwrap();
    let driver = test.ancestors().nth(2)?.join("neffload-simdrv");
    driver.is_file().then(|| Command::new(driver))
}

/// Runs a program on a device node, behind which the simulated kernel driver answers real system calls and judges them.
fn under_driver(program: &Path, arguments: &[&Path]) {
    let Some(mut driver) = driver() else {
        skip!("neffload-simdrv is not built; `cargo test --workspace` builds it")
    };
    driver.arg("--").arg(program).args(arguments).env_clear();
    driver
        .env("NEFFLOAD_DEVICE", "/dev/neuron0")
        .env("NEFFLOAD_ALLOW_OPAQUE", "1")
        .env("NEFFLOAD_LOG", "off");
    let output = driver.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(2) && err.contains("no seccomp user notification") {
        skip!("{err}");
    }
    assert!(output.status.success() && out.ends_with("done\n"), "{:?}: {out}{err}", output.status);
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

/// The same program on a device node, behind which the simulated kernel driver answers real system calls. The driver
/// also judges what the library did, and that nothing was left on the device.
#[test]
fn the_c_program_loads_through_the_kernel_driver() {
    let Some(cc) = compiler("cc") else { return };
    if driver().is_none() {
        skip!("neffload-simdrv is not built; `cargo test --workspace` builds it");
    }
    let program = compile(cc, "load.c", "-std=c11");
    let under_driver = |program: &Path, more: &[(&str, &str)]| {
        let mut command = driver().unwrap();
        command.arg("--").arg(program).arg(fixture("cayman-2core")).env_clear();
        command.env("NEFFLOAD_DEVICE", "/dev/neuron0").envs(more.iter().copied()).output().unwrap()
    };
    let output = under_driver(&program, &[("NEFFLOAD_ALLOW_OPAQUE", "1")]);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(2) && err.contains("no seccomp user notification") {
        skip!("{err}");
    }
    assert!(output.status.success() && out.ends_with("done\n"), "{:?}: {out}{err}", output.status);
    assert!(out.contains(", /dev/neuron0), trn2, 4 logical cores"), "{out}");
    // Instructions that nobody has translated go onto no device that would run them, unless somebody says so.
    let refused = under_driver(&program, &[]);
    let err = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && err.contains("nrt_load: S506 "), "{err}");
    assert!(err.contains("NEFFLOAD_ALLOW_OPAQUE=1"), "{err}");
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

/// Exit handlers and the destructors of a thread's variables make calls that are refused.
#[test]
fn calls_after_the_end_are_answered() {
    let Some(cc) = compiler("cc") else { return };
    run(&compile(cc, "exit.c", "-std=gnu11"), &[&fixture("cayman-2core")], &[]);
    let Some(cpp) = compiler("c++") else { return };
    run(&compile(cpp, "owners.cpp", "-std=c++17"), &[], &[]);
}

#[test]
fn refusals_need_no_standard_error() {
    let Some(cc) = compiler("cc") else { return };
    let program = compile(cc, "silent.c", "-std=gnu11");
    for way in ["full", "closed", "pipe"] {
        run(&program, &[Path::new(way)], &[]);
    }
}

/// A cancellation, which unwinds by force, would end the process in a Rust frame.
#[test]
fn a_cancelled_thread_ends_behind_its_call() {
    let Some(cc) = compiler("cc") else { return };
    let program = compile(cc, "cancel.c", "-std=gnu11");
    run(&program, &[&fixture("cayman-2core")], &[("NEFFLOAD_LOG", "off")]);
    under_driver(&program, &[&fixture("cayman-2core")]);
}

/// Allocations of eight threads meet wherever the table of blocks is full; none is refused.
#[test]
fn allocations_of_several_threads_are_all_granted() {
    let Some(cc) = compiler("cc") else { return };
    let program = compile(cc, "crowd.c", "-std=gnu11");
    run(&program, &[], &[("NEFFLOAD_LOG", "off")]);
    under_driver(&program, &[]);
}

/// Loads, unloads and tensors on several threads while one closes and initialises again and again. The driver judges the
/// order in which everything is given back.
#[test]
fn a_close_may_come_at_any_time() {
    let Some(cc) = compiler("cc") else { return };
    let program = compile(cc, "close.c", "-std=gnu11");
    run(&program, &[&fixture("cayman-2core")], &[("NEFFLOAD_LOG", "off")]);
    under_driver(&program, &[&fixture("cayman-2core")]);
}

/// Objects so small that nobody asks for their memory with care: the next one is refused while there is some left.
#[test]
fn no_number_of_small_objects_ends_a_program() {
    let Some(cc) = compiler("cc") else { return };
    let program = compile(cc, "small.c", "-std=gnu11");
    for kind in ["i", "d", "h", "s", "t", "e"] {
        // Quarters of a MiB.
        let most = if kind == "i" { 0..24 } else { 0..20 };
        for more in most {
            let output =
                run(&program, &[Path::new(kind), Path::new(&more.to_string())], &[("NEFFLOAD_LOG", "off")]);
            let said = String::from_utf8_lossy(&output.stdout);
            // 2 MiB stay untouched.
            assert!(more > 7 || said.contains("0 made, then 4\n"), "{kind} {more}: {said}");
            assert!(kind != "i" || more < 16 || said.contains("0 made, then 0\n"), "{kind} {more}: {said}");
        }
    }
}

/// Whatever the process may take, a call is answered: it works, or it is refused for want of memory.
#[test]
fn no_shortage_of_memory_ends_a_program() {
    let Some(cc) = compiler("cc") else { return };
    let program = compile(cc, "memory.c", "-std=gnu11");
    let mut loaded = Vec::new();
    for more in [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512] {
        let more = more.to_string();
        let output = run(&program, &[&fixture("cayman-2core"), Path::new(&more)], &[("NEFFLOAD_LOG", "off")]);
        loaded.push(String::from_utf8_lossy(&output.stdout).contains("load: 0\n"));
    }
    assert!(!loaded[0] && loaded[9..].iter().all(|loaded| *loaded), "{loaded:?}");
}
