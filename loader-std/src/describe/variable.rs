//! One entry of `vars`.

use super::{Names, text, var_name};
use loader_core::manifest::{Detail, Print, Variable};
use loader_core::source::{MemberId, MemberNames};
use serde_json::{Map, Value, json};

pub(super) fn variable(var: &Variable<'_>, names: &Names<'_, '_, impl MemberNames>) -> Value {
    let mut map = Map::new();
    let mut set = |key: &str, value: Value| map.insert(key.to_owned(), value);
    set("var_id", var.id.into());
    set("type", var.class.name().into());
    set("mr_type", var.class.record_type().into());
    if let Some(size) = var.bytes() {
        set("size", size.into());
    }
    if var.alignment != 0 {
        set("alignment", var.alignment.into());
    }
    match var.detail {
        Detail::Virtual { offset } => {
            set("offset", offset.into());
            set("area", var.area().into());
        }
        Detail::File { member, payload_offset, payload_len } => {
            set("payload", payload(member, payload_offset, payload_len, names));
        }
        Detail::Pointer { referenced } => {
            set("referenced_var_id", referenced.into());
        }
        Detail::List { ids } | Detail::DgeTable { ids } => {
            set("list", ids.iter().map(Value::from).collect());
        }
        Detail::Remote { subgraph, var_id } => {
            set("remote", remote(subgraph.into(), var_id, names));
        }
        Detail::None => {}
    }
    if let Some(request) = &var.print {
        set("print", print(var, request));
    }
    Value::Object(map)
}

fn payload(member: MemberId, offset: u64, bytes: u64, names: &Names<'_, '_, impl MemberNames>) -> Value {
    let name = names.member(member);
    let array = name.as_str().is_some_and(|name| name.ends_with(".npy"));
    json!({"member": name, "format": if array { "npy" } else { "raw" }, "offset": offset, "bytes": bytes})
}

fn remote(subgraph: u32, var: u32, names: &Names<'_, '_, impl MemberNames>) -> Value {
    let name = names.manifest.definition(subgraph).map(|definition| var_name(&definition, var));
    json!({"sg": subgraph, "name": name, "var_id": var})
}

fn print(var: &Variable<'_>, request: &Print<'_>) -> Value {
    let shape: Vec<u64> = var.shape.iter().map(|extent| extent.get()).collect();
    json!({
        "prefix": text(request.prefix), "pipe": request.pipe, "dtype": text(var.dtype), "shape": shape,
    })
}
