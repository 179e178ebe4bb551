//! `inspect` for people.

use super::InspectArguments;
use crate::output::{Align, Count, Document, Output, Paint, Size, Table, shown, total};
use crate::trouble::Trouble;
use serde_json::Value;

pub(super) fn print(
    arguments: &InspectArguments,
    document: &Document,
    output: &mut Output,
) -> Result<(), Trouble> {
    headline(arguments, document, output)?;
    output.table(&facts(document))?;
    refusal(document, output)?;
    tensors(document, output)?;
    subgraphs(document, output)?;
    if arguments.members {
        members(document, output)?;
    }
    // `load` has one list of both.
    for warning in list(document.get("warnings")).iter().chain(list(document.get("remarks"))) {
        output.line(format_args!("{} {}", output.style().paint(Paint::Warn, "warning:"), word(warning)))?;
    }
    Ok(())
}

fn headline(arguments: &InspectArguments, document: &Document, output: &mut Output) -> Result<(), Trouble> {
    let style = output.style();
    let name = style.paint(Paint::Bold, shown::path(&arguments.file));
    let size = Size(number(&document.get("file")["size"]));
    let word = if document.get("verdict")["accepted"] == true {
        style.paint(Paint::Good, "accepted")
    } else {
        style.paint(Paint::Bad, "refused")
    };
    output.line(format_args!("{name}  {size}  {word}"))
}

/// What header, payload and KELF say, a line each.
fn facts(document: &Document) -> Table {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut fact = |name: &str, value: String| {
        table.row([format!("  {name}"), value]);
        table.paint(0, Paint::Dim);
    };
    let header = document.get("header");
    if header.is_object() {
        fact("model", word(&header["name"]));
        fact("uuid", word(&header["uuid"]));
        fact("format", format(header));
        if !list(document.get("features")).is_empty() {
            fact("features", features(document));
        }
    }
    let digest = document.get("digest");
    if digest.is_object() {
        fact("digest", digest_words(digest));
    }
    let payload = document.get("payload");
    if payload.is_object() {
        fact("payload", payload_words(header, payload, document));
    }
    let kelf = document.get("kelf");
    if kelf.is_object() {
        let target = kelf["target"]["text"].as_str().unwrap_or("NeuronCore-v1");
        let subgraphs = Count(list(&kelf["graphs"]).len() as u64, "subgraph");
        fact("target", format!("{target}, {subgraphs}, KELF {}", word(&kelf["version"]["text"])));
    }
    table
}

fn format(header: &Value) -> String {
    let (major, minor) = (number(&header["neff_version_major"]), number(&header["neff_version_minor"]));
    let build = word(&header["neff_build_version"]);
    let build = if build.is_empty() { build } else { format!(", build {build}") };
    format!("NEFF {major}.{minor}, package {}, lnc {}{build}", header["pkg_version"], header["lnc_size"])
}

fn features(document: &Document) -> String {
    let names = list(document.get("features")).iter().map(|feature| {
        feature["name"].as_str().map_or_else(|| format!("bit {}", feature["bit"]), str::to_owned)
    });
    names.collect::<Vec<_>>().join(", ")
}

fn digest_words(digest: &Value) -> String {
    let order = match digest["order"].as_str() {
        Some("plain") => "as stored",
        Some(_) => "stored with its words reversed",
        None => "the header holds another one",
    };
    format!("{} {}, {order}", word(&digest["algorithm"]), word(&digest["computed"]))
}

fn payload_words(header: &Value, payload: &Value, document: &Document) -> String {
    let stored = Size(number(&header["data_size"]));
    let archive = Size(number(&payload["archive_bytes"]));
    let members = Count(list(document.get("table")).len() as u64, "member");
    match number(&payload["layers"]) {
        0 => format!("{members}, {archive} of tar, not compressed"),
        _ => format!("{members}, {archive} of tar in {stored} of gzip"),
    }
}

