//! What this loader says about its models, in the words of the simulated device's judge.
//!
//! Operands, casts and expected contents are worked out from the file's members, not from what staging left.

use loader_core::arch::Engine;
use loader_core::device::{CoreId, MemHandle};
use loader_core::error::Error;
use loader_core::lower::record::{Desc, DescFlags, Extra, PatchEntry, PatchSection, PatchType, RingType};
use loader_core::plan::expand::{Pair, PairSink, expand_block};
use loader_core::plan::libraries::Library;
use loader_core::plan::operand::Operand;
use loader_core::plan::pages::{PAGE_ALIGN_HARD, Page};
use loader_core::plan::record::{DMem, Feed, FeedKind, RingRec, VarPlace};
use loader_core::plan::{CoreView, Plan};
use neuron_drivers::sim::claim::{
    BlockClaim, CastClaim, Claims, ContentClaim, CoreClaim, HalfClaim, ImageClaim, ModelClaim, OpaqueClaim,
    OperandClaim, PageClaim, PatchClaim, PatchKind, Place, RangeClaim, RingClaim, Section, SharedClaim,
    VariableClaim,
};
use std::collections::BTreeMap;

/// One loaded core.
#[derive(Debug)]
struct Core {
    id: CoreId,
    blocks: Vec<BlockClaim>,
    shared: Vec<MemHandle>,
    variables: Vec<VariableClaim>,
    contents: Vec<(u64, Vec<u8>)>,
    rings: Vec<Ring>,
    images: Vec<Image>,
}

#[derive(Debug)]
struct Ring {
    halves: [HalfClaim<'static>; 2],
    written: [Vec<u8>; 2],
    io: bool,
    casts: Vec<CastClaim>,
}

#[derive(Debug)]
struct Image {
    claim: ImageClaim<'static>,
    written: Vec<u8>,
    opaque: Vec<OpaqueClaim>,
    operands: Vec<OperandClaim>,
    patches: Vec<PatchClaim>,
    ranges: Vec<RangeClaim>,
}

/// One loaded model.
#[derive(Debug)]
pub struct Model {
    cores: Vec<Core>,
    scratchpad: (CoreId, u32),
}

impl Model {
    /// The claims of a plan; `members` are the bytes of the file's members by number.
    #[must_use]
    pub fn of(plan: &Plan<'_>, members: &[Vec<u8>]) -> Self {
        Self::recorded(plan, members, |_| Vec::new())
    }

    /// The same with what was written to rings and images, for a device that keeps a digest alone; `written` gives the bytes
    /// of a block.
    #[must_use]
    pub fn recorded(plan: &Plan<'_>, members: &[Vec<u8>], written: impl Fn(MemHandle) -> Vec<u8>) -> Self {
        let cores = plan.cores().enumerate();
        let cores = cores.map(|(index, core)| core_of(plan, &core, index, members, &written)).collect();
        Self { cores, scratchpad: plan.scratchpad() }
    }
}

/// A page of the table.
#[must_use]
pub fn page(page: &Page) -> PageClaim {
    let taken = page.taken;
    let align = PAGE_ALIGN_HARD;
    let block = BlockClaim { handle: taken.handle, skip: taken.skip, size: taken.size, align };
    PageClaim { block, core: page.core, index: page.index, refs: page.refs }
}

/// A library of the table.
#[must_use]
pub fn library(library: &Library) -> SharedClaim {
    let taken = library.taken;
    let block = BlockClaim { handle: taken.handle, skip: taken.skip, size: taken.size, align: 0 };
    SharedClaim { block, refs: library.refs }
}

/// Runs `action` with everything that is on a device: what models share, and the models.
pub fn with<R>(
    (pages, shared): (&[PageClaim], &[SharedClaim]),
    models: &[&Model],
    action: impl FnOnce(&Claims<'_>) -> R,
) -> R {
    let views: Vec<Vec<View<'_>>> =
        models.iter().map(|model| model.cores.iter().map(View::of).collect()).collect();
    let cores: Vec<Vec<CoreClaim<'_>>> =
        views.iter().map(|views| views.iter().map(View::claim).collect()).collect();
    let models: Vec<ModelClaim<'_>> = models
        .iter()
        .zip(&cores)
        .map(|(model, cores)| ModelClaim { cores, scratchpad: model.scratchpad })
        .collect();
    action(&Claims { baseline: &[], pages, shared, models: &models })
}

/// The slices that a claim is made of.
struct View<'a> {
    core: &'a Core,
    contents: Vec<ContentClaim<'a>>,
    rings: Vec<RingClaim<'a>>,
    images: Vec<ImageClaim<'a>>,
}

impl<'a> View<'a> {
    fn of(core: &'a Core) -> Self {
        let content = |(address, bytes): &'a (u64, Vec<u8>)| ContentClaim { address: *address, bytes };
        let ring = |ring: &'a Ring| {
            let [tx, rx] = [0, 1].map(|side| HalfClaim { written: &ring.written[side], ..ring.halves[side] });
            RingClaim { tx, rx, io: ring.io, wraps: false, casts: &ring.casts }
        };
        let image = |image: &'a Image| ImageClaim {
            opaque: &image.opaque,
            operands: &image.operands,
            patches: &image.patches,
            ranges: &image.ranges,
            written: &image.written,
            ..image.claim
        };
        Self {
            core,
            contents: core.contents.iter().map(content).collect(),
            rings: core.rings.iter().map(ring).collect(),
            images: core.images.iter().map(image).collect(),
        }
    }

    fn claim(&self) -> CoreClaim<'_> {
        CoreClaim {
            core: self.core.id,
            blocks: &self.core.blocks,
            shared: &self.core.shared,
            variables: &self.core.variables,
            contents: &self.contents,
            rings: &self.rings,
            images: &self.images,
        }
    }
}

