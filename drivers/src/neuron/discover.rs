//! Which devices this host has (driver-abi.md §2.1, §10.1, §13.1).

use super::sys::{Access, Sys};
use crate::abi::value::MAX_DEVICES;
use core::ffi::CStr;
use core::fmt;
use core::str;

/// Longest path that is made.
const PATH: usize = 256;

/// Where the kernel shows its devices.
#[derive(Clone, Copy, Debug)]
pub struct Paths<'p> {
    /// Directory of the device nodes.
    pub device_dir: &'p str,
    /// The driver's class in sysfs.
    pub sysfs: &'p str,
    /// The kernel module in sysfs.
    pub module: &'p str,
}

impl Paths<'static> {
    /// Where Linux has them.
    pub const LINUX: Self =
        Self { device_dir: "/dev", sysfs: "/sys/class/neuron_device", module: "/sys/module/neuron" };
}

/// A path with its final zero byte.
pub(super) struct Path {
    bytes: [u8; PATH],
    len: usize,
}

/// A number in tens.
fn digits(number: u32, room: &mut [u8; 10]) -> &[u8] {
    let (mut rest, mut first) = (number, room.len());
    for (at, slot) in room.iter_mut().enumerate().rev() {
        (*slot, rest, first) = (b'0' + (rest % 10) as u8, rest / 10, at);
        if rest == 0 {
            break;
        }
    }
    room.get(first..).unwrap_or(&[])
}

impl Path {
    /// A path of these parts; `None` if it is too long.
    fn new(parts: &[&[u8]]) -> Option<Self> {
        let mut path = Self { bytes: [0; PATH], len: 0 };
        for part in parts {
            let end = path.len + part.len();
            // The last byte stays zero.
            let room = path.bytes[..PATH - 1].get_mut(path.len..end)?;
            crate::bytes::copy(room, part);
            path.len = end;
        }
        Some(path)
    }

    pub(super) fn as_c(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }

    pub(super) fn text(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or(&[])
    }
}

impl Paths<'_> {
    pub(super) fn node(&self, index: u32) -> Option<Path> {
        Path::new(&[self.device_dir.as_bytes(), b"/neuron", digits(index, &mut [0; 10])])
    }
}

/// A short text from sysfs.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; 32],
    len: usize,
}

impl Text {
    /// The text without the line's end; empty if it is no text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|text| str::from_utf8(text).ok()).unwrap_or("").trim_end()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// The first bytes of a small file; `None` if it is absent or unreadable, which is never an error here.
fn small_file(sys: &impl Sys, path: Option<Path>) -> Option<Text> {
    let fd = sys.open(path?.as_c(), Access::Read).ok()?;
    let mut text = Text { bytes: [0; 32], len: 0 };
    let got = sys.read(fd, &mut text.bytes);
    sys.close(fd);
    text.len = got.ok()?;
    Some(text)
}

/// The version of the loaded driver.
pub fn driver_version(sys: &impl Sys, paths: &Paths<'_>) -> Option<Text> {
    small_file(sys, Path::new(&[paths.module.as_bytes(), b"/version"]))
}

/// What a host says about a device without opening it.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Index of the node.
    pub index: u32,
    /// `core_count`, where it can be read.
    pub cores: Option<u32>,
    /// `info/architecture/arch_type`, such as NDv3.
    pub generation: Option<Text>,
    /// `info/architecture/instance_type`, such as trn2.
    pub instance: Option<Text>,
    /// `info/serial_number`.
    pub serial: Option<Text>,
}

/// Devices by index. Nodes are looked at, not opened.
pub fn devices<'d>(sys: &'d impl Sys, paths: &'d Paths<'d>) -> impl Iterator<Item = Found> + 'd {
    let exists = move |index: &u32| paths.node(*index).is_some_and(|path| sys.exists(path.as_c()));
    let read = move |index: u32, file: &[u8]| {
        let number = &mut [0; 10];
        let parts: [&[u8]; 5] = [paths.sysfs.as_bytes(), b"/neuron", digits(index, number), b"/", file];
        small_file(sys, Path::new(&parts))
    };
    (0..MAX_DEVICES).filter(exists).map(move |index| Found {
        index,
        cores: read(index, b"core_count").and_then(|text| text.as_str().parse().ok()),
        generation: read(index, b"info/architecture/arch_type"),
        instance: read(index, b"info/architecture/instance_type"),
        serial: read(index, b"info/serial_number"),
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{Paths, digits};
    use std::string::ToString;

    #[test]
    fn numbers_a_node() {
        for number in [0, 9, 10, 31, u32::MAX] {
            assert_eq!(digits(number, &mut [0; 10]), number.to_string().as_bytes());
        }
        assert_eq!(Paths::LINUX.node(12).unwrap().text(), b"/dev/neuron12");
        let long = "d".repeat(300);
        assert!(Paths { device_dir: &long, ..Paths::LINUX }.node(0).is_none());
    }
}