fn refusal(document: &Document, output: &mut Output) -> Result<(), Trouble> {
    let verdict = document.get("verdict");
    if verdict["accepted"] == true {
        return Ok(());
    }
    let style = output.style();
    let status = format!("{} ({})", word(&verdict["status_name"]), verdict["status"]);
    output.line(format_args!(
        "{} {status}: {}",
        style.paint(Paint::Bad, "refused:"),
        word(&verdict["message"])
    ))
}

fn tensors(document: &Document, output: &mut Output) -> Result<(), Trouble> {
    let columns =
        [("", Align::Left), ("", Align::Left), ("", Align::Left), ("", Align::Left), ("", Align::Right)];
    let mut table = Table::new(&columns);
    for (kind, key) in [("input", "inputs"), ("output", "outputs")] {
        for tensor in list(&document.get("io")[key]) {
            let shape: Vec<String> = list(&tensor["shape"]).iter().map(ToString::to_string).collect();
            let size = Size(number(&tensor["size"])).to_string();
            let indented = format!("  {kind}");
            table.row([indented, word(&tensor["name"]), word(&tensor["dtype"]), shape.join("×"), size]);
            table.paint(0, Paint::Dim);
        }
    }
    output.table(&table)
}

/// One line per subgraph.
fn subgraphs(document: &Document, output: &mut Output) -> Result<(), Trouble> {
    let all = list(document.get("subgraphs"));
    if all.is_empty() {
        return Ok(());
    }
    let mut columns = vec![("  subgraph", Align::Left)];
    columns.extend(
        ["variables", "constants", "scratchpad", "queues", "blocks", "transfers", "instructions"]
            .map(|heading| (heading, Align::Right)),
    );
    let mut table = Table::new(&columns);
    for subgraph in all {
        let engines = || subgraph["engines"].as_object().into_iter().flat_map(|engines| engines.values());
        let sum = |key: &str| engines().map(|engine| number(&engine[key])).sum::<u64>().to_string();
        let queues = subgraph["dma_queues"].as_object().map_or(0, serde_json::Map::len);
        table.row([
            format!("  {}", word(&subgraph["name"])),
            number(&subgraph["var"]["count"]).to_string(),
            Size(bytes_of(subgraph, "file")).to_string(),
            Size(scratchpad(subgraph)).to_string(),
            queues.to_string(),
            sum("dma_blocks"),
            sum("descs"),
            sum("ninstr"),
        ]);
    }
    output.table(&table)
}

fn vars(subgraph: &Value) -> impl Iterator<Item = &Value> {
    subgraph["vars"].as_object().into_iter().flat_map(|vars| vars.values())
}

fn bytes_of(subgraph: &Value, class: &str) -> u64 {
    total(vars(subgraph).filter(|var| var["type"] == class).map(|var| number(&var["size"])))
}

/// The marks of all areas together.
fn scratchpad(subgraph: &Value) -> u64 {
    let mut marks = std::collections::BTreeMap::new();
    for var in vars(subgraph).filter(|var| var["type"] == "virtual") {
        let mark = marks.entry(word(&var["area"])).or_insert(0);
        *mark = number(&var["offset"]).saturating_add(number(&var["size"])).max(*mark);
    }
    total(marks.into_values())
}

fn members(document: &Document, output: &mut Output) -> Result<(), Trouble> {
    let mut table = Table::new(&[("  member", Align::Left), ("size", Align::Right), ("", Align::Left)]);
    for member in list(document.get("table")) {
        let sha256 = member["sha256"].as_str().unwrap_or_default().to_owned();
        table.row([
            format!("  {}", word(&member["name"])),
            Size(number(&member["size"])).to_string(),
            sha256,
        ]);
    }
    output.table(&table)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// A string of the document, hidden characters made visible.
fn word(value: &Value) -> String {
    shown::text(value.as_str().unwrap_or_default())
}
