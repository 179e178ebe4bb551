//! Where answers go: a standard output that cannot be written to, an output that is the input, a reason for every refusal.

use neffload_tests::command::{Scratch, document, neffload, run, status};
use neffload_tests::{fixture, fixtures, skip};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn words<'w>(words: &'w [&'w str]) -> Vec<&'w OsStr> {
    words.iter().map(OsStr::new).collect()
}

#[test]
fn an_output_that_is_full_is_no_success() {
    let Ok(_) = OpenOptions::new().write(true).open("/dev/full") else { skip!("there is no /dev/full") };
    let scratch = Scratch::new("full");
    let made = fixtures::named("cayman-2core");
    let tree = scratch.write_tree("tree", &made.tree);
    let (file, tree) = (fixture("cayman-2core"), tree.to_str().unwrap().to_owned());
    let file = file.to_str().unwrap();
    let on_file: [&[&str]; 13] = [
        &["inspect"],
        &["verify"],
        &["verify", "--deep"],
        &["memory"],
        &["load"],
        &["plan"],
        &["plan", "-o", "-"],
        &["report", "-o", "-"],
        &["report", "--json"],
        &["members"],
        &["disasm"],
        &["find"],
        &["diff", file],
    ];
    let mut lines: Vec<Vec<&str>> = Vec::new();
    for line in on_file {
        lines.push([line, &[file][..]].concat());
        if !line.contains(&"-o") && !line.contains(&"--json") {
            lines.push([line, &["--json", file][..]].concat());
        }
    }
    lines.extend([
        vec!["info", file, "getNeffJson"],
        vec!["info", file, "getNeffJson", "--json"],
        vec!["cat", file, "neff.json"],
        vec!["pack", &tree, "-"],
        vec!["devices", "--json"],
        vec!["completions", "bash"],
        vec!["--help"],
        vec!["help"],
        vec!["load", "--help"],
        vec!["help", "load"],
        vec!["--version"],
    ]);
    for line in lines {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = neffload().args(&line).stdout(full).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(status(&output), 2, "{line:?}: {}", said(&output));
        assert!(said(&output).contains("No space left"), "{line:?}: {}", said(&output));
    }
}

/// Runs a command that would write over `input`, which must be as before.
fn spared(line: &[&OsStr], input: &Path) {
    let before = fs::read(input).unwrap();
    let output = run(line);
    assert_eq!(status(&output), 2, "{line:?}: {}", said(&output));
    assert!(said(&output).contains("would be written over"), "{line:?}: {}", said(&output));
    assert!(fs::read(input).unwrap() == before, "{line:?}");
}

#[test]
fn what_is_read_is_not_written_over() {
    let scratch = Scratch::new("apart");
    let input = scratch.join("in.neff");
    fs::copy(fixture("cayman-2core"), &input).unwrap();
    let (hard, soft) = (scratch.join("hard.neff"), scratch.join("soft.neff"));
    fs::hard_link(&input, &hard).unwrap();
    std::os::unix::fs::symlink(&input, &soft).unwrap();
    let inside = scratch.join("in.neff@0");
    for out in [&input, &hard, &soft] {
        for from in [&input, &inside] {
            let (from, out) = (from.as_os_str(), out.as_os_str());
            spared(&[&words(&["report"])[..], &[from, "-o".as_ref(), out]].concat(), &input);
            spared(&[&words(&["plan"])[..], &[from, "-o".as_ref(), out]].concat(), &input);
            spared(&[&words(&["pack"])[..], &[from, out]].concat(), &input);
        }
    }
    // From standard input, the name is another one.
    let before = fs::read(&input).unwrap();
    let mut command = neffload();
    let piped = command.args(["report", "-", "-o"]).arg(&input).stdin(fs::File::open(&input).unwrap());
    assert_eq!(status(&piped.output().unwrap()), 2);
    assert!(fs::read(&input).unwrap() == before);

    let tree = scratch.write_tree("tree", &fixtures::named("cayman-2core").tree);
    let member = tree.join("hlo_stats.json");
    fs::write(&member, "{}").unwrap();
    spared(&["pack".as_ref(), tree.as_os_str(), member.as_os_str()], &member);

    let folder = scratch.join("dump");
    fs::create_dir(&folder).unwrap();
    fs::copy(&input, folder.join("report.json")).unwrap();
    let named = folder.join("report.json");
    spared(&["load".as_ref(), named.as_os_str(), "--dump".as_ref(), folder.as_os_str()], &named);
    let named = folder.join("beside.neff");
    fs::copy(&input, &named).unwrap();
    fs::remove_file(folder.join("report.json")).unwrap();
    let output = run(["load".as_ref(), named.as_os_str(), "--dump".as_ref(), folder.as_os_str()]);
    assert_eq!(status(&output), 0, "a dump beside its input harms nothing: {}", said(&output));
}

#[test]
fn a_page_can_go_to_standard_output() {
    let file = fixture("cayman-2core");
    let output = run(["report".as_ref(), file.as_os_str(), "-o".as_ref(), "-".as_ref()]);
    assert_eq!(status(&output), 0);
    assert!(output.stdout.starts_with(b"<!doctype html>") && output.stdout.ends_with(b"</html>\n"));
    assert!(!Path::new("-").exists());
    let both = run(["report".as_ref(), file.as_os_str(), "-o".as_ref(), "-".as_ref(), "--json".as_ref()]);
    assert_eq!(status(&both), 2);
}

#[test]
fn a_refusal_has_a_reason_in_text_and_in_json() {
    let scratch = Scratch::new("reasons");
    let whole = fs::read(fixture("cayman-2core")).unwrap();
    let (cut, file) = (scratch.join("cut.neff"), scratch.join("file.neff"));
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    fs::write(&file, &whole).unwrap();
    let (folder, neff) = (scratch.join("out"), scratch.join("new.neff"));
    let into = ["-C".as_ref(), folder.as_os_str()];
    let (cut, file) = (cut.as_os_str(), file.as_os_str());
    let lines: [(Vec<&OsStr>, &str); 6] = [
        (vec!["cat".as_ref(), cut, "neff.json".as_ref()], "C203"),
        (vec!["cat".as_ref(), file, "nomember".as_ref()], "nomember"),
        ([&["extract".as_ref(), cut][..], &into].concat(), "C203"),
        ([&["extract".as_ref(), file, "zzz*".as_ref()][..], &into].concat(), "zzz*"),
        (vec!["extract".as_ref(), cut, "--neff".as_ref(), neff.as_os_str()], "C203"),
        (vec!["disasm".as_ref(), file, "--subgraph".as_ref(), "nope".as_ref()], "no subgraph nope"),
    ];
    for (line, reason) in lines {
        let name = Path::new(line[1]).to_str().unwrap();
        let text = run(&line);
        assert_eq!((status(&text), text.stdout.len()), (1, 0), "{line:?}");
        let start = format!("neffload: {name}: ");
        assert!(said(&text).starts_with(&start) && said(&text).contains(reason), "{line:?}: {}", said(&text));
        let json = run([&line[..], &["--json".as_ref()]].concat());
        assert_eq!(status(&json), 1, "{line:?}");
        let error = document(&json)["error"].to_string();
        assert!(error.contains(reason), "{line:?}: {error}");
    }
    let by_number = run(["disasm".as_ref(), file, "--subgraph".as_ref(), "7".as_ref()]);
    assert_eq!(status(&by_number), 1);
    let members = run(["members".as_ref(), cut]);
    assert!(said(&members).starts_with(&format!("neffload: {}: refused: C203", Path::new(cut).display())));
}

/// One rule: a document is all that standard output carries, or there is none.
#[test]
fn a_document_is_alone_on_standard_output() {
    let scratch = Scratch::new("alone");
    let file = fixture("cayman-2core");
    let (file, pages) = (file.to_str().unwrap(), scratch.join("pages"));
    for name in ["-", "/dev/stdout"] {
        for words in [
            vec!["report", file, "-o", name],
            vec!["plan", file, "-o", name],
            vec!["pack", file, name],
            vec!["extract", file, "--neff", name],
        ] {
            let output = run([&words[..], &["--json"]].concat());
            assert_eq!((status(&output), output.stdout.len()), (2, 0), "{words:?}: {}", said(&output));
            assert!(
                said(&output).contains("both write to standard output; name a file"),
                "{}",
                said(&output)
            );
        }
    }
    let member = run(["cat", file, "neff.json"]);
    let answer = document(&run(["cat", file, "neff.json", "--json"]));
    assert_eq!((&answer["schema"], &answer["member"]), (&"neffload.cat/1".into(), &"neff.json".into()));
    assert_eq!(answer["text"].as_str().unwrap().as_bytes(), member.stdout);
    let bytes = run(["cat", file, "sg00/PE.bin"]).stdout;
    let answer = document(&run(["cat", file, "sg00/PE.bin", "--json"]));
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!((&answer["hex"], &answer["size"]), (&digits.into(), &bytes.len().into()));

    let script = run(["completions", "bash"]);
    let answer = document(&run(["completions", "bash", "--json"]));
    assert_eq!(answer["shell"], "bash");
    assert_eq!(answer["script"].as_str().unwrap().trim_end().as_bytes(), script.stdout.trim_ascii_end());
    let answer = document(&run(["man", "-C", pages.to_str().unwrap(), "--json"]));
    let listed = answer["pages"].as_array().unwrap();
    assert!(listed.len() > 10 && listed.contains(&"neffload-load.1".into()), "{answer}");
    assert!(listed.iter().all(|page| pages.join(page.as_str().unwrap()).is_file()), "{answer}");
}

/// What is written to a standard output that was closed before (`>&-`) goes nowhere.
#[test]
fn a_closed_output_is_no_success() {
    let scratch = Scratch::new("closed");
    let (page, file) = (scratch.join("page.html"), fixture("cayman-2core"));
    let (page, file) = (page.to_str().unwrap(), file.to_str().unwrap());
    let closed = |words: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" >&-", "sh"]).arg(neffload().get_program()).args(words);
        command.output().unwrap()
    };
    for words in [
        &["inspect", file][..],
        &["verify", file, "--json"],
        &["report", file, "-o", "-"],
        &["report", file, "-o", "/dev/stdout"],
        &["plan", file, "-o", "-"],
        &["cat", file, "neff.json"],
        &["pack", file, "-"],
        &["extract", file, "--neff", "-"],
        &["completions", "bash"],
        &["--help"],
        &["load", "--help"],
        &["--version"],
    ] {
        let output = closed(words);
        assert_eq!(status(&output), 2, "{words:?}: {}", said(&output));
        assert!(
            said(&output).contains("standard output: Bad file descriptor"),
            "{words:?}: {}",
            said(&output)
        );
    }
    // Who writes elsewhere needs none.
    let output = closed(&["report", file, "-o", page]);
    assert_eq!(status(&output), 0, "{}", said(&output));
    assert!(fs::read(page).unwrap().starts_with(b"<!doctype html>"));
}

/// What, where, and what to do.
#[test]
fn a_refused_output_says_what_to_do() {
    let scratch = Scratch::new("refusedout");
    let (there, file) = (scratch.join("there.neff"), fixture("cayman-2core"));
    fs::write(&there, "keep").unwrap();
    let output = run(["extract".as_ref(), file.as_os_str(), "--neff".as_ref(), there.as_os_str()]);
    let words =
        "there.neff is there already, and `extract` writes over nothing; name another file, or take it away";
    assert!(status(&output) == 2 && said(&output).trim_end().ends_with(words), "{}", said(&output));
    assert_eq!(fs::read(&there).unwrap(), b"keep");
    let cut = scratch.join("cut.neff");
    fs::write(&cut, &fs::read(&file).unwrap()[..5000]).unwrap();
    let page = scratch.join("page.html");
    let output = run(["report".as_ref(), cut.as_os_str(), "-o".as_ref(), page.as_os_str()]);
    let start = format!("neffload: {}: refused: C203 ", cut.display());
    assert!(
        status(&output) == 1 && said(&output).lines().any(|line| line.starts_with(&start)),
        "{}",
        said(&output)
    );
}
