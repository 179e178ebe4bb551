//! The figures of one core: its subgraph's scratchpad, code, constants and rings.

use super::rings::{self, Rings};
use super::variables::{self, Variables};
use super::{sum, too_large};
use crate::chain::Graph;
use crate::members::Members;
use crate::refusal::Refusal;
use loader_core::error::ToolCode;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of one DMA descriptor in a ring (§20.1).
const DESCRIPTOR: u64 = 16;

/// An input or output, which is allocated by whoever runs the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tensor {
    /// The variable's name.
    pub name: String,
    /// Bytes.
    pub size: u64,
}

/// The estimate for one core. All figures are bytes, but for the counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Core {
    /// The subgraph's name.
    pub name: String,
    /// The high-water mark of each area of `virtual` variables.
    pub areas: BTreeMap<String, u64>,
    /// The sum of the areas.
    pub scratchpad_bytes: u64,
    /// The highest mark of any area.
    pub scratchpad_max_single: u64,
    /// All `.bin` members of the subgraph's directory, raw weights included.
    pub code_bytes: u64,
    /// The same without members that a `file` variable names.
    pub code_bytes_excluding_weights: u64,
    /// All `file` variables.
    pub constant_bytes: u64,
    /// Descriptors of all transfers in the five engine files, semaphore updates included (a count).
    pub dma_descriptors: u64,
    /// Their rings.
    pub dma_ring_bytes: u64,
    /// The part of the rings whose transfers touch an input or output (Inferred split).
    pub dma_ring_io_bytes: u64,
    /// The rest.
    pub dma_ring_spill_bytes: u64,
    /// Code, constants and rings.
    pub persistent_bytes: u64,
    /// All `tmp-buf` variables; in no other figure, as in the known analyser.
    pub tmp_buf_bytes: u64,
    /// Inputs in the order of names; in no other figure.
    pub inputs: Vec<Tensor>,
    /// Outputs in the order of names; in no other figure.
    pub outputs: Vec<Tensor>,
}

impl Core {
    /// Reads a subgraph's definition and its engine files.
    pub(super) fn of(members: &impl Members, graph: &Graph) -> Result<Self, Refusal> {
        let variables = variables::read(members, graph)?;
        let rings = rings_of(members, graph, &variables)?;
        let bytes =
            |descriptors: u64| descriptors.checked_mul(DESCRIPTOR).ok_or_else(|| too_large("the DMA rings"));
        let code = code(members, graph, &BTreeSet::new())?;
        let scratchpad = sum("the scratchpad", variables.areas.values().copied())?;
        let descriptors = sum("the DMA descriptors", [rings.io, rings.spill])?;
        let ring_bytes = bytes(descriptors)?;
        let constants = variables.constants(members, graph)?;
        Ok(Self {
            name: graph.name.clone(),
            scratchpad_bytes: scratchpad,
            scratchpad_max_single: variables.areas.values().copied().max().unwrap_or(0),
            code_bytes: code,
            code_bytes_excluding_weights: self::code(members, graph, &variables.files(graph))?,
            constant_bytes: constants,
            dma_descriptors: descriptors,
            dma_ring_bytes: ring_bytes,
            dma_ring_io_bytes: bytes(rings.io)?,
            dma_ring_spill_bytes: bytes(rings.spill)?,
            persistent_bytes: sum("the resident bytes", [code, constants, ring_bytes])?,
            tmp_buf_bytes: variables.tmp_bufs,
            inputs: tensors("the inputs", &variables.inputs)?,
            outputs: tensors("the outputs", &variables.outputs)?,
            areas: variables.areas,
        })
    }
}

/// All of a kind, whose sum fits 64 bits; `what` names them.
fn tensors(what: &str, sizes: &BTreeMap<String, u64>) -> Result<Vec<Tensor>, Refusal> {
    sum(what, sizes.values().copied())?;
    Ok(sizes.iter().map(|(name, &size)| Tensor { name: name.clone(), size }).collect())
}

/// The `.bin` members of the subgraph's directory that are not in `except`.
fn code(members: &impl Members, graph: &Graph, except: &BTreeSet<String>) -> Result<u64, Refusal> {
    let is_code = |name: &&[u8]| {
        let named = str::from_utf8(name).is_ok_and(|name| except.contains(name));
        graph.holds(name) && name.ends_with(b".bin") && !named
    };
    sum("the code bytes", members.names().filter(is_code).filter_map(|name| members.size(name)))
}

/// The transfers of the engine files that the definition names.
fn rings_of(members: &impl Members, graph: &Graph, variables: &Variables) -> Result<Rings, Refusal> {
    let mut total = Rings::default();
    for file in &variables.engines {
        let name = graph.member(file);
        let Some(content) = members.content(name.as_bytes()) else {
            return Err(Refusal::named(ToolCode::MemberAbsent, name.as_bytes()).of(name.as_bytes()));
        };
        let rings = rings::count(content, variables);
        let added = rings.and_then(|rings| total.add(rings));
        added.map_err(|refusal| refusal.of(name.as_bytes()))?;
    }
    Ok(total)
}
