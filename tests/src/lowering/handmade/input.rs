//! Hand-made working sets as what lowering reads.

use super::views::{LibraryOf, QueueOf};
use super::{DmaBlock, Var, Working};
use loader_core::arch::Engine;
use loader_core::error::{Error, Notes};
use loader_core::lower::input::{
    ActSetIn, BlobIn, CarveoutIn, DveIn, FileIn, FunctionIn, Input, LowerSink, RankStep, Subgraph, Transfers,
};
use loader_core::lower::record::ActProfile;
use loader_core::manifest::{Block, BlockAt, BlockSource, Totals};
use loader_core::source::MemberId;
use zerocopy::little_endian::U32;

/// The member that stands for a manifest of hand-made sets: 900 for the graph, 901 and 902 for the definitions, then
/// the engine files.
#[must_use]
pub const fn member_of(sg: u32, file: FileIn) -> MemberId {
    match file {
        FileIn::Graph => MemberId(900),
        FileIn::Part(BlockSource::Definition) => MemberId(901 + sg),
        FileIn::Part(BlockSource::Engine(engine)) => MemberId(910 + 10 * sg + engine.number()),
    }
}

impl Input for Working {
    type Var<'a> = &'a Var;
    type Queue<'a> = QueueOf<'a>;
    type Library<'a> = LibraryOf<'a>;

    fn subgraphs(&self) -> u32 {
        self.sets.len() as u32
    }

    fn subgraph(&self, sg: u32) -> Option<Subgraph<'_>> {
        let set = self.sets.get(sg as usize)?;
        Some(Subgraph {
            name: &set.name,
            dir: &set.dir,
            target: set.target,
            num_streams: set.num_streams,
            act_semaphore: set.act_semaphore,
            fp8: set.fp8,
            has_carveouts: set.carveouts.is_some(),
            has_ext_isa: set.ext_isa.is_some(),
        })
    }

    fn file(&self, sg: u32, file: FileIn) -> Option<MemberId> {
        Some(member_of(sg, file))
    }

    fn dve(&self, sg: u32) -> Option<DveIn> {
        self.sets.get(sg as usize)?.dve
    }

    fn var_count(&self, sg: u32) -> u32 {
        self.set(sg).vars.len() as u32
    }

    fn var(&self, sg: u32, order: u32) -> Option<&Var> {
        self.set(sg).vars.get(order as usize)
    }

    fn queue(&self, sg: u32, index: u32) -> Option<QueueOf<'_>> {
        let (set, index) = (self.set(sg), index as usize);
        Some(QueueOf { queue: set.queues.get(index)?, first_instance: set.first_instance(index) })
    }

    fn totals(&self, sg: u32, source: BlockSource, instance: u32) -> Totals {
        let set = self.set(sg);
        let mut totals = Totals::default();
        let mine = |block: &&DmaBlock| {
            let queue = usize::from(block.queue);
            queue < set.queues.len() && set.first_instance(queue) + block.instance == instance
        };
        for block in set.of(source).filter(mine) {
            totals.blocks += 1;
            for one in &block.moves {
                totals.transfers += 1;
                totals.accesses += 1 + one.from.len() as u32;
                totals.dims +=
                    u32::from(one.to.dims) + one.from.iter().map(|from| u32::from(from.dims)).sum::<u32>();
                totals.extra += one.with(|transfer| transfer.extra_bytes());
            }
        }
        if totals.transfers > 0 {
            totals.dims += set.lie;
        }
        totals
    }

    fn block_count(&self, sg: u32, source: BlockSource) -> u32 {
        self.set(sg).of(source).count() as u32
    }

    fn block(&self, sg: u32, source: BlockSource, ordinal: u32) -> Option<Block<'_>> {
        self.set(sg).of(source).nth(ordinal as usize).map(DmaBlock::view)
    }

    fn engine(&self, sg: u32, engine: Engine) -> Option<BlobIn> {
        self.set(sg).engines[engine.index()]
    }

    fn act_sets(&self, sg: u32) -> impl Iterator<Item = ActSetIn<'_>> {
        let sets = self.set(sg).act_sets.iter();
        sets.map(|(name, bkt, ctl, _)| ActSetIn { name, bkt: *bkt, ctl: *ctl })
    }

    fn carveouts(&self, sg: u32) -> impl Iterator<Item = CarveoutIn> {
        self.set(sg).carveouts.iter().flatten().copied()
    }

    fn replica_groups(&self, sg: u32) -> impl Iterator<Item = RankStep> {
        self.set(sg).groups.iter().copied()
    }

    fn src_target_pairs(&self, sg: u32) -> impl Iterator<Item = RankStep> {
        self.set(sg).pairs.iter().copied()
    }

    fn libraries(&self, sg: u32) -> impl Iterator<Item = LibraryOf<'_>> {
        self.set(sg).libraries.iter().zip(0..).map(|(library, index)| LibraryOf { library, index })
    }

    fn ext_isa(&self, sg: u32) -> impl Iterator<Item = FunctionIn<'_>> {
        let names = self.set(sg).ext_isa.iter().flatten();
        names.map(|name| FunctionIn { name, opcode: 0, sub_opcode: 0 })
    }
}

impl Transfers for Working {
    fn visit<S: LowerSink>(&mut self, sink: &mut S, _: &mut dyn Notes) -> Result<(), Error> {
        let mut sources = BlockSource::ALL;
        if self.backwards {
            sources.reverse();
        }
        for (subgraph, set) in (0u8..).zip(&self.sets) {
            for source in sources {
                for (block, at) in set.of(source).zip(0..) {
                    let at = |index| BlockAt { subgraph, source, block: at, index };
                    for (one, index) in block.moves.iter().zip(0..) {
                        one.with(|transfer| sink.transfer(at(index), transfer))?;
                    }
                    sink.block_end(at(block.moves.len() as u32), &block.view())?;
                }
            }
            for (number, (.., profiles)) in (0..).zip(&set.act_sets) {
                for index in 0..*profiles {
                    let profile = ActProfile { func_id: U32::new(index + 1), ..ActProfile::default() };
                    sink.profile(u32::from(subgraph), number, index, &profile)?;
                }
            }
        }
        Ok(())
    }
}
