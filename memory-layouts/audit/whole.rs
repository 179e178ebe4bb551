//! The whole core, called: every public stage in both forms, in the sizes of a host, and what prints its products.
//! It is linked into the image with stubs only, so that a panic which a small image cannot reach is found, too.

use crate::layout;
use core::fmt::{self, Write};
use core::hint::black_box;
use loader_core::arch::{Arch, Engine};
use loader_core::arena::Arena;
use loader_core::container::guard::{self, RuntimeState};
use loader_core::container::{
    Extent, Header, Layer, Layers, Resident, SliceStore, Store, Streamed, Workspace, scan, unpack,
};
use loader_core::device::{CoreId, Device};
use loader_core::error::{Error, NoteList, Stage};
use loader_core::json::Element;
use loader_core::limits::Limits;
use loader_core::lower::{Kbins, lower};
use loader_core::manifest::{self, Block, BlockAt, BlockSink, Transfer, sidecar, visit_blocks};
use loader_core::plan::pages::PageTable;
use loader_core::plan::record::{LoadParams, ModelNode, NodeTable};
use loader_core::plan::{CoreView, Plan, Request, place_explained};
use loader_core::policy::Policy;
use loader_core::source::Payload;
use loader_core::stage::collectives::Membership;
use loader_core::stage::{register, stage, unload};
use neuron_drivers::sim::{Config, Fixed, LocalSim};

/// Text goes nowhere, but nobody knows.
struct Sink;

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}

impl BlockSink for Sink {
    fn transfer(&mut self, at: BlockAt, transfer: &Transfer<'_>) -> Result<(), Error> {
        black_box((at, transfer));
        Ok(())
    }

    fn block_end(&mut self, at: BlockAt, block: &Block<'_>) -> Result<(), Error> {
        black_box((at, block));
        Ok(())
    }
}

/// What every stage is given.
struct Given {
    limits: Limits,
    policy: Policy,
    notes: NoteList<64>,
}

/// Memory of a size that the compiler does not know.
fn bytes() -> &'static mut [u8] {
    black_box(&mut [])
}

fn text() -> &'static [u8] {
    black_box(&[])
}

fn work(layers: &mut (dyn Layers + Send)) -> Workspace<'_> {
    let extents: &mut [Extent] = black_box(&mut []);
    Workspace { input: bytes(), layers, names: bytes(), extents }
}

fn arena() -> Result<Arena<'static>, Error> {
    Arena::new(bytes()).map_err(|full| Error::arena(Stage::Unpack, full))
}

/// Calls everything; is never run for what it does.
#[inline(never)]
pub fn call() {
    let (limits, policy) = black_box((Limits::DEFAULT, Policy::DEFAULT));
    let mut given = Given { limits, policy, notes: NoteList::new() };
    let (mut source, mut layers) = (text(), [Layer::new()]);
    let config = Config { profile: layout::profile(), ..Config::flat(black_box(Arch::Cayman)) };
    let simulated = LocalSim::new(config, Fixed::new(black_box(&mut []), &mut [], &mut []));
    let device: &dyn Device = black_box(&simulated);
    for outcome in [
        resident(&mut given, work(&mut layers), &device),
        streamed(&mut given, &mut source, work(&mut layers), &device),
    ] {
        if let Err(error) = outcome {
            let _ = writeln!(Sink, "{error} {} {} {}", error.log(), error.expected(), error.remedy());
        }
    }
    for note in given.notes.kept() {
        let _ = writeln!(Sink, "{note}");
    }
    beside(&given);
}

#[inline(never)]
fn resident(given: &mut Given, work: Workspace<'_>, device: &&dyn Device) -> Result<(), Error> {
    let Given { limits, policy, notes } = given;
    let (mut arena, mut store) = (arena()?, SliceStore::new(bytes()));
    let container = unpack(&mut text(), work, &mut store, &mut arena, limits, policy, notes)?;
    let header = container.header;
    let mut payload = Resident::new(container, store.bytes());
    load(&mut payload, &header, given, device, &mut arena)
}

