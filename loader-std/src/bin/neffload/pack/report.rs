//! What `pack` says about the file it wrote.

use super::PackArguments;
use super::choices::{Choices, LeftOut};
use crate::output::{Align, Count, Document, Output, Size, Table, shown};
use crate::trouble::Trouble;
use loader_std::pack::Summary;
use serde_json::json;

/// The document, or a few lines, or nothing if that is asked for.
pub(super) fn print(
    arguments: &PackArguments,
    summary: &Summary,
    choices: &Choices,
    shared: LeftOut,
    output: &mut Output,
) -> Result<(), Trouble> {
    let saved = summary.tar_bytes.saturating_sub(summary.payload_bytes);
    if output.json() {
        let mut document = Document::new("pack");
        document
            .set("file", shown::name(&arguments.out))
            .set("file_bytes", summary.file_bytes())
            .set("members", summary.members)
            .set("tar_bytes", summary.tar_bytes)
            .set("payload_bytes", summary.payload_bytes)
            .set("fill_bytes", summary.fill_bytes)
            .set("digest", hex(&summary.digest))
            .set("uuid", hyphenated(summary.uuid))
            .set(
                "saved",
                json!({
                    "compression": saved, "debug_members": choices.left_out.bytes, "constants": shared.bytes,
                }),
            )
            .set("constants_shared", shared.members)
            .set("debug_members_left_out", choices.left_out.members)
            .set("choices", choices.json());
        return output.document(&document);
    }
    // The file is the answer; this is about it.
    if output.quiet() {
        return Ok(());
    }
    output.line(format_args!("{}: {}", shown::path(&arguments.out), Size(summary.file_bytes())))?;
    let mut table = Table::new(&[("", Align::Left), ("", Align::Right), ("", Align::Left)]);
    let members = Count(summary.members, "member").to_string();
    table.row(["  archive", &Size(summary.tar_bytes).to_string(), &members]);
    table.row(["  payload", &Size(summary.payload_bytes).to_string(), &saving(summary, saved)]);
    for [choice, bytes, what] in choices.lines() {
        table.row([choice, bytes, what]);
    }
    if shared.members > 0 {
        let text = format!("shared {}", Count(shared.members, "constant"));
        table.row(["  --dedup", &Size(shared.bytes).to_string(), &text]);
    }
    table.row(["  digest", "", &hex(&summary.digest)]);
    table.row(["  uuid", "", &hyphenated(summary.uuid)]);
    output.table(&table)
}

fn saving(summary: &Summary, saved: u64) -> String {
    let fill = format!("{} of zero fill", Size(summary.fill_bytes));
    if saved == 0 { fill } else { format!("compression saved {}, {fill}", Size(saved)) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hyphenated(uuid: [u8; 16]) -> String {
    let digits = hex(&uuid);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}
