//! Which devices this host has (driver-abi.md §2.1, §10.1, §13.1).

use super::sys::{Access, Sys};
use crate::abi::value::MAX_DEVICES;
use core::ffi::CStr;
use core::fmt::{self, Write};
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

impl Write for Path {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        // The last byte stays zero.
        let room = self.bytes[..PATH - 1].get_mut(self.len..end).ok_or(fmt::Error)?;
        crate::bytes::copy(room, text.as_bytes());
        self.len = end;
        Ok(())
    }
}

impl Path {
    /// Formats a path; `None` if it is too long.
    pub(super) fn new(arguments: fmt::Arguments<'_>) -> Option<Self> {
        let mut path = Self { bytes: [0; PATH], len: 0 };
        path.write_fmt(arguments).ok().map(|()| path)
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
        Path::new(format_args!("{}/neuron{index}", self.device_dir))
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
    small_file(sys, Path::new(format_args!("{}/version", paths.module)))
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
    let read = move |index: u32, file: &str| {
        small_file(sys, Path::new(format_args!("{}/neuron{index}/{file}", paths.sysfs)))
    };
    (0..MAX_DEVICES).filter(exists).map(move |index| Found {
        index,
        cores: read(index, "core_count").and_then(|text| text.as_str().parse().ok()),
        generation: read(index, "info/architecture/arch_type"),
        instance: read(index, "info/architecture/instance_type"),
        serial: read(index, "info/serial_number"),
    })
}
