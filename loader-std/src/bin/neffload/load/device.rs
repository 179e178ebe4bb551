//! `--device`.

use super::target::Target;
use super::watch;
use crate::arguments::number;
use loader_core::arch::Arch;
use loader_core::error::Error;
use loader_std::device::{Name, Node, Sim};
use neuron_drivers::sim::{Config, Content, Growing, HostSim, Profile};
use serde_json::{Value, json};

/// A device as the command line describes it.
#[derive(Clone, Debug)]
pub(crate) enum DeviceSpec {
    /// A simulated one.
    Sim(SimSpec),
    /// A node of the kernel driver.
    Node(Node),
}

/// A simulated device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimSpec {
    /// Architecture; `None` is the file's target.
    arch: Option<Arch>,
    cores: Option<u16>,
    content: Content,
    profile: Profile,
}

/// Physical cores of the simulated device unless the command line says otherwise.
const CORES: u16 = 8;

/// Reads `sim[:ARCH[:CORES]][,store=…][,profile=…]`, or the path of a device node.
pub(super) fn parse(text: &str) -> Result<DeviceSpec, String> {
    if let Some(node) = Node::parse(text) {
        return Ok(DeviceSpec::Node(node));
    }
    let mut parts = text.split(',');
    let Name::Sim(Sim { arch, cores }) = Name::parse(parts.next().unwrap_or_default())? else {
        return Err("nothing may follow the path of a device node".to_owned());
    };
    let mut spec = SimSpec { arch, cores, content: Content::Full, profile: Profile::Flat };
    for part in parts {
        match part.split_once('=') {
            Some(("store", store)) => spec.content = content(store)?,
            Some(("profile", name)) => spec.profile = profile(name)?,
            _ => return Err(format!("`{part}`: expected `store=…` or `profile=…`")),
        }
    }
    if let Some(arch) = arch {
        spec.fits(arch)?;
    }
    Ok(DeviceSpec::Sim(spec))
}

fn content(name: &str) -> Result<Content, String> {
    [Content::Full, Content::Digest, Content::Discard]
        .into_iter()
        .find(|content| content.name() == name)
        .ok_or_else(|| format!("`{name}` is none of full, digest, discard"))
}

fn profile(name: &str) -> Result<Profile, String> {
    if let Some((tiny, bytes)) = name.split_once(':')
        && tiny.eq_ignore_ascii_case("TINY")
    {
        let bytes = number(bytes)?;
        if bytes > Profile::MOST_TINY {
            return Err(format!(
                "`{name}`: a channel has at most {} bytes, 64 GiB without its first 16 MiB",
                Profile::MOST_TINY
            ));
        }
        return Ok(Profile::Tiny(bytes));
    }
    [Profile::Flat, Profile::FlatGuard, Profile::Driver, Profile::NoAlign]
        .into_iter()
        .find(|profile| profile.name().eq_ignore_ascii_case(name))
        .ok_or_else(|| format!("`{name}` is none of FLAT, FLAT_GUARD, DRIVER, NO_ALIGN, TINY:BYTES"))
}

impl SimSpec {
    /// The same device without memory for what is written.
    pub(crate) fn without_content(self) -> Self {
        Self { content: Content::Discard, ..self }
    }

    /// Refuses more cores than the profile has of the device for a file of that architecture.
    pub(crate) fn fits(&self, target: Arch) -> Result<(), String> {
        let arch = self.arch.unwrap_or(target);
        let most = self.profile.most_cores(arch);
        match self.cores.filter(|cores| *cores > most) {
            Some(cores) => {
                let (arch, profile) = (arch.name(), self.profile());
                Err(format!("`{cores}`: a {arch} device of profile {profile} has at most {most} cores"))
            }
            None => Ok(()),
        }
    }

    /// The device as it will be for a file of that architecture.
    fn config(&self, target: Arch) -> Config {
        Config {
            cores: self.cores.unwrap_or(CORES),
            profile: self.profile,
            content: self.content,
            ..Config::flat(self.arch.unwrap_or(target))
        }
        .within_profile()
    }

    /// Switches the device on; `target` is the file's architecture.
    pub(crate) fn open(&self, target: Arch, trace: bool) -> HostSim {
        HostSim::new(self.config(target), Growing::new(trace))
    }

    /// `device` of the documents; the architecture is null as long as neither file nor command line says it.
    pub(crate) fn json(&self, target: Option<Arch>) -> Value {
        let config = self.config(target.unwrap_or(Arch::Sunda));
        let arch = self.arch.or(target).map(Arch::name);
        let mut device =
            json!({"kind": "sim", "arch": arch, "cores": config.cores, "store": config.content.name()});
        if let Profile::Tiny(bytes) = config.profile {
            device["channel_bytes"] = bytes.into();
        }
        device
    }

    /// The device's profile by name.
    pub(crate) const fn profile(&self) -> &'static str {
        self.profile.name()
    }
}

impl DeviceSpec {
    /// The architecture that the command line names.
    pub(super) const fn arch(&self) -> Option<Arch> {
        match self {
            Self::Sim(spec) => spec.arch,
            Self::Node(_) => None,
        }
    }

    /// `device` of the documents, as far as it is known before it is taken.
    pub(crate) fn json(&self, target: Option<Arch>) -> Value {
        match self {
            Self::Sim(spec) => spec.json(target),
            Self::Node(node) => json!({"kind": "neuron", "path": node.to_string()}),
        }
    }

