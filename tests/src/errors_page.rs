//! The page `docs/ERRORS.md`, generated from the code tables.

use loader_core::error::{Code, Id, Info};
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

Every refusal has a stable code: a letter for the layer and three digits. A message says the code, what happened, where
(the member of the archive or else the stage, and the byte, element and subgraph as far as they are known), what was
expected, and what to do:

```
E313 alignment provided not power of 2. alignment=3 (sg00/def.json, element 4, subgraph 0); expected a power of two, or 0
for none. Compile the model again; in a tree made by hand, correct it there and make the file anew with `neffload pack DIR OUT`.
```

The status is the number that a program calling the vendor's interface would see. In texts, `{name}`, `{a}` and so on stand
for what was found. Texts of the runtime are kept word for word where they are known.

This page is written by `cargo xtask errors`.
";

/// Where codes from a number on are met, by layer; the last row that is not above a number counts.
const PLACES: &[(char, u16, &str)] = &[
    ('C', 100, "the call that loads"),
    ('C', 200, "the header, the file's first bytes"),
    ('C', 300, "the payload's first bytes"),
    ('C', 400, "the archive"),
    ('C', 500, "the archive, and a limit of the loader"),
    ('C', 600, "a member"),
    ('C', 700, "the file as the system gives it"),
    ('C', 800, "memory that the caller gave"),
    ('C', 802, "memory of the host"),
    ('C', 900, "this library"),
    ('E', 100, "the graph, neff.json or kelp.json"),
    ('E', 120, "any JSON member"),
    ('E', 200, "the KELF"),
    ('E', 300, "def.json"),
    ('E', 310, "def.json, key var"),
    ('E', 330, "def.json, key dma_queue"),
    ('E', 340, "a ucode manifest"),
    ('E', 350, "def.json, key runtime_statebuffer_reservation"),
    ('E', 360, "an engine file"),
    ('E', 370, "a dma block"),
    ('E', 380, "a variable of another subgraph, or its transfer"),
    ('E', 381, "a dma block"),
    ('E', 383, "a variable of another subgraph"),
    ('E', 390, "def.json, collectives"),
    ('E', 800, "memory that the caller gave"),
    ('E', 810, "a manifest, and a limit of the loader"),
    ('E', 900, "this library"),
    ('L', 100, "a name of a subgraph"),
    ('L', 200, "a variable"),
    ('L', 300, "a queue, or a block of it"),
    ('L', 400, "a member that an engine or a constant names"),
    ('L', 500, "a definition"),
    ('L', 600, "a definition's target"),
    ('L', 700, "a variable of another subgraph"),
    ('L', 800, "memory that the caller gave"),
    ('L', 900, "this library"),
    ('L', 902, "the records, asked for an address"),
    ('S', 100, "the file beside the device"),
    ('S', 200, "a variable"),
    ('S', 300, "the scratchpad of a core"),
    ('S', 400, "a ring or a block of a queue"),
    ('S', 500, "an instruction slot"),
    ('S', 600, "the list of loaded models"),
    ('S', 700, "the collectives and the ranks"),
    ('S', 800, "memory that the caller gave"),
    ('S', 900, "this library"),
    ('D', 100, "the device, at the request that failed"),
    ('D', 200, "the device, before any load"),
    ('N', 100, "the question, or the member that answers it"),
    ('M', 100, "the file"),
    ('M', 104, "the question"),
    ('W', 100, "the graph"),
    ('W', 200, "the KELF"),
    ('W', 300, "a definition"),
    ('W', 600, "a definition"),
    ('W', 700, "the archive"),
    ('W', 800, "the list of loaded models"),
    ('W', 802, "the statistics, hlo_stats.json"),
    ('W', 804, "an instruction stream"),
];

/// Where a code is met; empty if no row says so.
#[must_use]
pub fn place(id: Id) -> &'static str {
    let mut of_layer =
        PLACES.iter().rev().filter(|(letter, from, _)| *letter == id.letter && *from <= id.number);
    of_layer.next().map_or("", |(.., place)| place)
}

/// A cell of a table: nothing in it is markup.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<")
}

/// The whole page.
#[must_use]
pub fn errors_page() -> String {
    let mut page = HEAD.to_owned();
    let mut rows: Vec<(Info, &str)> = Code::all().map(|code| (code.info(), code.remedy())).collect();
    rows.sort_by_key(|(info, _)| info.id.number);
    for (letter, title) in LAYERS {
        let of_layer = || rows.iter().filter(|(info, _)| info.id.letter.to_string() == letter);
        if of_layer().next().is_none() {
            continue;
        }
        let _ = write!(page, "\n## {letter}: {title}\n\n");
        page.push_str(
            "| code | what happened | where | expected | what to do | status |\n|---|---|---|---|---|---|\n",
        );
        for (info, remedy) in of_layer() {
            let Info { id, status, text, expected, .. } = info;
            let [text, expected, remedy] = [text, expected, *remedy].map(cell);
            let _ = writeln!(page, "| {id} | {text} | {} | {expected} | {remedy} | {status} |", place(*id));
        }
    }
    page
}
