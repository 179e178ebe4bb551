//! The tooling cases of the manifest page: `NeffInfo`, the world size and the memory estimate, over
//! the sample trees, their mutations, and figures that need no tree.

use loader_std::memory::{Estimate, Mode, Page, Together};
use loader_std::{NeffInfo, Refusal};
use neffload_tests::shared;
use neffload_tests::trees::{Case, Tree};
use serde_json::{Value, json};

/// The answers that `expected.json` and the cases call `neffinfo`.
fn neffinfo(tree: &Tree) -> Value {
    let info = NeffInfo::new(&tree.members);
    let told = |getter: &str| match info.get(getter, None) {
        Ok(answer) => answer.value,
        Err(refusal) => json!({ "error": refusal.text() }),
    };
    let absent = |getter| match told(getter) {
        Value::Object(map) if map.contains_key("error") => Value::Null,
        value => value,
    };
    let member = |getter| info.get(getter, None).ok().and_then(|answer| answer.member);
    json!({
        "getArchType": told("getArchType"),
        "getNumNc": told("getNumNc"),
        "kelf_nodes": told("kelfNodes"),
        "getDefJson.member": member("getDefJson"),
        "getCCRankWorldSize": told("getCCRankWorldSize"),
        "hasCC": told("hasCC"),
        "getTensorMap.member": member("getTensorMap"),
        "getAliasInfo": absent("getAliasInfo"),
        "hasMustAlias": absent("hasMustAlias"),
    })
}

fn memory(tree: &Tree) -> Result<Value, Refusal> {
    let estimate = Estimate::of(&tree.members, Page::default())?;
    Ok(serde_json::to_value(estimate).unwrap())
}

/// `Err` is the first refusal among the getters of the case's call.
fn answer(call: &str, tree: &Tree) -> Result<Value, Refusal> {
    let info = NeffInfo::new(&tree.members);
    match call {
        "memory" => memory(tree),
        "getCCRankWorldSize" => info.get("getCCRankWorldSize", None).map(|answer| answer.value),
        "neffinfo" => match info.get_alias_info() {
            Err(refusal) if refusal.error.id().to_string() == "N107" => Err(refusal),
            _ => Ok(neffinfo(tree)),
        },
        other => panic!("not a tooling call: {other}"),
    }
}

/// The value at a path of the report, where a key may hold a dot.
fn at<'v>(report: &'v Value, path: &str) -> &'v Value {
    report.pointer(path).unwrap_or_else(|| panic!("{path} in {report}"))
}

fn check(id: &str) {
    let Some(case) = Case::read(id) else {
        return println!("skipped: no shared/samples");
    };
    let answer = answer(&case.call, &case.tree);
    match case.expect.get("error") {
        Some(code) => {
            let refusal = answer.unwrap_err();
            assert_eq!(refusal.error.id().to_string(), code.as_str().unwrap(), "{refusal}");
            let text = case.expect["message"].as_str().unwrap();
            assert!(refusal.text().contains(text), "{refusal}");
        }
        None => {
            let report = answer.unwrap();
            for (path, value) in case.expect["report"].as_object().unwrap() {
                assert_eq!(at(&report, path), value, "{path}");
            }
        }
    }
}

macro_rules! cases {
    ($($name:ident $id:literal),* $(,)?) => {
        $(#[test] fn $name() { check($id); })*
    };
}
cases! {
    manifests_i01 "I01", manifests_i02 "I02", manifests_i03 "I03", manifests_i04 "I04",
    manifests_i05 "I05", manifests_i06 "I06", manifests_i07 "I07", manifests_i08 "I08",
    manifests_i09 "I09", manifests_i10 "I10", manifests_i11 "I11", manifests_i12 "I12",
    manifests_i13 "I13", manifests_i14 "I14", manifests_i15 "I15", manifests_i16 "I16",
    manifests_y01 "Y01", manifests_y02 "Y02", manifests_y03 "Y03", manifests_y04 "Y04",
    manifests_y05 "Y05", manifests_y06 "Y06", manifests_y07 "Y07", manifests_y08 "Y08",
}

/// Every value of `expected` is in `found`, which may say more.
fn covers(found: &Value, expected: &Value, path: &str) {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) if expected.contains_key("error") => {
            let text = found["error"].as_str().unwrap();
            assert!(text.starts_with(expected["error"].as_str().unwrap()), "{path}: {text}");
        }
        (Value::Object(found), Value::Object(expected)) => {
            for (key, value) in expected {
                let inner = found.get(key).unwrap_or_else(|| panic!("{path}/{key}"));
                covers(inner, value, &format!("{path}/{key}"));
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{path}");
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                covers(found, expected, &format!("{path}/{index}"));
            }
        }
        _ => assert_eq!(found, expected, "{path}"),
    }
}

