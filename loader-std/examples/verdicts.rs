//! Prints the container's verdict on many files, one JSON document a line, for comparisons.

use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::container::{
    Ask, digest_json, features_json, file_json, header_json, log, survey, table_json,
};
use loader_std::file::{Buffers, Input};
use serde_json::json;
use std::path::Path;

fn main() {
    let mut policy = Policy { verify_digest: false, report_digest: true, ..Policy::DEFAULT };
    let mut buffers = Buffers::new();
    let mut arguments = std::env::args().skip(1).peekable();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--verify-hash" => policy.verify_digest = true,
            "--verify-plain" => (policy.verify_digest, policy.strict_digest) = (true, true),
            "--runtime-lnc" => policy.lnc = arguments.next().and_then(|n| n.parse().ok()),
            path => {
                let mut input = Input::open(Path::new(path)).expect("readable");
                let ask = Ask { members: true, digests: true, file_digest: true };
                let survey =
                    survey(&mut input, &mut buffers, &policy, &Limits::DEFAULT, ask, |_| {}).expect("read");
                let mut doc = json!({ "path": path, "file": file_json(&survey) });
                if let Some(header) = &survey.header {
                    doc["header"] = header_json(header);
                    doc["features"] = features_json(header);
                }
                if let Some(digest) = digest_json(&survey) {
                    doc["digest"] = digest;
                }
                if survey.accepted() {
                    doc["table"] = table_json(&survey);
                }
                let (status, name, stage, text) = match &survey.error {
                    None => (0, "NRT_SUCCESS", None, None),
                    Some(e) => (
                        e.status().number(),
                        e.status().name(),
                        Some(e.stage.name()),
                        Some(log(e, survey.header.as_ref())),
                    ),
                };
                doc["verdict"] = json!({ "accepted": status == 0, "status": status, "status_name": name, "stage": stage, "log": text });
                doc["notes"] = survey.notes.iter().map(|n| n.to_string()).collect();
                println!("{doc}");
            }
        }
    }
}
