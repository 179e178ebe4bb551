//! Sections with bars and maps.

use super::tables::{MOST_SUBGRAPHS, open, variables};
use crate::report::html::{Html, cut};
use crate::report::map::KINDS;
use serde_json::Value;
use std::fmt::Write;

/// Opcodes that have a colour of their own in an engine's bar.
const COLOURED: usize = 6;
/// Bytes that a name takes at most where one points at a block; there are hundreds.
const MOST_TITLE: usize = 256;
/// Width of a strip in its own units.
const WIDTH: f64 = 1000.0;

/// A length in percent of the longest one.
fn percent(part: u64, whole: u64) -> String {
    format!("{:.3}%", 100.0 * part as f64 / whole.max(1) as f64)
}

/// One bar.
fn bar(html: &mut Html<'_>, part: u64, whole: u64) {
    html.raw(format!("<i><i style=\"width:{}\"></i></i>", percent(part, whole)));
}

/// Members by size.
pub(in crate::report) fn members(html: &mut Html<'_>) {
    if html.len("/members/largest") == 0 {
        return;
    }
    let whole = html.at("/members/complete") == &Value::Bool(true);
    let some = "What could be read of the archive, the largest first.";
    open(html, "Members", if whole { "What the archive holds, the largest first." } else { some });
    let rest = html.number_at("/members/rest/bytes");
    let most = html.number_at("/members/largest/0/bytes").max(rest);
    html.raw("<div class=\"bars\">");
    for at in 0..html.len("/members/largest") {
        let member = format!("/members/largest/{at}");
        html.raw("<div><span>").word(&format!("{member}/name")).raw("</span>");
        bar(html, html.number_at(&format!("{member}/bytes")), most);
        html.raw("<em>").size(&format!("{member}/bytes")).raw("</em></div>");
    }
    if html.number_at("/members/rest/count") > 0 {
        html.raw("<div><span class=\"rest\">")
            .count("/members/rest/count")
            .raw(" smaller ones together</span>");
        bar(html, rest, most);
        html.raw("<em>").size("/members/rest/bytes").raw("</em></div>");
    }
    html.raw("</div></section>");
}

/// The memory of each core: what it is spent on, and where everything lies.
pub(in crate::report) fn memory(html: &mut Html<'_>) {
    let cores = html.len("/load/cores");
    if cores == 0 {
        return;
    }
    open(html, "Device memory", "Every block of each core, in address order and to scale.");
    for core in 0..cores {
        let base = format!("/load/cores/{core}");
        html.raw("<h3>Core ").count(&format!("{base}/core")).raw(", ").word(&format!("{base}/subgraph"));
        html.raw(" · ").size(&format!("{base}/map/granted")).raw("</h3>");
        map(html, &base);
        variables(html, &base);
    }
    html.raw("</section>");
}

fn map(html: &mut Html<'_>, base: &str) {
    let close_up = html.number_at(&format!("{base}/map/close_up/count"));
    let count = html.len(&format!("{base}/map/blocks"));
    html.raw("<figure class=\"map\"><figcaption>All of it, ").size(&format!("{base}/map/span"));
    html.raw(" wide</figcaption>");
    strip(html, &blocks(html, base, false));
    ends(html, &format!("{base}/map"));
    let some = close_up < count as u64;
    // Without large blocks it is the gaps that hide the others.
    let sparse =
        html.number_at(&format!("{base}/map/granted")) < html.number_at(&format!("{base}/map/span")) / 2;
    if close_up > 0 && (some || sparse) {
        html.raw("<figcaption>Close-up of the ").count(&format!("{base}/map/close_up/count"));
        html.raw(if some { " smaller blocks" } else { " blocks" }).raw(", side by side, ");
        html.size(&format!("{base}/map/close_up/bytes")).raw(" wide</figcaption>");
        strip(html, &blocks(html, base, true));
    }
    scratchpad(html, base);
    html.raw("<output>Point at a block, or tap it, for its name, class, address and size.</output>");
    legend(html, base);
    if html.number_at(&format!("{base}/map/rest/count")) > 0 {
        html.raw("<p class=\"quiet\">Not drawn: the ").count(&format!("{base}/map/rest/count"));
        html.raw(" smallest blocks, ").size(&format!("{base}/map/rest/bytes")).raw("</p>");
    }
    html.raw("</figure>");
}

/// What lies in the scratchpad's pages.
fn scratchpad(html: &mut Html<'_>, base: &str) {
    let place = format!("{base}/map/scratchpad");
    if html.number_at(&format!("{place}/span")) == 0 {
        return;
    }
    html.raw("<figcaption>In the scratchpad");
    if html.at(&format!("{place}/held_by")).is_number() {
        html.raw(", whose pages core ").count(&format!("{place}/held_by")).raw(" holds for both");
    }
    html.raw(", variables by address: ").count(&format!("{place}/count"));
    if html.number_at(&format!("{place}/rest")) > 0 {
        html.raw(", without the ").count(&format!("{place}/rest")).raw(" smallest");
    }
    html.raw(", ").size(&format!("{place}/span")).raw(" wide</figcaption>");
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let variables = html.at(&format!("{place}/variables")).as_array();
    let rects = variables.into_iter().flatten().map(|variable| Rect {
        class: "scratchpad shared",
        title: titled(variable, "class"),
        offset: number(&variable["offset"]),
        width: number(&variable["size"]),
    });
    strip(html, &Strip { whole: html.number_at(&format!("{place}/span")), rects: rects.collect() });
    ends(html, &place);
}