fn core_of(
    plan: &Plan<'_>,
    core: &CoreView<'_>,
    index: usize,
    members: &[Vec<u8>],
    written: &dyn Fn(MemHandle) -> Vec<u8>,
) -> Core {
    let own = |feed: &&Feed| usize::from(feed.core.get()) == index;
    let bytes = |feed: &Feed| {
        let (from, len) = (feed.off.get() as usize, feed.len.get() as usize);
        members[feed.member.get() as usize][from..from + len].to_vec()
    };
    let (programs, contents): (Vec<&Feed>, Vec<&Feed>) =
        plan.feeds().iter().filter(own).partition(|feed| feed.kind == FeedKind::PROGRAM);
    let contents = contents.into_iter().map(|feed: &Feed| {
        let block = &core.allocations()[feed.block.get() as usize];
        (block.address().0, bytes(feed))
    });
    let image = |engine: Engine| {
        let feed = programs.iter().find(|feed| u32::from(feed.engine.get()) == engine.number());
        image(core, engine, &feed.map(|feed| bytes(feed)).unwrap_or_default(), written)
    };
    Core {
        id: core.core(),
        blocks: core.allocations().iter().filter(|block| !block.is_shared()).map(block).collect(),
        shared: core.libraries().iter().filter(|block| block.is_shared()).map(DMem::handle).collect(),
        variables: core.variables().iter().map(variable).collect(),
        contents: contents.collect(),
        rings: rings(core, written),
        images: Engine::ALL.map(image).into(),
    }
}

fn block(block: &DMem) -> BlockClaim {
    BlockClaim {
        handle: block.handle(),
        skip: block.skip.get(),
        size: block.size.get(),
        align: block.align.get(),
    }
}

fn variable(place: &VarPlace) -> VariableClaim {
    let at = match place.address() {
        Some(address) => Place::At(address.0),
        None if place.mr_type.is_io() => Place::Bound,
        None => Place::Nowhere,
    };
    VariableClaim { id: place.var_id.get(), size: place.size.get(), place: at }
}

fn rings(core: &CoreView<'_>, written: &dyn Fn(MemHandle) -> Vec<u8>) -> Vec<Ring> {
    let kinds: BTreeMap<u16, RingType> =
        core.kbin.queues().map(|queue| (queue.slot as u16, queue.record.ring_type)).collect();
    let half = |ring: &RingRec| HalfClaim {
        address: core.ring_block(ring).map_or(0, |block| block.address().0),
        entries: ring.used.get(),
        padded: ring.used.get(),
        capacity: ring.capacity.get(),
        written: &[],
    };
    let bytes =
        |ring: &RingRec| core.ring_block(ring).map(|block| written(block.handle())).unwrap_or_default();
    let mut casts = casts(core);
    let pairs = core.rings().as_chunks::<2>().0.iter().enumerate();
    pairs
        .map(|(row, pair)| Ring {
            halves: [half(&pair[0]), half(&pair[1])],
            written: [bytes(&pair[0]), bytes(&pair[1])],
            io: matches!(kinds[&pair[0].queue.get()], RingType::IN | RingType::OUT),
            casts: casts.remove(&row).unwrap_or_default(),
        })
        .collect()
}

/// Notes to which instance each pair of a block goes.
#[derive(Default)]
struct Instances(Vec<u32>);

impl PairSink for Instances {
    fn pair(&mut self, pair: &Pair) -> Result<(), Error> {
        self.0.push(pair.instance);
        Ok(())
    }
}

fn pairs_of(core: &CoreView<'_>, descs: &[Desc], rings: u32) -> Vec<u32> {
    let mut instances = Instances::default();
    let arch = core.kbin.arch().expect("an architecture");
    expand_block(&core.kbin, descs, rings, arch, &mut instances).expect("it was expanded before");
    instances.0
}

/// Widths of the elements on both sides of a descriptor that changes them.
fn widths(core: &CoreView<'_>, desc: &Desc) -> Option<(u8, u8)> {
    let cast = desc.flags.has(DescFlags::CAST);
    let from = core.kbin.from(desc).first()?.element_type().bytes()?;
    cast.then_some((from, core.kbin.to(desc)?.element_type().bytes()?))
}

