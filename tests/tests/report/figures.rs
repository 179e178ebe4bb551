//! Every figure on the page is a figure of `report --json`.

use neffload_tests::command::{Scratch, document, neffload, status};
use neffload_tests::{fixture_files, real_files};
use serde_json::Value;
use std::path::Path;

/// Largest page.
const MOST_BYTES: usize = 2 << 20;

/// The page about a file and the document it was made from.
pub(crate) fn report(file: &Path, folder: &Scratch) -> (String, Value) {
    let out = folder.join("page.html");
    let output = neffload().arg("report").arg(file).arg("-o").arg(&out).arg("--json").output().unwrap();
    assert!(status(&output) < 2, "{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    (std::fs::read_to_string(out).unwrap(), document(&output))
}

/// An element of the page that shows a value: its pointer, the value it states, and its text.
struct Shown<'p> {
    pointer: &'p str,
    value: Option<&'p str>,
    text: &'p str,
}

/// The text between two marks, and what follows.
fn between<'p>(text: &'p str, open: &str, close: &str) -> Option<(&'p str, &'p str)> {
    let start = text.find(open)? + open.len();
    let end = start + text[start..].find(close)?;
    Some((&text[start..end], &text[end + close.len()..]))
}

fn shown(page: &str) -> Vec<Shown<'_>> {
    let mut all = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find(" data-from=\"") {
        let head = rest[..at].rfind('<').map_or("", |open| &rest[open..at]);
        let (pointer, after) = between(&rest[at..], "data-from=\"", "\">").unwrap();
        let text = &after[..after.find('<').unwrap()];
        let value = between(head, "value=\"", "\"").map(|(value, _)| value);
        assert_eq!(head.starts_with("<data"), value.is_some(), "{head}");
        all.push(Shown { pointer, value, text });
        rest = after;
    }
    all
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// What a shown number stands for, with the half of its last digit as tolerance.
fn stands_for(text: &str) -> (f64, f64) {
    let (digits, unit) = text.split_once(' ').unwrap_or((text, ""));
    let scale = match unit {
        "" | "B" => 1.0,
        "KiB" => 1024.0,
        "MiB" => 1048576.0,
        "GiB" => 1073741824.0,
        "TiB" => 1099511627776.0,
        other => panic!("`{other}` is no unit"),
    };
    let number: f64 = digits.replace(',', "").parse().unwrap();
    let tolerance = if digits.contains('.') { 0.0501 * scale } else { 0.0 };
    (number * scale, tolerance)
}

/// Text that a reader sees: no style, script, titles, and none of the elements that show values.
fn prose(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    for hidden in ["style", "script", "title"] {
        assert!(page.matches(&format!("<{hidden}")).count() >= 1);
    }
    while let Some(open) = rest.find('<') {
        text.push_str(&rest[..open]);
        let tag = &rest[open..open + rest[open..].find('>').unwrap() + 1];
        rest = &rest[open + tag.len()..];
        let name = tag[1..].split([' ', '>']).next().unwrap();
        let skip = ["style", "script", "title"].contains(&name) || tag.contains("data-from=");
        if skip {
            rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
        }
    }
    text
}

pub(crate) fn check(file: &Path) {
    let folder = Scratch::new(&format!("report-{}", file.file_stem().unwrap().to_string_lossy()));
    let (page, document) = report(file, &folder);
    assert_eq!(document["schema"], "neffload.report/1");
    assert!(page.len() < MOST_BYTES, "{}: {} bytes", file.display(), page.len());
    let mut numbers = 0;
    for Shown { pointer, value, text } in shown(&page) {
        let there = document.pointer(pointer).unwrap_or_else(|| panic!("the document has no {pointer}"));
        match value {
            Some(value) => {
                assert_eq!(there.as_u64().unwrap().to_string(), value, "{pointer}");
                let (number, tolerance) = stands_for(text);
                assert!(
                    (number - there.as_f64().unwrap()).abs() <= tolerance,
                    "{pointer}: {text} for {there}"
                );
                numbers += 1;
            }
            None if there.is_null() => assert_eq!(text, "–"),
            None => {
                let words = there.as_str().map_or_else(|| there.to_string(), str::to_owned);
                let escaped: String = words
                    .chars()
                    .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
                    .collect();
                assert_eq!(unescaped(text), escaped, "{pointer}");
            }
        }
    }
    assert!(numbers > 10, "{}: {numbers} numbers", file.display());
    let prose = prose(&page);
    let fixed = prose.replace("64 bytes", "");
    assert!(!fixed.contains(|c: char| c.is_ascii_digit()), "a number without an origin: {prose}");
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{}: {outside}", file.display());
    }
}

#[test]
fn every_number_on_the_page_is_one_of_the_document() {
    for file in fixture_files().into_iter().chain(real_files()) {
        check(&file);
    }
}

