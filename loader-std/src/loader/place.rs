//! The stages that need a device: S4 and S5, and all of them in one call.

use super::facts::Clock;
use super::fan_out::fill;
use super::prepared::{Held, Prepared, Work, prepare, prepare_streamed};
use super::registry::{Entry, Origin};
use super::shared::{Parse, SharedMembers, parse_key};
use super::state::{Life, State};
use super::usage::CoreMemory;
use super::{LoadError, LoadOptions, Loader, Memory, Model, StreamMemory};
use crate::cache::Role;
use loader_core::container::{Header, HeaderView, Resident};
use loader_core::device::{CoreId, Device, Usage};
use loader_core::error::{Error, Stage};
use loader_core::lower::record::Text;
use loader_core::plan::record::{Handle, LoadParams, ModelNode};
use loader_core::plan::{CoreView, Plan, Request, Shortage, place_explained, shares_library};
use loader_core::source::Source;
use loader_core::stage::{stage, unload};
use std::time::Duration;

impl<D: Device + Sync> Loader<D> {
    /// Loads a file that is in memory: all stages, then registers the model.
    ///
    /// # Errors
    /// The first refusal; the device is as before then.
    pub fn load<'l, 'm>(
        &'l self,
        file: &[u8],
        memory: &'m mut Memory,
        options: &LoadOptions,
    ) -> Result<Model<'l, 'm, D>, LoadError> {
        let Some(header) = HeaderView::of(file).map(Header::parse) else {
            return self.place(prepare(file, memory, options)?);
        };
        let mut clock = Clock::new();
        let parse = || prepare(file, &mut *memory, options).and_then(Parse::of);
        let parsed = self.parses.load(parse_key(&header, options), parse)?;
        clock.adopt(parsed.times);
        let work = |arena, notes: &[_], usage: &[_]| Work::resumed(arena, options, clock, (notes, usage));
        // The record is held until the model is registered (staging.md §3.5 R7).
        self.place_as(parsed.prepared(memory, work)?, Some(parsed.role()))
    }

    /// Loads a file as a stream, within the memory given: all stages, then registers the model. Cores are
    /// filled one after the other, in one pass.
    ///
    /// # Errors
    /// The first refusal; the device is as before then.
    pub fn load_streamed<'l, 'm, S: Source>(
        &'l self,
        source: &'m mut S,
        memory: &'m mut StreamMemory,
        options: &LoadOptions,
    ) -> Result<Model<'l, 'm, D>, LoadError> {
        self.place(prepare_streamed(source, memory, options)?)
    }

    /// Loads a prepared file and registers the model.
    ///
    /// # Errors
    /// The first refusal; the device is as before then.
    pub fn place<'l, 'm, S: Source>(
        &'l self,
        prepared: Prepared<'m, S>,
    ) -> Result<Model<'l, 'm, D>, LoadError> {
        self.place_as(prepared, None)
    }

    fn place_as<'l, 'm, S: Source>(
        &'l self,
        mut prepared: Prepared<'m, S>,
        role: Option<Role>,
    ) -> Result<Model<'l, 'm, D>, LoadError> {
        prepared.work.clock.resume();
        let mut shortage = None;
        match self.finish(&mut prepared, &mut shortage) {
            Ok((plan, handle)) => {
                Ok(Model::new(self, handle, plan, prepared.facts(self.memory(&plan), role)))
            }
            Err(error) => {
                let header = prepared.container.header;
                let refused = prepared.work.refused(error, Some(header));
                let refused = refused.named_by(|id| prepared.name_of(id));
                Err(match shortage {
                    Some(shortage) => {
                        let name = header.name.as_bytes();
                        let name = Text::new(name.get(..255).unwrap_or(name)).unwrap_or_default();
                        refused.with_usage(self.usage_table(&shortage, name))
                    }
                    None => refused,
                })
            }
        }
    }