    /// Whether what is written to it can be read back.
    pub(super) fn keeps_content(&self) -> bool {
        match self {
            Self::Sim(spec) => matches!(spec.content, Content::Full),
            Self::Node(_) => true,
        }
    }

    /// The node, if it is one.
    pub(super) const fn node(&self) -> Option<&Node> {
        match self {
            Self::Sim(_) => None,
            Self::Node(node) => Some(node),
        }
    }

    /// The device's profile by name. The kernel driver's way is the simulator's `DRIVER`.
    pub(crate) const fn profile(&self) -> &'static str {
        match self {
            Self::Sim(spec) => spec.profile(),
            Self::Node(_) => Profile::Driver.name(),
        }
    }

    /// As [`SimSpec::fits`]; what a node has the driver says.
    pub(super) fn fits(&self, target: Arch) -> Result<(), String> {
        match self {
            Self::Sim(spec) => spec.fits(target),
            Self::Node(_) => Ok(()),
        }
    }

    /// The simulated device; for questions that no other answers.
    pub(crate) fn simulated(&self) -> Result<SimSpec, String> {
        match self {
            Self::Sim(spec) => Ok(*spec),
            Self::Node(_) => Err("ask for a simulated device with the driver's layout: \
                                  `--device sim,profile=DRIVER`"
                .to_owned()),
        }
    }

    /// Takes the device for `count` cores from `core` on; `target` is the file's architecture.
    pub(super) fn open(&self, target: Arch, core: u16, count: u16, trace: bool) -> Result<Target, Error> {
        match self {
            Self::Sim(spec) => Ok(Target::sim(spec.config(target), trace)),
            Self::Node(node) => Target::node(node, watch::watched(trace), target, core, count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceSpec, SimSpec, parse};
    use loader_core::arch::Arch;
    use neuron_drivers::sim::{Content, Profile};

    fn sim(text: &str) -> SimSpec {
        parse(text).unwrap().simulated().unwrap()
    }

    #[test]
    fn descriptions() {
        let spec = sim("sim:mariana:4,store=digest,profile=driver");
        assert_eq!((spec.arch, spec.cores), (Some(Arch::Mariana), Some(4)));
        assert_eq!((spec.content, spec.profile), (Content::Digest, Profile::Driver));
        assert_eq!(sim("sim").arch, None);
        assert_eq!(sim("sim,profile=TINY:64M,store=discard").profile, Profile::Tiny(64 << 20));
        assert_eq!(sim("sim,profile=tiny:4096").json(None)["channel_bytes"], 4096);
        for bad in ["sim,profile=TINY", "sim,profile=TINY:", "sim,profile=TINY:x", "sim,profile=FLAT:4096"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        for bad in ["", "gpu", "sim:v9", "sim:v3:x", "sim:v3:0", "sim,store=x", "sim,fast", "sim,profile=x"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_profile_bounds_cores_and_bytes() {
        for (most, beyond) in [("sunda:2", "sunda:3"), ("cayman:8", "cayman:9"), ("mariana:8", "v4:16")] {
            assert!(parse(&format!("sim:{most},profile=DRIVER")).is_ok(), "{most}");
            let error = parse(&format!("sim:{beyond},profile=driver")).unwrap_err();
            assert!(error.contains("of profile DRIVER has at most"), "{error}");
            for profile in ["FLAT", "FLAT_GUARD", "NO_ALIGN", "TINY:1G"] {
                assert!(parse(&format!("sim:{beyond},profile={profile}")).is_ok(), "{beyond} {profile}");
            }
        }
        // Which architecture it has the file says.
        let open = sim("sim::16,profile=DRIVER");
        assert!(
            open.fits(Arch::Sunda).unwrap_err().contains("a sunda device of profile DRIVER has at most 2")
        );
        assert!(open.fits(Arch::Cayman).is_err() && sim("sim::8,profile=DRIVER").fits(Arch::Mariana).is_ok());
        assert!(sim("sim::16").fits(Arch::Sunda).is_ok());
        // Without a number, as many as there are.
        for (text, arch, cores) in [
            ("sim,profile=DRIVER", Arch::Sunda, 2),
            ("sim:sunda,profile=DRIVER", Arch::Cayman, 2),
            ("sim,profile=DRIVER", Arch::Mariana, 8),
            ("sim", Arch::Sunda, 8),
        ] {
            assert_eq!(sim(text).json(Some(arch))["cores"], cores, "{text}");
        }
        let most = (64u64 << 30) - (16 << 20);
        assert_eq!(sim(&format!("sim,profile=TINY:{most}")).profile, Profile::Tiny(most));
        for beyond in [most + 1, 1 << 36, u64::MAX] {
            let error = parse(&format!("sim,profile=TINY:{beyond}")).unwrap_err();
            assert!(error.contains("at most 68702699520 bytes"), "{error}");
        }
    }

    #[test]
    fn nodes() {
        assert!(matches!(parse("/dev/neuron0"), Ok(DeviceSpec::Node(_))));
        assert!(parse("/dev/neuron0").unwrap().simulated().is_err());
        assert!(parse("/dev/neuron0,store=full").is_err());
    }
}
