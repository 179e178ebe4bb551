//! What a load refuses to leave untranslated (R6, R35, R37, R40): slots first, then blocks and tables. What is approximate
//! is refused like what is opaque: in strict mode, and on a device that would run it unless the caller takes both.
//!
//! Nothing is refused while the streams are read: the file decides in which order they come, and the
//! refusal must not depend on it. So the notes are kept, and the first one by subgraph, engine and slot counts.

use super::programs::Notes;
use super::record::{BlockRec, NoteKind, SlotNote, Why};
use super::rings::{CoreRings, block_fault};
use super::wants::table_count;
use crate::arch::Engine;
use crate::arena::Arena;
use crate::device::Device;
use crate::error::{Error, Stage, StageCode};
use crate::lower::KbinView;
use crate::policy::Policy;

/// Whether everything must be translated to the last bit; else what is not is listed.
pub(super) fn must_be_exact<D: Device>(policy: &Policy, device: &D) -> bool {
    policy.strict() || !(policy.allow_opaque || device.is_simulated())
}

fn fault(code: StageCode) -> Error {
    Error::new(Stage::Plan, code)
}

/// Refuses the first slot of a subgraph that is not translated to the last bit.
#[inline(never)]
pub(super) fn check_slots(
    core: u8,
    kbin: &KbinView<'_>,
    notes: &Notes,
    arena: &Arena<'_>,
) -> Result<(), Error> {
    let mut first: Option<&SlotNote> = None;
    for index in 0..notes.count {
        let Some(note) = notes.get(arena, index) else { break };
        let inexact = matches!(note.kind, NoteKind::OPAQUE | NoteKind::APPROXIMATE);
        let place = |note: &SlotNote| (note.engine, note.source.get());
        if note.core == core && inexact && first.is_none_or(|first| place(note) < place(first)) {
            first = Some(note);
        }
    }
    let Some(first) = first else { return Ok(()) };
    let (source, opcode) = (u64::from(first.source.get()), u64::from(first.opcode));
    let unknown = first.kind == NoteKind::OPAQUE && Why::new(first.id.get()) == Why::OPERAND;
    let error = if unknown {
        fault(StageCode::OperandKind).numbers(source, first.value.get()).third(opcode)
    } else {
        fault(StageCode::Unsupported).numbers(source, opcode)
    };
    let engine = Engine::from_number(u32::from(first.engine));
    let error = error.name(engine.map_or("?", Engine::key).as_bytes()).element(first.source.get());
    Err(error.subgraph(core).member_or(engine.and_then(|engine| kbin.program_file(engine))))
}

/// Refuses blocks whose effect is not encoded in full, and tables without the rings that load them.
#[inline(never)]
pub(super) fn check_exact(
    core: u8,
    kbin: &KbinView<'_>,
    rings: &CoreRings,
    arena: &Arena<'_>,
) -> Result<(), Error> {
    let blocks: &[BlockRec] = arena.slice(rings.blocks).unwrap_or(&[]);
    if let Some(block) = blocks.iter().find(|block| block.is_approximate()) {
        return Err(block_fault(kbin, core, StageCode::ApproximateBlock, block));
    }
    let tables = table_count(kbin);
    if tables > 0 {
        let engine = if kbin.act_sets().next().is_some() { Engine::Act } else { Engine::Dve };
        let refused = fault(StageCode::ApproximateTable).numbers(tables, 0).subgraph(core);
        return Err(refused.member_or(kbin.engine_file(engine)));
    }
    Ok(())
}
