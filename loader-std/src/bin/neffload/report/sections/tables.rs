//! Sections that are tables or lists.

use crate::report::html::Html;
use serde_json::{Value, json};

/// Opens a section with a heading and a sentence.
pub(super) fn open(html: &mut Html<'_>, heading: &str, why: &str) {
    html.raw(format!("<section><h2>{heading}</h2><p class=\"why\">{why}</p>"));
}

/// A column: its heading, and how its cells look.
#[derive(Clone, Copy)]
enum Column {
    /// What the row is about: on a phone a line of its own.
    Name(&'static str),
    /// A word.
    Word(&'static str),
    /// A number.
    Number(&'static str),
    /// An address.
    Address(&'static str),
}

impl Column {
    /// Heading and class.
    const fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Name(heading) => (heading, "name"),
            Self::Word(heading) => (heading, "w"),
            Self::Number(heading) => (heading, "n"),
            Self::Address(heading) => (heading, "mono"),
        }
    }
}

/// A table of `count` rows. `fill` writes the content of a cell, given row and column.
fn table(
    html: &mut Html<'_>,
    columns: &[Column],
    count: usize,
    mut fill: impl FnMut(&mut Html<'_>, usize, usize),
) {
    html.raw("<div class=\"scroll\"><table><thead><tr>");
    for (heading, class) in columns.iter().map(|column| column.parts()) {
        html.raw(format!("<th class=\"{class}\">{heading}</th>"));
    }
    html.raw("</tr></thead><tbody>");
    for row in 0..count {
        html.raw("<tr>");
        for (column, (heading, class)) in columns.iter().map(|column| column.parts()).enumerate() {
            html.raw(format!("<td class=\"{class}\" data-label=\"{heading}\">"));
            fill(html, row, column);
            html.raw("</td>");
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table></div>");
}

/// Subgraphs whose queues and instructions the page shows; no file that loads has more.
pub(super) const MOST_SUBGRAPHS: usize = 16;
/// Inputs that the page lists, and outputs.
const MOST_TENSORS: usize = 100;

/// Inputs and outputs, the first of each.
pub(in crate::report) fn tensors(html: &mut Html<'_>) {
    if !html.at("/io").is_object() {
        return;
    }
    open(html, "What it reads and writes", "Inputs and outputs by name, as the graph lists them.");
    let columns = [
        Column::Word(""),
        Column::Name("name"),
        Column::Word("type"),
        Column::Word("shape"),
        Column::Number("size"),
    ];
    let (all_inputs, all_outputs) = (html.len("/io/inputs"), html.len("/io/outputs"));
    let (inputs, outputs) = (all_inputs.min(MOST_TENSORS), all_outputs.min(MOST_TENSORS));
    table(html, &columns, inputs + outputs, |html, row, column| {
        let (word, tensor) = match row.checked_sub(inputs) {
            None => ("input", format!("/io/inputs/{row}")),
            Some(row) => ("output", format!("/io/outputs/{row}")),
        };
        match column {
            0 => html.raw(format!("<span class=\"quiet\">{word}</span>")),
            1 => html.word(&format!("{tensor}/name")),
            2 => html.word(&format!("{tensor}/dtype")),
            3 => shape(html, &format!("{tensor}/shape")),
            _ => html.size(&format!("{tensor}/size")),
        };
    });
    for (kind, key, left) in [
        ("inputs", "/io_unlisted/inputs", all_inputs > inputs),
        ("outputs", "/io_unlisted/outputs", all_outputs > outputs),
    ] {
        if left {
            html.raw("<p class=\"quiet\">… ").count(key).raw(format!(" more {kind}</p>"));
        }
    }
    html.raw("</section>");
}

/// How many inputs and outputs the page leaves out.
pub(in crate::report) fn unlisted(io: &Value) -> Value {
    let left = |key: &str| io[key].as_array().map_or(0, Vec::len).saturating_sub(MOST_TENSORS);
    json!({ "inputs": left("inputs"), "outputs": left("outputs") })
}

fn shape<'h, 'd>(html: &'h mut Html<'d>, place: &str) -> &'h mut Html<'d> {
    for dim in 0..html.len(place) {
        html.raw(if dim > 0 { "×" } else { "" }).count(&format!("{place}/{dim}"));
    }
    html
}

/// DMA queues with their rings and blocks, core by core.
pub(in crate::report) fn queues(html: &mut Html<'_>) {
    let cores = html.len("/load/cores");
    let any = (0..cores).any(|core| html.len(&format!("/load/cores/{core}/queues")) > 0);
    if !any {
        return declared(html);
    }
    open(
        html,
        "Queues and blocks",
        "A queue has one ring pair per instance. A block is a list of descriptors that an engine triggers.",
    );
    for core in 0..cores {
        let base = format!("/load/cores/{core}");
        let queues = format!("{base}/queues");
        if html.len(&queues) == 0 {
            continue;
        }
        html.raw("<h3>Core ").count(&format!("{base}/core")).raw(", ");
        html.word(&format!("{base}/subgraph")).raw("</h3>");
        let columns = [
            Column::Name("queue"),
            Column::Word("type"),
            Column::Word("owner"),
            Column::Number("instances"),
            Column::Number("ring entries"),
            Column::Number("blocks"),
            Column::Number("descriptors"),
            Column::Number("bytes"),
        ];
        const KEYS: [&str; 8] =
            ["queue", "type", "owner", "instances", "ring_entries", "blocks", "descriptors", "bytes"];
        table(html, &columns, html.len(&queues), |html, row, column| {
            let key = KEYS.get(column).copied().unwrap_or_default();
            let value = format!("{queues}/{row}/{key}");
            match column {
                0..=2 => html.word(&value),
                7 => html.size(&value),
                _ => html.count(&value),
            };
        });
    }
    html.raw("</section>");
}

/// The queues of a file that does not load: they have no rings.
fn declared(html: &mut Html<'_>) {
    let subgraphs = 0..html.len("/subgraphs").min(MOST_SUBGRAPHS);
    let list = |subgraph| format!("/subgraphs/{subgraph}/declared");
    if !subgraphs.clone().any(|subgraph| html.len(&list(subgraph)) > 0) {
        return;
    }
    open(
        html,
        "Queues and blocks",
        "As the file declares them. It does not load, so there are no rings and blocks.",
    );
    for subgraph in subgraphs {
        let queues = list(subgraph);
        if html.len(&queues) == 0 {
            continue;
        }
        html.raw("<h3>").word(&format!("/subgraphs/{subgraph}/name")).raw("</h3>");
        let columns =
            [Column::Name("queue"), Column::Word("type"), Column::Word("owner"), Column::Number("instances")];
        table(html, &columns, html.len(&queues), |html, row, column| {
            let key = ["queue", "type", "owner", "instances"].get(column).copied().unwrap_or_default();
            let value = format!("{queues}/{row}/{key}");
            if column < 3 {
                html.word(&value)
            } else {
                html.count(&value)
            };
        });
    }
    html.raw("</section>");
}

/// The largest variables of a core, folded.
pub(super) fn variables(html: &mut Html<'_>, base: &str) {
    let list = format!("{base}/variables/largest");
    if html.len(&list) == 0 {
        return;
    }
    html.raw("<details><summary>Variables: ").count(&format!("{base}/variables/count"));
    if html.number_at(&format!("{base}/variables/rest")) > 0 {
        html.raw(", the smallest ").count(&format!("{base}/variables/rest")).raw(" not listed");
    }
    html.raw("</summary>");
    let columns = [
        Column::Name("name"),
        Column::Word("class"),
        Column::Address("address"),
        Column::Number("id"),
        Column::Number("size"),
    ];
    table(html, &columns, html.len(&list), |html, row, column| {
        let variable = format!("{list}/{row}");
        match column {
            0 => html.word(&format!("{variable}/name")),
            1 => html.word(&format!("{variable}/class")),
            2 => html.word(&format!("{variable}/address")),
            3 => html.count(&format!("{variable}/var_id")),
            _ => html.size(&format!("{variable}/size")),
        };
    });
    html.raw("</details>");
}

/// What the loader remarked, and what it kept as it is.
pub(in crate::report) fn warnings(html: &mut Html<'_>) {
    let opaque = (0..html.len("/load/cores")).any(|core| {
        let images = format!("/load/cores/{core}/images");
        (0..html.len(&images)).any(|at| html.number_at(&format!("{images}/{at}/opaque")) > 0)
            || html.number_at(&format!("/load/cores/{core}/approximate")) > 0
    });
    if html.len("/warnings") == 0 && !opaque {
        return;
    }
    let loads = html.at("/load/verdict/accepted") == &Value::Bool(true);
    let why = if loads {
        "Nothing here keeps the file from being loaded."
    } else {
        "Not the reason of the refusal, which stands at the top."
    };
    open(html, "Remarks", why);
    html.raw("<ul class=\"plain\">");
    for at in 0..html.len("/warnings") {
        html.raw("<li>").word(&format!("/warnings/{at}")).raw("</li>");
    }
    if html.number_at("/more_warnings") > 0 {
        html.raw("<li>and ").count("/more_warnings").raw(" more</li>");
    }
    for core in 0..html.len("/load/cores") {
        kept(html, &format!("/load/cores/{core}"));
    }
    html.raw("</ul></section>");
}

fn kept(html: &mut Html<'_>, core: &str) {
    for at in 0..html.len(&format!("{core}/images")) {
        let image = format!("{core}/images/{at}");
        if html.number_at(&format!("{image}/opaque")) > 0 {
            html.raw("<li>Core ").count(&format!("{core}/core")).raw(", ").word(&format!("{image}/engine"));
            html.raw(
                ": instruction slots kept byte for byte, because what they become on a device is not known: ",
            );
            html.count(&format!("{image}/opaque")).raw("</li>");
        }
    }
    if html.number_at(&format!("{core}/approximate")) > 0 {
        html.raw("<li>Core ").count(&format!("{core}/core"));
        html.raw(": blocks, tables and slots encoded approximately: ");
        html.count(&format!("{core}/approximate")).raw("</li>");
    }
}