/// The addresses at both ends of a strip.
fn ends(html: &mut Html<'_>, base: &str) {
    html.raw("<div class=\"ends mono\">");
    html.word(&format!("{base}/first")).word(&format!("{base}/end")).raw("</div>");
}

fn legend(html: &mut Html<'_>, base: &str) {
    html.raw("<ul class=\"legend\">");
    for at in 0..html.len(&format!("{base}/map/kinds")) {
        let kind = format!("{base}/map/kinds/{at}");
        let class = class_of(html.at(&format!("{kind}/kind")));
        html.raw(format!("<li><i class=\"{class}\"></i>")).word(&format!("{kind}/kind")).raw(" ");
        html.size(&format!("{kind}/bytes"))
            .raw(" <small>in ")
            .count(&format!("{kind}/count"))
            .raw("</small></li>");
    }
    html.raw("</ul>");
}

/// Rectangles on a common scale.
struct Strip {
    /// What the whole width stands for, in bytes.
    whole: u64,
    rects: Vec<Rect>,
}

struct Rect {
    class: &'static str,
    title: String,
    offset: u64,
    width: u64,
}

/// Name, class, address and size of a block or variable; its class is under that key. The name stands between marks
/// that isolate it: one in Hebrew or Arabic would else draw the numbers after it to its left.
fn titled(block: &Value, class: &str) -> String {
    let word = |key: &str| cut(block[key].as_str().unwrap_or_default(), MOST_TITLE);
    let size = block["size"].as_u64().unwrap_or(0);
    format!("\u{2068}{}\u{2069} · {} · {} · {size} bytes", word("name"), word(class), word("address"))
}

/// The blocks of a core: at their offsets, or side by side without the large ones.
fn blocks(html: &Html<'_>, base: &str, close_up: bool) -> Strip {
    let whole = html.number_at(&format!("{base}/map/{}", if close_up { "close_up/bytes" } else { "span" }));
    let blocks = html.at(&format!("{base}/map/blocks")).as_array();
    let mut packed = 0;
    let shown = blocks.into_iter().flatten().filter(|block| !close_up || block["close_up"] == true);
    let rects = shown.map(|block| {
        let number = |key: &str| block[key].as_u64().unwrap_or(0);
        let offset = if close_up { packed } else { number("offset") };
        packed += number("granted");
        Rect {
            class: class_of(&block["kind"]),
            title: titled(block, "kind"),
            offset,
            width: number("granted"),
        }
    });
    Strip { whole, rects: rects.collect() }
}

/// The style of a kind.
fn class_of(kind: &Value) -> &'static str {
    KINDS.iter().find(|known| *kind == **known).copied().unwrap_or("other")
}

fn strip(html: &mut Html<'_>, strip: &Strip) {
    let scale = WIDTH / strip.whole.max(1) as f64;
    html.raw(format!("<svg class=\"strip\" viewBox=\"0 0 {WIDTH} 46\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"memory map\">"));
    let mut drawn = String::new();
    for Rect { class, title, offset, width } in &strip.rects {
        let (x, wide) = (*offset as f64 * scale, (*width as f64 * scale).max(0.6));
        let _ = write!(
            drawn,
            "<rect class=\"{class}\" x=\"{x:.2}\" width=\"{wide:.2}\" height=\"46\"><title>{title}</title></rect>"
        );
    }
    html.raw(drawn).raw("</svg>");
}

/// What the engines do: slots by opcode.
pub(in crate::report) fn instructions(html: &mut Html<'_>) {
    let subgraphs = html.len("/subgraphs").min(MOST_SUBGRAPHS);
    let any = (0..subgraphs).any(|at| html.len(&format!("/subgraphs/{at}/engines")) > 0);
    if !any {
        return;
    }
    open(
        html,
        "Instructions",
        "Slots of 64 bytes in each engine's stream, by opcode. The most frequent come first.",
    );
    for at in 0..subgraphs {
        let base = format!("/subgraphs/{at}");
        if html.len(&format!("{base}/engines")) == 0 {
            continue;
        }
        html.raw("<h3>").word(&format!("{base}/name")).raw("</h3><div class=\"mix\">");
        for engine in 0..html.len(&format!("{base}/engines")) {
            mix(html, &format!("{base}/engines/{engine}"));
        }
        html.raw("</div>");
    }
    html.raw("</section>");
}

fn mix(html: &mut Html<'_>, base: &str) {
    let opcodes = html.len(&format!("{base}/opcodes"));
    let whole = html.number_at(&format!("{base}/slots"));
    html.raw("<b>").word(&format!("{base}/engine")).raw("</b><div class=\"stack\">");
    for at in 0..opcodes {
        let slots = html.number_at(&format!("{base}/opcodes/{at}/slots"));
        html.raw(format!(
            "<i class=\"o{}\" style=\"width:{}\"></i>",
            at.min(COLOURED),
            percent(slots, whole)
        ));
    }
    html.raw("</div><span class=\"figure\">").count(&format!("{base}/slots")).raw("</span><p>");
    for at in 0..opcodes {
        let opcode = format!("{base}/opcodes/{at}");
        html.raw(format!("<span><i class=\"o{}\"></i><code>", at.min(COLOURED)));
        html.word(&format!("{opcode}/opcode"))
            .raw("</code>")
            .count(&format!("{opcode}/slots"))
            .raw("</span>");
    }
    html.raw("</p>");
}
