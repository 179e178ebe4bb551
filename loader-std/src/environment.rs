//! Environment variables of the runtime that a host may honour. The core never reads one.

use crate::memory::{Page, contiguous};
use crate::refusal::Refusal;
use loader_core::error::{Error, ToolCode};
use loader_core::policy::{Fp8Overrides, Policy};
use loader_core::stage::collectives::Membership;
use std::ffi::{OsStr, OsString};

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

/// Whether a value of `NEURON_RT_ALLOW_LEGACY_NEFF` is neither yes nor no, so that [`allow_legacy`] takes it for no.
#[must_use]
pub fn is_unclear(value: &OsStr) -> bool {
    let no = value.is_empty() || value == "0" || value.eq_ignore_ascii_case("false");
    !no && !allow_legacy(Some(value))
}

/// The same for this process.
#[must_use]
pub fn legacy_allowed() -> bool {
    allow_legacy(std::env::var_os("NEURON_RT_ALLOW_LEGACY_NEFF").as_deref())
}

/// The defaults with what the environment changes about them: where every command's policy begins. Of what
/// [`engine_block`], [`fp8`] and [`page`] refuse nothing is taken.
#[must_use]
pub fn policy() -> Policy {
    let engine_block = engine_block().unwrap_or(Policy::DEFAULT.engine_block);
    let fp8 = fp8().unwrap_or(Fp8Overrides::NONE);
    let policy = Policy { allow_legacy: legacy_allowed(), engine_block, fp8, ..Policy::DEFAULT };
    page().unwrap_or_default().of_policy(policy)
}

/// What the environment sets of the FP8 conversion, in place of the file's values (manifests.md §12.1): `variable`
/// gives the value of a variable, and one that is empty is as unset. Flags are `0` or `1`, `false` or `true`.
///
/// # Errors
/// M107 for a value that is neither flag nor number, as the variable asks.
pub fn fp8_of(variable: impl Fn(&str) -> Option<OsString>) -> Result<Fp8Overrides, Refusal> {
    let text = |name: &str| {
        let text = variable(name).map(|value| value.to_string_lossy().trim().to_owned());
        text.filter(|text| !text.is_empty())
    };
    let bad = |name: &str, text: &str| Refusal::named(ToolCode::BadFp8, format!("{name}={text}").as_bytes());
    let number = |name: &str| {
        let text = text(name);
        text.map(|text| text.parse::<u32>().map_err(|_| bad(name, &text))).transpose()
    };
    let flag = |name: &str| {
        let text = text(name);
        text.map(|text| match text.to_ascii_lowercase().as_str() {
            "1" | "true" => Ok(true),
            "0" | "false" => Ok(false),
            _ => Err(bad(name, &text)),
        })
        .transpose()
    };
    Ok(Fp8Overrides {
        fp8_range_extension: flag("NEURON_RT_DBG_FP8_RANGE_EXT")?,
        emax_fp8_e4m3: number("NEURON_RT_DBG_FP8_EMAX_E4M3")?,
        emax_fp8_e5m2: number("NEURON_RT_DBG_FP8_EMAX_E5M2")?,
        ocp_sat: flag("NEURON_RT_DBG_OCP_FP8_SAT")?,
        fp8_sis: flag("NEURON_RT_DBG_FP8_SIS")?,
        fp8_sns: flag("NEURON_RT_DBG_FP8_SNS")?,
    })
}

/// The same for this process.
///
/// # Errors
/// As [`fp8_of`].
pub fn fp8() -> Result<Fp8Overrides, Refusal> {
    fp8_of(|name| std::env::var_os(name))
}

/// Block size of the engines' instruction memory in bytes, from the value of `NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB`
/// (staging.md §11.6). Unset or empty, it is the default. Whether a load can use it (T55) is the load's affair.
///
/// # Errors
/// M106 for anything but one number of KiB above 0 that fits 32 bits as bytes.
pub fn engine_block_of(value: Option<&OsStr>) -> Result<u32, Refusal> {
    let text = value.map(OsStr::to_string_lossy).unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Policy::DEFAULT.engine_block);
    }
    let bytes = text.trim().parse::<u32>().ok().and_then(|kib| kib.checked_mul(1024));
    let bad = || Refusal::named(ToolCode::BadEngineBlock, text.as_bytes());
    bytes.filter(|bytes| *bytes > 0).ok_or_else(bad)
}

/// The same for this process.
///
/// # Errors
/// As [`engine_block_of`].
pub fn engine_block() -> Result<u32, Refusal> {
    engine_block_of(std::env::var_os("NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB").as_deref())
}