#[test]
fn every_sample_tree_gives_its_expected_answers() {
    let Some(shared) = shared() else {
        return println!("skipped: no shared/samples");
    };
    for name in ["mlp-1core", "lnc2-decode", "cc-allreduce", "legacy-kelp", "alias-must"] {
        let tree = Tree::read(&shared.join("samples").join(name).join("neff"));
        let file = shared.join("samples").join(name).join("expected.json");
        let expected: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        covers(&neffinfo(&tree), &expected["neffinfo"], name);
        covers(&memory(&tree).unwrap(), &expected["memory"], name);
        covers(&expected["memory"]["cores"][0]["areas"], &memory(&tree).unwrap()["cores"][0]["areas"], name);
    }
}

const MIB: u64 = 1 << 20;

fn scratchpads(page: u64, hundredths_of_mib: [u64; 2]) -> u64 {
    let bytes = hundredths_of_mib.map(|figure| figure * MIB / 100);
    Page::of(page).unwrap().rounded(bytes).unwrap()
}

#[test]
fn manifests_z10() {
    assert_eq!(scratchpads(64 * MIB, [68_829, 2_807]), 768 * MIB);
}

#[test]
fn manifests_z11() {
    assert_eq!(scratchpads(64 * MIB, [50_804, 1_813]), 576 * MIB);
}

#[test]
fn manifests_z12() {
    assert_eq!(scratchpads(512 * MIB, [50_804, 1_813]), 1024 * MIB);
}

fn file(scratchpad: u64, persistent: u64) -> Estimate {
    Estimate {
        page_bytes: 64 * MIB,
        scratchpad_mode: Mode::Contiguous,
        cores: Vec::new(),
        scratchpad_rounded: scratchpad,
        persistent_bytes: persistent,
        runtime_bytes: 76 * MIB,
        total_one_graph: scratchpad + persistent + 76 * MIB,
    }
}

#[test]
fn manifests_z13() {
    let files = [file((320 + 64) * MIB, 5), file((128 + 64) * MIB, 7)];
    let together = Together::of(&files).unwrap();
    assert_eq!(together.scratchpad, 384 * MIB);
    assert_eq!((together.resident, together.runtime), (12, 80 * MIB));
    assert_eq!(together.total, 464 * MIB + 12);
}

#[test]
fn manifests_z14() {
    assert_eq!(Together::of(&[]).unwrap().total, 0);
}

#[test]
fn manifests_z15() {
    const FIRST: &str = "NEURON_SCRATCHPAD_PAGE_SIZE";
    const SECOND: &str = "NEURON_RT_ONE_TMPBUF_PAGE_SIZE_MB";
    let page = |set: &[(&str, &str)]| {
        let value = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Page::from_environment(value)
    };
    let bytes = |set| page(set).unwrap().bytes;
    assert_eq!(bytes(&[(FIRST, "512"), (SECOND, "128")]), 512 * MIB);
    assert_eq!(bytes(&[(SECOND, "128")]), 128 * MIB);
    assert_eq!(bytes(&[]), 64 * MIB);
    // An empty variable is not set.
    assert_eq!(bytes(&[(FIRST, " "), (SECOND, "128")]), 128 * MIB);
    assert_eq!(bytes(&[(FIRST, ""), (SECOND, "")]), 64 * MIB);
    assert_eq!(bytes(&[(FIRST, "3584")]), 3584 * MIB);
    // staging.md §8.4: the first variable takes multiples of 512 below 4096, the second any number (Z15).
    for bad in ["0", "x", "-1", "64", "100", "513", "4096"] {
        let refusal = page(&[(FIRST, bad)]).unwrap_err();
        assert_eq!(refusal.error.id().to_string(), "M104", "{bad}");
    }
}
