//! Links the command so that it needs little memory, where the linker can: `neffload verify` promises to need
//! 4 MiB in all, program included.
//!
//! Memory is counted in pages that are mapped, and the system maps 64 KiB around every page of a program that is
//! touched. What is saved, measured on `verify` of a 256 MiB file:
//!
//! | | KiB |
//! |---|---|
//! | No relocations: a position-independent program of this size begins with 36,000 of them, a table of 300 KiB that the loader reads and as many bytes that it writes before the first instruction runs. | 480 |
//! | The C library, its unwinder and the dynamic loader map 1.9 MiB for the few functions that a Rust program calls; linked into it, those take less than half of that. | 1060 |
//! | The functions that the command runs lie side by side (`verify.ld`). | 670 |
//! | The same generic function stands in the program once, not many times over. | 160 |

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=verify.ld");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    let text = |key| env::var(key).unwrap_or_default();
    let gnu = text("CARGO_CFG_TARGET_OS") == "linux" && text("CARGO_CFG_TARGET_ENV") == "gnu";
    if !gnu {
        return;
    }
    link_with("-no-pie");
    // The linker that rustc brings along for this target can do what follows; another may not.
    let other = env::var_os("RUSTC_LINKER").is_some() || text("CARGO_ENCODED_RUSTFLAGS").contains("link");
    let ours = text("CARGO_CFG_TARGET_ARCH") == "x86_64" && text("HOST") == text("TARGET") && !other;
    if !ours || text("PROFILE") != "release" {
        return;
    }
    link_with("-Wl,--icf=all");
    link_with(&format!("-T{}/verify.ld", text("CARGO_MANIFEST_DIR")));
    if let Some(folder) = archives(Path::new(&text("OUT_DIR"))) {
        link_with(&format!("-L{}", folder.display()));
        // Not `-static`: that also means other start-up files, which register the unwinder's tables when the program
        // starts, and newer ones read all of them then.
        link_with("-Wl,--no-dynamic-linker");
    }
}

fn link_with(argument: &str) {
    println!("cargo::rustc-link-arg-bin=neffload={argument}");
}

/// The system libraries that the standard library asks the linker for, and the archive to take for each.
const LIBRARIES: [(&str, &str); 7] = [
    ("gcc_s", "gcc_eh"),
    ("c", "c"),
    ("m", "m"),
    ("rt", "rt"),
    ("pthread", "pthread"),
    ("util", "util"),
    ("dl", "dl"),
];

/// A folder in which the linker finds an archive for every system library, before it looks for a shared one
/// elsewhere; `None` where the C library is not installed as an archive, as on some distributions.
///
/// `-C target-feature=+crt-static` does the same for a whole build, which then can make neither the procedural
/// macros that the command is built with nor the shared libraries beside it.
fn archives(out: &Path) -> Option<PathBuf> {
    let folder = out.join("archives");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).ok()?;
    for (name, archive) in LIBRARIES {
        let found = compiler_finds(&format!("lib{archive}.a"))?;
        symlink(found, folder.join(format!("lib{name}.a"))).ok()?;
    }
    Some(folder)
}

/// Where the C compiler, by which rustc links, has a file of that name.
fn compiler_finds(file: &str) -> Option<PathBuf> {
    let output = Command::new("cc").arg(format!("-print-file-name={file}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && path.is_file()).then_some(path)
}
