//! Environment variables of the runtime that a host may honour. The core never reads one.

use crate::memory::Page;
use crate::refusal::Refusal;
use loader_core::error::Error;
use loader_core::policy::Policy;
use loader_core::stage::collectives::Membership;
use std::ffi::OsStr;

/// The place of a load among `world` communicating devices, from the value of `NEURON_RT_ROOT_COMM_ID`: what
/// `nrt_load_collectives` checks before it looks at the file (container.md §6, check 3).
///
/// # Errors
/// `NoRootComm` if it is not set, `RootComm` if it is no `host:port`, `WorldSize` for a rank outside the world.
pub fn membership(root_comm: Option<&OsStr>, rank: u32, world: u32) -> Result<Membership, Error> {
    let text = root_comm.map(OsStr::to_string_lossy);
    Membership::new(text.as_deref(), rank, world)
}

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

/// The defaults with what the environment changes about them: where every command's policy begins.
#[must_use]
pub fn policy() -> Policy {
    Policy { allow_legacy: legacy_allowed(), ..Policy::DEFAULT }
}

/// The scratchpad page that the environment asks for, for estimates and for loads alike (staging.md §8.4).
///
/// # Errors
/// As [`Page::from_environment`].
pub fn page() -> Result<Page, Refusal> {
    Page::from_environment(|name| std::env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::{allow_legacy, membership};
    use std::ffi::OsStr;

    #[test]
    fn manifests_z08() {
        for (value, expected) in [("1", true), ("true", true), ("", false), ("0", false), ("no", false)] {
            assert_eq!(allow_legacy(Some(OsStr::new(value))), expected, "{value:?}");
        }
        assert!(!allow_legacy(None));
    }

    #[test]
    fn the_root_communicator() {
        let code =
            |value: Option<&str>| membership(value.map(OsStr::new), 1, 2).map_err(|error| error.id().number);
        assert_eq!(code(Some("10.0.0.1:41000")).map(|member| member.rank()), Ok(1));
        assert_eq!(code(None).err(), Some(701));
        assert_eq!(code(Some("10.0.0.1")).err(), Some(702));
    }
}