    fn finish<'m, S: Source>(
        &self,
        prepared: &mut Prepared<'m, S>,
        shortage: &mut Option<Shortage>,
    ) -> Result<(Plan<'m>, Handle), Error> {
        let (options, header) = (prepared.work.options, prepared.container.header);
        let request = Request {
            name: header.name.as_bytes(),
            core: CoreId(options.core),
            vcore_size: u16::try_from(prepared.lnc()).unwrap_or(u16::MAX),
            h_model: options.h_model.map_or_else(|| self.registry.lock().next_model(), Ok)?,
            params: params(&options),
            owned: self.device.owned(),
            policy: &options.policy,
            limits: &options.limits,
        };
        if let Some(membership) = options.collective {
            membership.check(&prepared.kbins)?;
        }
        let life = Life::new();
        // What another model would find must be filled by then; given back before the registry's lock is taken.
        let alone = prepared.kbins.iter().any(|kbin| shares_library(&kbin)).then(|| self.microcode.lock());
        let plan = self.plan(prepared, &request, shortage)?;
        life.reach(State::Building);
        self.guarded(&plan, || self.fill(prepared, &plan))?;
        drop(alone);
        life.reach(State::Resident);
        let h_nn = self.guarded(&plan, || self.register(prepared, &plan, &request, life))?;
        let handle = self.registry.lock().open(h_nn);
        let handle = handle.inspect_err(|_| {
            // Registered already: unloading it gives everything back (staging.md §13.2, F17).
            let _ = self.unload(h_nn, Duration::ZERO);
        })?;
        prepared.work.clock.lap(|times| &mut times.register);
        Ok((plan, handle))
    }

    /// S4, first half: every block, on this thread.
    fn plan<'m, S: Source>(
        &self,
        prepared: &mut Prepared<'m, S>,
        request: &Request<'_>,
        shortage: &mut Option<Shortage>,
    ) -> Result<Plan<'m>, Error> {
        let Prepared { work, container, kbins, held, .. } = prepared;
        let (device, arena) = (&self.device, &mut work.arena);
        let plan = self.with_pages(|pages| match held {
            Held::Resident(bytes) => {
                let mut payload = Resident::new(*container, bytes);
                place_explained(&mut payload, kbins, device, request, pages, arena, Some(shortage))
            }
            Held::Shared(parse) => place_explained(
                &mut SharedMembers(parse),
                kbins,
                device,
                request,
                pages,
                arena,
                Some(shortage),
            ),
            Held::Streamed(payload, _) => {
                place_explained(&mut **payload, kbins, device, request, pages, arena, Some(shortage))
            }
        })?;
        plan.cores().for_each(|core| core.remarks(work.notes()));
        work.clock.lap(|times| &mut times.plan);
        work.used("plan");
        work.lost_positions(&plan);
        Ok(plan)
    }

    /// S4, second half: every byte, on one thread per core or on this one.
    fn fill<'m, S: Source>(&self, prepared: &mut Prepared<'m, S>, plan: &Plan<'m>) -> Result<(), Error> {
        let Prepared { work, container, held, .. } = prepared;
        let LoadOptions { policy, threads, worker, .. } = work.options;
        match held {
            Held::Resident(bytes) => {
                fill(Resident::new(*container, bytes), plan, &self.device, &policy, threads, worker)
            }
            Held::Shared(parse) => fill(SharedMembers(parse), plan, &self.device, &policy, threads, worker),
            Held::Streamed(payload, scratch) => stage(&mut **payload, plan, &self.device, &policy, scratch),
        }?;
        work.clock.lap(|times| &mut times.stage);
        Ok(())
    }

    /// S5: enters a model into the registry and, as far as there is room, the datastore.
    fn register<S: Source>(
        &self,
        prepared: &mut Prepared<'_, S>,
        plan: &Plan<'_>,
        request: &Request<'_>,
        life: Life,
    ) -> Result<u32, Error> {
        let Prepared { work, container, io, mac_count, .. } = prepared;
        let entry = Entry::new(
            plan,
            request,
            Origin {
                header: &container.header,
                io: io.clone(),
                mac_count: mac_count.unwrap_or(0),
                global_id: work.options.collective.map_or(0, |membership| membership.rank()),
                life,
            },
        );
        let entry = entry.map_err(|full| full.error(Stage::Register, "the model's record"))?;
        self.registry.lock().insert(entry, |entry, h_nn| {
            let uuid = entry.record().uuid;
            let mut datastore = self.datastore.lock();
            let mut slots = Vec::new();
            for (index, core) in (0u8..).zip(plan.cores()) {
                match datastore.insert(ModelNode::of(&core, h_nn, index, &uuid)) {
                    Ok(slot) => slots.push(slot),
                    Err(full) => work.note(full.subgraph(index)),
                }
            }
            entry.listed(slots);
        })
    }

    /// What the cores of a model hold, the model included.
    fn memory(&self, plan: &Plan<'_>) -> Vec<CoreMemory> {
        let of = |core: CoreView<'_>| {
            let row = self.usage(core.core());
            CoreMemory {
                core: core.core(),
                total: row.total(),
                shared_scratchpad: row.get(Usage::Scratchpad),
                breakdown: core.breakdown(),
            }
        };
        plan.cores().map(of).collect()
    }

    /// Runs the next step of a load; if it fails, the plan's memory is given back.
    fn guarded<R>(&self, plan: &Plan<'_>, step: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        step().inspect_err(|_| self.with_pages(|pages| unload(plan, &self.device, pages)))
    }
}

fn params(options: &LoadOptions) -> LoadParams {
    LoadParams {
        timeout: options.timeout.into(),
        ring_cache: options.ring_cache.into(),
        verified: u8::from(options.policy.verify_digest),
        contiguous: u8::from(options.policy.contiguous_scratchpad),
        page_size: options.policy.page_size.into(),
        ..LoadParams::default()
    }
}
