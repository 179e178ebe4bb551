//! The instruction images of a core.

use super::address;
use loader_core::arch::Engine;
use loader_core::plan::CoreView;
use loader_core::plan::record::Image;
use serde_json::{Map, Value, json};

/// Pseudo-opcodes (R5).
const PSEUDO: [std::ops::RangeInclusive<u8>; 2] = [0xA9..=0xA9, 0xC1..=0xDF];

pub(super) fn images(core: &CoreView<'_>) -> Value {
    Engine::ALL.iter().filter_map(|&engine| image(core, engine)).collect()
}

fn image(core: &CoreView<'_>, engine: Engine) -> Option<Value> {
    let (image, block) = core.image(engine)?;
    Some(json!({
        "engine": engine.key(),
        "address": address(block.address()),
        "slots": {
            "preamble": image.preamble.get(),
            "main": image.main.get(),
            "postamble": image.postamble.get(),
            "function": image.function.get(),
        },
        "pseudo": pseudo(image),
        "patched": image.patched.get(),
        "bound_at_execute": image.bound.get(),
        "register_indirect": image.register_indirect.get(),
        "opaque": image.opaque.get(),
    }))
}

fn pseudo(image: &Image) -> Map<String, Value> {
    let counted = PSEUDO.into_iter().flatten().map(|opcode| (opcode, image.pseudo_count(opcode)));
    counted
        .filter(|&(_, count)| count > 0)
        .map(|(opcode, count)| (format!("{opcode:#04x}"), count.into()))
        .collect()
}
