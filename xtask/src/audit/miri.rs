//! (vi) Miri over the tests of the core and of the C interface, where it is installed.

use super::Offenders;
use anyhow::Result;
use neffload_tests::workspace;
use std::process::Command;

fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.arg("+nightly").args(arguments).current_dir(workspace());
    for variable in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN", "RUSTFLAGS"] {
        command.env_remove(variable);
    }
    // Isolation would refuse the clock and the file system to tests.
    command.env("MIRIFLAGS", "-Zmiri-disable-isolation");
    command
}

pub(crate) fn check(full: bool) -> Result<Offenders> {
    if !full {
        println!("      Miri: skipped, it takes minutes and runs with --full");
        return Ok(Offenders::new());
    }
    let there = cargo(&["miri", "--version"]).output().is_ok_and(|output| output.status.success());
    if !there {
        println!("      Miri: skipped, the component is not installed for a nightly toolchain");
        return Ok(Offenders::new());
    }
    let mut offenders = Offenders::new();
    let mut run = |package: &str| -> Result<()> {
        let mut command = cargo(&["miri", "test", "--quiet", "--package", package, "--lib"]);
        let output = command.output()?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let line = text.lines().find(|line| line.starts_with("error")).unwrap_or("failed");
            offenders.push(format!("Miri, {package}: {line}"));
        }
        Ok(())
    };
    run("loader-core")?;
    run("neffload-capi")?;
    Ok(offenders)
}