/// Casts by pair of ring rows.
fn casts(core: &CoreView<'_>) -> BTreeMap<usize, Vec<CastClaim>> {
    let mut found: BTreeMap<usize, Vec<CastClaim>> = BTreeMap::new();
    let mut first = 0;
    for queue in core.kbin.queues() {
        let pairs = queue.rings();
        for instance in queue.instances() {
            let mut filled = vec![0; pairs as usize];
            for descs in instance.blocks() {
                let of_desc = |desc: &Desc| {
                    let count = pairs_of(core, std::slice::from_ref(desc), pairs).len();
                    vec![widths(core, desc); count]
                };
                let all = pairs_of(core, descs, pairs);
                for (&at, bytes) in all.iter().zip(descs.iter().flat_map(of_desc)) {
                    let entry = &mut filled[at as usize];
                    if let Some(bytes) = bytes {
                        let claim = CastClaim { first: *entry, count: 1, bytes };
                        found.entry(first + at as usize).or_default().push(claim);
                    }
                    *entry += 1;
                }
                let end = descs.last().and_then(|desc| core.kbin.block_end(desc));
                if end.is_some_and(|end| end.semaphore.is_some()) {
                    let used = all.iter().max().map_or(0, |last| last + 1);
                    filled[..used as usize].iter_mut().for_each(|entry| *entry += 1);
                }
            }
            first += pairs as usize;
        }
    }
    found
}

fn image(
    core: &CoreView<'_>,
    engine: Engine,
    stream: &[u8],
    written: &dyn Fn(MemHandle) -> Vec<u8>,
) -> Image {
    let (record, block) = core.image(engine).expect("every engine has an image");
    let functions = record.function.get() > 0 || record.function_source.get() > 0;
    let main = if functions { record.function_source.get() } else { record.source.get() };
    let mut opaque: Vec<OpaqueClaim> = core
        .opaques()
        .iter()
        .filter(|opaque| u32::from(opaque.engine) == engine.number())
        .map(|opaque| OpaqueClaim { slot: opaque.slot.get(), count: opaque.slots.into() })
        .collect();
    opaque.sort_unstable_by_key(|opaque| opaque.slot);
    let range = |position| {
        let (at, slots) =
            core.device_range(engine, position).expect("every slot of the file leads somewhere");
        RangeClaim { at, slots }
    };
    Image {
        claim: ImageClaim {
            engine,
            address: block.address().0,
            bytes: block.size.get(),
            written: &[],
            slots: [record.preamble, record.main, record.postamble, record.function].map(|slots| slots.get()),
            source: [main, record.source.get() - main],
            opaque: &[],
            operands: &[],
            patches: &[],
            ranges: &[],
        },
        written: written(block.handle()),
        opaque,
        operands: operands(core, engine, stream),
        patches: core.patches(engine).iter().map(patch).collect(),
        ranges: (1..=record.source.get()).map(range).collect(),
    }
}

fn patch(entry: &PatchEntry) -> PatchClaim {
    let kind = match entry.kind {
        PatchType::INSERT => PatchKind::Insert,
        PatchType::DELETE => PatchKind::Delete,
        _ => PatchKind::Modify,
    };
    let section = match entry.section {
        PatchSection::PREAMBLE => Section::Preamble,
        PatchSection::POSTAMBLE => Section::Postamble,
        PatchSection::MAIN => Section::Main,
        _ => Section::Function,
    };
    PatchClaim { offset: entry.offset.get(), count: entry.count.get(), kind, section }
}

/// Operands of the requests that stand alone and know their offsets (R2 to R4).
fn operands(core: &CoreView<'_>, engine: Engine, stream: &[u8]) -> Vec<OperandClaim> {
    let slots = stream.as_chunks::<64>().0;
    let table: Vec<u32> = core
        .kbin
        .mem_refs()
        .iter()
        .find_map(|var| match var.extra() {
            Extra::PtrTable(_) => Some(core.kbin.list(var).iter().map(|id| id.get()).collect()),
            _ => None,
        })
        .unwrap_or_default();
    let mut found = Vec::new();
    for (position, slot) in (1..).zip(slots) {
        let extended = slots.get(position as usize).is_some_and(|next| next[0] == 0xDA);
        // A kind of its own is kept as it is.
        if slot[0] != 0xD4 || slot[15] != 0 || extended {
            continue;
        }
        let both =
            [0x10, 0x28].map(|at| (at, Operand::decode(slot[at..at + 8].try_into().expect("8 bytes"))));
        if both.iter().any(|(_, operand)| operand.is_register() || matches!(operand, Operand::Unknown(_))) {
            continue;
        }
        let (first, _) = core.device_range(engine, position).expect("a slot of the image");
        for (at, operand) in both {
            let (var, off) = match operand {
                Operand::Variable { var, off } => (var, off),
                Operand::Table { index, off } => (table[index as usize], off),
                _ => continue,
            };
            found.push(OperandClaim { at: first + at as u32, var, off: off.into() });
        }
    }
    found
}
