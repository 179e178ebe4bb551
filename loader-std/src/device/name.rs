//! What a device is called.

use loader_core::arch::Arch;
use loader_core::error::Error;
use neuron_drivers::abi::value::MAX_DEVICES;
use neuron_drivers::neuron::{Identity, Paths, Sys, identify};
use std::fmt;

/// Most cores of a simulated device: more than any real one has.
pub const MOST_CORES: u16 = 128;

/// A device by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// `sim[:ARCH[:CORES]]`.
    Sim(Sim),
    /// A path such as `/dev/neuron0`.
    Node(Node),
}

/// A simulated device, as far as its name says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sim {
    /// Its architecture.
    pub arch: Option<Arch>,
    /// Its physical cores, 1 to [`MOST_CORES`].
    pub cores: Option<u16>,
}

impl Name {
    /// Reads a name.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence about it.
    ///
    /// ```
    /// use loader_std::device::Name;
    ///
    /// assert!(matches!(Name::parse("sim:cayman:8"), Ok(Name::Sim(_))));
    /// assert!(matches!(Name::parse("/dev/neuron0"), Ok(Name::Node(_))));
    /// assert_eq!(Name::parse("sim:cayman:0").unwrap_err(), "`0` is not a number of cores from 1 to 128");
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        match (Node::parse(text), Node::split(text)) {
            (Some(node), _) => Ok(Self::Node(node)),
            (None, Some(_)) => {
                Err(format!("`{text}`: the highest number of a device is {}", MAX_DEVICES - 1))
            }
            (None, None) => Sim::parse(text).map(Self::Sim),
        }
    }
}

impl Sim {
    fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':');
        if parts.next() != Some("sim") {
            return Err(format!("`{text}` is neither `sim…` nor a path that ends in `/neuronN`"));
        }
        let mut sim = Self::default();
        if let Some(name) = parts.next().filter(|name| !name.is_empty()) {
            let arch = Arch::by_name(name);
            sim.arch = Some(arch.ok_or_else(|| format!("`{name}` is none of sunda, cayman, mariana"))?);
        }
        if let Some(cores) = parts.next() {
            let number = cores.parse().ok().filter(|number| (1..=MOST_CORES).contains(number));
            let wrong = || format!("`{cores}` is not a number of cores from 1 to {MOST_CORES}");
            sim.cores = Some(number.ok_or_else(wrong)?);
        }
        match parts.next() {
            Some(more) => Err(format!("nothing may follow the number of cores, and `{more}` does")),
            None => Ok(sim),
        }
    }
}

/// A node of the kernel driver by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    folder: String,
    pub(super) index: u32,
}

impl Node {
    /// Takes a path apart; `None` if it is not one of a device node.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (folder, number) = Self::split(text)?;
        let index = number.parse().ok().filter(|index| *index < MAX_DEVICES)?;
        Some(Self { folder: folder.to_owned(), index })
    }

    /// Folder and number of a path that ends in `/neuronN`, whether or not there is such a device.
    fn split(text: &str) -> Option<(&str, &str)> {
        let (folder, name) = text.rsplit_once('/')?;
        let number = name.strip_prefix("neuron")?;
        let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        plain.then_some((folder, number))
    }

    /// Where it and what belongs to it lies.
    #[must_use]
    pub fn paths(&self) -> Paths<'_> {
        Paths { device_dir: &self.folder, ..Paths::LINUX }
    }

    /// Asks it what it is, without taking it.
    ///
    /// # Errors
    /// The driver's refusal.
    pub fn identify<S: Sys>(&self, sys: S) -> Result<Identity, Error> {
        identify(sys, &self.paths(), self.index)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/neuron{}", self.folder, self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, Node, Sim};
    use loader_core::arch::Arch;

    #[test]
    fn simulated_devices() {
        let sim = |arch, cores| Ok(Name::Sim(Sim { arch, cores }));
        assert_eq!(Name::parse("sim"), sim(None, None));
        assert_eq!(Name::parse("sim::4"), sim(None, Some(4)));
        assert_eq!(Name::parse("sim:v3"), sim(Some(Arch::Cayman), None));
        assert_eq!(Name::parse("sim:mariana:128"), sim(Some(Arch::Mariana), Some(128)));
        for bad in
            ["", "gpu", "sim:v9", "sim:v3:x", "sim:v3:", "sim:v3:0", "sim:v3:129", "sim:v3:-1", "sim:v3:1:1"]
        {
            assert!(Name::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn paths_of_nodes() {
        for good in ["/dev/neuron0", "/tmp/some where/neuron63", "./neuron1"] {
            assert_eq!(Node::parse(good).unwrap().to_string(), good);
        }
        for bad in ["sim", "neuron0", "/dev/neuron", "/dev/neuronx", "/dev/neuron-1", "/dev/neuron+1"] {
            assert_eq!(Node::parse(bad), None, "{bad}");
        }
        assert_eq!((Node::parse("/dev/neuron64"), Node::parse("/dev/null")), (None, None));
        // A number too high is said to be one.
        for high in ["/dev/neuron64", "/dev/neuron99", "/dev/neuron99999999999999999999"] {
            let wrong = format!("`{high}`: the highest number of a device is 63");
            assert_eq!(Name::parse(high), Err(wrong));
        }
    }
}
