//! Where the scratchpads of a load lie (staging.md §8.4).

use super::{Draft, Request, fault};
use crate::device::{CoreId, Device};
use crate::error::{Error, LowerCode, StageCode};
use crate::lower::record::{Extra, MemRef};
use crate::lower::scratchpad::{GROUP_MOST, Layout, Paging, Sizes, layout};
use crate::plan::wants::scratch_offset;

/// All scratchpads of a load lie on the sharing core (staging.md §8.4, Inferred from measured loads).
const SAME_CORE: bool = true;

/// Core that holds the scratchpad: the first of the HBM group (staging.md §8.4; default Inferred).
pub(super) fn sharing_core<D: Device>(device: &D, request: &Request<'_>) -> Result<CoreId, Error> {
    let channel = device.home_channel(request.core);
    let mut first = request.core;
    for core in (0..device.cores()).map(CoreId).filter(|&core| device.home_channel(core) == channel) {
        let (from, to) = request.owned;
        if core.0 < from || core.0 >= to {
            return Err(fault(StageCode::CoreOwnership).numbers(u64::from(core.0), 0));
        }
        first = first.min(core);
    }
    Ok(first)
}

/// The scratchpads of all subgraphs, behind one another.
///
/// # Errors
/// As [`layout`]; the place of a scratchpad with too many pages is the variable that reaches furthest.
pub(super) fn lay_out(drafts: &[Draft<'_>], paging: &Paging) -> Result<Layout, Error> {
    let sizes = sizes(drafts);
    let laid = layout(sizes.get(..drafts.len()).unwrap_or(&[]), paging, SAME_CORE);
    laid.map_err(|error| if error.is(LowerCode::ScratchpadPages) { furthest(drafts, error) } else { error })
}

fn sizes(drafts: &[Draft<'_>]) -> [Sizes; GROUP_MOST] {
    let mut sizes = [Sizes::default(); GROUP_MOST];
    for (slot, draft) in sizes.iter_mut().zip(drafts) {
        let (local, shared) = draft.kbin.scratchpad();
        *slot = Sizes { local, shared };
    }
    sizes
}

/// The error with the virtual variable whose end lies highest in its own subgraph's scratchpad.
fn furthest(drafts: &[Draft<'_>], error: Error) -> Error {
    let mut most = 0;
    let mut found = error;
    for (index, draft) in (0u8..).zip(drafts) {
        let end = |var: &MemRef| match var.extra() {
            Extra::Virtual(arm) => scratch_offset(&arm, &draft.marks, 0)?.0.checked_add(var.size.get()),
            _ => None,
        };
        for var in draft.kbin.mem_refs() {
            if let Some(end) = end(var).filter(|&end| end > most) {
                most = end;
                found = error.subgraph(index).element(var.var_id.get()).name(draft.kbin.name(var));
            }
        }
    }
    found
}
