//! Environment variables of the runtime that a host may honour. The core never reads one.

use std::ffi::OsStr;

/// Whether `NEURON_RT_ALLOW_LEGACY_NEFF` is set to true: `1` or `true` (manifests.md §5.4; an empty
/// string and `0` are as unset, Z08).
#[must_use]
pub fn allow_legacy(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"))
}

/// The same for this process.
#[must_use]
pub fn legacy_allowed() -> bool {
    allow_legacy(std::env::var_os("NEURON_RT_ALLOW_LEGACY_NEFF").as_deref())
}

#[cfg(test)]
mod tests {
    use super::allow_legacy;
    use std::ffi::OsStr;

    #[test]
    fn manifests_z08() {
        for (value, expected) in [("1", true), ("true", true), ("", false), ("0", false), ("no", false)] {
            assert_eq!(allow_legacy(Some(OsStr::new(value))), expected, "{value:?}");
        }
        assert!(!allow_legacy(None));
    }
}
