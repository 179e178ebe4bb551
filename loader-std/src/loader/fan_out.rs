//! One scoped thread per subgraph, all or nothing, first error by core (staging.md §13).

use crate::room;
use loader_core::device::Device;
use loader_core::error::{Error, Stage, StageCode};
use loader_core::plan::Plan;
use loader_core::policy::Policy;
use loader_core::source::Payload;
use loader_core::stage::{SCRATCH_BYTES, fill_core, stage};
use std::thread;

/// Makes the thread of core `index`.
pub type Worker = fn(usize) -> thread::Builder;

/// A thread that is named after its core.
pub fn worker(index: usize) -> thread::Builder {
    thread::Builder::new().name(format!("stage-{index}"))
}

/// Fills a placed model on `threads` threads: 0 is one per core, 1 fills the cores one after the other. So does a process
/// whose address space is too small for the threads; the bytes are the same.
///
/// Every thread is joined before the outcome is decided. A thread that cannot be made or that panics is its
/// core's failure. On an error the caller unloads the plan.
///
/// # Errors
/// The first error by core index, not by time.
pub fn fill<'m, P, D>(
    mut payload: P,
    plan: &Plan<'m>,
    device: &D,
    policy: &Policy,
    threads: usize,
    worker: Worker,
) -> Result<(), Error>
where
    P: Payload<'m> + Copy + Send,
    D: Device + Sync,
{
    if plan.len() == 1 || threads == 1 || !room::for_threads(plan.len()) {
        let mut scratch = scratch()?;
        return stage(&mut payload, plan, device, policy, &mut scratch);
    }
    thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.len())
            .map(|index| {
                let mut payload = payload;
                let work = move || {
                    let mut scratch = scratch()?;
                    fill_core(&mut payload, plan, index, device, policy, &mut scratch)
                };
                worker(index).spawn_scoped(scope, work)
            })
            .collect();
        let mut first = Ok(());
        for (index, worker) in (0u8..).zip(workers) {
            let lost = |why: &str| {
                let error = Error::new(Stage::Stage, StageCode::Worker).numbers(u64::from(index), 0);
                Err(error.name(why.as_bytes()).subgraph(index))
            };
            let outcome = match worker {
                Ok(worker) => worker.join().unwrap_or_else(|_| lost("did not finish")),
                Err(_) => lost("could not be made"),
            };
            first = first.and(outcome);
        }
        first
    })
}

fn scratch() -> Result<Vec<u8>, Error> {
    room::zeroed(SCRATCH_BYTES).map_err(|full| full.error(Stage::Stage, "a thread's scratch"))
}
