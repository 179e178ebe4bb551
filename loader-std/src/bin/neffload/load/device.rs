//! `--device`.

use super::target::{Node, Target};
use crate::arguments::number;
use crate::inspect::arch;
use loader_core::arch::Arch;
use loader_core::error::Error;
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
    match Node::parse(text) {
        Some(node) => Ok(DeviceSpec::Node(node)),
        None => simulated(text).map(DeviceSpec::Sim),
    }
}

fn simulated(text: &str) -> Result<SimSpec, String> {
    let mut parts = text.split(',');
    let mut place = parts.next().unwrap_or_default().split(':');
    if place.next() != Some("sim") {
        return Err(format!("`{text}` is neither `sim…` nor a path that ends in `/neuronN`"));
    }
    let mut spec = SimSpec { arch: None, cores: None, content: Content::Full, profile: Profile::Flat };
    if let Some(name) = place.next().filter(|name| !name.is_empty()) {
        spec.arch = Some(arch(name)?);
    }
    if let Some(cores) = place.next() {
        let number = cores.parse().ok().filter(|&number| number > 0);
        spec.cores = Some(number.ok_or_else(|| format!("`{cores}` is not a number of cores"))?);
    }
    for part in parts {
        match part.split_once('=') {
            Some(("store", store)) => spec.content = content(store)?,
            Some(("profile", name)) => spec.profile = profile(name)?,
            _ => return Err(format!("`{part}`: expected `store=…` or `profile=…`")),
        }
    }
    Ok(spec)
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
        return number(bytes).map(Profile::Tiny);
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

    /// The device as it will be for a file of that architecture.
    fn config(&self, target: Arch) -> Config {
        Config {
            cores: self.cores.unwrap_or(CORES),
            profile: self.profile,
            content: self.content,
            ..Config::flat(self.arch.unwrap_or(target))
        }
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

    /// The device's profile by name. The kernel driver's way is the simulator's `DRIVER`.
    pub(crate) const fn profile(&self) -> &'static str {
        match self {
            Self::Sim(spec) => spec.profile(),
            Self::Node(_) => Profile::Driver.name(),
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
            Self::Sim(spec) => Ok(Target::Sim(Box::new(spec.open(target, trace)))),
            Self::Node(node) => {
                node.open(target, core, count, trace).map(|held| Target::Neuron(Box::new(held)))
            }
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
    fn nodes() {
        let name = |text: &str| match parse(text) {
            Ok(DeviceSpec::Node(node)) => node.to_string(),
            other => format!("{other:?}"),
        };
        for good in ["/dev/neuron0", "/tmp/some where/neuron63", "./neuron1"] {
            assert_eq!(name(good), good);
        }
        for bad in
            ["neuron0", "/dev/neuron", "/dev/neuronx", "/dev/neuron-1", "/dev/neuron+1", "/dev/neuron64"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(parse("/dev/neuron0").unwrap().simulated().is_err());
    }
}
