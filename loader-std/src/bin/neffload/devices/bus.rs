//! Accelerators on the PCI bus, which are there without a driver too.

use loader_core::arch::Arch;
use neuron_drivers::map::{PCI_VENDOR, pci_ids};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A function of the bus that is an accelerator.
#[derive(Debug)]
pub(super) struct OnBus {
    address: String,
    device_id: u16,
    arch: Arch,
}

/// The accelerators below `root`, which has a folder for every function, by their addresses.
pub(super) fn accelerators(root: &Path) -> Vec<OnBus> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut found: Vec<OnBus> = entries.filter_map(|entry| function(&entry.path())).collect();
    found.sort_by(|a, b| a.address.cmp(&b.address));
    found
}

fn function(folder: &Path) -> Option<OnBus> {
    let vendor = number(&folder.join("vendor"))?;
    let device_id = number(&folder.join("device"))?;
    let arch = Arch::ALL.into_iter().find(|arch| pci_ids(*arch).contains(&device_id))?;
    let address = folder.file_name()?.to_string_lossy().into_owned();
    (vendor == PCI_VENDOR).then_some(OnBus { address, device_id, arch })
}

/// A file that holds one number such as `0x1d0f`.
fn number(path: &Path) -> Option<u16> {
    let text = fs::read_to_string(path).ok()?;
    u16::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

impl OnBus {
    pub(super) fn document(&self) -> Value {
        let Self { address, device_id, arch } = self;
        json!({"address": address, "device_id": format!("{device_id:#06x}"), "arch": arch.name()})
    }
}
