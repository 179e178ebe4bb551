//! The document of `disasm --json`.

use super::DisasmArguments;
use crate::output::{Document, shown};
use loader_std::Refusal;
use loader_std::container::hex;
use loader_std::disasm::{Address, Detail, Ending, Event, Line, Place, Stream, Subgraph};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub(super) fn document(arguments: &DisasmArguments, subgraphs: &[Subgraph]) -> Document {
    let subgraph = |subgraph: &Subgraph| {
        let engines = subgraph.streams.iter().map(|stream| engine(arguments, stream));
        json!({"name": subgraph.name, "engines": engines.collect::<Vec<_>>()})
    };
    let mut document = Document::new("disasm");
    document
        .set("file", shown::name(&arguments.file))
        .set("subgraphs", subgraphs.iter().map(subgraph).collect::<Vec<Value>>());
    document
}

pub(super) fn error(refusal: &Refusal) -> Value {
    json!({
        "code": refusal.error.id().to_string(),
        "log": refusal.text(),
        "member": refusal.member,
        "message": refusal.to_string(),
    })
}

fn engine(arguments: &DisasmArguments, stream: &Stream) -> Value {
    let mut opcodes: BTreeMap<String, u64> = BTreeMap::new();
    for line in &stream.lines {
        *opcodes.entry(opcode(line)).or_default() += 1;
    }
    let lines = stream.lines.iter().enumerate().filter(|(_, line)| arguments.shows(line));
    json!({
        "engine": stream.engine.key(),
        "member": stream.member,
        "slots": stream.lines.len(),
        "rest": hex(&stream.rest),
        "opcodes": opcodes,
        "code": lines.map(|(slot, line)| code(slot, line)).collect::<Vec<_>>(),
    })
}

fn opcode(line: &Line) -> String {
    format!("{:#04x}", line.opcode())
}

fn code(slot: usize, line: &Line) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| drop(map.insert(key.to_owned(), value));
    put("slot", slot.into());
    put("opcode", opcode(line).into());
    put("class", line.meaning.class.name().into());
    put("name", line.meaning.name.into());
    if let Some(event) = line.event.filter(|event| *event != Event::default()) {
        let both = |(mode, index): (u8, u8)| json!({"mode": mode, "index": index});
        put("event", json!({"wait": both(event.wait), "update": both(event.update), "value": event.value}));
    }
    detail(&line.detail, &mut put);
    put("bytes", hex(&line.bytes).into());
    Value::Object(map)
}

fn detail(detail: &Detail, put: &mut impl FnMut(&str, Value)) {
    match detail {
        Detail::None => {}
        Detail::Queue { queue, known, block, label } => {
            put("queue", queue.as_str().into());
            put("queue_known", (*known).into());
            put("block", json!(block));
            if !label.is_empty() {
                put("label_text", label.as_str().into());
            }
        }
        Detail::Request { operands, kind, semaphore, types } => {
            put("from", address(&operands[0]));
            put("to", address(&operands[1]));
            put("kind", (*kind).into());
            put("semaphore", json!({"index": semaphore.0, "increment": semaphore.1}));
            put("types", json!([types.0, types.1]));
        }
        Detail::Collective { ends: [from, to], shape, elements } => {
            put("from", offset(&from.0, from.1));
            put("to", offset(&to.0, to.1));
            put("operation", shape.0.into());
            put("type", shape.1.into());
            put("group", shape.2.into());
            put("elements", (*elements).into());
        }
        Detail::Label(id) => put("label", (*id).into()),
        Detail::Branch(id) => put("to_label", (*id).into()),
        Detail::Function(name) => put("function", name.as_str().into()),
        Detail::Exit => put("exit", true.into()),
    }
}

/// A variable by id, name and class; null where the definition does not say.
fn place(place: &Place) -> Value {
    json!({
        "var_id": place.var,
        "name": place.variable.as_ref().map(|variable| &variable.name),
        "class": place.variable.as_ref().map(|variable| &variable.class),
        "table_entry": place.entry,
    })
}

fn offset(at: &Place, off: u64) -> Value {
    let mut value = place(at);
    value["offset"] = off.into();
    value
}

fn address(address: &Address) -> Value {
    match address {
        Address::Variable(at, Ending::Offset(off)) => offset(at, *off),
        Address::Variable(at, Ending::Register(register)) => {
            let mut value = place(at);
            value["offset_register"] = (*register).into();
            value
        }
        Address::Plain(word) => json!({"word": format!("{word:#x}")}),
        Address::Unknown(word) => {
            json!({"word": format!("{word:#x}"), "unknown_marker": format!("{:#04x}", word >> 56)})
        }
    }
}
