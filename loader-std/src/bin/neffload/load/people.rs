//! `load` for people: one line per core, then what deserves a remark.

use super::LoadArguments;
use crate::output::{Align, Count, Document, Output, Paint, Size, Table, shown};
use crate::trouble::Trouble;
use serde_json::Value;

pub(super) fn print(
    arguments: &LoadArguments,
    index: usize,
    document: &Document,
    output: &mut Output,
) -> Result<(), Trouble> {
    let style = output.style();
    let name = style.paint(Paint::Bold, shown::path(&arguments.files[index]));
    if document.get("verdict")["accepted"] != true {
        return refusal(&name, document, output);
    }
    let (device, model) = (document.get("device"), document.get("model"));
    let ready = style.paint(Paint::Good, "ready");
    let name_of_device = device.get("path").unwrap_or(&device["kind"]);
    let place = format!("{} ({}, {} cores)", text(name_of_device), text(&device["arch"]), device["cores"]);
    let time = milliseconds(&document.get("timing_ns")["total"]);
    output.line(format_args!("{name}  {ready}  on {place} in {time}"))?;
    let uuid = style.paint(Paint::Dim, text(&model["uuid"]));
    output.line(format_args!("  model {}, {}  {uuid}", model["h_nn"], text(&model["name"])))?;
    output.table(&cores(document))?;
    if let Some(requests) = document.get("ioctls").as_object() {
        let count: u64 = requests.values().map(number).sum();
        let driver = device["driver"].as_str().unwrap_or("of unknown version");
        output.line(format_args!("  driver {driver}, {}", Count(count, "request")))?;
    }
    remarks(document, output)?;
    if let Some(folder) = arguments.folder(index) {
        output.line(format_args!("  dumped to {}", shown::path(&folder)))?;
    }
    Ok(())
}

fn refusal(name: &str, document: &Document, output: &mut Output) -> Result<(), Trouble> {
    let style = output.style();
    let verdict = document.get("verdict");
    output.line(format_args!("{name}  {}", style.paint(Paint::Bad, "refused")))?;
    let status = format!("{} ({})", text(&verdict["status_name"]), verdict["status"]);
    output.line(format_args!("  {}", text(&verdict["message"])))?;
    output.line(format_args!("  {}", style.paint(Paint::Dim, format!("status {status}"))))
}

/// One line per core.
fn cores(document: &Document) -> Table {
    let headings =
        ["code", "constants", "scratchpad", "runtime", "rings", "total", "slots", "patched", "bound"];
    let mut columns = vec![("  core", Align::Left), ("", Align::Left)];
    columns.extend(headings.map(|heading| (heading, Align::Right)));
    let mut table = Table::new(&columns);
    for core in list(document.get("cores")) {
        let breakdown = &core["breakdown"];
        let bytes = |key: &str| number(&breakdown[key]);
        let rings = bytes("dma_rings_io") + bytes("dma_rings_spill") + bytes("dma_rings_runtime");
        let images = || list(&core["images"]).iter();
        let sum = |key: &str| images().map(|image| number(&image[key])).sum::<u64>();
        let slots: u64 = images()
            .flat_map(|image| image["slots"].as_object().into_iter().flat_map(|slots| slots.values()))
            .map(number)
            .sum();
        table.row([
            format!("  {}", core["core"]),
            text(&core["subgraph"]),
            Size(bytes("model_code")).to_string(),
            Size(bytes("model_constants")).to_string(),
            Size(bytes("scratchpad") + bytes("shared_scratchpad")).to_string(),
            Size(bytes("runtime")).to_string(),
            Size(rings).to_string(),
            Size(bytes("total") + bytes("shared_scratchpad")).to_string(),
            slots.to_string(),
            sum("patched").to_string(),
            sum("bound_at_execute").to_string(),
        ]);
    }
    table
}

/// Opaque and approximate things, counted per core, and warnings.
fn remarks(document: &Document, output: &mut Output) -> Result<(), Trouble> {
    let style = output.style();
    for core in list(document.get("cores")) {
        let opaque: u64 = list(&core["images"]).iter().map(|image| number(&image["opaque"])).sum();
        let approximate = number(&core["approximate"]);
        let mut parts = Vec::new();
        if opaque > 0 {
            parts.push(format!("{} kept as they are", Count(opaque, "slot")));
        }
        if approximate > 0 {
            parts.push(format!("{} encoded approximately", Count(approximate, "thing")));
        }
        if !parts.is_empty() {
            let line = format!("core {}: {}", core["core"], parts.join(", "));
            output.line(format_args!("  {} {line}", style.paint(Paint::Warn, "note:")))?;
        }
    }
    for warning in list(document.get("warnings")) {
        output.line(format_args!("  {} {}", style.paint(Paint::Warn, "warning:"), text(warning)))?;
    }
    Ok(())
}

fn milliseconds(nanoseconds: &Value) -> String {
    format!("{:.1} ms", number(nanoseconds) as f64 / 1e6)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn text(value: &Value) -> String {
    shown::text(value.as_str().unwrap_or_default())
}
