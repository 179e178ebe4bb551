//! The stages that need a device: S4 and S5, and all of them in one call.

use super::fan_out::fill;
use super::prepared::{Held, Prepared, prepare, prepare_streamed};
use super::registry::Entry;
use super::{LoadError, LoadOptions, Loader, Memory, Model, StreamMemory, lock};
use loader_core::container::Resident;
use loader_core::device::{CoreId, Device};
use loader_core::error::Error;
use loader_core::plan::record::LoadParams;
use loader_core::plan::{Plan, Request, place};
use loader_core::source::Source;
use loader_core::stage::{stage, unload};

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
        self.place(prepare(file, memory, options)?)
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
        mut prepared: Prepared<'m, S>,
    ) -> Result<Model<'l, 'm, D>, LoadError> {
        prepared.work.clock.resume();
        match self.finish(&mut prepared) {
            Ok((plan, h_nn)) => Ok(Model::new(self, h_nn, plan, prepared.facts())),
            Err(error) => {
                let Prepared { work, container, .. } = &prepared;
                Err(work.refused(error, Some(container.header)).named(&container.table))
            }
        }
    }

    fn finish<'m, S: Source>(&self, prepared: &mut Prepared<'m, S>) -> Result<(Plan<'m>, u32), Error> {
        let lnc = prepared.lnc();
        let Prepared { work, container, kbins, held, .. } = prepared;
        let options = work.options;
        let request = Request {
            name: container.header.name.as_bytes(),
            core: CoreId(options.core),
            vcore_size: u16::try_from(lnc).unwrap_or(u16::MAX),
            h_model: options.h_model.map_or_else(|| lock(&self.registry).next_model(), Ok)?,
            params: params(&options),
            owned: self.device.owned(),
            policy: &options.policy,
            limits: &options.limits,
        };
        let arena = &mut work.arena;
        let plan = self.with_pages(|pages| match held {
            Held::Resident(bytes) => {
                let mut payload = Resident::new(*container, bytes);
                place(&mut payload, kbins, &self.device, &request, pages, arena)
            }
            Held::Streamed(payload, _) => place(&mut **payload, kbins, &self.device, &request, pages, arena),
        })?;
        work.clock.lap(|times| &mut times.plan);
        work.used("plan");
        self.guarded(&plan, || match held {
            Held::Resident(bytes) => {
                let payload = Resident::new(*container, bytes);
                fill(payload, &plan, &self.device, &options.policy, options.threads)
            }
            Held::Streamed(payload, scratch) => {
                stage(&mut **payload, &plan, &self.device, &options.policy, scratch)
            }
        })?;
        work.clock.lap(|times| &mut times.stage);
        let entry = Entry::new(&plan, &container.header, &request);
        let h_nn = self.guarded(&plan, || lock(&self.registry).insert(entry))?;
        work.clock.lap(|times| &mut times.register);
        Ok((plan, h_nn))
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
