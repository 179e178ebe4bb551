//! `disasm` for people: one line per slot.

use super::DisasmArguments;
use crate::output::{Align, Count, Output, Paint, Table};
use crate::trouble::Trouble;
use loader_std::container::hex;
use loader_std::disasm::{Class, Detail, Event, Line, Subgraph};

pub(super) fn print(
    arguments: &DisasmArguments,
    subgraphs: &[Subgraph],
    output: &mut Output,
) -> Result<(), Trouble> {
    let style = output.style();
    for subgraph in subgraphs {
        for stream in &subgraph.streams {
            let title = format!("{} {}", subgraph.name, stream.engine);
            let slots = Count(stream.lines.len() as u64, "slot");
            output.line(format_args!("{}  {slots} in {}", style.paint(Paint::Bold, title), stream.member))?;
            let lines = stream.lines.iter().enumerate().filter(|(_, line)| arguments.shows(line));
            let mut table =
                Table::new(&[("", Align::Right), ("", Align::Left), ("", Align::Left), ("", Align::Left)]);
            for (slot, line) in lines {
                table.row([format!("  {slot}"), format!("{:02x}", line.opcode()), name(line), says(line)]);
                if matches!(line.meaning.class, Class::Pseudo | Class::Extension) {
                    table.paint(2, Paint::Warn);
                }
            }
            output.table(&table)?;
            if !stream.rest.is_empty() {
                let rest = Count(stream.rest.len() as u64, "byte");
                output.line(format_args!("  and {rest} that are no slot: {}", hex(&stream.rest)))?;
            }
        }
    }
    Ok(())
}

fn name(line: &Line) -> String {
    line.meaning.name.unwrap_or(line.meaning.class.name()).to_owned()
}

/// What a slot says; the bytes themselves where that is not known.
fn says(line: &Line) -> String {
    let event = line.event.filter(|event| *event != Event::default());
    let raw = matches!(line.detail, Detail::None);
    let detail = if raw { bytes(&line.bytes[line.data..]) } else { line.detail.to_string() };
    let parts = [detail, event.map_or_else(String::new, |event| format!("({event})"))];
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("  ")
}

/// Bytes without the zeros behind them.
fn bytes(all: &[u8]) -> String {
    let used = all.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    hex(&all[..used])
}
