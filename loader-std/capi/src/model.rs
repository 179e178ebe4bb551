//! Loaded models.

mod io;
pub(crate) mod names;

pub(crate) use io::IoTensor;

use crate::device::Shared;
use crate::failure::Answer;
use crate::library::Library;
use crate::session::{Session, physical};
use crate::settings::Settings;
use loader_core::arch::Engine;
use loader_core::container::guard;
use loader_core::device::{CoreId, MemHandle};
use loader_core::error::Stage;
use loader_core::plan::CoreView;
use loader_core::plan::record::{self, FeatureMap};
use loader_std::environment::membership;
use loader_std::room::{self, Full};
use loader_std::runtime::{Admission, CoreClaim};
use loader_std::{LoadOptions, Loader, Memory};
use std::sync::Arc;
use std::time::Duration;

/// A model on the device, and its logical core. Dropping it takes it off.
#[derive(Debug)]
pub(crate) struct Model {
    loader: Arc<Loader<Shared>>,
    h_nn: u32,
    _claim: CoreClaim,
    /// Index of its logical core, as the process counts.
    pub(crate) vnc: u32,
    pub(crate) io: Vec<IoTensor>,
    pub(crate) cores: Vec<Core>,
}

/// What an execution needs to know about one physical core.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) core: CoreId,
    pub(crate) inputs: Vec<Feature>,
    pub(crate) outputs: Vec<Feature>,
    pub(crate) binds: Vec<Bind>,
}

/// An input or output of one core.
#[derive(Debug)]
pub(crate) struct Feature {
    /// As the file has it, of any length.
    pub(crate) name: Vec<u8>,
    pub(crate) least: u64,
    pub(crate) var: u32,
}

/// An operand that holds a template until an execution writes an address over it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bind {
    pub(crate) block: MemHandle,
    /// Bytes from the block's start.
    pub(crate) at: u64,
    pub(crate) var: u32,
    /// Bytes from the tensor's start.
    pub(crate) offset: u64,
}

/// A rank and a world size, which must make sense together.
pub(crate) type Ranks = Option<(u32, u32)>;

/// `nrt_load` and `nrt_load_collectives`: the guards of S0 in the reference's order, then all stages.
pub(crate) fn load(
    library: &Library,
    bytes: Option<&[u8]>,
    vnc: i32,
    vnc_count: i32,
    ranks: Ranks,
) -> Answer<usize> {
    let settings = &library.settings;
    let mut collective = Ok(None);
    let admitted = library.runtime().admit(vnc, vnc_count, || {
        let root = settings.root_comm.as_deref();
        collective = ranks.map(|(rank, world)| membership(root, rank, world)).transpose();
        let header = guard::buffer(bytes)?;
        guard::lnc(&header, &settings.policy)?;
        Ok(header)
    });
    // The communicator is asked before the file, so its refusal goes first.
    let collective = collective?;
    let Admission { core: claim, .. } = admitted?;
    let session = library.session()?;
    let core = physical(settings, claim.index().into())?;
    let Settings { policy, timeout, .. } = *settings;
    let options = LoadOptions { core: core.0, policy, timeout, collective, ..LoadOptions::default() };
    let model = placed(&session, bytes.unwrap_or_default(), &options, claim)?;
    Ok(session.models.insert(model))
}

fn placed(session: &Session, file: &[u8], options: &LoadOptions, claim: CoreClaim) -> Answer<Model> {
    let loader = &session.loader;
    let model = Memory::enough(|memory| {
        let model = loader.load(file, memory, options)?;
        let refused = |full: Full| full.error(Stage::Register, "the model's record");
        let cores = model.plan().cores().map(|view| Core::new(&view));
        let cores = room::try_collect(cores).map_err(refused)?;
        let used = loader.acquire(model.h_nn())?;
        let io = io::tensors(&cores, used.inputs(), used.outputs()).map_err(refused)?;
        drop(used);
        Ok((model.keep(), cores, io))
    });
    let (h_nn, cores, io) = model?;
    Ok(Model { loader: Arc::clone(loader), h_nn, vnc: claim.index().into(), _claim: claim, io, cores })
}

impl Drop for Model {
    fn drop(&mut self) {
        // Nobody else has the handle, so it is known and not in use.
        let _ = self.loader.unload(self.h_nn, Duration::ZERO);
    }
}

impl Core {
    fn new(view: &CoreView<'_>) -> Result<Self, Full> {
        let features = |all: &[FeatureMap]| {
            let feature = |map: &FeatureMap| {
                // Whole: the record's own field cuts it, and names that agree so far are still two.
                let name = view.kbin.var(map.var_id.get()).map_or(&[][..], |var| var.name);
                let name = room::copy(name)?;
                Ok(Feature { name, least: map.min_size.get(), var: map.var_id.get() })
            };
            room::try_collect(all.iter().map(feature))
        };
        Ok(Self {
            core: view.core(),
            inputs: features(view.inputs())?,
            outputs: features(view.outputs())?,
            binds: binds(view)?,
        })
    }
}

fn binds(view: &CoreView<'_>) -> Result<Vec<Bind>, Full> {
    let place = |bind: &record::Bind| {
        let engine = Engine::ALL.get(usize::from(bind.engine))?;
        let (_, block) = view.image(*engine)?;
        let at = block.skip.get().checked_add(bind.at()?)?;
        Some(Bind { block: block.handle(), at, var: bind.var.get(), offset: bind.off.get() })
    };
    room::collect(view.binds().iter().filter_map(place))
}
