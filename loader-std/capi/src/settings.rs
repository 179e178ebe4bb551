//! What the environment says, read once per process.

use crate::device::DeviceSpec;
use crate::failure::{Answer, Failure};
use loader_core::arch::Arch;
use loader_core::error::Status;
use loader_core::policy::Policy;
use loader_std::environment::{allow_legacy, engine_block_of, exec_timeout_of, fp8_of};
use loader_std::memory::Page;
use std::ffi::OsString;

/// The settings of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The device, before it is taken.
    pub(crate) device: DeviceSpec,
    /// Physical cores of a logical core.
    pub(crate) lnc: u16,
    /// Logical cores that the process may use, by the index that its calls use.
    pub(crate) visible: Vec<u16>,
    /// What a load goes by.
    pub(crate) policy: Policy,
    /// Execution timeout in seconds.
    pub(crate) timeout: u64,
    /// `NEURON_RT_ROOT_COMM_ID`, which collective loads ask for (container.md §6).
    pub(crate) root_comm: Option<OsString>,
}

impl Settings {
    /// Reads the variables through `get`.
    pub(crate) fn read(get: impl Fn(&str) -> Option<OsString>) -> Answer<Self> {
        let text = |name: &str| -> Answer<Option<String>> {
            let text = get(name).map(OsString::into_string).transpose();
            let text = text.map_err(|_| Failure::invalid(format_args!("{name} is not UTF-8")))?;
            Ok(text.filter(|text| !text.is_empty()))
        };
        let device = DeviceSpec::parse(text("NEFFLOAD_DEVICE")?.as_deref().unwrap_or("sim"))?;
        // The older name counts where the newer one is not set (staging.md X24).
        let lnc = match text("NEURON_LOGICAL_NC_CONFIG")? {
            Some(set) => lnc("NEURON_LOGICAL_NC_CONFIG", Some(&set), device.arch()),
            None => {
                let older = text("NEURON_RT_VIRTUAL_CORE_SIZE")?;
                lnc("NEURON_RT_VIRTUAL_CORE_SIZE", older.as_deref(), device.arch())
            }
        }?;
        let total = device.cores() / lnc;
        if total == 0 {
            return Err(too_few(&device, lnc));
        }
        let listed = text("NEURON_RT_VISIBLE_CORES")?;
        let counted = text("NEURON_RT_NUM_CORES")?;
        let visible = match (listed, counted) {
            (Some(list), _) => cores(&list, total)?,
            (None, Some(count)) => (0..count_of(&count, total)?).collect(),
            (None, None) => (0..total).collect(),
        };
        // What is no yes means no here, as to the reference (manifests.md §5.4).
        let flag = |name: &str| allow_legacy(get(name).as_deref());
        let block = engine_block_of(get("NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB").as_deref());
        let strict = |name: &str| text(name).and_then(|value| yes_or_no(name, value.as_deref()));
        let policy = Policy {
            host_arch: Some(device.arch()),
            lnc: Some(lnc.into()),
            verify_digest: strict("NEURON_RT_VALIDATE_HASH")?,
            allow_legacy: flag("NEURON_RT_ALLOW_LEGACY_NEFF"),
            allow_opaque: strict("NEFFLOAD_ALLOW_OPAQUE")?,
            engine_block: block.map_err(|refusal| Failure::invalid(&refusal))?,
            fp8: fp8_of(&get).map_err(|refusal| Failure::invalid(&refusal))?,
            ..Policy::DEFAULT
        };
        let value = |name: &str| get(name).map(|value| value.to_string_lossy().into_owned());
        let page = Page::from_environment(value);
        let policy = page.map_err(|refusal| Failure::invalid(&refusal))?.of_policy(policy);
        let timeout = exec_timeout_of(get("NEURON_RT_EXEC_TIMEOUT").as_deref());
        let timeout = timeout.map_err(|refusal| Failure::invalid(&refusal))?;
        let root_comm = get("NEURON_RT_ROOT_COMM_ID");
        Ok(Self { device, lnc, visible, policy, timeout, root_comm })
    }

    /// Logical cores of the device.
    pub(crate) const fn total(&self) -> u16 {
        self.device.cores() / self.lnc
    }

