//! What commands say, and when they say nothing.

use neffload_tests::command::{Scratch, neffload, status};
use neffload_tests::fixture;
use neffload_tests::fixtures::named;
use std::path::Path;
use std::process::Output;

fn run(words: &[&str]) -> Output {
    neffload().args(words).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_quiet_pack_prints_nothing() {
    let scratch = Scratch::new("words-quiet");
    let (from, to) = (fixture("cayman-2core"), scratch.join("out.neff"));
    let said = run(&["pack", text(&from), text(&to)]);
    assert!(out(&said).contains("digest") && status(&said) == 0);
    let quiet = run(&["pack", text(&from), text(&to), "-q"]);
    assert_eq!((status(&quiet), out(&quiet), err(&quiet)), (0, String::new(), String::new()));
    // A document that was asked for is an answer.
    assert!(out(&run(&["pack", text(&from), text(&to), "-q", "--json"])).contains("file_bytes"));
}

#[test]
fn a_neff_is_cut_out_to_standard_output() {
    let scratch = Scratch::new("words-cut");
    let whole = std::fs::read(fixture("cayman-2core")).unwrap();
    let carrier = scratch.join("carrier");
    std::fs::write(&carrier, [&b"front"[..], &whole, b"behind"].concat()).unwrap();
    let inside = format!("{}@5", carrier.display());
    let cut = run(&["extract", &inside, "--neff", "-"]);
    assert_eq!((status(&cut), cut.stdout == whole), (0, true), "{}", err(&cut));
    let both = run(&["extract", &inside, "--neff", "-", "--json"]);
    assert_eq!((status(&both), both.stdout.len()), (2, 0));
    assert!(err(&both).contains("both write to standard output"));
    assert!(!Path::new("-").exists());
}

#[test]
fn an_option_that_changes_nothing_is_remarked_on() {
    let file = fixture("cayman-2core");
    for (words, idle) in [
        (&["getNumNc", "--strict"][..], Some("--strict")),
        (&["getArchType", "--total-workers"], Some("--total-workers")),
        (&["hasCC", "--total-workers", "--strict"], Some("--total-workers")),
        (&["hasCC", "--strict"], None),
        (&["getDefJson"], None),
    ] {
        let asked = [&["info", text(&file)], words].concat();
        let said = run(&asked);
        assert_eq!(status(&said), 0, "{words:?}");
        let expected = idle
            .map_or(String::new(), |idle| format!("neffload: {idle} changes nothing about {}\n", words[0]));
        assert_eq!(err(&said), expected);
        assert_eq!(err(&run(&[&asked[..], &["-q"]].concat())), "");
    }
}

#[test]
fn an_engine_without_instructions_is_named() {
    let mut made = named("cayman-2core");
    for core in ["sg00", "sg01"] {
        neffload_tests::build::edit_json(&mut made.tree, &format!("{core}/def.json"), |definition| {
            definition.as_object_mut().unwrap().remove("act");
        });
    }
    let scratch = Scratch::new("words-engine");
    let file = scratch.join("no-act.neff");
    std::fs::write(&file, made.bytes()).unwrap();
    let said = run(&["disasm", text(&file), "--engine", "act"]);
    assert_eq!(status(&said), 0);
    assert!(err(&said).contains("no instructions of act"), "{}", err(&said));
}

/// A name is made visible once.
#[test]
fn a_listed_name_is_escaped_once() {
    let mut made = named("cayman-2core");
    made.tree.insert("sg00/back\\slash\n\u{1b}é\"quote\"".to_owned(), b"x".to_vec());
    let scratch = Scratch::new("words-escape");
    let file = scratch.join("odd.neff");
    std::fs::write(&file, made.bytes()).unwrap();
    let listed = out(&run(&["members", text(&file)]));
    assert!(listed.contains("sg00/back\\slash\\n\\u{1b}é\"quote\"\n"), "{listed}");
}

/// What a header takes from `info.json` is read as the getters read it.
#[test]
fn any_notes_of_a_compiler_can_be_packed() {
    let scratch = Scratch::new("words-notes");
    let (tree, file) = (scratch.join("tree"), scratch.join("out.neff"));
    assert_eq!(status(&run(&["extract", text(&fixture("cayman-2core")), "-C", text(&tree)])), 0);
    let deep = format!("{{\"name\": \"deep\", \"a\": {}1{}}}", "[".repeat(500), "]".repeat(500));
    let big = format!("{{\"name\": \"big\", \"a\": [{}, 1e400, -0]}}", "9".repeat(5000));
    for (name, notes) in [
        ("marked", "\u{feff}{\"name\": \"marked\"}".to_owned()),
        ("deep", deep),
        ("big", big),
        ("first", r#"{"name": "first", "name": "last"}"#.to_owned()),
    ] {
        std::fs::write(tree.join("info.json"), notes).unwrap();
        let packed = run(&["pack", text(&tree), text(&file)]);
        assert_eq!(status(&packed), 0, "{name}: {}", err(&packed));
        let header = std::fs::read(&file).unwrap();
        assert!(header[0xDC..].starts_with(name.as_bytes()) && header[0xDC + name.len()] == 0, "{name}");
        assert_eq!(status(&run(&["info", text(&file), "getInfoJson"])), 0);
    }
    for notes in ["[1]", "{", "{\"name\": 3}", "{\"num_tpb\": 4294967296}", "{\"num_tpb_per_node\": [256]}"] {
        std::fs::write(tree.join("info.json"), notes).unwrap();
        assert_eq!(status(&run(&["pack", text(&tree), text(&file)])), 1, "{notes}");
    }
}

/// A remark names the member that a refusal of the same would name.
#[test]
fn a_remark_names_its_member() {
    let file = fixture("cayman-2core");
    let ask = |value: &str, words: &[&str]| {
        let mut command = neffload();
        command.args(["verify", "--deep", "--arch", "sunda"]).args(words).arg(&file);
        command.env("NEURON_RT_ALLOW_LEGACY_NEFF", value).output().unwrap()
    };
    let (taken, json) = (ask("1", &[]), ask("1", &["--json"]));
    assert_eq!(status(&taken), 0, "{}", err(&taken));
    let line = format!("neffload: {}: W203 ", text(&file));
    let remark = err(&taken);
    let remark = remark.lines().find_map(|said| said.strip_prefix(&line)).unwrap();
    assert!(remark.contains("(kelf-0.json"), "{remark}");
    assert!(out(&json).contains(remark.split(';').next().unwrap()), "{}", out(&json));
    // What is neither yes nor no is no, and that is said.
    for (value, clear) in [("0", true), ("False", true), ("", true), ("yes", false), ("2", false)] {
        let refused = ask(value, &[]);
        assert!(status(&refused) == 1 && out(&refused).contains("E203 "), "{value}: {}", out(&refused));
        let line = format!(
            "neffload: NEURON_RT_ALLOW_LEGACY_NEFF is `{value}`, which is taken for no; 1 and true are yes"
        );
        assert_eq!(err(&refused).lines().any(|said| said == line), !clear, "{value}: {}", err(&refused));
    }
}
