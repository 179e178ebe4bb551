//! `cargo xtask test`: what CI runs, with one line per gate.

use anyhow::{Result, bail};
use neffload_tests::{fixture_files, python, real_files, shared, workspace};
use std::env;
use std::process::Command;
use std::time::Instant;

/// Set for tests that have a longer form.
const FULL: &str = "NEFFLOAD_FULL";

pub(crate) fn run(full: bool) -> Result<()> {
    gate("format", cargo(&["fmt", "--all", "--check"]))?;
    gate("lints", cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    let mut documentation = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    gate("documentation", documentation)?;
    coverage(full);
    let mut tests = cargo(&["test", "--workspace", "--quiet"]);
    if full {
        tests.env(FULL, "1");
    }
    gate("tests", tests)?;
    chore("clients of the C interface", crate::clients::run)?;
    chore("wheel", || crate::wheel::run(false))?;
    chore("audit", || crate::audit::run(false, full))
}

/// A gate that is another chore of this program.
fn chore(name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("== {name}");
    let start = Instant::now();
    run()?;
    println!("== {name}: done in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace());
    command
}

fn gate(name: &str, mut command: Command) -> Result<()> {
    println!("== {name}");
    let start = Instant::now();
    if !command.status()?.success() {
        bail!("{name} failed");
    }
    println!("== {name}: passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// What the tests will find on this machine.
fn coverage(full: bool) {
    let there = |found: bool| if found { "yes" } else { "no, those tests say that they skip" };
    println!("== fixtures of the project: {}", fixture_files().len());
    println!("== shared data: {}; real files: {}", there(shared().is_some()), real_files().len());
    println!("== Python 3 for independent checks: {}", there(python().is_some()));
    println!("== long sweeps: {}", if full { "yes" } else { "no (--full)" });
}
