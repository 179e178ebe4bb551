//! Paths that the harness answers itself: device nodes and the driver's files in sysfs.

use super::host::{Host, Options};
use crate::map;
use crate::simdrv::Config;
use loader_core::arch::Arch;
use std::borrow::Cow;
use std::format;
use std::string::String;
use std::vec::Vec;

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

/// The number in a name such as `neuron12`: as the kernel writes it, without sign or leading zero.
fn index(name: &str) -> Option<u32> {
    let number = name.strip_prefix("neuron")?;
    let plain = number == "0" || !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|_| plain)
}

/// An absolute path without empty parts, `.` and `..`. Links are not followed.
pub(super) fn plain(path: &str) -> Cow<'_, str> {
    let clean = !path.contains("//") && !path.contains("/.") && (path.len() == 1 || !path.ends_with('/'));
    if clean {
        return Cow::Borrowed(path);
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let mut plain = String::new();
    for part in parts {
        plain.push('/');
        plain.push_str(part);
    }
    Cow::Owned(plain)
}

/// The process (`None`: the caller's) and the number in a name of an open descriptor.
pub(super) fn descriptor(path: &str) -> Option<(Option<u32>, i32)> {
    let (owner, number) = match path.strip_prefix("/dev/fd/") {
        Some(number) => ("self", number),
        None => path.strip_prefix("/proc/")?.rsplit_once("/fd/")?,
    };
    // Also `PID/task/TID`.
    let owner = owner.rsplit('/').next()?;
    let owner = if matches!(owner, "self" | "thread-self") { None } else { Some(owner.parse().ok()?) };
    Some((owner, number.parse().ok()?))
}

/// What an absolute `path` names here; `None` if it is not the harness's concern.
pub(super) fn look_up(path: &str, options: &Options, host: &Host) -> Option<Known> {
    let config = host.driver.config();
    if let Some(rest) = below(path, &options.device_dir)
        && let Some(index) = index(rest)
    {
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
    let Some(index) = index(device).filter(|index| *index < config.devices) else {
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

#[cfg(test)]
mod tests {
    use super::{descriptor, index, plain};

    #[test]
    fn names_of_descriptors() {
        assert_eq!(descriptor("/proc/self/fd/7"), Some((None, 7)));
        assert_eq!(descriptor("/dev/fd/0"), Some((None, 0)));
        assert_eq!(descriptor("/proc/thread-self/fd/3"), Some((None, 3)));
        assert_eq!(descriptor("/proc/12/fd/3"), Some((Some(12), 3)));
        assert_eq!(descriptor("/proc/12/task/14/fd/3"), Some((Some(14), 3)));
        for other in ["/proc/self/fd", "/proc/self/fd/x", "/proc/self/fdinfo/3", "/proc/x/fd/3", "/dev/fd/"] {
            assert_eq!(descriptor(other), None, "{other}");
        }
    }

    #[test]
    fn names_of_nodes() {
        assert_eq!((index("neuron0"), index("neuron12")), (Some(0), Some(12)));
        for bad in ["neuron", "neuron00", "neuron+0", "neuron-1", "neuron01", "neuron 1", "neuron1/", "zero0"]
        {
            assert_eq!(index(bad), None, "{bad}");
        }
    }

    #[test]
    fn plain_paths() {
        for path in
            ["/dev/neuron0", "//dev/neuron0", "/dev/../dev/./neuron0", "/../dev//neuron0", "/dev/neuron0/"]
        {
            assert_eq!(plain(path), "/dev/neuron0", "{path}");
        }
        assert_eq!(plain("/"), "/");
    }
}
