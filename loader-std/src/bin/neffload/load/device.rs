//! `--device`.

use crate::inspect::arch;
use loader_core::arch::Arch;
use neuron_drivers::sim::{Config, Content, Growing, HostSim, Profile};
use serde_json::{Value, json};

/// A simulated device as the command line describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceSpec {
    /// Architecture; `None` is the file's target.
    pub(super) arch: Option<Arch>,
    cores: Option<u16>,
    content: Content,
    profile: Profile,
}

/// Physical cores of the simulated device unless the command line says otherwise.
const CORES: u16 = 8;

/// Reads `sim[:ARCH[:CORES]][,store=…][,profile=…]`.
pub(super) fn parse(text: &str) -> Result<DeviceSpec, String> {
    let mut parts = text.split(',');
    let mut place = parts.next().unwrap_or_default().split(':');
    if place.next() != Some("sim") {
        return Err(format!("`{text}`: this build drives `sim` devices only"));
    }
    let mut spec = DeviceSpec { arch: None, cores: None, content: Content::Full, profile: Profile::Flat };
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
    [Profile::Flat, Profile::FlatGuard, Profile::Driver, Profile::NoAlign]
        .into_iter()
        .find(|profile| profile.name().eq_ignore_ascii_case(name))
        .ok_or_else(|| format!("`{name}` is none of FLAT, FLAT_GUARD, DRIVER, NO_ALIGN"))
}

impl DeviceSpec {
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
        json!({"kind": "sim", "arch": arch, "cores": config.cores, "store": config.content.name()})
    }

    /// The device's profile by name.
    pub(crate) const fn profile(&self) -> &'static str {
        self.profile.name()
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use loader_core::arch::Arch;
    use neuron_drivers::sim::{Content, Profile};

    #[test]
    fn descriptions() {
        let spec = parse("sim:mariana:4,store=digest,profile=driver").unwrap();
        assert_eq!((spec.arch, spec.cores), (Some(Arch::Mariana), Some(4)));
        assert_eq!((spec.content, spec.profile), (Content::Digest, Profile::Driver));
        assert_eq!(parse("sim").unwrap().arch, None);
        for bad in ["", "gpu", "sim:v9", "sim:v3:x", "sim:v3:0", "sim,store=x", "sim,fast", "sim,profile=x"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
