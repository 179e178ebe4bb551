//! On a terminal there is colour, and progress when work lasts; in a pipe there is neither.

use neffload_tests::command::{Scratch, neffload};
use neffload_tests::{fixture, skip};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a terminal shows of a shell's line, both streams together; `None` where there is no `script` to make one.
fn on_terminal(line: &str, variables: &[(&str, &str)]) -> Option<String> {
    let mut command = Command::new("script");
    command.args(["-qefc", line, "/dev/null"]).stdin(Stdio::null()).env_remove("NO_COLOR");
    let output = command.env("TERM", "xterm").envs(variables.iter().copied()).output().ok()?;
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stdout));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What a pipe gets of it, both streams together.
fn in_pipe(line: &str) -> String {
    let output = Command::new("sh").args(["-c", &format!("{{ {line} ; }} 2>&1")]).output().unwrap();
    assert!(output.status.success(), "{line}");
    String::from_utf8(output.stdout).unwrap()
}

/// The command on the fixture.
fn on_fixture(words: &str) -> String {
    format!("{} {words} {}", neffload().get_program().display(), fixture("cayman-2core").display())
}

#[test]
fn colour_is_for_terminals() {
    for words in ["verify", "inspect", "load", "memory", "disasm"] {
        let line = on_fixture(words);
        let Some(shown) = on_terminal(&line, &[]) else { skip!("there is no `script`") };
        assert!(shown.contains("\x1b["), "{words}: no colour: {shown}");
        for plain in [
            on_terminal(&line, &[("NO_COLOR", "1")]).unwrap(),
            on_terminal(&format!("{line} --json"), &[]).unwrap(),
            in_pipe(&line),
        ] {
            assert!(!plain.contains('\x1b') && !plain.is_empty(), "{words}: {plain}");
        }
        // An empty variable asks for nothing.
        assert!(on_terminal(&line, &[("NO_COLOR", "")]).unwrap().contains("\x1b["));
    }
}

#[test]
fn progress_is_for_terminals_and_for_work_that_lasts() {
    const CLEAR: &str = "\r\x1b[2K";
    let scratch = Scratch::new("progress");
    let page = scratch.join("page.html");
    let (program, file) = (neffload().get_program().to_owned(), fixture("cayman-2core"));
    let (program, file) = (program.display(), file.display());
    // A file that comes slowly.
    let slow = format!("{{ head -c 9000 {file}; sleep 0.7; tail -c +9001 {file}; }}");
    for rest in [
        "verify -".to_owned(),
        "inspect -".to_owned(),
        format!("report - -o {}", page.display()),
        "memory -".to_owned(),
        "info - getNumNc".to_owned(),
        "disasm -".to_owned(),
        "load -".to_owned(),
        "plan -".to_owned(),
    ] {
        let line = format!("{slow} | {program} {rest}");
        let Some(shown) = on_terminal(&line, &[]) else { skip!("there is no `script`") };
        assert!(shown.contains(CLEAR) && shown.contains("/s"), "{rest}: no progress: {shown:?}");
        // Nothing is left of it before the answer.
        let bars = shown.rfind(CLEAR).unwrap();
        assert!(!shown[bars..].contains("/s"), "{rest}: {shown:?}");
        for quiet in [
            on_terminal(&format!("{line} --quiet"), &[("NO_COLOR", "1")]).unwrap(),
            on_terminal(&format!("{program} {} < {file}", rest), &[("NO_COLOR", "1")]).unwrap(),
            in_pipe(&line),
        ] {
            assert!(!quiet.contains('\x1b'), "{rest}: {quiet:?}");
        }
    }
}

/// A load says nothing of how far it is; its bar moves all the same, also while it computes.
#[test]
fn progress_is_for_loads_too() {
    let scratch = Scratch::new("progress-load");
    let (tree, file) = (scratch.join("tree"), scratch.join("large.neff"));
    let run =
        |words: &[&str]| assert!(neffload().args(words).output().unwrap().status.success(), "{words:?}");
    let name = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    run(&["extract", &name(&fixture("cayman-2core")), "-C", &name(&tree)]);
    // Zeros, which take no room and yet time to unpack.
    let zeros = std::fs::File::create(tree.join("sg00/zeros.dat")).unwrap();
    zeros.set_len(256 << 20).unwrap();
    run(&["pack", &name(&tree), &name(&file), "--level", "1"]);
    let program = neffload().get_program().to_owned();
    let out = scratch.join("out");
    let packed = scratch.join("packed.neff");
    for (words, label) in [
        ("load @".to_owned(), "loading"),
        ("plan @".to_owned(), "planning"),
        ("memory --staged @".to_owned(), "staging"),
        ("verify --deep @".to_owned(), "verifying"),
        ("find @".to_owned(), "searching"),
        (format!("extract @ -C {}", out.display()), "reading"),
        (format!("pack --level 1 @ {}", packed.display()), "packing"),
    ] {
        let line = format!("{} {}", program.display(), words.replace('@', &file.display().to_string()));
        let begun = Instant::now();
        let Some(shown) = on_terminal(&line, &[("NO_COLOR", "1")]) else { skip!("there is no `script`") };
        // A machine on which it does not last shows nothing.
        if begun.elapsed() > Duration::from_secs(1) {
            assert!(shown.contains(&format!("\r\x1b[2K{label}")), "{words}: {shown:?}");
        }
        let after = shown.rfind("\r\x1b[2K").unwrap_or(0);
        assert!(!shown[after..].contains(label), "{words}: something is left: {shown:?}");
        std::fs::remove_dir_all(&out).ok();
        assert!(
            !on_terminal(&format!("{line} -q"), &[("NO_COLOR", "1")]).unwrap().contains('\x1b'),
            "{words}"
        );
        // A bar would take away the line of a document that is not at its end.
        if words.starts_with("find") || words.starts_with("verify") {
            let shown = on_terminal(&format!("{line} --json"), &[("NO_COLOR", "1")]).unwrap();
            assert!(serde_json::from_str::<serde_json::Value>(&shown).is_ok(), "{words}: {shown:?}");
        }
        std::fs::remove_dir_all(&out).ok();
    }
}
