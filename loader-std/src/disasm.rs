//! The instruction streams of a file, slot by slot (staging.md §11, real-files.md §5).
//!
//! A tool's view: nothing is loaded and nothing refused that can be shown, so a file that no loader takes is listed as
//! well. Every byte of every stream is in the listing: what is not understood is kept as its bytes.

mod names;
mod opcode;
mod operand;
mod slot;

pub use names::{Names, Variable};
pub use opcode::{Class, Meaning, meaning};
pub use operand::{Address, Ending, Place};
pub use slot::{Detail, Event, Line};

use crate::chain::{self, Graph};
use crate::members::Members;
use crate::refusal::{Refusal, string};
use loader_core::arch::Engine;

/// Bytes of a slot.
pub const SLOT: usize = 64;

/// The streams of one subgraph.
#[derive(Clone, Debug)]
pub struct Subgraph {
    /// Its name.
    pub name: String,
    /// Its streams, in the order pe, act, pool, dve, sp.
    pub streams: Vec<Stream>,
}

/// The stream of one engine.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The engine.
    pub engine: Engine,
    /// The member that holds it.
    pub member: String,
    /// Whole slots.
    pub lines: Vec<Line>,
    /// Bytes behind the last whole slot; none in a sound file.
    pub rest: Vec<u8>,
}

/// True if a listing looks into a member of that name.
#[must_use]
pub fn wants(name: &[u8]) -> bool {
    name.ends_with(b".json") || name.ends_with(b".bin")
}

/// Lists a file.
///
/// # Errors
/// The refusal of the first hop of the chain that fails, or of a member that an engine needs.
pub fn listing(members: &impl Members) -> Result<Vec<Subgraph>, Refusal> {
    let kelf = chain::document(members, chain::kelf_member(members)?.as_bytes())?;
    // A descriptor without a target is one for NeuronCore v1 (R22).
    let v1 = kelf.get("target").is_none();
    chain::graphs(members)?.iter().map(|graph| subgraph(members, graph, v1)).collect()
}

fn subgraph(members: &impl Members, graph: &Graph, v1: bool) -> Result<Subgraph, Refusal> {
    let definition = chain::document(members, graph.definition.as_bytes())?;
    let names = Names::of(definition, v1).map_err(|refusal| refusal.of(graph.definition.as_bytes()))?;
    let mut streams = Vec::new();
    for engine in Engine::ALL {
        let Some(file) = definition.get(engine.key()) else { continue };
        let file = string(engine.key(), file).map_err(|refusal| refusal.of(graph.definition.as_bytes()))?;
        if let Some(stream) = stream(members, graph, engine, &file, &names)? {
            streams.push(stream);
        }
    }
    Ok(Subgraph { name: graph.name.clone(), streams })
}

/// The stream that an engine's file names; `None` if it names none.
fn stream(
    members: &impl Members,
    graph: &Graph,
    engine: Engine,
    file: &str,
    names: &Names,
) -> Result<Option<Stream>, Refusal> {
    let file = graph.member(file);
    let root = chain::document(members, file.as_bytes())?;
    let Some(instr) = root.get("instr") else { return Ok(None) };
    let instr = string("instr", instr).map_err(|refusal| refusal.of(file.as_bytes()))?;
    let member = graph.member(&instr);
    let absent = || Refusal::absent(member.as_bytes()).of(member.as_bytes());
    let bytes = members.content(member.as_bytes()).ok_or_else(absent)?;
    let (slots, rest) = bytes.as_chunks::<SLOT>();
    let lines = slots.iter().enumerate().map(|(index, bytes)| {
        let before = index.checked_sub(1).map(|before| slots[before][0]);
        Line::of(bytes, before, names)
    });
    Ok(Some(Stream { engine, lines: lines.collect(), rest: rest.to_vec(), member }))
}
