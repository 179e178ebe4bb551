//! What a load did, as JSON: `cores` of `load --json`.

mod core;
mod image;

use loader_core::plan::Plan;
use serde_json::Value;

/// `cores`: one entry per core of the logical core.
#[must_use]
pub fn cores_json(plan: &Plan<'_>) -> Value {
    plan.cores().map(|view| core::core_json(&view)).collect()
}

/// `breakdown[]` of `memory --staged`: per core the vendor's nine categories in bytes (staging.md §17), their sum, and
/// the scratchpad pages that it uses, perhaps with other models.
#[must_use]
pub fn breakdowns_json(plan: &Plan<'_>) -> Value {
    plan.cores().map(|view| core::breakdown_of(&view)).collect()
}

/// An address as reports and file names have it: lower-case hexadecimal.
#[must_use]
pub fn address(address: loader_core::device::DevAddr) -> String {
    format!("{:#x}", address.0)
}