/// The rectangles of a strip: place, width and what is said of each.
fn rects(strip: &str) -> Vec<(f64, f64, String)> {
    let each = strip.split("<rect ").skip(1).map(|rect| {
        let number = |key| between(rect, key, "\"").unwrap().0.parse().unwrap();
        let (title, _) = between(rect, "<title>", "</title>").unwrap();
        (number(" x=\""), number(" width=\""), unescaped(title))
    });
    each.collect()
}

/// What a strip should show of these blocks, to scale.
fn to_scale(blocks: &[Value], kind: &str, whole: &Value, side_by_side: bool) -> Vec<(f64, f64, String)> {
    let scale = 1000.0 / whole.as_f64().unwrap().max(1.0);
    let mut packed = 0.0;
    let each = blocks.iter().map(|block| {
        let word = |key: &str| block[key].as_str().unwrap();
        let bytes = block["granted"].as_f64().or(block["size"].as_f64()).unwrap();
        let offset = if side_by_side { packed } else { block["offset"].as_f64().unwrap() };
        packed += bytes;
        let size = &block["size"];
        let name = format!("\u{2068}{}\u{2069}", word("name"));
        let title = format!("{name} · {} · {} · {size} bytes", word(kind), word("address"));
        (offset * scale, (bytes * scale).max(0.6), title)
    });
    each.collect()
}

/// The memory maps show every block where and as large as the document says.
#[test]
fn maps_are_to_scale_and_say_what_the_document_says() {
    for file in fixture_files().into_iter().chain(real_files()) {
        let folder = Scratch::new("report-maps");
        let (page, document) = report(&file, &folder);
        let mut strips = page
            .split("<svg class=\"strip\"")
            .skip(1)
            .map(|rest| rects(rest.split("</svg>").next().unwrap()));
        for core in document["load"]["cores"].as_array().into_iter().flatten() {
            let map = &core["map"];
            let blocks = map["blocks"].as_array().unwrap();
            let mut expected = vec![to_scale(blocks, "kind", &map["span"], false)];
            let close = map["close_up"]["count"].as_u64().unwrap();
            let sparse = map["granted"].as_u64().unwrap() < map["span"].as_u64().unwrap() / 2;
            if close > 0 && (close < blocks.len() as u64 || sparse) {
                let some: Vec<Value> =
                    blocks.iter().filter(|block| block["close_up"] == true).cloned().collect();
                expected.push(to_scale(&some, "kind", &map["close_up"]["bytes"], true));
            }
            let inside = &map["scratchpad"];
            if inside["span"] != 0 {
                expected.push(to_scale(
                    inside["variables"].as_array().unwrap(),
                    "class",
                    &inside["span"],
                    false,
                ));
            }
            for expected in expected {
                let drawn = strips.next().unwrap();
                assert_eq!(drawn.len(), expected.len(), "{}", file.display());
                for (drawn, expected) in drawn.iter().zip(&expected) {
                    let near = |a: f64, b: f64| (a - b).abs() < 0.006;
                    assert!(
                        near(drawn.0, expected.0) && near(drawn.1, expected.1),
                        "{drawn:?} for {expected:?}"
                    );
                    assert_eq!(drawn.2, expected.2);
                }
            }
        }
        assert!(strips.next().is_none(), "{}", file.display());
    }
}

#[test]
fn the_figures_are_those_of_the_other_commands() {
    for file in fixture_files().into_iter().chain(real_files()) {
        let folder = Scratch::new("report-others");
        let (_, report) = report(&file, &folder);
        let ask =
            |command: &str| document(&neffload().arg(command).arg(&file).arg("--json").output().unwrap());
        let (inspect, load, memory) = (ask("inspect"), ask("load"), ask("memory"));
        for key in ["header", "digest", "io", "kelf"] {
            assert_eq!(report[key], inspect[key], "{}: {key}", file.display());
        }
        assert_eq!(report["memory"], memory["memory"], "{}", file.display());
        for key in ["accepted", "status", "code", "member", "message"] {
            assert_eq!(report["load"]["verdict"][key], load["verdict"][key], "{}: {key}", file.display());
        }
        let warnings = |of: &Value| of["warnings"].as_array().cloned().unwrap_or_default();
        for warning in warnings(&load) {
            assert!(warnings(&report).contains(&warning), "{}: {warning}", file.display());
        }
        let cores = report["load"]["cores"].as_array().unwrap();
        for (core, loaded) in cores.iter().zip(load["cores"].as_array().into_iter().flatten()) {
            assert_eq!(core["breakdown"], loaded["breakdown"]);
            let granted: u64 = loaded["allocations"]
                .as_array()
                .unwrap()
                .iter()
                .map(|a| a["granted"].as_u64().unwrap())
                .sum();
            assert_eq!(
                core["map"]["granted"].as_u64().unwrap() + core["map"]["rest"]["bytes"].as_u64().unwrap(),
                granted
            );
        }
        let blocks =
            |of: &Value| of.as_array().unwrap().iter().map(|q| q["blocks"].as_u64().unwrap()).sum::<u64>();
        let all: usize = load["cores"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|c| c["blocks"].as_array().unwrap().len())
            .sum();
        assert_eq!(cores.iter().map(|core| blocks(&core["queues"])).sum::<u64>(), all as u64);
    }
}

