//! Which compiler builds for a target: rustup's, or Debian's with the core library from source.

use anyhow::{Result, bail};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags of every image.
const FLAGS: [&str; 14] = [
    "-Zemit-stack-sizes",
    // Records are copied whole instead of field by field, which is a tenth of the code.
    "-Zmir-enable-passes=-ScalarReplacementOfAggregates",
    "-Crelocation-model=static",
    "-Cforce-unwind-tables=no",
    // Short jump tables are longer than the comparisons that they save; what is computed early, or kept for a second
    // use, takes a register that is then put on the stack and taken back.
    "-Cllvm-args=-min-jump-table-entries=16",
    "-Cllvm-args=-disable-machine-licm",
    "-Cllvm-args=-disable-machine-cse",
    "-Cllvm-args=-split-spill-mode=size",
    // A function knows which registers the ones that it calls leave alone. What functions have in common is not shared by
    // the compiler: that would be a percent, but calls through pointers would have no name to know them by.
    "-Cllvm-args=-enable-ipra",
    // Blocks of a function follow each other where that saves a jump.
    "-Cllvm-args=-apply-ext-tsp-for-size=true",
    // A panic says nothing, so nobody reads where it was.
    "-Zlocation-detail=none",
    "-Zfmt-debug=none",
    // SHA-256 as a loop, without the processor's instructions for it: a fiftieth of the code.
    "--cfg=sha2_backend=\"soft\"",
    "--cfg=sha2_backend_soft=\"compact\"",
];

/// A compiler that can build for a target.
#[derive(Debug)]
pub(crate) struct Toolchain {
    cargo: OsString,
    /// Debian's: built with the core library from its source, and linked by rustup's linker.
    debian: Option<PathBuf>,
    bare: bool,
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// The target's core library is there, or rustup could fetch it.
fn by_rustup(target: &str) -> bool {
    let there = || {
        let asked = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
        asked.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
    };
    there() || (succeeds(Command::new("rustup").args(["target", "add", target])) && there())
}

/// rustup's own linker, which Debian's compiler lacks.
fn linker() -> Option<PathBuf> {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    let root = PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim());
    let found = root.join("lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld");
    found.is_file().then_some(found)
}

impl Toolchain {
    /// # Errors
    /// Says what is missing.
    pub(crate) fn find(target: &str) -> Result<Self> {
        let bare = target.ends_with("-eabihf") || target.ends_with("-none");
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        if by_rustup(target) {
            return Ok(Self { cargo, debian: None, bare });
        }
        let (debian, source) = (Path::new("/usr/bin/rustc"), Path::new("/usr/lib/rustlib/src/rust/library"));
        match linker()
            .filter(|_| debian.is_file() && Path::new("/usr/bin/cargo").is_file() && source.is_dir())
        {
            Some(linker) => Ok(Self { cargo: "/usr/bin/cargo".into(), debian: Some(linker), bare }),
            None => bail!(
                "no compiler for {target}: rustup has no core library for it, and Debian's rustc-web, rust-web-src and cargo-web are not installed"
            ),
        }
    }

    /// `cargo`, for a build that follows the arguments.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        // The switches for stack sizes and the like are not stable; they change no code of ours.
        command.env("RUSTC_BOOTSTRAP", "1");
        if self.debian.is_some() {
            let path = env::var("PATH").unwrap_or_default();
            command
                .env("PATH", format!("/usr/bin:{path}"))
                .env_remove("RUSTUP_TOOLCHAIN")
                .env_remove("RUSTC");
            command.args(["-Zbuild-std=core,compiler_builtins"]);
            command.args(["-Zbuild-std-features=compiler-builtins-mem"]);
        }
        command
    }

    /// Flags of the compiler.
    pub(crate) fn flags(&self) -> String {
        let mut flags = FLAGS.join(" ");
        if let Some(linker) = self.debian.as_ref().filter(|_| self.bare) {
            flags += &format!(" -Clinker={} -Clinker-flavor=ld.lld", linker.display());
        }
        flags
    }
}
