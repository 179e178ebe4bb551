//! `diff` for people: one line per section, names where there are few of them.

use super::DiffArguments;
use crate::output::{Align, Count, Output, Paint, Size, Table, shown, verdict};
use crate::trouble::Trouble;
use loader_std::diff::{Blocks, Comparison, Difference, Names, Snapshot, Stream, Subgraph};
use serde_json::Value;

/// Names that a line lists; the rest is a number.
const NAMED: usize = 4;
/// Characters of one value.
const VALUE: usize = 40;
/// Of those, how many stand before the first difference of values that begin alike.
const BEFORE: usize = 10;

pub(super) fn print(
    arguments: &DiffArguments,
    files: [&Snapshot; 2],
    comparison: &Comparison,
    output: &mut Output,
) -> Result<(), Trouble> {
    let style = output.style();
    let name = |path: &std::path::Path| style.paint(Paint::Bold, path.display());
    let word =
        if comparison.equal { style.paint(Paint::Good, "same") } else { style.paint(Paint::Warn, "differ") };
    output.line(format_args!("{} → {}  {word}", name(&arguments.a), name(&arguments.b)))?;
    for (path, file) in [&arguments.a, &arguments.b].into_iter().zip(files) {
        if let Some(refused) = &file.refusal {
            let why = verdict::refusal_line(refused, refused, style);
            output.line(format_args!("  {}: {why}", shown::path(path)))?;
        }
    }
    if !comparison.equal {
        output.table(&sections(comparison))?;
    }
    Ok(())
}

fn sections(comparison: &Comparison) -> Table {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
    let mut section = |name: &str, what: Vec<String>| {
        for (at, line) in what.into_iter().enumerate() {
            table.row([if at == 0 { format!("  {name}") } else { String::new() }, line]);
            table.paint(0, Paint::Dim);
        }
    };
    let unknown = comparison.unknown.join(", ");
    section("not compared", if unknown.is_empty() { Vec::new() } else { vec![unknown] });
    section("container", values(&comparison.container));
    section("header", header(&comparison.header));
    section("members", names(&comparison.members, false));
    section("graph", values(&comparison.graph));
    for (word, list) in [("added", &comparison.subgraphs_added), ("removed", &comparison.subgraphs_removed)] {
        section("subgraphs", list.iter().map(|name| format!("{word}: {}", shown::text(name))).collect());
    }
    for subgraph in comparison.subgraphs.iter().filter(|subgraph| !subgraph.is_empty()) {
        for (name, what) in of_subgraph(subgraph) {
            section(&format!("{} {name}", shown::text(&subgraph.name)), what);
        }
    }
    section("memory", memory(&comparison.memory));
    table
}

fn of_subgraph(subgraph: &Subgraph) -> [(&'static str, Vec<String>); 7] {
    let shifted = subgraph.shifted.iter().map(|run| {
        let ids = if run.first == run.last {
            format!("id {}", run.first)
        } else {
            format!("ids {} to {}", run.first, run.last)
        };
        format!("{ids} moved by {:+}", run.by)
    });
    let constants = subgraph
        .constants
        .iter()
        .map(|constant| format!("`{}` has another content", shown::text(&constant.name)));
    [
        ("settings", values(&subgraph.settings)),
        ("variables", names(&subgraph.variables, true)),
        ("variable ids", few(shifted)),
        ("constants", few(constants)),
        ("queues", names(&subgraph.queues, true)),
        ("blocks", blocks(&subgraph.blocks)),
        ("instructions", subgraph.instructions.iter().map(stream).collect()),
    ]
}

/// The first lines, and how many more there are.
fn few(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.collect();
    if lines.len() > NAMED + 1 {
        let more = lines.len() - NAMED;
        lines.truncate(NAMED);
        lines.push(format!("and {more} more, see --json"));
    }
    lines
}

fn words(value: &Value) -> Vec<char> {
    let text = match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    shown::text(&text).chars().collect()
}

/// Both values, cut to what a line holds. Long ones that begin alike are cut so that the difference is seen.
fn pair(a: &Value, b: &Value) -> String {
    let (a, b) = (words(a), words(b));
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let start = if same < VALUE - 1 { 0 } else { same - BEFORE };
    let cut = |text: &[char]| {
        let head = if start > 0 { "…" } else { "" };
        let rest: String = text.iter().skip(start).take(VALUE - 2).collect();
        let tail = if text.len() > start + VALUE - 2 { "…" } else { "" };
        format!("{head}{rest}{tail}")
    };
    format!("{} → {}", cut(&a), cut(&b))
}

fn difference(difference: &Difference) -> String {
    let Difference { key, a, b } = difference;
    match (a, b) {
        (Value::Null, Value::Object(_)) => return format!("{}: added", shown::text(key)),
        (Value::Object(_), Value::Null) => return format!("{}: removed", shown::text(key)),
        _ => {}
    }
    format!("{}: {}", shown::text(key), pair(a, b))
}

fn values(found: &[Difference]) -> Vec<String> {
    few(found.iter().map(difference))
}

/// The stored digest is part of the hash field, so one of them says it.
fn header(found: &[Difference]) -> Vec<String> {
    let once = |difference: &&Difference| !["hash", "digest.stored"].contains(&difference.key.as_str());
    few(found.iter().filter(once).map(difference))
}

/// `detail` says for what is in both files how it differs.
fn names(found: &Names, detail: bool) -> Vec<String> {
    let list = |word: &str, names: Vec<&str>| {
        let some: Vec<String> =
            names.iter().take(NAMED).map(|name| format!("`{}`", shown::text(name))).collect();
        let more = names.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("{word}: {}{more}", some.join(", ")))
    };
    let added = list("added", found.added.iter().map(String::as_str).collect());
    let removed = list("removed", found.removed.iter().map(String::as_str).collect());
    let mut lines: Vec<String> = added.into_iter().chain(removed).collect();
    let changed = &found.changed;
    if detail {
        let each = changed.iter().map(|thing| {
            let how: Vec<String> = thing.differences.iter().map(difference).collect();
            format!("`{}` {}", shown::text(&thing.name), few(how.into_iter()).join(", "))
        });
        lines.extend(few(each));
    } else {
        lines.extend(list("changed", changed.iter().map(|thing| thing.name.as_str()).collect()));
    }
    lines
}

