//! `neffload devices`: the accelerators of this host and the driver they run under.

mod bus;

use crate::Answer;
use crate::output::{Align, Count, Document, Output, Paint, Table, verdict};
use crate::trouble::Trouble;
use clap::Args;
use loader_std::LoadError;
use neuron_drivers::neuron::{Found, Identity, Libc, Paths, Text, devices, driver_version, identify};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Arguments of `devices`.
#[derive(Args, Debug)]
pub(crate) struct DevicesArguments {
    /// Directory of the device nodes
    #[arg(long, value_name = "DIR", default_value = Paths::LINUX.device_dir, hide = true)]
    device_dir: String,
    /// The driver's class in sysfs
    #[arg(long, value_name = "DIR", default_value = Paths::LINUX.sysfs, hide = true)]
    sysfs: String,
    /// The driver's module in sysfs
    #[arg(long, value_name = "DIR", default_value = Paths::LINUX.module, hide = true)]
    module: String,
    /// The functions of the PCI bus in sysfs
    #[arg(long, value_name = "DIR", default_value = "/sys/bus/pci/devices", hide = true)]
    pci: PathBuf,
}

/// A device as its host and it itself describe it.
struct Described {
    path: String,
    found: Found,
    identity: Result<Identity, LoadError>,
}

/// Runs `devices`.
pub(crate) fn run(arguments: &DevicesArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let DevicesArguments { device_dir, sysfs, module, pci } = arguments;
    look_into(Path::new(device_dir))?;
    let paths = Paths { device_dir, sysfs, module };
    let driver = driver_version(&Libc, &paths);
    let describe = |found: Found| {
        let path = format!("{device_dir}/neuron{}", found.index);
        let identity = identify(Libc, &paths, found.index).map_err(LoadError::from);
        Described { path, found, identity }
    };
    let all: Vec<Described> = devices(&Libc, &paths).map(describe).collect();
    let driver = driver.as_ref().map(Text::as_str);
    let bus = bus::accelerators(pci);
    if output.json() {
        let mut document = Document::new("devices");
        document
            .set("driver", driver)
            .set("devices", all.iter().map(entry).collect::<Vec<Value>>())
            .set("pci", bus.iter().map(bus::OnBus::document).collect::<Vec<Value>>());
        output.document(&document)?;
    } else if all.is_empty() {
        output.line(nothing(driver, device_dir, bus.len()))?;
    } else {
        people(&all, driver, output)?;
    }
    let refused = all.iter().any(|device| device.identity.is_err());
    Ok(if refused { Answer::Refused } else { Answer::Done })
}

/// Whether nodes can be looked for at all: a folder that may not be entered hides them.
fn look_into(folder: &Path) -> Result<(), Trouble> {
    match fs::metadata(folder.join("neuron0")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Trouble::at(folder)(error)),
        _ => Ok(()),
    }
}

/// A text from sysfs for people: whatever it is, it does not steer their terminal.
fn plain(text: &str) -> String {
    text.escape_debug().to_string()
}

/// One device of the document.
fn entry(device: &Described) -> Value {
    let Described { path, found, identity } = device;
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.as_str().to_owned());
    let known = identity.as_ref().ok();
    json!({
        "index": found.index,
        "path": path,
        "arch": known.map(|known| known.arch.name()),
        "cores": cores(device),
        "generation": text(&found.generation),
        "instance": text(&found.instance),
        "serial": text(&found.serial),
        "revision": known.map(|known| known.revision),
        "features": known.map(|known| format!("{:#x}", known.features)),
        "interfaces": known.map(|known| json!({"min": known.interfaces.0, "max": known.interfaces.1})),
        "physical_cores": known.map(|known| &known.logical[..usize::from(known.cores())]),
        "error": identity.as_ref().err().map(|error| verdict::refused(error, error)),
    })
}

/// Physical cores: what sysfs counts, else what the architecture has.
fn cores(device: &Described) -> Option<u32> {
    let known = device.identity.as_ref().ok();
    device.found.cores.or_else(|| known.map(|known| u32::from(known.cores())))
}

/// What there is when there is no node.
fn nothing(driver: Option<&str>, folder: &str, on_bus: usize) -> String {
    let driver = match driver {
        Some(version) => format!("driver {} is loaded", plain(version)),
        None => "no driver is loaded".to_owned(),
    };
    match on_bus {
        0 => format!("no device: there is no {folder}/neuron0, and {driver}"),
        count => format!(
            "no device: there is no {folder}/neuron0, and {driver}, but the PCI bus has {}",
            Count(count as u64, "accelerator")
        ),
    }
}

fn people(all: &[Described], driver: Option<&str>, output: &mut Output) -> Result<(), Trouble> {
    let style = output.style();
    let version =
        driver.map_or_else(|| "of unknown version".to_owned(), |text| style.paint(Paint::Bold, plain(text)));
    output.line(format_args!("driver {version}"))?;
    let columns = [
        ("  device", Align::Left),
        ("arch", Align::Left),
        ("cores", Align::Right),
        ("instance", Align::Left),
        ("interfaces", Align::Left),
        ("features", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for device in all {
        let dash = || "-".to_owned();
        let known = device.identity.as_ref().ok();
        let instance = device.found.instance.as_ref().map(|text| plain(text.as_str()));
        table.row([
            format!("  {}", device.path),
            known.map_or_else(dash, |known| known.arch.name().to_owned()),
            cores(device).map_or_else(dash, |cores| cores.to_string()),
            instance.unwrap_or_else(dash),
            known.map_or_else(dash, |known| format!("{} to {}", known.interfaces.0, known.interfaces.1)),
            known.map_or_else(dash, |known| format!("{:#x}", known.features)),
        ]);
    }
    output.table(&table)?;
    for error in all.iter().filter_map(|device| device.identity.as_ref().err()) {
        output.line(format_args!("  {}", verdict::refusal_line(error, error, style)))?;
    }
    Ok(())
}
