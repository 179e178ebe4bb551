//! S2: the manifest chain, from `neff.json` to the engine files (manifests.md).
//!
//! [`parse`] follows the four hops of names, reading each member once as a stream:
//!
//! | hop | members | gives |
//! |---|---|---|
//! | 1 | `neff.json` or `kelp.json` | [`IoMaps`], the name of the KELF |
//! | 2 | the KELF | [`Kelf`]: version, target, list of subgraphs |
//! | 3 | every `def.json` | [`Definition`]: variables, queues, collectives, names of engine files |
//! | 4 | every engine file, `act_info.json`, ucode manifest, the heads of `.npy` files | blocks, tables, payload windows |
//!
//! A JSON document is never held whole. Tables go to the arena's tail and are sealed at the end; the
//! result is plain `Copy` data. DMA transfers are checked, counted and indexed, not stored:
//! [`visit_blocks`] reads them again for whoever turns them into records.
//!
//! Within a file, keys may come in any order. Where a file has several faults, the one that the
//! reference would meet first is reported (manifests.md §6.3).

mod block;
mod build;
mod chain;
mod class;
mod collectives;
mod definition;
pub mod dtype;
mod engine;
pub mod features;
mod fields;
mod gate;
mod graph;
mod kelf;
mod link;
mod named;
mod npy;
mod queue;
pub(crate) mod record;
pub mod sidecar;
mod sort;
mod table;
mod variable;
mod verdict;
mod wants;

pub use block::{
    ACCESS_DIMS, Access, Block, BlockAt, BlockSink, BlockSource, Constant, SOURCES_DEFAULT, SOURCES_MARIANA,
    Totals, Transfer, Transpose,
};
pub use chain::BUFFER_BYTES;
pub use class::{Backing, DmaOp, Fabric, Role, VarClass};
pub use collectives::{RankGroup, RankSet, Ranks};
pub use definition::{Carveout, Definition, Fp8};
pub use engine::{ActSet, DveTables, EngineFile, Function, Library};
pub use graph::{IoMaps, TENSOR_DIMS, Tensor};
pub use kelf::{Kelf, Target, Version};
pub use queue::{Queue, Scratch};
pub(crate) use sort::search;
pub use variable::{Detail, Ids, Print, Variable};

use crate::arena::{Arena, Tail, TailRef};
use crate::error::{Error, Notes};
use crate::limits::Limits;
use crate::policy::Policy;
use crate::source::{Either, MemberId, Nothing, Payload, Visitor};
use record::{DefRecord, RootRecord, wide};

/// Everything the manifests say. `Copy`; lives as long as the caller's memory.
#[derive(Clone, Copy, Debug)]
pub struct Manifest<'m> {
    tail: Tail<'m>,
    record: &'m RootRecord,
}

impl<'m> Manifest<'m> {
    /// The graph manifest: `neff.json` or `kelp.json`.
    #[must_use]
    pub fn graph_member(&self) -> MemberId {
        MemberId(self.record.graph_member.get())
    }

    /// The KELF descriptor's member.
    #[must_use]
    pub fn kelf_member(&self) -> MemberId {
        MemberId(self.record.kelf_member.get())
    }

    /// Inputs and outputs of the whole graph.
    #[must_use]
    pub const fn io(&self) -> IoMaps<'m> {
        IoMaps { tail: self.tail, record: self.record }
    }

    /// The KELF descriptor.
    #[must_use]
    pub const fn kelf(&self) -> Kelf<'m> {
        Kelf { tail: self.tail, record: self.record }
    }

    /// Number of subgraphs: 1, or the cores of a logical core.
    #[must_use]
    pub fn graph_count(&self) -> u32 {
        self.record.definition_count.get()
    }

    /// Subgraph `index`, in KELF order.
    #[must_use]
    pub fn definition(&self, index: u32) -> Option<Definition<'m>> {
        let all =
            self.tail.slice::<DefRecord>(self.record.definitions, wide(self.record.definition_count))?;
        Some(Definition::new(self.tail, all.get(usize::try_from(index).ok()?)?))
    }

    /// All subgraphs, in KELF order.
    pub fn definitions(&self) -> impl Iterator<Item = Definition<'m>> + use<'m> {
        let manifest = *self;
        (0..self.graph_count()).filter_map(move |index| manifest.definition(index))
    }
}

/// Reads and checks every manifest of a payload. See the module's page.
///
/// # Errors
/// The first fault in the spec's dispatch order; the arena is as it was then.
pub fn parse<'m, P: Payload<'m>>(
    payload: &mut P,
    arena: &mut Arena<'m>,
    limits: &Limits,
    policy: &Policy,
    notes: &mut impl Notes,
) -> Result<Manifest<'m>, Error> {
    let mark = arena.mark();
    let mut place = TailRef::NULL;
    match chain::run(payload, arena, limits, policy, notes, &mut place) {
        Ok(()) => {
            let tail = arena.seal_tail();
            let record = tail.get::<RootRecord>(place).ok_or_else(|| build::broken("the root record"))?;
            Ok(Manifest { tail, record })
        }
        Err(error) => {
            arena.release(mark);
            Err(error)
        }
    }
}

/// Hands every DMA block of every subgraph to `sink`, in one pass over the files that hold blocks.
///
/// # Errors
/// The sink's or the container's.
pub fn visit_blocks<'m, P: Payload<'m>, S: BlockSink>(
    payload: &mut P,
    manifest: &Manifest<'m>,
    limits: &Limits,
    sink: &mut S,
) -> Result<(), Error> {
    visit_blocks_and(payload, manifest, limits, sink, &mut Nothing)
}

/// The same, giving `also` the other members it wants in the same pass.
///
/// # Errors
/// The sink's, the visitor's or the container's.
pub fn visit_blocks_and<'m, P: Payload<'m>, S: BlockSink, V: Visitor>(
    payload: &mut P,
    manifest: &Manifest<'m>,
    limits: &Limits,
    sink: &mut S,
    also: &mut V,
) -> Result<(), Error> {
    visit_blocks_within(&mut [0; BUFFER_BYTES], payload, manifest, limits, sink, also)
}

/// The same with the buffers in `memory`, which has [`BUFFER_BYTES`].
#[inline(never)]
pub(crate) fn visit_blocks_within<'m, P: Payload<'m>, S: BlockSink, V: Visitor>(
    memory: &mut [u8],
    payload: &mut P,
    manifest: &Manifest<'m>,
    limits: &Limits,
    sink: &mut S,
    also: &mut V,
) -> Result<(), Error> {
    let mut cutter = chain::cutter(memory, limits, &Policy::DEFAULT);
    let mut visitor = block::visit::BlockVisitor::new(*manifest, &mut cutter, sink);
    payload.visit_any(&mut Either::new(&mut visitor, also))?;
    while visitor.next_round() {
        payload.visit_any(&mut visitor)?;
    }
    Ok(())
}
