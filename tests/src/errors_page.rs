//! The page `docs/ERRORS.md`, generated from the code tables.

use loader_core::error::{Code, Info};
use std::fmt::Write;

const LAYERS: [(&str, &str); 8] = [
    ("C", "Container: header, digest, gzip, tar"),
    ("E", "Manifests: graph, KELF, definitions, engine files"),
    ("L", "Lowering into records"),
    ("S", "Placement and staging"),
    ("D", "Device and driver"),
    ("N", "Questions asked of a file"),
    ("M", "Memory analysis"),
    ("W", "Warnings, which stop nothing"),
];

const HEAD: &str = "# Errors

Every refusal has a stable code: a letter for the layer and three digits. The status is the number that a
program calling the vendor's interface would see. In texts, `{name}`, `{a}` and so on stand for what was found.

This page is written by `cargo xtask errors`.
";

/// The whole page.
#[must_use]
pub fn errors_page() -> String {
    let mut page = HEAD.to_owned();
    let mut rows: Vec<Info> = Code::all().map(Code::info).collect();
    rows.sort_by_key(|info| info.id.number);
    for (letter, title) in LAYERS {
        let of_layer = || rows.iter().filter(|info| info.id.letter.to_string() == letter);
        if of_layer().next().is_none() {
            continue;
        }
        let _ = write!(page, "\n## {letter}: {title}\n\n");
        page.push_str(
            "| code | what happened | a correct file has | what to do | status |\n|---|---|---|---|---|\n",
        );
        for info in of_layer() {
            let Info { id, status, text, expected, remedy, .. } = info;
            let [text, expected, remedy] = [text, expected, remedy].map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(page, "| {id} | {text} | {expected} | {remedy} | {status} |");
        }
    }
    page
}
