//! What `load` is asked in words, by the environment and by the file, against what it does.

use neffload_tests::build::edit_json;
use neffload_tests::command::{Scratch, document, neffload, status};
use neffload_tests::{fixture, python, skip, workspace};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const FIRST: &str = "NEURON_SCRATCHPAD_PAGE_SIZE";
const SECOND: &str = "NEURON_RT_ONE_TMPBUF_PAGE_SIZE_MB";

fn ask(words: &[&str], file: &Path, environment: &[(&str, &str)]) -> Output {
    let mut command = neffload();
    command.env_remove(FIRST).env_remove(SECOND).envs(environment.iter().copied());
    command.args(words).arg("--json").arg(file).output().unwrap()
}

#[test]
fn loads_and_estimates_take_their_page_from_one_place() {
    let file = fixture("cayman-2core");
    let pages = |environment: &[(&str, &str)]| {
        let load = document(&ask(&["load"], &file, environment));
        let plan = document(&ask(&["plan"], &file, environment));
        let staged = document(&ask(&["memory", "--staged"], &file, environment));
        let found = (load["page_size"].as_u64().unwrap() >> 20, load["scratchpad_mode"].clone());
        assert_eq!((plan["page_size"].as_u64().unwrap() >> 20, plan["scratchpad_mode"].clone()), found);
        assert_eq!(staged["memory"]["page_bytes"], load["page_size"]);
        let shared = |document: &Value| document["shared_scratchpad"].clone();
        let loaded: Vec<Value> =
            load["cores"].as_array().unwrap().iter().map(|core| shared(&core["breakdown"])).collect();
        let staged: Vec<Value> = staged["breakdown"].as_array().unwrap().iter().map(shared).collect();
        assert_eq!(loaded, staged);
        assert_eq!(loaded[0].as_u64().unwrap() >> 20, found.0, "one page");
        (found.0, found.1.as_str().unwrap().to_owned())
    };
    assert_eq!(pages(&[]), (64, "contiguous".to_owned()));
    assert_eq!(pages(&[(FIRST, "512"), (SECOND, "128")]), (512, "paged".to_owned()));
    assert_eq!(pages(&[(SECOND, "128")]), (128, "paged".to_owned()));
    for words in [&["load"][..], &["plan"], &["memory", "--staged"]] {
        let refused = ask(words, &file, &[(FIRST, "100")]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(status(&refused), 2, "{words:?}: {said}");
        assert!(said.contains("M104") && said.contains("multiple of 512"), "{said}");
    }
    // The command line goes first.
    let stated = ask(&["load", "--page-size", "64M"], &file, &[(FIRST, "100")]);
    assert_eq!(document(&stated)["page_size"], 64 << 20);
}

#[test]
fn images_are_aligned_to_the_block_size_that_the_environment_states() {
    const BLOCK: &str = "NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB";
    let file = fixture("cayman-2core");
    let load = |value: &str| document(&ask(&["load"], &file, &[(BLOCK, value)]));
    for (value, align) in [("", 0x8000), ("16", 0x8000), ("64", 0x1_0000)] {
        let report = load(value);
        let all = report["cores"][0]["allocations"].as_array().unwrap();
        let images = all.iter().filter(|block| block["tag"] == "image");
        let found: Vec<_> = images.map(|block| block["align"].as_u64().unwrap()).collect();
        assert_eq!(found, [align; 5], "{value:?}");
    }
    // staging.md T55: 0xC000 is no power of two.
    let verdict = load("48")["verdict"].clone();
    assert_eq!((&verdict["code"], &verdict["status"]), (&json!("S513"), &json!(2)), "{verdict}");
    for words in [&["load"][..], &["plan"], &["memory", "--staged"], &["report"]] {
        let refused = ask(words, &file, &[(BLOCK, "0xC000")]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(status(&refused), 2, "{words:?}: {said}");
        assert!(said.contains("M106") && said.contains(BLOCK), "{said}");
    }
}

#[test]
fn a_tiny_device_has_the_bytes_it_is_given() {
    let file = fixture("cayman-2core");
    let load = |profile: &str| {
        let device = format!("sim:cayman:8,profile={profile}");
        ask(&["load", "--device", &device], &file, &[])
    };
    let enough = document(&load("TINY:72M"));
    assert_eq!(enough["verdict"]["accepted"], true, "{}", enough["verdict"]);
    assert_eq!((&enough["profile"], &enough["device"]["channel_bytes"]), (&json!("TINY"), &json!(72 << 20)));
    let short = load("tiny:1K");
    assert_eq!(status(&short), 1);
    let verdict = &document(&short)["verdict"];
    assert_eq!((verdict["code"].as_str(), verdict["status"].as_u64()), (Some("D101"), Some(4)), "{verdict}");
    assert!(
        String::from_utf8_lossy(&short.stderr).contains("Failed to allocate"),
        "the table of staging.md §17.6"
    );
    assert_eq!(status(&load("TINY")), 2);
}

#[test]
fn a_short_constant_is_refused_wherever_it_is_placed() {
    let folder = Scratch::new("short-constant");
    // A constant of the fixture, one byte short.
    let file = folder.changed("cayman-2core", |fixture| {
        let name = fixture.tree.keys().find(|name| name.ends_with(".npy")).unwrap().clone();
        fixture.tree.get_mut(&name).unwrap().pop();
    });
    for words in [&["load"][..], &["load", "--max-memory", "4M"], &["plan"]] {
        let refused = ask(words, &file, &[]);
        let verdict = &document(&refused)["verdict"];
        assert_eq!((status(&refused), &verdict["code"]), (1, &json!("S214")), "{words:?}: {verdict}");
        assert_eq!((&verdict["status"], &verdict["stage"]), (&json!(2), &json!("S4")));
        assert!(verdict["member"].as_str().unwrap().ends_with(".npy"), "{verdict}");
    }
    let staged = ask(&["memory", "--staged"], &file, &[]);
    assert_eq!(status(&staged), 1);
    assert!(String::from_utf8_lossy(&staged.stderr).contains("S214"));
    // What places nothing makes a remark of it.
    assert_eq!(status(&ask(&["inspect"], &file, &[])), 0);
    let verified = neffload().args(["verify", "--deep"]).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert_eq!(status(&verified), 0, "{said}");
    assert!(said.contains("W603 constant "), "{said}");
}

#[test]
fn a_dump_and_its_report_are_of_one_load() {
    let folder = Scratch::new("dump-rounds");
    let dumped = folder.join("dump");
    let words = ["load", "--repeat", "5", "--dump", dumped.to_str().unwrap()];
    let output = ask(&words, &fixture("cayman-2core"), &[]);
    assert_eq!(status(&output), 0);
    let report: Value = serde_json::from_slice(&fs::read(dumped.join("report.json")).unwrap()).unwrap();
    let record = fs::read(dumped.join("model-0.bin")).unwrap();
    let h_model = u32::from_le_bytes(record[6384..6388].try_into().unwrap());
    assert_eq!((&report["model"]["h_model"], &report["model"]["h_nn"]), (&json!(h_model), &json!(1)));
    assert_eq!(h_model, 1, "the first of the rounds");
}

#[test]
fn a_gather_that_fills_several_packets_is_as_the_checker_expects() {
    let Some(python) = python() else { skip!("no Python") };
    let folder = Scratch::new("wide-gather");
    let file = folder.changed("mariana-gather", |fixture| {
        let member = "sg00/Pool0.json";
        edit_json(&mut fixture.tree, member, |engine| {
            let blocks = engine["dma"].as_array_mut().unwrap();
            let gathers = |block: &&mut Value| block["desc"][0].get("from_arr").is_some();
            let desc = &mut blocks.iter_mut().find(gathers).unwrap()["desc"][0];
            // 16 sources of four chunks: 64 pairs, where a packet takes 60.
            let wide = |end: &mut Value, side: &str| {
                end[format!("{side}_sizes")] = json!([200_000]);
                end[format!("{side}_steps")] = json!([1]);
            };
            let first = desc["from_arr"][0].clone();
            let mut sources = vec![first; 16];
            sources.iter_mut().for_each(|source| wide(source, "from"));
            desc["from_arr"] = sources.into();
            wide(desc, "to");
        });
    });
    let dumped = folder.join("dump");
    let output = ask(&["load", "--dump", dumped.to_str().unwrap()], &file, &[]);
    assert_eq!(status(&output), 0, "{}", document(&output)["verdict"]);
    let rings = document(&output)["cores"][0]["rings"].clone();
    let entries = rings.as_array().unwrap().iter().filter_map(|ring| ring["entries"].as_u64()).max();
    assert!(entries >= Some(64), "{rings}");
    let script = workspace().join("tests").join("check_dump.py");
    let checked = Command::new(python).arg("-B").arg(script).arg(&file).arg(&dumped).output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(said.contains(" checks, 0 faults"), "{said}{}", String::from_utf8_lossy(&checked.stderr));
}

#[test]
fn remote_variables_have_the_size_of_the_window() {
    let report = document(&ask(&["load"], &fixture("mariana-gather"), &[]));
    let mut remote = 0;
    for core in report["cores"].as_array().unwrap() {
        for var in core["variables"].as_array().unwrap() {
            if ["remote", "state-buffer"].contains(&var["class"].as_str().unwrap()) {
                assert_eq!(var["size"], 0x200_0000, "{var}");
                remote += u32::from(var["class"] == "remote");
            }
        }
    }
    assert_eq!(remote, 2);
}
