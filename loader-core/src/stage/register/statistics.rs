//! The compiler's count of multiply-accumulate operations (manifests.md §18; staging.md §3.5 R4).

use crate::json::Element;
use crate::limits::Limits;

/// Member that holds the statistics.
pub const MEMBER: &[u8] = b"hlo_stats.json";
/// Spellings of the key: real files have the first, a sample the second (the reference's is Open).
const KEYS: [&str; 2] = ["HloMacCount", "mac_count"];

/// The count that a statistics member states; `None` if it states none, or is not what it should be.
#[must_use]
pub fn mac_count(member: &[u8], limits: &Limits) -> Option<u64> {
    let root = Element::parse(member, limits).ok()?;
    KEYS.iter().find_map(|key| root.get(key)?.as_u64())
}
