//! The loading cases of the manifest page: every mutation of the sample trees, resident and streamed,
//! the trees' own expected values, and the architecture gate for every host.

use crate::small::complete;
use loader_core::arch::Arch;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::environment::allow_legacy;
use loader_std::inspect::{manifest_json, warnings_json};
use neffload_tests::payload::{Mode, Refused, packed, with_manifest};
use neffload_tests::trees::{Case, Tree};
use neffload_tests::{shared, skip};
use serde_json::Value;
use std::ffi::OsStr;

const TREES: [&str; 5] = ["mlp-1core", "lnc2-decode", "cc-allreduce", "legacy-kelp", "alias-must"];

fn legacy(value: Option<&str>) -> bool {
    allow_legacy(value.map(OsStr::new))
}

fn policy(host: u64, legacy: bool) -> Policy {
    let host_arch = u32::try_from(host).ok().and_then(Arch::from_number);
    Policy { host_arch, allow_legacy: legacy, ..Policy::default() }
}

/// The report of a load, or its refusal.
fn load(tree: &Tree, policy: &Policy, mode: Mode) -> Result<Value, Refused> {
    let file = packed(&tree.members);
    with_manifest(&file, policy, &Limits::DEFAULT, mode, |manifest, table, remarks| {
        let mut report = manifest_json(manifest, table);
        report.insert("warnings".to_owned(), warnings_json(remarks));
        Value::Object(report)
    })
}

fn refused(outcome: &Result<Value, Refused>, expect: &Value) {
    let Err(refused) = outcome else { panic!("accepted: {expect}") };
    let (error, text) = &**refused;
    assert_eq!(error.id().to_string(), expect["error"].as_str().unwrap(), "{text}");
    complete(error, text);
    let log = error.log().to_string();
    if let Some(message) = expect["message"].as_str() {
        assert!(log.contains(message), "{log}");
    }
    if let Some(status) = expect["status"].as_u64() {
        assert_eq!(u64::from(error.status().number()), status, "{text}");
    }
}

/// Every text of `expected` begins some warning.
fn warned(report: &Value, expected: &Value) {
    let warnings = report["warnings"].as_array().unwrap();
    for prefix in expected.as_array().into_iter().flatten() {
        let prefix = prefix.as_str().unwrap();
        let found = warnings.iter().any(|text| text.as_str().unwrap().contains(prefix));
        assert!(found, "{prefix} in {warnings:?}");
    }
}

fn check(id: &str) {
    let Some(case) = Case::read(id) else { skip!("no shared/samples") };
    let allowed = legacy(case.env.get("NEURON_RT_ALLOW_LEGACY_NEFF").map(String::as_str));
    for mode in [Mode::Resident, Mode::Streamed] {
        let outcome = load(&case.tree, &policy(case.host_arch, allowed), mode);
        if case.expect.get("error").is_some() {
            refused(&outcome, &case.expect);
            continue;
        }
        let report = outcome.unwrap_or_else(|refused| panic!("{}", refused.1));
        for (path, value) in case.expect["report"].as_object().into_iter().flatten() {
            assert_eq!(report.pointer(path).unwrap_or(&Value::Null), value, "{path} in {report:#}");
        }
        let warnings = &case.expect["warnings_contain"];
        warned(
            &report,
            &if warnings.is_string() { Value::Array(vec![warnings.clone()]) } else { warnings.clone() },
        );
    }
}