/// Execution timeout in seconds, from the value of `NEURON_RT_EXEC_TIMEOUT` (driver-abi.md §13.3). Unset or empty, it is
/// the default.
///
/// # Errors
/// M108 for anything but a number.
pub fn exec_timeout_of(value: Option<&OsStr>) -> Result<u64, Refusal> {
    let text = value.map(OsStr::to_string_lossy).unwrap_or_default();
    match text.trim() {
        "" => Ok(Policy::EXEC_TIMEOUT),
        set => set.parse().map_err(|_| Refusal::named(ToolCode::BadTimeout, text.as_bytes())),
    }
}

/// The same for this process.
///
/// # Errors
/// As [`exec_timeout_of`].
pub fn exec_timeout() -> Result<u64, Refusal> {
    exec_timeout_of(std::env::var_os("NEURON_RT_EXEC_TIMEOUT").as_deref())
}

/// A page that the command line states, in the mode that the environment asks for.
///
/// # Errors
/// As [`contiguous`].
pub fn page_of(stated: Page) -> Result<Page, Refusal> {
    Ok(stated.in_mode(contiguous(|name| std::env::var(name).ok())?))
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
    use super::{allow_legacy, engine_block_of, exec_timeout_of, fp8_of, membership};
    use loader_core::policy::Fp8Overrides;
    use std::ffi::OsStr;

    #[test]
    fn values_of_the_fp8_conversion() {
        let of = |set: &[(&str, &str)]| {
            fp8_of(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
        };
        assert_eq!(of(&[]).unwrap(), Fp8Overrides::NONE);
        assert_eq!(of(&[("NEURON_RT_DBG_FP8_SIS", " ")]).unwrap(), Fp8Overrides::NONE);
        let all = of(&[
            ("NEURON_RT_DBG_FP8_RANGE_EXT", "1"),
            ("NEURON_RT_DBG_FP8_EMAX_E4M3", "7"),
            ("NEURON_RT_DBG_FP8_EMAX_E5M2", "14"),
            ("NEURON_RT_DBG_OCP_FP8_SAT", "0"),
            ("NEURON_RT_DBG_FP8_SIS", "True"),
            ("NEURON_RT_DBG_FP8_SNS", "false"),
        ]);
        let expected = Fp8Overrides {
            fp8_range_extension: Some(true),
            emax_fp8_e4m3: Some(7),
            emax_fp8_e5m2: Some(14),
            ocp_sat: Some(false),
            fp8_sis: Some(true),
            fp8_sns: Some(false),
        };
        assert_eq!(all.unwrap(), expected);
        for (name, value) in [
            ("NEURON_RT_DBG_FP8_RANGE_EXT", "2"),
            ("NEURON_RT_DBG_FP8_EMAX_E4M3", "-1"),
            ("NEURON_RT_DBG_FP8_EMAX_E5M2", "4294967296"),
            ("NEURON_RT_DBG_OCP_FP8_SAT", "on"),
        ] {
            let refusal = of(&[(name, value)]).unwrap_err().to_string();
            // A name is cut behind 32 characters.
            let shown: String = format!("{name}={value}").chars().take(30).collect();
            assert!(refusal.starts_with(&format!("M107 {shown}")), "{refusal}");
        }
    }

    #[test]
    fn the_engines_block_size() {
        let of = |value: &str| engine_block_of(Some(OsStr::new(value))).ok();
        assert_eq!((engine_block_of(None).ok(), of(" ")), (Some(0x4000), Some(0x4000)));
        for (value, bytes) in [("64", 0x1_0000), ("48", 0xC000), (" 1 ", 1024), ("4194303", 0xFFFF_FC00)] {
            assert_eq!(of(value), Some(bytes), "{value:?}");
        }
        for value in ["0", "-1", "x", "64K", "4194304", "16,16,16,16,16"] {
            assert_eq!(of(value), None, "{value:?}");
        }
        let refused = engine_block_of(Some(OsStr::new("many"))).unwrap_err().to_string();
        assert!(refused.contains("NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB is many"), "{refused}");
    }

    #[test]
    fn the_execution_timeout() {
        let of = |value: &str| exec_timeout_of(Some(OsStr::new(value))).ok();
        // driver-abi.md §13.3, §21 row 11.
        assert_eq!((exec_timeout_of(None).ok(), of("")), (Some(30), Some(30)));
        assert_eq!((of("600"), of(" 2 "), of("0")), (Some(600), Some(2), Some(0)));
        for value in ["-1", "x", "30s", "1.5", "18446744073709551616"] {
            assert_eq!(of(value), None, "{value:?}");
        }
        let refused = exec_timeout_of(Some(OsStr::new("soon"))).unwrap_err().to_string();
        assert!(refused.starts_with("M108 NEURON_RT_EXEC_TIMEOUT is soon"), "{refused}");
    }

    #[test]
    fn manifests_z08() {
        for (value, expected) in [("1", true), ("true", true), ("", false), ("0", false), ("no", false)] {
            assert_eq!(allow_legacy(Some(OsStr::new(value))), expected, "{value:?}");
            assert_eq!(super::is_unclear(OsStr::new(value)), value == "no", "{value:?}");
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