    /// The physical cores that the visible logical ones span: the first, and how many.
    pub(crate) fn span(&self) -> (u16, u16) {
        let first = self.visible.iter().min().copied().unwrap_or(0);
        let last = self.visible.iter().max().copied().unwrap_or(0);
        (first * self.lnc, (last + 1 - first) * self.lnc)
    }
}

/// The size of a logical core: by default 1 on sunda and 2 on its successors, as on the platforms.
fn lnc(name: &str, text: Option<&str>, arch: Arch) -> Answer<u16> {
    match (text, arch) {
        (Some("1"), _) | (None, Arch::Sunda) => Ok(1),
        (Some("2"), _) | (None, _) => Ok(2),
        (Some(other), _) => Err(Failure::invalid(format_args!("{name} is `{other}`; it must be 1 or 2"))),
    }
}

/// A variable that is set or not: `1` or `true`, `0` or `false`.
fn yes_or_no(name: &str, text: Option<&str>) -> Answer<bool> {
    let is = |word: &str, text: &str| text.eq_ignore_ascii_case(word);
    match text {
        None => Ok(false),
        Some(text) if text == "1" || is("true", text) => Ok(true),
        Some(text) if text == "0" || is("false", text) => Ok(false),
        Some(other) => {
            Err(Failure::invalid(format_args!("{name} is `{other}`; it must be 1, true, 0 or false")))
        }
    }
}

/// The device has not as many physical cores as one logical core takes.
fn too_few(device: &DeviceSpec, lnc: u16) -> Failure {
    let cores = device.cores();
    Failure::new(
        Status::LoadNotEnoughNc,
        format_args!(
            "NEFFLOAD_DEVICE has {cores} physical core and a logical core takes {lnc}; set \
             NEURON_LOGICAL_NC_CONFIG=1, or name a device with more cores"
        ),
    )
}

fn count_of(text: &str, total: u16) -> Answer<u16> {
    text.parse().ok().filter(|count| (1..=total).contains(count)).ok_or_else(|| {
        Failure::invalid(format_args!(
            "NEURON_RT_NUM_CORES is `{text}`; it must be a number from 1 to {total}"
        ))
    })
}