macro_rules! cases {
    ($($name:ident $id:literal),* $(,)?) => {
        $(#[test] fn $name() { check($id); })*
    };
}
cases! {
    manifests_m01 "M01", manifests_m02 "M02", manifests_m03 "M03", manifests_m04 "M04",
    manifests_m05a "M05a", manifests_m05b "M05b", manifests_m05c "M05c", manifests_m05d "M05d",
    manifests_m05e "M05e", manifests_m06 "M06", manifests_m07 "M07", manifests_m08 "M08",
    manifests_m09 "M09", manifests_m10 "M10", manifests_m11 "M11", manifests_m11b "M11b",
    manifests_m12 "M12", manifests_m13 "M13", manifests_m14 "M14", manifests_m15 "M15", manifests_m16 "M16",
    manifests_m17 "M17", manifests_m18 "M18", manifests_m19 "M19", manifests_m20 "M20", manifests_m21 "M21",
    manifests_m22 "M22", manifests_m23 "M23", manifests_m24 "M24", manifests_m25 "M25", manifests_k01 "K01",
    manifests_k02 "K02", manifests_k03 "K03", manifests_k04 "K04", manifests_k05a "K05a",
    manifests_k05b "K05b", manifests_k05c "K05c", manifests_k05d "K05d", manifests_k05e "K05e",
    manifests_k05f "K05f", manifests_k06 "K06", manifests_k07 "K07", manifests_k08 "K08",
    manifests_k09 "K09", manifests_k10 "K10", manifests_k11 "K11", manifests_k12 "K12", manifests_k13 "K13",
    manifests_k14 "K14", manifests_d01 "D01", manifests_d02 "D02", manifests_d03 "D03", manifests_d04 "D04",
    manifests_d05 "D05", manifests_d06 "D06", manifests_d07 "D07", manifests_d08 "D08", manifests_d09 "D09",
    manifests_d10 "D10", manifests_d11 "D11", manifests_d12 "D12", manifests_d13 "D13", manifests_d14 "D14",
    manifests_d15 "D15", manifests_d16 "D16", manifests_d17 "D17", manifests_d18 "D18", manifests_d19 "D19",
    manifests_d20 "D20", manifests_d21 "D21", manifests_d22 "D22", manifests_q01 "Q01", manifests_q02 "Q02",
    manifests_q03 "Q03", manifests_q04 "Q04", manifests_q05 "Q05", manifests_q06 "Q06", manifests_q07 "Q07",
    manifests_q08 "Q08", manifests_q09 "Q09", manifests_q10 "Q10", manifests_g01 "G01", manifests_g02 "G02",
    manifests_g03 "G03", manifests_g04 "G04", manifests_g05 "G05", manifests_g06 "G06", manifests_g07 "G07",
    manifests_g08 "G08", manifests_g09 "G09", manifests_g10 "G10", manifests_g11 "G11", manifests_g12 "G12",
    manifests_s01 "S01", manifests_s02 "S02", manifests_s03 "S03", manifests_s04 "S04", manifests_s05 "S05",
    manifests_s06 "S06", manifests_s07 "S07", manifests_s08 "S08", manifests_s09 "S09", manifests_s10 "S10",
    manifests_s11 "S11", manifests_s12 "S12", manifests_s13 "S13", manifests_s14 "S14", manifests_l01 "L01",
    manifests_l02 "L02", manifests_l03 "L03",
}

fn expected(name: &str) -> Option<(Tree, Value)> {
    let folder = shared()?.join("samples").join(name);
    let text = std::fs::read(folder.join("expected.json")).ok()?;
    Some((Tree::read(&folder.join("neff")), serde_json::from_slice(&text).unwrap()))
}

#[test]
fn every_sample_tree_gives_exactly_its_expected_report() {
    for name in TREES {
        let Some((tree, expected)) = expected(name) else { skip!("no shared/samples") };
        let host = expected["host_arch"].as_u64().unwrap();
        for mode in [Mode::Resident, Mode::Streamed] {
            let report =
                load(&tree, &policy(host, false), mode).unwrap_or_else(|refused| panic!("{}", refused.1));
            let strict = Policy { unique_keys: true, ..policy(host, false) };
            let strictly = load(&tree, &strict, mode).unwrap_or_else(|refused| panic!("{}", refused.1));
            assert_eq!(strictly, report, "{name} has no key twice");
            for key in ["manifest", "kelf", "io"] {
                assert_eq!(report[key], expected[key], "{name} {key}");
            }
            let (found, wanted) = (&report["subgraphs"], expected["subgraphs"].as_array().unwrap());
            assert_eq!(found.as_array().unwrap().len(), wanted.len());
            for (at, wanted) in wanted.iter().enumerate() {
                for (key, value) in wanted.as_object().unwrap() {
                    assert_eq!(&found[at][key], value, "{name} subgraph {at} {key}");
                }
                assert_eq!(found[at].as_object().unwrap().len(), wanted.as_object().unwrap().len());
            }
            let warnings = expected["warnings"].as_array().unwrap();
            assert_eq!(report["warnings"].as_array().unwrap().len(), warnings.len(), "{name}");
            warned(&report, &expected["warnings"]);
        }
    }
}

#[test]
fn the_architecture_gate_for_every_host() {
    for name in TREES {
        let Some((tree, expected)) = expected(name) else { skip!("no shared/samples") };
        for (key, wanted) in expected["host_matrix"].as_object().unwrap() {
            let (host, flag) = key.strip_prefix('v').unwrap().split_once("/legacy=").unwrap();
            let policy = policy(host.parse().unwrap(), legacy(Some(flag)));
            let outcome = load(&tree, &policy, Mode::Resident);
            match wanted["arch_gate"].as_str().unwrap() {
                "refuse" => refused(&outcome, wanted),
                gate => {
                    assert_eq!(gate, "pass");
                    // Past the gate another rule may refuse; the gate itself then said nothing.
                    match outcome {
                        Ok(report) => {
                            assert_eq!(
                                report["kelf"]["target"]["arch"], wanted["target_arch"],
                                "{name} {key}"
                            );
                            warned(&report, &wanted["warnings"]);
                        }
                        Err(refused) => {
                            let id = refused.0.id().to_string();
                            assert_ne!(id, "E203", "{name} {key}: {}", refused.1);
                        }
                    }
                }
            }
        }
    }
}
