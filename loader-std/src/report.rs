//! What a load did, as JSON: `cores` of `load --json`.

mod core;
mod image;

use loader_core::device::CoreId;
use loader_core::plan::Plan;
use serde_json::Value;

/// `cores`: one entry per core of the logical core. `shared` gives the scratchpad pages that lie on a core, in bytes,
/// whichever models use them (staging.md §17.2).
#[must_use]
pub fn cores_json(plan: &Plan<'_>, shared: impl Fn(CoreId) -> u64) -> Value {
    plan.cores().map(|view| core::core_json(&view, shared(view.core()))).collect()
}

/// `breakdown[]` of `memory --staged`: per core the vendor's nine categories in bytes (staging.md §17), their sum, and
/// the scratchpad pages that lie on it; `shared` as for [`cores_json`].
#[must_use]
pub fn breakdowns_json(plan: &Plan<'_>, shared: impl Fn(CoreId) -> u64) -> Value {
    plan.cores().map(|view| core::breakdown_of(&view, shared(view.core()))).collect()
}

/// An address as reports and file names have it: lower-case hexadecimal.
#[must_use]
pub fn address(address: loader_core::device::DevAddr) -> String {
    format!("{:#x}", address.0)
}
