//! Sections that are tables or lists.

use crate::report::html::Html;

/// Opens a section with a heading and a sentence.
pub(super) fn open(html: &mut Html<'_>, heading: &str, why: &str) {
    html.raw(format!("<section><h2>{heading}</h2><p class=\"why\">{why}</p>"));
}

/// Opens a table; headings that start with `#` are of numbers.
fn table(html: &mut Html<'_>, headings: &[&str]) {
    html.raw("<div class=\"scroll\"><table><thead><tr>");
    for heading in headings {
        match heading.strip_prefix('#') {
            Some(heading) => html.raw(format!("<th class=\"n\">{heading}</th>")),
            None => html.raw(format!("<th>{heading}</th>")),
        };
    }
    html.raw("</tr></thead><tbody>");
}

/// Inputs and outputs.
pub(in crate::report) fn tensors(html: &mut Html<'_>) {
    if !html.at("/io").is_object() {
        return;
    }
    open(html, "What it reads and writes", "Inputs and outputs by name, as the graph lists them.");
    table(html, &["", "name", "type", "shape", "#size"]);
    for (key, word) in [("inputs", "input"), ("outputs", "output")] {
        for at in 0..html.len(&format!("/io/{key}")) {
            let tensor = format!("/io/{key}/{at}");
            html.raw(format!("<tr><td class=\"quiet\">{word}</td><td class=\"name\">"));
            html.word(&format!("{tensor}/name"))
                .raw("</td><td>")
                .word(&format!("{tensor}/dtype"))
                .raw("</td><td>");
            for dim in 0..html.len(&format!("{tensor}/shape")) {
                html.raw(if dim > 0 { "×" } else { "" }).count(&format!("{tensor}/shape/{dim}"));
            }
            html.raw("</td><td class=\"n\">").size(&format!("{tensor}/size")).raw("</td></tr>");
        }
    }
    html.raw("</tbody></table></div></section>");
}

/// DMA queues with their rings and blocks, core by core.
pub(in crate::report) fn queues(html: &mut Html<'_>) {
    let cores = html.len("/load/cores");
    let any = (0..cores).any(|core| html.len(&format!("/load/cores/{core}/queues")) > 0);
    if !any {
        return;
    }
    open(
        html,
        "Queues and blocks",
        "A queue has one ring pair per instance. A block is a list of descriptors that an engine triggers.",
    );
    for core in 0..cores {
        let base = format!("/load/cores/{core}");
        if html.len(&format!("{base}/queues")) == 0 {
            continue;
        }
        html.raw("<h3>Core ")
            .count(&format!("{base}/core"))
            .raw(", ")
            .word(&format!("{base}/subgraph"))
            .raw("</h3>");
        table(
            html,
            &["queue", "type", "owner", "#instances", "#ring entries", "#blocks", "#descriptors", "#bytes"],
        );
        for at in 0..html.len(&format!("{base}/queues")) {
            let queue = format!("{base}/queues/{at}");
            html.raw("<tr><td class=\"name\">").word(&format!("{queue}/queue"));
            html.raw("</td><td>").word(&format!("{queue}/type"));
            html.raw("</td><td>").word(&format!("{queue}/owner"));
            for key in ["instances", "ring_entries", "blocks", "descriptors"] {
                html.raw("</td><td class=\"n\">").count(&format!("{queue}/{key}"));
            }
            html.raw("</td><td class=\"n\">").size(&format!("{queue}/bytes")).raw("</td></tr>");
        }
        html.raw("</tbody></table></div>");
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
    table(html, &["name", "class", "address", "#id", "#size"]);
    for at in 0..html.len(&list) {
        let variable = format!("{list}/{at}");
        html.raw("<tr><td class=\"name\">").word(&format!("{variable}/name"));
        html.raw("</td><td>").word(&format!("{variable}/class"));
        html.raw("</td><td class=\"mono\">").word(&format!("{variable}/address"));
        html.raw("</td><td class=\"n\">").count(&format!("{variable}/var_id"));
        html.raw("</td><td class=\"n\">").size(&format!("{variable}/size")).raw("</td></tr>");
    }
    html.raw("</tbody></table></div></details>");
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
    open(html, "Remarks", "Nothing here keeps the file from being read.");
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
            html.raw(": ").count(&format!("{image}/opaque"));
            html.raw(" instruction slots are kept byte for byte, because what they become on a device is not known</li>");
        }
    }
    if html.number_at(&format!("{core}/approximate")) > 0 {
        html.raw("<li>Core ").count(&format!("{core}/core")).raw(": ").count(&format!("{core}/approximate"));
        html.raw(" blocks, tables or slots are encoded approximately</li>");
    }
}
