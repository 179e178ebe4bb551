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

/// Tests that take Miri seconds: of the core's arena, header and checksum, and of the C interface's settings.
const QUICK: [(&str, &[&str]); 2] = [
    ("loader-core", &["arena::tests", "container::header::tests", "container::gzip::crc::tests"]),
    ("neffload-capi", &["settings::tests"]),
];

pub(crate) fn check(full: bool) -> Result<Offenders> {
    let there = cargo(&["miri", "--version"]).output().is_ok_and(|output| output.status.success());
    if !there {
        println!("      Miri: skipped, the component is not installed for a nightly toolchain");
        return Ok(Offenders::new());
    }
    let mut offenders = Offenders::new();
    for (package, tests) in QUICK {
        let mut command = cargo(&["miri", "test", "--quiet", "--package", package, "--lib"]);
        if !full {
            command.arg("--").args(tests);
            println!("      Miri, {package}: only {}; the others run with --full", tests.join(", "));
        }
        offenders.extend(failure(package, &mut command)?);
    }
    Ok(offenders)
}

/// Why the tests failed; none ran is a failure, too.
fn failure(package: &str, command: &mut Command) -> Result<Option<String>> {
    let output = command.output()?;
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        let line = errors.lines().find(|line| line.starts_with("error")).unwrap_or("failed");
        return Ok(Some(format!("Miri, {package}: {line}")));
    }
    Ok((passed(&said) == 0).then(|| format!("Miri, {package}: no test ran")))
}

/// Tests that passed, by what the harness says.
fn passed(said: &str) -> u64 {
    let counts = said.lines().filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next());
    counts.filter_map(|count| count.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::passed;

    #[test]
    fn tests_are_counted() {
        assert_eq!(passed("running 0 tests\n\ntest result: ok. 0 passed; 0 failed\n"), 0);
        assert_eq!(passed("test result: ok. 7 passed; 0 failed\n"), 7);
    }
}
