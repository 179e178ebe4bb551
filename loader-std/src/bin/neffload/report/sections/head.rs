//! Name, verdicts, and the first figures.

use crate::report::html::Html;
use serde_json::Value;

/// Name and origin.
pub(in crate::report) fn headline(html: &mut Html<'_>) {
    html.raw("<header><h1>").word("/title").raw("</h1><p class=\"lead\">");
    html.size("/file/size");
    if html.at("/header").is_object() {
        html.raw(" · NEFF ");
        html.count("/header/neff_version_major").raw(".").count("/header/neff_version_minor");
        html.raw(" · <span class=\"mono\">")
            .word("/header/uuid")
            .raw("</span><br>model ")
            .word("/header/name");
    }
    if html.at("/name") != html.at("/title") {
        html.raw("<br>file ").word("/name");
    }
    html.raw("</p></header>");
}

/// One verdict: its class, its heading, and what follows.
fn verdict(html: &mut Html<'_>, class: &str, heading: &str, say: impl FnOnce(&mut Html<'_>)) {
    html.raw(format!("<li class=\"{class}\"><b>{heading}</b><span class=\"say\">"));
    say(html);
    html.raw("</span></li>");
}

/// Is it intact, is it taken, does it load.
pub(in crate::report) fn verdicts(html: &mut Html<'_>) {
    html.raw("<ul class=\"verdicts\">");
    if html.at("/digest").is_object() {
        digest(html);
    }
    if html.at("/verdict/accepted") == &Value::Bool(true) {
        verdict(html, "good", "Well formed", |html| {
            html.raw("archive and manifests were read to the last member");
        });
    } else {
        verdict(html, "bad", "Refused", |html| {
            html.word("/verdict/message").raw(" · ").word("/verdict/status_name");
        });
    }
    loads(html);
    html.raw("</ul>");
}

fn digest(html: &mut Html<'_>) {
    let fits = html.at("/digest/order").is_string();
    let (class, heading) = if fits { ("good", "Intact") } else { ("warn", "Digest does not fit") };
    verdict(html, class, heading, |html| {
        html.word("/digest/algorithm").raw(" <span class=\"mono\">").word("/digest/computed").raw("</span>");
    });
}

fn loads(html: &mut Html<'_>) {
    // What keeps a file from being read keeps it from being loaded; once is enough.
    if html.at("/load/verdict/message") == html.at("/verdict/message")
        && html.at("/verdict/message").is_string()
    {
        return;
    }
    if html.at("/load/verdict/accepted") == &Value::Bool(true) {
        verdict(html, "good", "Loads", |html| {
            html.raw("onto a simulated ").word("/load/device/arch").raw(", logical core of ");
            html.count("/load/lnc");
        });
    } else {
        verdict(html, "bad", "Does not load", |html| {
            html.word("/load/verdict/message").raw(" · ").word("/load/verdict/status_name");
        });
    }
}

/// The figures that people ask for first.
pub(in crate::report) fn cards(html: &mut Html<'_>) {
    html.raw("<div class=\"cards\">");
    let whole = html.at("/members/complete") == &Value::Bool(true);
    let mut card = |label: &str, figure: &dyn Fn(&mut Html<'_>)| {
        html.raw("<div><b>");
        figure(html);
        html.raw(format!("</b><small>{label}</small></div>"));
    };
    card("target", &|html| {
        match (html.at("/kelf/target/text"), html.at("/kelf")) {
            (Value::String(_), _) => html.word("/kelf/target/text"),
            (_, Value::Object(_)) => html.raw("not named"),
            // The descriptor was not read.
            _ => html.raw("–"),
        };
    });
    card("device memory, estimated", &|html| {
        html.size("/memory/total_one_graph");
    });
    card("resident with the model", &|html| {
        html.size("/memory/persistent_bytes");
    });
    card("scratchpad pages", &|html| {
        html.size("/memory/scratchpad_rounded");
    });
    card(if whole { "members of the archive" } else { "members that could be read" }, &|html| {
        html.count("/members/count");
    });
    card("of content", &|html| {
        html.size("/members/bytes");
    });
    html.raw("</div>");
}
