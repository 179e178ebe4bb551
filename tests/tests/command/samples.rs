//! The sample trees and every loading case of them, to the end of a load through the command on a simulated device.

use neffload_tests::command::{Scratch, document, neffload, status};
use neffload_tests::payload::packed;
use neffload_tests::skip;
use neffload_tests::trees::Case;

/// What the manifests of a tree allow and a later stage refuses: by the case's tree, or its number.
const LATER: [(&str, &str); 9] = [
    // Its data queues move inputs and outputs (I10).
    ("alias-must", "S411"),
    // Its collectives have several streams (staging.md §11.3).
    ("cc-allreduce", "S514"),
    // A stream that is not whole slots (T45).
    ("G03", "S501"),
    // The one table for DVE that there is on sunda alone (R19), in a file for a successor.
    ("K05c", "L405"),
    ("K05d", "L405"),
    ("K05e", "L405"),
    ("K05f", "L405"),
    ("K06", "L405"),
    // A queue of no engine (lowering.md X-04).
    ("Q03", "L303"),
];

fn target(number: u64) -> &'static str {
    match number {
        2 => "sim:sunda",
        3 => "sim:cayman",
        4 => "sim:mariana",
        other => panic!("no architecture {other}"),
    }
}

#[test]
fn every_sample_that_is_loadable_loads_to_the_end() {
    let cases = Case::all();
    if cases.is_empty() {
        skip!("no shared/samples");
    }
    let scratch = Scratch::new("samples");
    let (mut loaded, mut wrong) = (0, Vec::new());
    for (id, case) in cases.iter().filter(|(_, case)| case.call == "load") {
        let file = scratch.join("case.neff");
        std::fs::write(&file, packed(&case.tree.members)).unwrap();
        let mut command = neffload();
        command.args(["load", "--json", "--device", target(case.host_arch)]).arg(&file).envs(&case.env);
        if case.of == "lnc2-decode" {
            command.args(["--lnc", "2"]);
        }
        let output = command.output().unwrap();
        let document = document(&output);
        let verdict = &document["verdict"];
        let later = LATER.iter().find(|(what, _)| what == id || *what == case.of);
        let refused = case.expect["error"].as_str().or(later.map(|(_, code)| *code));
        let found = (verdict["code"].as_str(), status(&output) == 0);
        if found != (refused, refused.is_none()) {
            wrong.push(format!("{id}: {verdict} instead of {refused:?}"));
        }
        loaded += u32::from(refused.is_none());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(loaded >= 36, "{loaded}");
}
