//! Whole trees with edited manifests: read and lowered from memory, in passes, and in small pieces.

use super::script::{Parts, edited};
use crate::build::to_neff;
use crate::fixtures;
use crate::lowering::modes::{Product, Setting, product_in};
use crate::lowering::package;
use crate::payload::Mode;
use loader_core::arch::Arch;
use loader_core::container::KEEP_BYTES;
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::inspect::Remarks;
use loader_std::pack::{Compression, Options};
use std::sync::OnceLock;

/// Limits that keep one execution short and its product inside the arena.
const LIMITS: Limits = Limits {
    variables: 1 << 12,
    blocks: 1 << 12,
    descriptors: 1 << 13,
    ring_entries: 1 << 20,
    list_elements: 1 << 10,
    collective_elements: 1 << 10,
    ..Limits::DEFAULT
};

/// Bytes of arena.
const ROOM: usize = 1 << 20;

/// Bytes of the longest blob that stays whole.
const BLOB: usize = 4096;

/// The trees that scripts edit: the fixtures without what no loader reads, and a small one with
/// something of everything.
fn bases() -> &'static [Parts] {
    static BASES: OnceLock<Vec<Parts>> = OnceLock::new();
    BASES.get_or_init(|| {
        let mut trees: Vec<_> = fixtures::all().into_iter().map(|fixture| fixture.tree).collect();
        trees.push(package::rich());
        for tree in &mut trees {
            tree.retain(|name, _| !name.ends_with(".dbg") && !name.ends_with("tensor_map.json"));
            for (_, bytes) in tree.iter_mut().filter(|(name, _)| !name.ends_with(".json")) {
                bytes.truncate(BLOB);
            }
        }
        trees.into_iter().map(Parts::new).collect()
    })
}

/// The first bytes choose a tree, its packing and the policy; the rest is a script of edits.
///
/// # Panics
/// If a way of reading differs from another, or finds a fault in this library.
pub fn manifest(data: &[u8]) {
    let (control, script) = data.split_at(data.len().min(4));
    let [base, packing, policy, chunk] = [0, 1, 2, 3].map(|n| control.get(n).copied().unwrap_or(0));
    let parts = &bases()[usize::from(base) % bases().len()];
    let tree = edited(parts, script, ["", " ", "\n  "][usize::from(packing >> 2) % 3]);
    let (first, last): (&[&str], &[&str]) =
        if packing & 1 == 0 { (&[], &["neff.json"]) } else { (&["neff.json"], &[]) };
    let options = Options { compression: Some(Compression::None), ..Options::default() };
    // Not every name that a script makes can be packed.
    let Ok(neff) = to_neff(&tree, first, last, &options) else { return };
    let keep = if packing & 2 == 0 { 0 } else { KEEP_BYTES };
    let setting = Setting { policy: &policy_of(policy), limits: &LIMITS, keep, room: ROOM };
    let resident = judged(&neff, &setting, Mode::Resident);
    assert_eq!(judged(&neff, &setting, Mode::Chunks(1 + usize::from(chunk))), resident);
    assert_eq!(judged(&neff, &setting, Mode::Streamed), resident);
}

fn policy_of(bits: u8) -> Policy {
    Policy {
        verify_digest: false,
        tooling: bits & 1 != 0,
        allow_legacy: bits & 2 != 0,
        strict: bits & 4 != 0,
        accept_area_classes: bits & 8 != 0,
        append_alt_area: bits & 16 != 0,
        unique_keys: bits & 32 != 0,
        host_arch: [None, Some(Arch::Sunda), Some(Arch::Cayman), Some(Arch::Mariana)][usize::from(bits >> 6)],
        ..Policy::DEFAULT
    }
}

/// What must not depend on the way: the product or the refusal, and the remarks.
type Judged = (Result<Vec<u8>, Error>, Vec<Error>);

fn judged(neff: &[u8], setting: &Setting<'_>, mode: Mode) -> Judged {
    let mut remarks = Remarks::default();
    let outcome = product_in(neff, setting, mode, &mut remarks);
    for error in outcome.as_ref().err().into_iter().chain(&remarks.0) {
        let text = error.to_string();
        assert!(!text.contains("internal invariant"), "{text}");
    }
    (outcome.map(|Product { bytes, .. }| bytes), remarks.0)
}

/// Every tree as it is, under the policies that matter, and one script of every kind of step.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let plain = (0..bases().len() as u8).map(|base| vec![base, base, LEGACY, 6]);
    let steps = (0..16u8).map(|step| {
        let mut seed = vec![step % 6, step, 0, step];
        seed.extend([step, 6 + step, 1, 0, step, 3, 2, 1, 0, 4]);
        seed
    });
    plain.chain(steps).collect()
}

/// Policy bits under which every tree is read to its end.
const LEGACY: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_base_is_lowered_as_it_is_but_for_the_first_generation() {
        let outcomes = bases().iter().map(|parts| {
            let options = Options { compression: Some(Compression::None), ..Options::default() };
            let neff = to_neff(&edited(parts, &[], ""), &[], &[], &options).unwrap();
            let setting = Setting { policy: &policy_of(LEGACY), limits: &LIMITS, keep: 0, room: ROOM };
            judged(&neff, &setting, Mode::Streamed).0
        });
        let refused: Vec<_> = outcomes.filter_map(Result::err).map(|error| error.id().to_string()).collect();
        assert_eq!(refused, ["L303"], "inf1 queues have no owner");
    }
}
