//! `neffload-simdrv` runs a program and ends as it does. (A package with such a test has its binary built by
//! `cargo test`, which other tests of the workspace rely on.)

use std::process::Command;

fn simdrv(program: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_neffload-simdrv")).arg("--").args(program).output();
    let output = output.unwrap_or_else(|error| panic!("neffload-simdrv: {error}"));
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_exit_status_is_that_of_the_program() {
    let (status, said) = simdrv(&["true"]);
    if status == 2 && said.contains("no seccomp user notification") {
        eprintln!("skipped: {said}");
        return;
    }
    assert_eq!(status, 0, "{said}");
    assert_eq!(simdrv(&["sh", "-c", "exit 7"]).0, 7);
}
