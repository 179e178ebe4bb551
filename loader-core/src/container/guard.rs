//! S0: the checks of the runtime's `nrt_load` before anything is unpacked (container.md §6, §7.1).
//!
//! Each check is a function of its own; a host calls them in the order of [`enter`].

use super::header::{HEADER_BYTES, Header, HeaderView};
use super::text::Lossless;
use crate::error::{ContainerCode, Error, Stage};
use crate::policy::Policy;
use core::fmt;

/// `vnc_count` values that are accepted (container.md §6.1; which ones the reference takes is Open, Q1).
pub const VNC_COUNTS: [i32; 2] = [-1, 2];

/// State of a runtime process (container.md §6.2, Confirmed).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuntimeState {
    /// Never initialised, or closed completely.
    #[default]
    Start,
    /// Ready for loads.
    Init,
    /// A forked process.
    Child,
    /// Being closed.
    Closed,
}

impl RuntimeState {
    /// The runtime's name of the state.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "NRT_STATE_START",
            Self::Init => "NRT_STATE_INIT",
            Self::Child => "NRT_STATE_CHILD",
            Self::Closed => "NRT_STATE_CLOSED",
        }
    }

    /// Refuses every state but [`Self::Init`].
    ///
    /// # Errors
    /// C102 (status 13), C103 (14) or C104 (1).
    pub fn check(self) -> Result<(), Error> {
        let code = match self {
            Self::Init => return Ok(()),
            Self::Start => ContainerCode::NotInitialized,
            Self::Closed => ContainerCode::AlreadyClosed,
            Self::Child => ContainerCode::WrongState,
        };
        Err(refuse(code).name(self.name().as_bytes()))
    }
}

fn refuse(code: ContainerCode) -> Error {
    Error::new(Stage::Guard, code)
}

fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Check 1: the deprecated core count.
///
/// # Errors
/// C101 unless it is one of [`VNC_COUNTS`].
pub fn vnc_count(count: i32) -> Result<(), Error> {
    if VNC_COUNTS.contains(&count) { Ok(()) } else { Err(refuse(ContainerCode::VncCount)) }
}

/// Check 4 on a buffer: there is one, and it passes [`preflight`].
///
/// # Errors
/// C105 for no buffer, else as [`preflight`].
pub fn buffer(bytes: Option<&[u8]>) -> Result<Header, Error> {
    let bytes = bytes.ok_or_else(|| refuse(ContainerCode::NullBuffer))?;
    preflight(HeaderView::of(bytes), wide(bytes.len()))
}

/// Check 4: the file is longer than the header and than the header says the header is.
///
/// # Errors
/// C106 without a whole header, C107 if `header_size` is not below `size`.
pub fn preflight(view: Option<&HeaderView>, size: u64) -> Result<Header, Error> {
    whole(view, size).map(Header::parse)
}

/// The same of a header that is not read.
pub(super) fn whole(view: Option<&HeaderView>, size: u64) -> Result<&HeaderView, Error> {
    let short = || refuse(ContainerCode::TooShort).numbers(size, wide(HEADER_BYTES));
    let view = view.ok_or_else(short)?;
    below(view.header_size.get(), size).map(|()| view)
}

/// The last rule of the preflight, for a size that became known late.
///
/// # Errors
/// C107 if `header_size` is not below `size`.
pub fn header_size(header: &Header, size: u64) -> Result<(), Error> {
    below(header.header_size, size)
}

fn below(header_size: u64, size: u64) -> Result<(), Error> {
    if header_size < size {
        return Ok(());
    }
    Err(refuse(ContainerCode::HeaderSize).numbers(header_size, size).offset(8))
}

/// Check 5: a file that depends on the logical-core size was compiled for the host's.
///
/// # Errors
/// C108; its whole text, with the full model name, is [`LncMismatch`].
pub fn lnc(header: &Header, policy: &Policy) -> Result<(), Error> {
    let Some(host) = policy.lnc else { return Ok(()) };
    if !header.feature_bits.contains(super::Features::VNC) || header.lnc_size == host {
        return Ok(());
    }
    let error = refuse(ContainerCode::LncMismatch).name(header.name.as_bytes());
    Err(error.numbers(u64::from(host), u64::from(header.lnc_size)).offset(0x228))
}

/// The runtime's text for C108. An [`Error`] holds a shortened model name; this prints all of it.
#[derive(Clone, Copy, Debug)]
pub struct LncMismatch<'a> {
    /// Model name of the file.
    pub name: &'a [u8],
    /// Logical-core size of the host.
    pub host: u64,
    /// Logical-core size of the file.
    pub file: u64,
}

impl fmt::Display for LncMismatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, host, file } = *self;
        write!(
            f,
            "Mismatch detected between Runtime configuration and NEFF. Runtime currently configured \
             with `NEURON_LOGICAL_NC_CONFIG={host}` but NEFF {} was compiled with `--lnc={file}`. \
             To resolve, either recompile the NEFF with `--lnc={host}` or re-run with \
             `NEURON_LOGICAL_NC_CONFIG={file}`.",
            Lossless(name)
        )
    }
}

/// All checks of S0 that concern the caller and the file, in the reference's order.
///
/// # Errors
/// The first check that fails.
pub fn enter(
    count: i32,
    state: RuntimeState,
    bytes: Option<&[u8]>,
    policy: &Policy,
) -> Result<Header, Error> {
    vnc_count(count)?;
    state.check()?;
    let header = buffer(bytes)?;
    lnc(&header, policy)?;
    Ok(header)
}

/// Which logical cores are taken (check 6). A host keeps one, behind its lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    taken: u128,
    cores: u8,
}

/// A claimed core, to be given back to the [`Claims`] it came from.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a claim that is not released keeps its core"]
pub struct Claim {
    core: u8,
}

impl Claim {
    /// Index of the logical core.
    #[must_use]
    pub const fn core(&self) -> u8 {
        self.core
    }
}

impl Claims {
    /// `cores` free logical cores (at most 128).
    #[must_use]
    pub fn new(cores: u8) -> Self {
        Self { taken: 0, cores: cores.min(128) }
    }

    fn mask(core: u8) -> u128 {
        1u128.checked_shl(u32::from(core)).unwrap_or(0)
    }

    /// Takes core `index`, or for -1 the lowest free one.
    ///
    /// # Errors
    /// C109 or C111 (status 9, container.md §6.4, Open) if none is free, C110 if there is no such core.
    pub fn claim(&mut self, index: i32) -> Result<Claim, Error> {
        let core = match index {
            -1 => (0..self.cores).find(|&core| self.taken & Self::mask(core) == 0),
            _ => u8::try_from(index).ok().filter(|&core| core < self.cores),
        };
        let Some(core) = core else {
            let code = if index == -1 { ContainerCode::NoFreeCore } else { ContainerCode::CoreOutOfRange };
            let number = u64::from(if index == -1 { self.taken.count_ones() } else { index.unsigned_abs() });
            let sign: &[u8] = if index < -1 { b"-" } else { b"" };
            return Err(refuse(code).numbers(number, u64::from(self.cores)).name(sign));
        };
        if self.taken & Self::mask(core) != 0 {
            return Err(refuse(ContainerCode::CoreBusy).numbers(u64::from(core), 0));
        }
        self.taken |= Self::mask(core);
        Ok(Claim { core })
    }

    /// Gives a core back.
    pub fn release(&mut self, claim: Claim) {
        let Claim { core } = claim;
        self.taken &= !Self::mask(core);
    }

    /// Cores that are taken.
    #[must_use]
    pub const fn in_use(&self) -> u32 {
        self.taken.count_ones()
    }
}
