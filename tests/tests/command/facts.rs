//! What `inspect`, `verify`, `load`, `plan`, `memory` and `info` say about the same file is the same.

use neffload_tests::build::{Tree, edit_json};
use neffload_tests::command::{Scratch, document, neffload, status};
use serde_json::{Value, json};
use std::path::Path;

const DEF: &str = "sg00/def.json";

/// Document and exit status.
fn ask(words: &[&str], file: &Path) -> (Value, i32) {
    ask_as(words, file, "")
}

/// The same with `NEURON_RT_ALLOW_LEGACY_NEFF` as given.
fn ask_as(words: &[&str], file: &Path, legacy: &str) -> (Value, i32) {
    let mut command = neffload();
    command.args(words).arg("--json").arg(file).env("NEURON_RT_ALLOW_LEGACY_NEFF", legacy);
    let output = command.output().unwrap();
    (document(&output), status(&output))
}

/// Code and status number of a verdict.
fn verdict(document: &Value) -> (Option<&str>, Option<u64>) {
    let verdict = document.get("verdict").unwrap_or(&document["files"][0]["verdict"]);
    (verdict["code"].as_str(), verdict["status"].as_u64())
}

fn warnings(document: &Value) -> Vec<String> {
    let list = document.get("warnings").unwrap_or(&document["files"][0]["warnings"]);
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn edit(tree: &mut Tree, member: &str, pointer: &str, value: Value) {
    edit_json(tree, member, |document| *document.pointer_mut(pointer).unwrap() = value);
}

fn graphs(tree: &mut Tree, names: &[&str]) {
    let graph = |name: &&str| json!({"name": name, "definition": DEF});
    let graphs: Vec<Value> = names.iter().map(graph).collect();
    edit(tree, "kelf-0.json", "/graphs", json!(graphs));
}

/// §5.4, K09, K10.
#[test]
fn inspect_judges_the_architecture_as_load_does_and_still_tells_the_facts() {
    let folder = Scratch::new("arch-gate");
    let file = folder.changed("sunda-1core", |_| {});
    let (inspected, status) = ask(&["inspect", "--arch", "cayman"], &file);
    let (loaded, _) = ask(&["load", "--device", "sim:cayman"], &file);
    assert_eq!((verdict(&inspected), status), ((Some("E203"), Some(2)), 1));
    for key in ["code", "status", "log", "stage", "member", "offset"] {
        assert_eq!(inspected["verdict"][key], loaded["verdict"][key], "{key}");
    }
    assert_eq!(inspected["kelf"]["target"]["arch"], 2);
    assert_eq!(inspected["subgraphs"][0]["name"], "sg00");
    assert_eq!(ask(&["inspect", "--arch", "sunda"], &file).1, 0);
    assert_eq!(ask(&["inspect"], &file).1, 0);
    // Before a later fault, as in a load.
    let broken =
        folder.changed("sunda-1core", |fixture| edit(&mut fixture.tree, DEF, "/dma_queue", json!([])));
    assert_eq!(verdict(&ask(&["inspect"], &broken).0).0, Some("E339"));
    assert_eq!(verdict(&ask(&["inspect", "--arch", "v3"], &broken).0).0, Some("E203"));
    // Whatever that fault's status is.
    let long = |document: &mut Value| document["k".repeat(6000)] = json!(1);
    let large = folder.changed("sunda-1core", |fixture| edit_json(&mut fixture.tree, DEF, long));
    assert_eq!(verdict(&ask(&["inspect"], &large).0), (Some("E124"), Some(4)));
    assert_eq!(verdict(&ask(&["inspect", "--arch", "v3"], &large).0).0, Some("E203"));
    // A NeuronCore-v1 file is for no host that can be named (R22).
    let file = folder.changed("inf1-1core", |_| {});
    assert_eq!(ask(&["inspect"], &file).1, 0);
    assert_eq!(verdict(&ask(&["inspect", "--arch", "sunda"], &file).0).0, Some("E204"));
}

/// §5.6, Z06, R24, R25.
#[test]
fn the_number_of_subgraphs_is_judged_by_the_files_own_logical_core() {
    let folder = Scratch::new("core-gate");
    let log = "Insufficient number of pncs, required 2, available 1";
    let two = folder.changed("sunda-1core", |fixture| graphs(&mut fixture.tree, &["a", "b"]));
    for words in [&["load"][..], &["load", "--max-memory", "8M"], &["plan"], &["verify", "--deep"]] {
        let (answer, status) = ask(words, &two);
        assert_eq!((verdict(&answer), status), ((Some("E208"), Some(9)), 1), "{words:?}");
        let verdict = answer.get("verdict").unwrap_or(&answer["files"][0]["verdict"]);
        assert_eq!((verdict["log"].as_str(), verdict["member"].as_str()), (Some(log), Some("kelf-0.json")));
    }
    assert_eq!(ask(&["load", "--lnc", "2"], &two).1, 0);
    // A tool judges where it is asked to, and tells the facts all the same.
    assert_eq!(ask(&["inspect"], &two).1, 0);
    let (inspected, status) = ask(&["inspect", "--lnc", "1"], &two);
    assert_eq!((verdict(&inspected), status), ((Some("E208"), Some(9)), 1));
    assert_eq!(inspected["subgraphs"].as_array().unwrap().len(), 2);
    assert_eq!(ask(&["inspect", "--lnc", "2"], &two).1, 0);
    let three = folder.changed("sunda-1core", |fixture| {
        graphs(&mut fixture.tree, &["a", "b", "c"]);
        fixture.options.header.lnc_size = 2;
    });
    for words in [&["load"][..], &["plan"], &["verify", "--deep"], &["inspect", "--lnc", "2"]] {
        assert_eq!(verdict(&ask(words, &three).0), (Some("E208"), Some(9)), "{words:?}");
    }
}

/// §5.4, §10: one place makes the policy from the environment.
#[test]
fn every_command_honours_the_legacy_switch() {
    let folder = Scratch::new("switch");
    let bare = folder.changed("cayman-2core", |fixture| {
        for member in ["sg00/def.json", "sg01/def.json"] {
            edit_json(&mut fixture.tree, member, |def| {
                def.as_object_mut().unwrap().remove("runtime_statebuffer_reservation");
            });
        }
    });
    let commands: [&[&str]; 5] =
        [&["inspect"], &["verify", "--deep"], &["load"], &["plan"], &["memory", "--staged"]];
    for words in commands {
        assert_eq!(verdict(&ask_as(words, &bare, "").0).0, Some("E350"), "{words:?}");
        let (answer, status) = ask_as(words, &bare, "1");
        assert_eq!((verdict(&answer).0, status), (None, 0), "{words:?} {answer}");
    }
    // W203 in all of them that can name a host.
    let other = folder.changed("sunda-1core", |_| {});
    let remark = "Loading a NEFF compiled for a different arch, NEFF arch: v2, instance arch: v3";
    for words in [
        &["inspect", "--arch", "v3"][..],
        &["verify", "--deep", "--arch", "v3"],
        &["load", "--device", "sim:v3"],
    ] {
        let (answer, _) = ask_as(words, &other, "1");
        assert!(warnings(&answer).iter().any(|text| text.contains(remark)), "{words:?} {answer}");
    }
}

/// §16, §17.2, §18.
#[test]
fn every_command_makes_the_same_remarks() {
    let folder = Scratch::new("remarks");
    let malformed = "info.json is not read: it is malformed";
    let blob = folder.changed("sunda-1core", |fixture| {
        fixture.tree.insert("info.json".to_owned(), b"\xff\xfe\0".to_vec());
    });
    assert_eq!(warnings(&ask(&["inspect"], &blob).0), [malformed]);
    let file = folder.changed("sunda-1core", |fixture| {
        fixture.tree.insert("info.json".to_owned(), b"{\"name\": ".to_vec());
        edit_json(&mut fixture.tree, DEF, |def| drop(def.as_object_mut().unwrap().remove("dve")));
    });
    let statistics = "Unable to find hlo_stats.json in the NEFF";
    let placeholder = "Engine dve not found in NEFF";
    let loaded = warnings(&ask(&["load"], &file).0);
    let streamed = warnings(&ask(&["load", "--max-memory", "8M"], &file).0);
    let verified = warnings(&ask(&["verify", "--deep"], &file).0);
    let (inspected, _) = ask(&["inspect"], &file);
    for text in [malformed, statistics, placeholder] {
        for list in [&loaded, &streamed, &verified] {
            assert_eq!(list.iter().filter(|other| other.contains(text)).count(), 1, "{text} in {list:?}");
        }
    }
    assert_eq!(loaded, streamed);
    // What only the statistics miss is beside the warnings there: sample files without them have none.
    let first = warnings(&inspected);
    assert_eq!(first.len(), 2, "{first:?}");
    assert!(first[0].contains(placeholder) && first[1].contains(malformed), "{first:?}");
    assert_eq!(inspected["remarks"], json!([statistics]));
}

#[test]
fn two_inputs_in_one_output_are_accepted_with_a_remark() {
    let folder = Scratch::new("aliases");
    let map = json!({"inputs": [{"name": "a"}, {"name": "b"}], "outputs": [{"name": "y"}], "alias_map": [
        {"input_name": "a", "output_name": "y"}, {"input_name": "b", "output_name": "y", "must_alias": true}]});
    let file = folder.changed("sunda-1core", |fixture| {
        fixture.tree.insert("sg00/tensor_map.json".to_owned(), map.to_string().into_bytes());
    });
    let text = "output y takes the buffer of b and of another input";
    assert_eq!(warnings(&ask(&["inspect"], &file).0), [text]);
    let output = neffload().args(["info", "--json"]).arg(&file).arg("getAliasInfo").output().unwrap();
    let answer = document(&output);
    assert_eq!((status(&output), &answer["value"]), (0, &json!({"a": "y", "b": "y"})));
    assert_eq!(answer["warnings"], json!([text]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("W392"));
}

/// §7.1, §3, §23.
#[test]
fn the_estimate_reads_as_a_load_does() {
    let folder = Scratch::new("estimate");
    let memory = |change: &dyn Fn(&mut Tree)| {
        let file = folder.changed("cayman-2core", |fixture| change(&mut fixture.tree));
        ask(&["memory"], &file)
    };
    let area = |answer: &Value| answer["memory"]["cores"][0]["areas"].clone();
    let (plain, _) = memory(&|_| {});
    let main = |bytes: u64| {
        let mut areas = area(&plain);
        areas.as_object_mut().unwrap().values_mut().for_each(|mark| *mark = bytes.into());
        areas
    };
    // Without an offset, at 0: the same as with it.
    let (without, status) = memory(&|tree| {
        edit_json(tree, DEF, |def| {
            let var = def["var"]["hidden.1_sg0000"].as_object_mut().unwrap();
            assert_eq!(var.remove("backing_variable_off"), Some(json!(0)));
        });
    });
    assert_eq!((area(&without), status), (main(8 << 20), 0));
    // The first of two equal keys counts, and no variable may be there twice.
    let spelt = |from: &str, to: &str| {
        let (from, to) = (from.to_owned(), to.to_owned());
        memory(&move |tree| {
            let text = String::from_utf8(tree[DEF].clone()).unwrap();
            assert!(text.contains(&from), "{text}");
            tree.insert(DEF.to_owned(), text.replacen(&from, &to, 1).into_bytes());
        })
    };
    let code = |answer: &Value| answer["error"]["code"].as_str().map(str::to_owned);
    let (first, status) = spelt("\"var\":", "\"var\": {}, \"var\":");
    assert_eq!((first["memory"]["cores"][0]["constant_bytes"].as_u64(), status), (Some(0), 0));
    let (twice, status) = spelt("\"identity_82_sg0000\":", "\"hidden.1_sg0000\":");
    assert_eq!((code(&twice).as_deref(), status), (Some("E122"), 1), "{twice}");
    let (queue, _) = spelt("\"qPoolDynamic\":", "\"qSPIO0\":");
    assert_eq!(code(&queue).as_deref(), Some("E122"), "{queue}");
    // Checked sums.
    for (key, value) in [("size", u64::MAX), ("backing_variable_off", u64::MAX - 5)] {
        let (large, status) = memory(&|tree| {
            let pointer = format!("/var/hidden.2_sg0000/{key}");
            edit(tree, DEF, &pointer, json!(value));
        });
        assert_eq!((code(&large).as_deref(), status), (Some("M105"), 1), "{key} {large}");
        assert!(large["error"]["log"].as_str().unwrap().contains("would exceed 64 bits"), "{large}");
    }
    for class in ["input", "output"] {
        let half = json!({"type": class, "size": 1u64 << 63, "var_id": 90});
        let two = |document: &mut Value| {
            for name in ["one", "other"] {
                document["var"][name] = half.clone();
            }
        };
        let (large, status) = memory(&|tree| edit_json(tree, DEF, two));
        assert_eq!((code(&large).as_deref(), status), (Some("M105"), 1), "{class} {large}");
    }
    let (pages, _) = memory(&|tree| edit(tree, DEF, "/var/hidden.2_sg0000/size", json!(u64::MAX - 4096)));
    assert_eq!(code(&pages).as_deref(), Some("M105"), "{pages}");
    let nameless = memory(&|tree| drop(tree.remove("neff.json"))).0;
    assert_eq!(nameless["error"]["log"], "Invalid NN: NEFF, neff.json is missing");
}

#[test]
fn usage_is_judged_before_the_file() {
    let folder = Scratch::new("usage");
    let file = folder.changed("sunda-1core", |_| {});
    let run = |words: &[&str]| neffload().args(words).arg(&file).output().unwrap();
    let extra = neffload().arg("info").arg(&file).args(["getKelf", "x"]).output().unwrap();
    assert_eq!(status(&extra), 2);
    assert!(String::from_utf8_lossy(&extra.stderr).contains("getKelf takes no argument"));
    let page = run(&["memory", "--page-size", "4096"]);
    assert_eq!(status(&page), 2);
    let said = String::from_utf8_lossy(&page.stderr).into_owned();
    assert!(said.contains("4096 is not usable") && said.contains("a whole number of MiB"), "{said}");
    let unset =
        neffload().args(["memory", "--json"]).arg(&file).env("NEURON_SCRATCHPAD_PAGE_SIZE", "").output();
    let unset = unset.unwrap();
    assert_eq!((status(&unset), &document(&unset)["memory"]["page_bytes"]), (0, &json!(64 << 20)));
}

#[test]
fn documents_keep_their_numbers_and_bytes_their_encoding() {
    let folder = Scratch::new("values");
    let info = r#"{"big":18446744073709551616,"huge":1e400,"half":0.50,"big":1,"deep":{"a":[-0,1E5]}}"#;
    let file = folder.changed("sunda-1core", |fixture| {
        fixture.tree.insert("info.json".to_owned(), info.as_bytes().to_vec());
    });
    let get = |words: &[&str]| neffload().arg("info").arg(&file).args(words).output().unwrap();
    let text = "{\n  \"big\": 18446744073709551616,\n  \"huge\": 1e400,\n  \"half\": 0.50,\n  \"deep\": {\n    \"a\": [\n      -0,\n      1E5\n    ]\n  }\n}\n";
    assert_eq!(String::from_utf8(get(&["getInfoJson"]).stdout).unwrap(), text);
    let json = get(&["getInfoJson", "--json"]);
    assert_eq!(status(&json), 0);
    let printed = String::from_utf8(json.stdout).unwrap();
    let indented = text.trim_end().replace('\n', "\n  ");
    assert!(
        printed.contains(&format!("  \"value\": {indented},\n  \"member\": \"info.json\"\n}}")),
        "{printed}"
    );
    let found = |pattern: &str| document(&get(&["findInNeff", pattern, "--json"]));
    let utf8 = found("^info");
    assert_eq!((&utf8["encoding"], utf8["value"].as_str()), (&json!("utf-8"), Some(info)));
    let hex = found(r"_CRSM\.npy$");
    assert_eq!(hex["encoding"], "hex");
    assert!(hex["value"].as_str().unwrap().starts_with("934e554d5059"), "{hex}");
    let refused = |pattern: &str| {
        let output = get(&["findInNeff", pattern, "--json"]);
        (status(&output), document(&output)["code"].clone())
    };
    for pattern in ["(?=x)", "(?<!a)b", r"(a)\1"] {
        assert_eq!(refused(pattern), (1, json!("N114")), "{pattern}");
    }
    assert_eq!(refused("(a"), (1, json!("N111")));
}
