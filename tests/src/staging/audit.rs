//! What must hold on a device after every load: the invariants of staging.md §18.6, judged by the simulated device.

use super::claims::{Model, library, page, with};
use super::{Loaded, Rig};
use loader_core::plan::CoreView;
use loader_core::plan::ring::Entry;
use zerocopy::FromBytes;

/// Entries of a ring half.
#[must_use]
pub fn entries(rig: &Rig, core: &CoreView<'_>, row: usize) -> Vec<Entry> {
    let ring = core.rings()[row];
    let Some(block) = core.ring_block(&ring) else { return Vec::new() };
    let bytes = rig.read_at(block.handle(), block.skip.get(), u64::from(ring.used.get()) * 16);
    bytes.chunks(16).map(|entry| Entry::read_from_bytes(entry).expect("16 bytes")).collect()
}

/// All invariants, over all models that are loaded.
///
/// # Panics
/// If one does not hold.
pub fn check(rig: &Rig, models: &[&Loaded]) {
    let claims: Vec<Model> =
        models.iter().map(|model| Model::of(&model.plan, &model.members.bytes)).collect();
    let pages: Vec<_> = rig.pages.iter().flatten().map(page).collect();
    let shared: Vec<_> = rig.libraries.iter().flatten().map(library).collect();
    let judged = with((&pages, &shared), &claims.iter().collect::<Vec<_>>(), |claims| rig.sim.judge(claims));
    judged.unwrap_or_else(|violation| panic!("{violation}"));
}

/// I20: nothing is live but what a core holds without models.
///
/// # Panics
/// If something is.
pub fn empty(rig: &Rig) {
    with((&[], &[]), &[], |claims| rig.sim.judge_idle(claims))
        .unwrap_or_else(|violation| panic!("{violation}"));
    assert!(rig.pages.iter().all(Option::is_none), "I20: pages");
    assert!(rig.libraries.iter().all(Option::is_none), "I20: libraries");
}
