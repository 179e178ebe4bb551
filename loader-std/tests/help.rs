//! The command's help. Being an integration test of this package, it also makes `cargo test --workspace`
//! build the command for the tests that run it.

use std::process::Command;

#[test]
fn help_names_every_subcommand_with_a_sentence() {
    let output = Command::new(env!("CARGO_BIN_EXE_neffload")).arg("--help").output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let commands = text.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    for line in commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        assert!(line.split_whitespace().count() > 2, "no sentence: {line}");
    }
    assert!(commands.contains("  pack"), "{text}");
}
