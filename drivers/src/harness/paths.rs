//! Paths that the harness answers itself: device nodes and the driver's files in sysfs.

use super::host::{Host, Options};
use crate::map;
use crate::simdrv::Config;
use loader_core::arch::Arch;
use std::format;
use std::string::String;

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Device node of that index.
    Node(u32),
    /// A text file.
    Text(String),
    /// A directory that exists.
    Directory,
    /// A path below one of our directories that does not exist.
    Missing,
}

/// What `path` names here; `None` if it is not the harness's concern.
pub(super) fn look_up(path: &str, options: &Options, host: &Host) -> Option<Known> {
    let config = host.driver.config();
    if let Some(rest) = below(path, &options.device_dir)
        && let Some(number) = rest.strip_prefix("neuron")
    {
        let index: u32 = number.parse().ok()?;
        return Some(if index < config.devices { Known::Node(index) } else { Known::Missing });
    }
    if let Some(rest) = below(path, &options.module) {
        return Some(match rest {
            "version" => Known::Text(format!("{}\n", config.version.text())),
            "" => Known::Directory,
            _ => Known::Missing,
        });
    }
    let rest = below(path, &options.sysfs)?;
    Some(sysfs(rest, config, host))
}

fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// driver-abi.md §13.1.
fn sysfs(rest: &str, config: &Config, host: &Host) -> Known {
    let (device, file) = rest.split_once('/').unwrap_or((rest, ""));
    let index = device.strip_prefix("neuron").and_then(|number| number.parse::<u32>().ok());
    let Some(index) = index.filter(|index| *index < config.devices) else {
        return if rest.is_empty() { Known::Directory } else { Known::Missing };
    };
    let generation = if config.arch == Arch::Sunda { 2 } else { config.arch.number() };
    match file {
        "" => Known::Directory,
        // No newline: as the driver writes it.
        "core_count" => Known::Text(format!("{}", map::cores(config.arch))),
        "reset" => Known::Text(format!("{}\n", host.driver.device(index).state())),
        "info/serial_number" => Known::Text(format!("{:016x}\n", 0x5EED_0000u64 + u64::from(index))),
        "info/architecture/arch_type" => Known::Text(format!("NDv{generation}\n")),
        "info/architecture/instance_type" => {
            let first = map::instances(config.arch).split(',').next().unwrap_or("");
            Known::Text(format!("{first}\n"))
        }
        _ => Known::Missing,
    }
}