/// A report, and the status that it and `load` end with.
fn judged(file: &Path, folder: &Scratch) -> (String, Value, i32) {
    let (page, document) = report(file, folder);
    let ends = |words: &[&str]| status(&neffload().args(words).arg(file).output().unwrap());
    let out = folder.join("judged.html");
    let reported = ends(&["report", "-o", out.to_str().unwrap()]);
    assert_eq!(reported, ends(&["load"]), "{}", file.display());
    assert!(out.exists(), "a refused file has a page, too");
    (page, document, reported)
}

#[test]
fn a_file_is_judged_as_load_judges_it() {
    let folder = Scratch::new("report-judged");
    let file = folder.join("file.neff");
    let whole = std::fs::read(neffload_tests::fixture("cayman-2core")).unwrap();

    // Another digest than the payload's: no tool minds, no load takes it.
    let mut bytes = whole.clone();
    bytes[0xAC] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let (page, document, status) = judged(&file, &folder);
    assert_eq!((status, &document["verdict"]["accepted"]), (1, &true.into()));
    assert_eq!(document["load"]["verdict"]["code"], "C207");
    assert!(page.contains("<b>Does not load</b>") && !page.contains("<b>Loads</b>"));
    assert!(!page.contains("keeps the file from being"));

    // Damage in the archive: the members before it are known, and their number is no number of all.
    std::fs::write(&file, neffload_tests::container::damaged(&whole)).unwrap();
    let (page, document, status) = judged(&file, &folder);
    assert_eq!((status, &document["verdict"]["accepted"]), (1, &false.into()));
    assert_eq!(document["load"]["verdict"]["code"], "C207", "a load looks at the digest first");
    assert_eq!(document["members"]["complete"], false);
    let listed = neffload().args(["members", "--json"]).arg(&file).output().unwrap();
    let listed = neffload_tests::command::document(&listed)["table"].as_array().unwrap().len();
    assert!(listed > 0);
    assert_eq!(document["members"]["count"], listed);
    assert!(!page.contains("not named"), "a target that was not read");
    assert!(page.contains("members that could be read") && !page.contains("keeps the file from being"));

    // Cut before the archive was looked into: nothing is known of its members.
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let (page, document, status) = judged(&file, &folder);
    assert_eq!((status, &document["members"]), (1, &Value::Null));
    assert!(page.contains("<b>–</b><small>members that could be read"));

    std::fs::write(&file, &whole).unwrap();
    let (page, document, status) = judged(&file, &folder);
    assert_eq!((status, &document["members"]["complete"]), (0, &true.into()));
    assert!(page.contains("<b>Loads</b>"));
}

#[test]
fn a_name_turns_no_text_around() {
    let folder = Scratch::new("report-turned");
    let mut made = neffload_tests::fixtures::named("cayman-2core");
    made.options.header.name = "abc\u{202e}dcba\u{2066}".into();
    neffload_tests::build::edit_json(&mut made.tree, "sg00/def.json", |definition| {
        let variables = definition["var"].as_object_mut().unwrap();
        let name = variables.iter().find(|(_, one)| one["type"] == "file").unwrap().0.clone();
        let constant = variables.remove(&name).unwrap();
        // Hebrew letters turn what follows them around as well, and are letters like others.
        variables.insert("w\u{202e}\u{5d0}\u{5d1}".to_owned(), constant);
    });
    let file = folder.join("turned.neff");
    std::fs::write(&file, made.bytes()).unwrap();
    let (page, document) = report(&file, &folder);
    assert_eq!(document["load"]["verdict"]["accepted"], true, "{}", document["load"]["verdict"]);
    assert!(!page.contains('\u{202e}') && !page.contains('\u{2066}'));
    assert!(page.contains("abc\\u{202e}dcba\\u{2066}"));
    assert!(page.contains("<title>\u{2068}w\\u{202e}\u{5d0}\u{5d1}\u{2069} · constant · 0x"), "isolated");
    assert!(page.contains("[data-from] { unicode-bidi: isolate; }"));
}

#[test]
fn a_refused_file_has_a_page_that_says_why() {
    let folder = Scratch::new("report-refused");
    let whole = std::fs::read(neffload_tests::fixture("cayman-2core")).unwrap();
    let file = folder.join("half.neff");
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let (page, document) = report(&file, &folder);
    let message = document["verdict"]["message"].as_str().unwrap();
    assert!(page.contains("<b>Refused</b>") && unescaped(&page).contains(message));
    let output = neffload().arg("report").arg(&file).arg("-o").arg(folder.join("x.html")).output().unwrap();
    assert_eq!(status(&output), 1);
    let nowhere = neffload().arg("report").arg(&file).output().unwrap();
    assert_eq!(status(&nowhere), 2);
}