fn blocks(found: &Blocks) -> Vec<String> {
    let sides = [("added", &found.added), ("removed", &found.removed), ("changed", &found.changed)];
    let lines = sides.into_iter().filter(|(_, blocks)| !blocks.is_empty()).map(|(word, blocks)| {
        let some: Vec<String> = blocks
            .iter()
            .take(NAMED)
            .map(|block| {
                let within = if block.function.is_empty() { "" } else { " of " };
                let (queue, function) = (shown::text(&block.queue), shown::text(&block.function));
                format!("{} {queue}:{}{within}{function}", block.engine, block.id)
            })
            .collect();
        let more = blocks.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{word}: {}{more}", some.join(", "))
    });
    lines.collect()
}

fn stream(stream: &Stream) -> String {
    let span = |[first, end]: [usize; 2]| match end - first {
        0 => format!("before {first}"),
        1 => first.to_string(),
        _ => format!("{first} to {}", end - 1),
    };
    let ranges = stream.ranges.iter().take(NAMED).map(|[a, b]| {
        if a == b { format!("slots {}", span(*a)) } else { format!("slots {} → {}", span(*a), span(*b)) }
    });
    let more = stream.ranges.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more ranges") } else { String::new() };
    let [a, b] = stream.slots;
    let count = if a == b {
        Count(a as u64, "slot").to_string()
    } else {
        format!("{a} → {}", Count(b as u64, "slot"))
    };
    // A stream that only one file has differs everywhere.
    if a == 0 || b == 0 {
        return format!("{}, {count}", stream.engine);
    }
    format!("{}, {count}: {}{more}", stream.engine, ranges.collect::<Vec<_>>().join(", "))
}

/// The totals, in units for people.
fn memory(found: &[Difference]) -> Vec<String> {
    let totals = found.iter().filter(|difference| !difference.key.starts_with("cores"));
    few(totals.map(|difference| {
        let Difference { key, a, b } = difference;
        let sizes = a.as_u64().zip(b.as_u64()).map_or_else(|| pair(a, b), |(a, b)| sizes(a, b));
        format!("{}: {sizes}", key.replace('_', " "))
    }))
}

/// Two sizes that differ, in bytes if they look alike in larger units.
fn sizes(a: u64, b: u64) -> String {
    let (old, new) = (Size(a).to_string(), Size(b).to_string());
    if old == new { format!("{a} → {b} bytes") } else { format!("{old} → {new}") }
}

#[cfg(test)]
mod tests {
    use super::{pair, sizes, stream};
    use loader_std::diff::Stream;
    use serde_json::json;

    #[test]
    fn what_differs_is_seen_to_differ() {
        assert_eq!(sizes(140 << 20, 141 << 20), "140.0 MiB → 141.0 MiB");
        assert_eq!(sizes(140 << 20, (140 << 20) + 1), "146800640 → 146800641 bytes");
        assert_eq!(pair(&json!("x"), &json!(null)), "x → nothing");
        let long = |end: &str| json!(format!("{}{end}", "0123456789".repeat(9)));
        assert_eq!(pair(&long("a"), &long("b")), "…0123456789a → …0123456789b");
        let (a, b) = (json!(["x".repeat(50)]), json!(["y".repeat(50)]));
        let shown = format!("[\"{}… → [\"{}…", "x".repeat(36), "y".repeat(36));
        assert_eq!(pair(&a, &b), shown);
    }

    #[test]
    fn streams() {
        let of = |slots, ranges| Stream { engine: "pe", slots, ranges };
        assert_eq!(stream(&of([9, 9], vec![[[1, 2], [1, 2]]])), "pe, 9 slots: slots 1");
        assert_eq!(stream(&of([9, 8], vec![[[1, 3], [1, 2]]])), "pe, 9 → 8 slots: slots 1 to 2 → 1");
        assert_eq!(stream(&of([9, 0], vec![[[0, 9], [0, 0]]])), "pe, 9 → 0 slots");
        assert_eq!(stream(&of([0, 1], vec![[[0, 0], [0, 1]]])), "pe, 0 → 1 slot");
    }
}
