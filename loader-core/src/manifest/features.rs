//! `neff_features`: names for some of the header's feature bits (manifests.md §12.2).
//!
//! The header mask is authoritative; this array is carried and reported, never decided on.

/// Names and bits (Confirmed).
const NAMES: [(&str, u64); 10] = [
    ("collective_has_offset", 0x2),
    ("neff_feature_custom_ops", 0x4),
    ("neff_coalesced_ccops", 0x8),
    ("neff_queue_set_instances", 0x10),
    ("neff_has_functions", 0x20),
    ("neff_feature_dynamic_pwp", 0x40),
    ("neff_feature_indirect_memcpy_32b_sem_wait", 0x80),
    ("neff_feature_DMA_desc_higher_dim", 0x200),
    ("neff_feature_vnc", 0x400),
    ("neff_feature_remote_sem", 0x4000),
];

/// Ending of the name of bit 0x100, whose beginning the sources leave out (Open).
const BOUND_CHECK: &str = "indirect_memcpy_bound_check";

/// The bit that a feature name stands for.
#[must_use]
pub fn bit(name: &[u8]) -> Option<u64> {
    if name.ends_with(BOUND_CHECK.as_bytes()) {
        return Some(0x100);
    }
    NAMES.iter().find(|row| row.0.as_bytes() == name).map(|row| row.1)
}
