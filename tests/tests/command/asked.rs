//! What `load` is asked in words, by the environment and by the file, against what it does.

use neffload_tests::build::edit_json;
use neffload_tests::command::{Scratch, document, grow_scratchpad, neffload, status};
use neffload_tests::{fixture, python, skip, workspace};
use serde_json::{Value, json};
use std::collections::BTreeSet;
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
fn pages_lie_anywhere_where_the_environment_wants_no_range() {
    // driver-abi.md §13.3, manifests.md §20.3; staging.md §8.4 has the default of 512 MiB.
    const RANGE: &str = "NEURON_RT_CONTIGUOUS_SCRATCHPAD";
    let file = fixture("cayman-2core");
    let pages = |words: &[&str], environment: &[(&str, &str)]| {
        let load = document(&ask(&[&["load"], words].concat(), &file, environment));
        let memory = document(&ask(&[&["memory"], words].concat(), &file, environment))["memory"].clone();
        assert_eq!(memory["page_bytes"], load["page_size"], "{environment:?}");
        assert_eq!(memory["scratchpad_mode"], load["scratchpad_mode"], "{environment:?}");
        (load["page_size"].as_u64().unwrap() >> 20, load["scratchpad_mode"].as_str().unwrap().to_owned())
    };
    for (words, environment, expected) in [
        (&[][..], &[(RANGE, "0")][..], (512, "paged")),
        (&[], &[(RANGE, "false"), (SECOND, "64")], (64, "paged")),
        (&[], &[(RANGE, "0"), (FIRST, "1024")], (1024, "paged")),
        (&["--page-size", "64M"], &[(RANGE, "0")], (64, "paged")),
        (&[], &[(RANGE, "1")], (64, "contiguous")),
        (&[], &[(RANGE, "1"), (FIRST, "1024")], (64, "contiguous")),
        (&[], &[(RANGE, "")], (64, "contiguous")),
    ] {
        let (size, mode) = pages(words, environment);
        assert_eq!((size, mode.as_str()), expected, "{words:?} {environment:?}");
    }
    for words in [&["load"][..], &["plan"], &["memory"], &["report"]] {
        let refused = ask(words, &file, &[(RANGE, "2")]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(status(&refused), 2, "{words:?}: {said}");
        assert!(said.contains(&format!("M109 {RANGE} is 2")), "{said}");
    }
}

#[test]
fn a_range_of_pages_has_no_gaps_on_any_profile() {
    // R41: 200 MiB take four adjacent pages, and nothing gets a block of its own.
    let folder = Scratch::new("range");
    let file = folder.changed("cayman-2core", |fixture| grow_scratchpad(fixture, 200 << 20));
    for profile in ["FLAT", "FLAT_GUARD", "DRIVER", "NO_ALIGN", "TINY:1G"] {
        let report = document(&ask(&["load", "--device", &format!("sim,profile={profile}")], &file, &[]));
        let blocks = report["cores"][0]["allocations"].as_array().unwrap();
        let number = |value: &Value| u64::from_str_radix(&value.as_str().unwrap()[2..], 16).unwrap();
        let of = |usage: &str| -> Vec<u64> {
            let own = blocks.iter().filter(|block| block["usage"] == usage);
            own.map(|block| number(&block["address"])).collect()
        };
        let pages = of("SCRATCHPAD");
        assert_eq!((pages.len(), of("SCRATCHPAD_NOT_SHARED").len()), (4, 0), "{profile}");
        assert!(pages.windows(2).all(|pair| pair[0] == pair[1] + (64 << 20)), "{profile}: {pages:x?}");
    }
}

#[test]
fn a_load_keeps_the_timeout_that_the_environment_states() {
    const TIMEOUT: &str = "NEURON_RT_EXEC_TIMEOUT";
    let folder = Scratch::new("timeout");
    let file = fixture("cayman-2core");
    for (environment, seconds) in [(&[][..], 30), (&[(TIMEOUT, "")], 30), (&[(TIMEOUT, "600")], 600)] {
        let dump = folder.join("dump");
        let output = ask(&["load", "--dump", dump.to_str().unwrap()], &file, environment);
        assert_eq!(status(&output), 0);
        // staging.md §5.5: the load parameters of the model's record, the timeout first.
        let model = fs::read(dump.join("model-0.bin")).unwrap();
        assert_eq!(u64::from_le_bytes(model[6432..6440].try_into().unwrap()), seconds, "{environment:?}");
    }
    for words in [&["load"][..], &["plan"], &["memory", "--staged"], &["report"]] {
        let refused = ask(words, &file, &[(TIMEOUT, "soon")]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(status(&refused), 2, "{words:?}: {said}");
        assert!(said.contains(&format!("M108 {TIMEOUT} is soon")), "{said}");
    }
}

#[test]
fn a_profile_has_the_cores_of_the_files_architecture() {
    let file = fixture("sunda-1core");
    for words in [&["load"][..], &["plan"], &["load", "--max-memory", "8M"]] {
        let words = [words, &["--device", "sim::16,profile=DRIVER"]].concat();
        let refused = ask(&words, &file, &[]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(status(&refused), 2, "{words:?}: {said}");
        assert!(
            said.contains("--device: `16`: a sunda device of profile DRIVER has at most 2 cores"),
            "{said}"
        );
    }
    let loaded = document(&ask(&["load", "--device", "sim::2,profile=DRIVER"], &file, &[]));
    assert_eq!((&loaded["device"]["arch"], &loaded["device"]["cores"]), (&json!("sunda"), &json!(2)));
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
fn a_dump_takes_the_place_of_an_earlier_one() {
    let folder = Scratch::new("dump-again");
    let dumped = folder.join("dump");
    let names = || {
        let entries = fs::read_dir(&dumped).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<BTreeSet<_>>()
    };
    let load = |file: &Path, core: &str| {
        let words = ["load", "--core", core, "--dump", dumped.to_str().unwrap()];
        assert_eq!(status(&ask(&words, file, &[])), 0);
        names()
    };
    let (two, one) = (fixture("cayman-2core"), fixture("sunda-1core"));
    let first = load(&one, "0");
    assert!(!first.is_superset(&load(&two, "2")), "files of another load and other cores");
    for own in ["notes.txt", "9-0x1.bin", "kbin-9.bin"] {
        fs::write(dumped.join(own), "mine").unwrap();
    }
    let own = ["notes.txt", "9-0x1.bin", "kbin-9.bin"].map(str::to_owned);
    let expected = first.iter().cloned().chain(own.clone()).collect::<BTreeSet<_>>();
    assert_eq!(load(&one, "0"), expected, "what no report lists stays");
    // A report that lists other paths, or is none of a load, takes nothing away.
    let kept = folder.join("kept.bin");
    fs::write(&kept, "mine").unwrap();
    for report in [
        json!({"schema": "neffload.load/1", "cores": [{"core": 9, "allocations": [{"address": "../../kept"}, {"address": "0xg"}]}]}),
        json!({"schema": "else/1", "cores": [{"core": 9, "allocations": [{"address": "0x1"}]}]}),
        json!("kept.bin"),
    ] {
        fs::write(dumped.join("report.json"), report.to_string()).unwrap();
        let found = load(&one, "0");
        assert!(kept.exists() && found.contains("9-0x1.bin") && found.contains("notes.txt"), "{report}");
        fs::write(dumped.join("kbin-9.bin"), "mine").unwrap();
    }
}

#[test]
fn pages_belong_to_the_core_that_holds_them() {
    // staging.md §8.4: the first core of the HBM group, which this load does not use otherwise.
    let folder = Scratch::new("shared-pages");
    let file = folder.changed("cayman-2core", |fixture| {
        edit_json(&mut fixture.tree, "kelf-0.json", |kelf| {
            kelf["graphs"].as_array_mut().unwrap().truncate(1);
        });
        fixture.options.header.lnc_size = 1;
    });
    for (core, holder) in [("0", 0), ("1", 0), ("3", 2)] {
        let dumped = folder.join(core);
        let words = ["load", "--trace", "--core", core, "--lnc", "1", "--dump", dumped.to_str().unwrap()];
        let output = ask(&words, &file, &[]);
        let report = document(&output);
        assert_eq!(status(&output), 0, "{}", report["verdict"]);
        let row = &report["cores"][0];
        let own = core.parse::<u64>().unwrap();
        assert_eq!(row["core"], own);
        let blocks = row["allocations"].as_array().unwrap();
        for block in blocks {
            let page = block["usage"] == "SCRATCHPAD";
            assert_eq!(block["core"], if page { holder } else { own }, "{block}");
            let name = format!("{}-{}.bin", block["core"], block["address"].as_str().unwrap());
            assert!(dumped.join(name).exists(), "{block}");
        }
        let pages: Vec<_> = blocks.iter().filter(|block| block["usage"] == "SCRATCHPAD").collect();
        assert_eq!(pages.len(), 1);
        let shared = if holder == own { pages[0]["size"].clone() } else { json!(0) };
        assert_eq!(row["breakdown"]["shared_scratchpad"], shared, "as the log of the core has it");
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        for block in blocks {
            let (usage, tag) = (block["usage"].as_str().unwrap(), block["tag"].as_str().unwrap());
            let start = format!("alloc core={} usage={usage} ", block["core"]);
            let end = format!(" tag={tag} -> {}", block["address"].as_str().unwrap());
            assert!(log.lines().any(|line| line.starts_with(&start) && line.ends_with(&end)), "{block}");
        }
        let zero = log.contains("shared scratchpad: 0.000B");
        assert_eq!(zero, holder != own, "{log}");
    }
}

#[test]
fn a_logical_core_has_one_or_two_cores() {
    let folder = Scratch::new("lnc-sizes");
    let file = fixture("sunda-1core");
    for words in [&["load"][..], &["plan"], &["inspect"], &["verify", "--deep"]] {
        for lnc in ["0", "3", "4294967295"] {
            assert_eq!(status(&ask(&[words, &["--lnc", lnc]].concat(), &file, &[])), 2, "{words:?} {lnc}");
        }
        assert_eq!(status(&ask(&[words, &["--lnc", "1"]].concat(), &file, &[])), 0, "{words:?}");
    }
    for (stated, code) in [(0, None), (1, None), (3, Some("S109")), (u32::MAX, Some("S109"))] {
        let file = folder.changed("sunda-1core", |fixture| fixture.options.header.lnc_size = stated);
        let verdict = document(&ask(&["load"], &file, &[]))["verdict"].clone();
        assert_eq!(verdict["code"].as_str(), code, "{stated}: {verdict}");
        assert_eq!(status(&ask(&["load", "--lnc", "1"], &file, &[])), 0, "{stated}");
    }
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
