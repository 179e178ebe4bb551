//! Completions and manual pages.

use neffload_tests::command::{Scratch, neffload, run, status};
use std::collections::BTreeSet;
use std::process::Command;

/// Subcommands as `--help` lists them.
fn subcommands() -> BTreeSet<String> {
    let help = String::from_utf8(run(["--help"]).stdout).unwrap();
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect()
}

/// Long options of a subcommand as its `--help` lists them.
fn options(subcommand: &str) -> BTreeSet<String> {
    let help = String::from_utf8(run([subcommand, "--help"]).stdout).unwrap();
    let words = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let long =
        |line: &str| line.split([' ', ',', '=', '[']).find(|word| word.starts_with("--")).map(str::to_owned);
    words.filter_map(long).collect()
}

fn script(shell: &str) -> String {
    let output = run(["completions", shell]);
    assert_eq!(status(&output), 0, "{shell}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn completions_know_every_subcommand_and_option() {
    assert!(subcommands().len() >= 17, "{:?}", subcommands());
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = script(shell);
        for subcommand in subcommands() {
            assert!(script.contains(&subcommand), "{shell}: {subcommand}");
            for option in options(&subcommand) {
                // Fish leaves the dashes out.
                let bare = option.trim_start_matches('-');
                assert!(
                    script.contains(&option) || script.contains(&format!("-l {bare}")),
                    "{shell}: {option}"
                );
            }
        }
    }
}

#[test]
fn bash_completes() {
    let scratch = Scratch::new("completions");
    let file = scratch.join("neffload.bash");
    std::fs::write(&file, script("bash")).unwrap();
    let ask = |words: &str| {
        let count = words.split(' ').count() - 1;
        let program = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD={count}; _neffload neffload \"${{COMP_WORDS[-1]}}\" \
             \"${{COMP_WORDS[-2]}}\"; echo \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let output = Command::new("bash").args(["--norc", "-c", &program]).output().unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    if Command::new("bash").arg("--version").output().is_err() {
        return println!("skipped: there is no bash");
    }
    assert_eq!(ask("neffload ver"), "verify");
    assert_eq!(ask("neffload me"), "memory members");
    assert_eq!(ask("neffload load --max"), "--max-memory");
}

#[test]
fn fish_completes_words_that_have_no_dash() {
    let scratch = Scratch::new("fish");
    let file = scratch.join("neffload.fish");
    std::fs::write(&file, script("fish")).unwrap();
    if Command::new("fish").arg("--version").output().is_err() {
        return println!("skipped: there is no fish");
    }
    let ask = |line: &str| {
        let program = format!("source {}; complete -C '{line}'", file.display());
        let output = Command::new("fish").args(["--no-config", "-c", &program]).output().unwrap();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let offered = |line: &str, word: &str| ask(line).lines().any(|one| one.split('\t').next() == Some(word));
    assert!(offered("neffload ver", "verify"));
    assert!(offered("neffload info some.neff getN", "getNeffJson"));
    assert!(!offered("neffload info getN", "getNeffJson"), "there the file comes first");
    assert!(offered("neffload completions fi", "fish"));
    assert!(offered("neffload info --str", "--strict"));
}

#[test]
fn manual_pages_say_what_the_help_says() {
    let scratch = Scratch::new("man");
    let folder = scratch.join("man1");
    assert_eq!(status(&neffload().args(["man", "-C"]).arg(&folder).output().unwrap()), 0);
    let read = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
    let plain =
        |text: &str| text.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "");
    let whole = plain(&read("neffload"));
    for subcommand in subcommands() {
        assert!(whole.contains(&format!("neffload-{subcommand}(1)")), "neffload.1: {subcommand}");
        let page = plain(&read(&format!("neffload-{subcommand}")));
        for part in [
            ".TH neffload-",
            ".SH NAME",
            ".SH SYNOPSIS",
            ".SH DESCRIPTION",
            ".SH OPTIONS",
            ".SH EXAMPLES",
            ".SH EXIT STATUS",
        ] {
            assert!(page.contains(part), "{subcommand}: {part}");
        }
        for option in options(&subcommand) {
            assert!(page.contains(&option), "{subcommand}: {option}");
        }
        assert!(page.is_ascii(), "{subcommand}: a formatter may take other bytes for Latin-1");
    }
    let synopsis = |name: &str| {
        let page = plain(&read(name));
        page.split(".SH SYNOPSIS\n").nth(1).unwrap().lines().next().unwrap().to_owned()
    };
    assert_eq!(
        synopsis("neffload-report"),
        "neffload report [--json] [-q|--quiet] [-o|--out OUT.html] [-h|--help] FILE"
    );
    assert!(synopsis("neffload-load").ends_with(" FILE..."), "{}", synopsis("neffload-load"));
    assert!(synopsis("neffload-load").contains("[--device DEVICE]"));
    assert!(
        read("neffload-load").contains("store=full|digest|discard")
            || read("neffload-load").contains("\\[u2026]")
    );
    // Where a formatter is there, it finds nothing wrong.
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(output) =
            Command::new("groff").args(["-k", "-man", "-Tutf8", "-ww", "-z"]).arg(&path).output()
        else {
            return println!("skipped: there is no groff");
        };
        assert!(output.stderr.is_empty(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    }
}
