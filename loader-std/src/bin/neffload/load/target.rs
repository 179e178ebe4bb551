//! The device that a load goes to, and what the documents say of it.

use super::watch::Watched;
use crate::output::shown;
use loader_core::device::Device;
use loader_std::device::{Node, Taken};
use neuron_drivers::neuron::{Libc, driver_version};
use serde_json::{Value, json};

/// A simulated device, or one behind the kernel driver whose requests are counted.
pub(super) type Target = Taken<Watched>;

/// What a real device is, as in `load --json`; the command line says all about a simulated one.
pub(super) fn describe(target: &Target, node: Option<&Node>) -> Option<Value> {
    let Taken::Neuron(held) = target else { return None };
    let (identity, options) = (held.device.identity(), held.device.options());
    let driver = node.and_then(|node| driver_version(&Libc, &node.paths()));
    Some(json!({
        "kind": "neuron",
        "arch": identity.arch.name(),
        "cores": target.cores(),
        "path": node.map(Node::to_string),
        "driver": driver.map(|version| version.as_str().to_owned()),
        "features": format!("{:#x}", identity.features),
        "claimed": {"first": options.first_core, "count": options.cores},
    }))
}

/// The operations of a simulated device, one line each; a real one's were printed when they happened.
pub(super) fn print_operations(target: &Target) {
    if let Taken::Sim(sim) = target {
        sim.with(|state| state.events().iter().for_each(shown::complain));
    }
}
