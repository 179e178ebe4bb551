//! The page: a skeleton around the sections, its style and its script within.

use super::html::{Html, escaped};
use super::sections;
use serde_json::Value;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole page about a document of `report --json`.
pub(super) fn render(document: &Value) -> String {
    let title = escaped(document["title"].as_str().unwrap_or("NEFF"));
    let mut html = Html::new(document);
    html.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">");
    html.raw(format!("<title>{title} · neffload</title><link rel=\"icon\" href=\"data:,\">"));
    html.raw("<style>").raw(STYLE).raw("</style></head>\n<body>");
    sections::headline(&mut html);
    html.raw("<main>");
    sections::verdicts(&mut html);
    sections::cards(&mut html);
    sections::tensors(&mut html);
    sections::memory(&mut html);
    sections::instructions(&mut html);
    sections::queues(&mut html);
    sections::members(&mut html);
    sections::warnings(&mut html);
    html.raw("</main><footer>Made by <code>neffload report</code>. Sizes are in binary units.</footer>");
    html.raw("<script>").raw(SCRIPT).raw("</script></body></html>\n");
    html.finish()
}
