//! What happened: one entry per event (driver-abi.md §17.7).

use crate::abi::request::Request;
use alloc::string::String;
use core::fmt;

/// The event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `open` of a device with an access mode.
    Open {
        /// Device index.
        device: u32,
        /// Misc lane.
        misc: bool,
    },
    /// A descriptor number was closed.
    Flush,
    /// The last reference went.
    Release,
    /// A request.
    Ioctl {
        /// Its value.
        request: u32,
        /// Decoded inputs and outputs.
        detail: String,
    },
    /// A mapping.
    Mmap {
        /// Offset asked for.
        offset: u64,
        /// Bytes asked for.
        length: u64,
    },
    /// A mapping went.
    Munmap {
        /// Bytes.
        length: u64,
    },
    /// The process ended.
    Exit,
}

/// One line of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Counts events from 0.
    pub sequence: u64,
    /// Process.
    pub tgid: u32,
    /// Thread.
    pub tid: u32,
    /// Open file, 0 for none.
    pub open: u32,
    /// What.
    pub kind: Kind,
    /// Raw result.
    pub result: i64,
    /// A fault was injected.
    pub injected: bool,
}

impl Entry {
    /// The name of a request, or of the event.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match &self.kind {
            Kind::Open { misc: true, .. } => "open(misc)",
            Kind::Open { .. } => "open",
            Kind::Flush => "close",
            Kind::Release => "release",
            Kind::Ioctl { request, .. } => Request::name_of(*request).unwrap_or("UNKNOWN"),
            Kind::Mmap { .. } => "mmap",
            Kind::Munmap { .. } => "munmap",
            Kind::Exit => "exit",
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.name())?;
        match &self.kind {
            Kind::Open { device, .. } => write!(f, "neuron{device} ")?,
            Kind::Ioctl { detail, .. } if !detail.is_empty() => write!(f, "{detail} ")?,
            Kind::Mmap { offset, length } => write!(f, "offset={offset:#x} length={length} ")?,
            Kind::Munmap { length } => write!(f, "length={length} ")?,
            _ => {}
        }
        match self.result {
            0 => write!(f, "= 0")?,
            raw if raw < 0 => write!(f, "= errno {}", -raw)?,
            raw => write!(f, "= +{raw}")?,
        }
        if self.injected { f.write_str(" (injected)") } else { Ok(()) }
    }
}