/// `0-3,6`: single cores and ranges, each once.
fn cores(text: &str, total: u16) -> Answer<Vec<u16>> {
    let wrong = || {
        let what = "it must list logical cores once each, as in 0-3,6, below";
        Failure::invalid(format_args!("NEURON_RT_VISIBLE_CORES is `{text}`; {what} {total}"))
    };
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number =
            |text: &str| text.trim().parse::<u16>().ok().filter(|core| *core < total).ok_or_else(wrong);
        for core in number(first)?..=number(last)? {
            if cores.contains(&core) {
                return Err(wrong());
            }
            cores.push(core);
        }
    }
    if cores.is_empty() { Err(wrong()) } else { Ok(cores) }
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use crate::failure::Answer;
    use loader_core::arch::Arch;

    fn read(variables: &[(&str, &str)]) -> Answer<Settings> {
        Settings::read(|name| variables.iter().find(|pair| pair.0 == name).map(|pair| pair.1.into()))
    }

    #[test]
    fn the_default_is_a_simulated_cayman_with_four_logical_cores() {
        let settings = read(&[]).unwrap();
        assert_eq!((settings.device.arch(), settings.device.cores(), settings.lnc), (Arch::Cayman, 8, 2));
        assert_eq!(settings.span(), (0, 8));
        assert_eq!((settings.total(), settings.visible), (4, vec![0, 1, 2, 3]));
        assert!(!settings.policy.verify_digest && settings.root_comm.is_none());
    }

    #[test]
    fn every_variable_counts() {
        let settings = read(&[
            ("NEFFLOAD_DEVICE", "sim:sunda:16"),
            ("NEURON_RT_VISIBLE_CORES", "4-6,9"),
            ("NEURON_RT_VALIDATE_HASH", "true"),
            ("NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB", "64"),
            ("NEURON_RT_ROOT_COMM_ID", "127.0.0.1:4000"),
        ]);
        let settings = settings.unwrap();
        assert_eq!(settings.span(), (4, 6));
        assert_eq!((settings.lnc, settings.total(), settings.visible), (1, 16, vec![4, 5, 6, 9]));
        assert!(settings.policy.verify_digest);
        assert_eq!(settings.policy.engine_block, 0x1_0000);
        assert_eq!(settings.root_comm.as_deref(), Some("127.0.0.1:4000".as_ref()));
        assert_eq!(read(&[("NEURON_RT_NUM_CORES", "2")]).unwrap().visible, [0, 1]);
        let (newer, older) = ("NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE");
        for (set, total) in [
            (&[(newer, "1")][..], 8),
            (&[(older, "1")], 8),
            (&[(older, "2")], 4),
            (&[(newer, "2"), (older, "1")], 4),
            (&[(newer, "1"), (older, "2")], 8),
            (&[(newer, ""), (older, "1")], 8),
        ] {
            assert_eq!(read(set).unwrap().total(), total, "{set:?}");
        }
        assert_eq!((settings.timeout, read(&[("NEURON_RT_EXEC_TIMEOUT", "5")]).unwrap().timeout), (30, 5));
        assert!(settings.policy.contiguous_scratchpad);
        let paged = read(&[("NEURON_RT_CONTIGUOUS_SCRATCHPAD", "0")]).unwrap().policy;
        assert_eq!((paged.contiguous_scratchpad, paged.page_size), (false, 512 << 20));
        let fp8 = read(&[("NEURON_RT_DBG_FP8_EMAX_E4M3", "7")]).unwrap().policy.fp8;
        assert_eq!((fp8.emax_fp8_e4m3, fp8.ocp_sat), (Some(7), None));
    }

    #[test]
    fn an_engine_block_is_a_number() {
        let failure = read(&[("NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB", "16,16")]).unwrap_err();
        assert!(failure.text.contains("NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB is 16,16"), "{}", failure.text);
    }

    #[test]
    fn a_timeout_is_a_number_and_a_scratchpad_contiguous_or_not() {
        for (name, value) in [("NEURON_RT_EXEC_TIMEOUT", "long"), ("NEURON_RT_CONTIGUOUS_SCRATCHPAD", "2")] {
            let failure = read(&[(name, value)]).unwrap_err();
            assert!(failure.text.contains(&format!("{name} is {value}")), "{}", failure.text);
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_name() {
        for (name, value) in [
            ("NEFFLOAD_DEVICE", "sim:v9"),
            ("NEFFLOAD_DEVICE", "sim:cayman:0"),
            ("NEFFLOAD_DEVICE", "sim:cayman:1"),
            ("NEFFLOAD_DEVICE", "sim:cayman:8:x"),
            ("NEURON_LOGICAL_NC_CONFIG", "3"),
            ("NEURON_RT_VIRTUAL_CORE_SIZE", "3"),
            ("NEURON_RT_VALIDATE_HASH", "yes"),
            ("NEURON_RT_VALIDATE_HASH", "2"),
            ("NEFFLOAD_ALLOW_OPAQUE", "on"),
            ("NEURON_RT_NUM_CORES", "5"),
            ("NEURON_RT_VISIBLE_CORES", "0,0"),
            ("NEURON_RT_VISIBLE_CORES", "3-1"),
            ("NEURON_RT_VISIBLE_CORES", "4"),
        ] {
            refused(name, value);
        }
    }

    #[test]
    fn a_flag_is_a_yes_or_a_no() {
        for (value, expected) in [("1", true), ("TRUE", true), ("0", false), ("False", false), ("", false)] {
            let policy =
                read(&[("NEURON_RT_VALIDATE_HASH", value), ("NEFFLOAD_ALLOW_OPAQUE", value)]).unwrap().policy;
            assert_eq!((policy.verify_digest, policy.allow_opaque), (expected, expected), "{value:?}");
        }
        assert!(!read(&[("NEURON_RT_ALLOW_LEGACY_NEFF", "no")]).unwrap().policy.allow_legacy);
    }

    fn refused(name: &str, value: &str) {
        let failure = read(&[(name, value)]).unwrap_err();
        assert!(failure.text.starts_with(name), "{name}={value}: {}", failure.text);
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens devices with a flag that Miri does not know")]
    fn what_is_no_device_is_refused_with_its_name() {
        for value in ["/no/such/folder/neuron0", "/dev/null"] {
            refused("NEFFLOAD_DEVICE", value);
        }
    }
}