#[inline(never)]
fn streamed<'a>(
    given: &mut Given,
    source: &'a mut &'static [u8],
    mut work: Workspace<'a>,
    device: &&dyn Device,
) -> Result<(), Error> {
    let Given { limits, policy, notes } = given;
    let mut arena = arena()?;
    let keep = black_box(layout::MEMORY_KEEP);
    let container = scan(source, work.reborrow(), keep, &mut arena, limits, policy, notes)?;
    let header = container.header;
    let mut payload = Streamed::new(source, work, container, limits)?;
    load(&mut payload, &header, given, device, &mut arena)
}

/// S2 to S5, and what is printed of their products.
#[inline(never)]
fn load<'m, P: Payload<'m>>(
    payload: &mut P,
    header: &Header,
    given: &mut Given,
    device: &&dyn Device,
    arena: &mut Arena<'m>,
) -> Result<(), Error> {
    let Given { limits, policy, notes } = given;
    let manifest = manifest::parse(payload, arena, limits, policy, notes)?;
    visit_blocks(payload, &manifest, limits, &mut Sink)?;
    let kbins = lower(payload, &manifest, arena, limits, policy, notes)?;
    let _ = write!(Sink, "{header}");
    let mut slots = [None; 64];
    let mut pages = PageTable::new(&mut slots);
    let request = Request {
        name: header.name.as_bytes(),
        core: CoreId(black_box(0)),
        vcore_size: black_box(1),
        h_model: black_box(1),
        params: LoadParams::default(),
        owned: (0, device.cores()),
        policy,
        limits,
    };
    let mut shortage = None;
    let plan = place_explained(payload, &kbins, device, &request, &mut pages, arena, Some(&mut shortage))?;
    black_box(&shortage);
    let outcome = stage(payload, &plan, device, policy, bytes());
    products(&kbins, &plan);
    unload(&plan, device, &mut pages);
    outcome
}

#[inline(never)]
fn products(kbins: &Kbins<'_>, plan: &Plan<'_>) {
    for kbin in kbins.iter() {
        let _ = write!(Sink, "{kbin}");
    }
    if let Ok(group) = Membership::new(core::str::from_utf8(text()).ok(), black_box(0), black_box(1)) {
        black_box(group.check(kbins).is_ok());
    }
    for core in plan.cores() {
        core_of(&core);
    }
}

#[inline(never)]
fn core_of(core: &CoreView<'_>) {
    let _ = write!(Sink, "{core}");
    black_box((core.breakdown(), core.usage(), core.word(black_box(0), black_box(0), black_box(8)).is_ok()));
    for engine in Engine::ALL {
        let at = black_box(0);
        black_box((core.device_range(engine, at), core.source_position(engine, at)));
    }
    let node = ModelNode::of(core, black_box(1), black_box(0), &black_box([0; 16]));
    let mut table = black_box(NodeTable::default());
    if let Ok(slot) = table.insert(node) {
        black_box(table.get(slot).is_some_and(ModelNode::is_intact));
        table.remove(slot);
    }
}

/// What stands beside the stages: guards of a call, and documents that no load reads.
#[inline(never)]
fn beside(given: &Given) {
    let state = black_box(RuntimeState::Start);
    black_box(guard::enter(black_box(0), state, Some(text()), &given.policy).is_ok());
    if let Ok(document) = Element::parse(text(), &given.limits) {
        let map = sidecar::TensorMap::read(document);
        black_box((
            map.tensors().count(),
            map.aliases().count(),
            sidecar::Info::read(document).num_tpb_per_node().count(),
        ));
        black_box((sidecar::mac_count(document), sidecar::metrics(document).count()));
    }
    black_box(register::mac_count(text(), &given.limits));
}
