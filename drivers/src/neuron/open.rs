//! From a path to a device that is ready (driver-abi.md §10.1, §10.2).

use super::block::{Blocks, Table};
use super::discover::Paths;
use super::fault::Fault;
use super::node::Node;
use super::sys::{Access, Fd, Sys};
use super::{Neuron, Options};
use crate::abi::errno::{EBUSY, EINTR, EINVAL, ENAMETOOLONG, ENOENT, ENOTSUPP, ENXIO};
use crate::abi::record::{
    CinitSet, CompatibleVersion, CrwlNcMap, CrwlNcMapExt, DeviceBasicInfo, DeviceDriverInfo, DeviceReady,
    DeviceReset, GetLogicalToPhysicalNcMap, PodStatus, PodStatusV2,
};
use crate::abi::request as req;
use crate::abi::value::cinit;
use crate::sim::Lock;
use loader_core::arch::Arch;
use loader_core::error::{DeviceCode, Error, Stage};

/// Runtime interface ids that this loader speaks: from ring queues on to the descriptor-generator fix (§7.1).
pub const INTERFACES: (u32, u32) = (5, 11);

/// Milliseconds after which a "started" is a peer's, not ours: the driver waits five seconds (§7.13).
const STALL: u64 = 4_500;

/// What the misc lane tells before anything is claimed.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// Architecture.
    pub arch: Arch,
    /// Board revision; 240 is an emulator, 255 QEMU.
    pub revision: u32,
    /// Feature bits; 0 for drivers that do not tell.
    pub features: u64,
    /// Least and greatest interface id that the driver accepts.
    pub interfaces: (u32, u32),
    /// Physical cores in logical order.
    pub logical: [u8; 8],
}

impl Identity {
    /// Physical cores of the device.
    #[must_use]
    pub const fn cores(&self) -> u16 {
        crate::map::cores(self.arch)
    }
}

fn error(code: DeviceCode) -> Error {
    Error::new(Stage::Guard, code)
}

/// The requests that are made here and can be refused, with their names. A program need not carry those of all others.
static NAMES: [(u32, &str); 10] = named([
    req::COMPATIBLE_VERSION,
    req::DEVICE_BASIC_INFO,
    req::GET_LOGICAL_TO_PHYSICAL_NC_MAP,
    req::POD_STATUS,
    req::POD_STATUS_V2,
    req::CRWL_NC_RANGE_MARK,
    req::CRWL_NC_RANGE_MARK_EXT0,
    req::NC_RESET,
    req::NC_RESET_READY,
    req::CINIT_SET_STATE,
]);

/// Requests with their names in the table, in which they all must be.
const fn named<const N: usize>(values: [u32; N]) -> [(u32, &'static str); N] {
    let mut named = [(0, ""); N];
    let (mut at, mut row) = (0, 0);
    while at < N {
        if req::TABLE[row].value == values[at] {
            named[at] = (values[at], req::TABLE[row].name);
            (at, row) = (at + 1, 0);
        } else {
            row += 1;
        }
    }
    named
}

/// A request that nobody expected to fail.
fn refused(fault: Fault) -> Error {
    let name = NAMES.iter().find(|(value, _)| *value == fault.request).map_or("", |(_, name)| name);
    match (fault.errno(), fault.positive()) {
        (Some(errno), _) => {
            error(DeviceCode::Driver).name(name.as_bytes()).numbers(u64::from(errno.unsigned_abs()), 0)
        }
        (None, number) => error(DeviceCode::Positive).numbers(u64::from(number.unwrap_or(0)), 0),
    }
}

fn not_opened(path: &[u8], errno: i32) -> Error {
    let code = match errno {
        ENOENT | ENXIO => DeviceCode::NoDevice,
        EINTR => DeviceCode::Interrupted,
        EINVAL => DeviceCode::DeviceDead,
        EBUSY => DeviceCode::DeviceCrowded,
        _ => DeviceCode::OpenFailed,
    };
    error(code).name(path).numbers(u64::from(errno.unsigned_abs()), 0)
}

impl<S: Sys> Node<S> {
    fn identity(&self) -> Result<Identity, Error> {
        let mut version = CompatibleVersion::default();
        self.call(req::COMPATIBLE_VERSION, &mut version).map_err(refused)?;
        let interfaces = (version.min.get(), version.max.get());
        if interfaces.0 > INTERFACES.1 || interfaces.1 < INTERFACES.0 {
            let (min, max) = interfaces;
            return Err(error(DeviceCode::DriverRange).numbers(u64::from(min), u64::from(max)));
        }
        let mut basic = DeviceBasicInfo::default();
        self.call(req::DEVICE_BASIC_INFO, &mut basic).map_err(refused)?;
        let number = basic.architecture.get();
        let arch = Arch::from_number(number)
            .ok_or_else(|| error(DeviceCode::UnknownDevice).numbers(u64::from(number), 0))?;
        let mut info = DeviceDriverInfo::default();
        // A driver that does not know the request has none of the features.
        let features = self.call(req::DRIVER_INFO_GET, &mut info).map_or(0, |()| info.feature_flags1.get());
        let logical = self.core_map(arch)?;
        Ok(Identity { arch, revision: basic.revision.get(), features, interfaces, logical })
    }

    /// Waits for a pod's election; a driver without pods is a host on its own.
    fn wait_for_pod(&self, patience: u32) -> Result<(), Error> {
        for _ in 0..patience.max(1) {
            let mut status = PodStatusV2::default();
            status.v1.sz.set(276);
            let mut asked = self.call(req::POD_STATUS_V2, &mut status);
            if asked.is_err_and(Fault::is_unknown) {
                let mut status = PodStatus::default();
                status.sz.set(268);
                asked = self.call(req::POD_STATUS, &mut status);
            }
            match asked {
                Err(fault) if fault.errno() == Some(EBUSY) => self.sys.pause(),
                Err(fault) if !fault.is_unknown() => return Err(refused(fault)),
                _ => return Ok(()),
            }
        }
        Err(error(DeviceCode::PodElection))
    }

    fn core_map(&self, arch: Arch) -> Result<[u8; 8], Error> {
        let identity = [0, 1, 2, 3, 4, 5, 6, 7];
        if arch == Arch::Sunda {
            return Ok(identity);
        }
        let mut entries = [0u32; 17];
        let mut raw = GetLogicalToPhysicalNcMap::default();
        raw.map.set(entries.as_mut_ptr() as u64);
        raw.max_map_entries.set(8);
        // SAFETY: the only address is that of `entries`: a count and eight pairs are 68 bytes, which it has.
        match unsafe { self.call_with(req::GET_LOGICAL_TO_PHYSICAL_NC_MAP, &mut raw) } {
            Ok(()) => {
                let mut logical = identity;
                let [_, pairs @ ..] = &entries;
                for (to, [_, physical]) in logical.iter_mut().zip(pairs.as_chunks::<2>().0) {
                    [*to, ..] = physical.to_le_bytes();
                }
                Ok(logical)
            }
            Err(fault) if matches!(fault.errno(), Some(ENOTSUPP | EINVAL)) => Ok(identity),
            Err(fault) => Err(refused(fault)),
        }
    }

    /// Claims `count` cores from `first` on, exactly these.
    pub(super) fn claim(&self, first: u16, count: u16) -> Result<(), Error> {
        let last = u32::from(first) + u32::from(count) - 1;
        let mut wide = CrwlNcMapExt::default();
        wide.nc_count.set(u32::from(count));
        wide.start_nc_index.set(u32::from(first));
        wide.end_nc_index.set(last);
        let mut asked = self.call(req::CRWL_NC_RANGE_MARK_EXT0, &mut wide);
        let mut longest = wide.max_nc_available.get();
        if asked.is_err_and(Fault::is_unknown) {
            let mut narrow = CrwlNcMap::default();
            narrow.nc_count.set(u32::from(count));
            narrow.start_nc_index.set(u32::from(first));
            narrow.end_nc_index.set(last);
            asked = self.call(req::CRWL_NC_RANGE_MARK, &mut narrow);
            longest = narrow.max_nc_available.get();
        }
        asked.map_err(|fault| match fault.errno() {
            Some(EBUSY) => error(DeviceCode::CoresBusy)
                .numbers(u64::from(first), u64::from(last))
                .third(u64::from(longest)),
            _ => refused(fault),
        })
    }

    /// Gives claimed cores back; failure is nobody's concern, because closing the descriptor does it too.
    pub(super) fn unclaim(&self, first: u16, count: u16) {
        let bits = ((1u64 << count.min(63)) - 1) << first.min(63);
        let mut wide = CrwlNcMapExt::default();
        wide.bitmap[0].set(bits);
        if self.call(req::CRWL_NC_RANGE_UNMARK_EXT0, &mut wide).is_err_and(Fault::is_unknown) {
            let mut narrow = CrwlNcMap::default();
            narrow.bitmap.set(bits);
            let _ = self.call(req::CRWL_NC_RANGE_UNMARK, &mut narrow);
        }
    }

    /// Resets cores and waits until it is done.
    fn reset(&self, nc_map: u32) -> Result<(), Error> {
        let mut raw = DeviceReset::default();
        raw.nc_map.set(nc_map);
        let mut asked = self.call(req::NC_RESET, &mut raw);
        if asked.is_err_and(|fault| fault.positive() == Some(1)) {
            // An earlier request of this process was never collected: its id is the process, as ours will be.
            self.reset_done(raw.request_id.get())?;
            asked = self.call(req::NC_RESET, &mut raw);
        }
        asked.map_err(refused)?;
        match self.reset_done(raw.request_id.get())? {
            0 => Ok(()),
            result if result == -EINTR => Err(error(DeviceCode::Interrupted)),
            result => Err(error(DeviceCode::ResetFailed).numbers(u64::from(result.unsigned_abs()), 0)),
        }
    }

    fn reset_done(&self, id: u32) -> Result<i32, Error> {
        let mut raw = DeviceReady::default();
        raw.request_id.set(id);
        self.call(req::NC_RESET_READY, &mut raw).map_err(refused)?;
        Ok(raw.result.get())
    }

    fn set_init(&self, core: u16, state: u32) -> Result<u32, Error> {
        let mut raw = CinitSet::default();
        raw.nc_id.set(u32::from(core));
        raw.state.set(state);
        self.call(req::CINIT_SET_STATE, &mut raw).map_err(refused)?;
        Ok(raw.new_state.get())
    }

    /// Takes a fresh core through its initialisation. One that is completed already was somebody else's.
    fn initialise(&self, core: u16) -> Result<(), Error> {
        let stuck = || error(DeviceCode::Initialiser).numbers(u64::from(core), 0);
        let asked = self.sys.milliseconds();
        let state = self.set_init(core, cinit::STARTED)?;
        // The elected initialiser and a waiter whose patience ended both see "started"; only the time differs.
        let stalled = self.sys.milliseconds().saturating_sub(asked) >= STALL;
        match state {
            cinit::COMPLETED => Ok(()),
            cinit::STARTED if !stalled => match self.set_init(core, cinit::COMPLETED)? {
                cinit::COMPLETED => Ok(()),
                _ => Err(stuck()),
            },
            _ => Err(stuck()),
        }
    }
}

/// Asks a device who it is, on the misc lane. Opening and closing that lane gives back every core that this
/// process has claimed: not for a process that has a [`Neuron`].
///
/// # Errors
/// D201, D202, D206, D207 or D212.
pub fn identify<S: Sys>(sys: S, paths: &Paths<'_>, index: u32) -> Result<Identity, Error> {
    let misc = open_lane(sys, paths, index, Access::Write)?;
    let identity = misc.identity();
    misc.close();
    identity
}

fn open_lane<S: Sys>(sys: S, paths: &Paths<'_>, index: u32, access: Access) -> Result<Node<S>, Error> {
    let path = paths.node(index).ok_or_else(|| not_opened(paths.device_dir.as_bytes(), ENAMETOOLONG))?;
    match sys.open(path.as_c(), access) {
        Ok(fd) => Ok(Node { sys, fd }),
        Err(errno) => Err(not_opened(path.text(), errno)),
    }
}

impl<S: Sys + Copy, B: Blocks, L: Lock<Table<B>>> Neuron<S, B, L> {
    /// Opens device `index`: version check, claim, attach, reset, initialisation. A process has one device
    /// open in this way at a time, because closing any misc descriptor gives back all its cores (§2.2).
    ///
    /// # Errors
    /// D2xx; nothing is held then.
    pub fn open(sys: S, paths: &Paths<'_>, index: u32, options: Options, blocks: B) -> Result<Self, Error> {
        let misc = open_lane(sys, paths, index, Access::Write)?;
        let opened = Self::claimed(&misc, options).and_then(|(identity, options)| {
            let dev = open_lane(sys, paths, index, Access::ReadWrite)?;
            match Self::readied(&dev, options) {
                Ok(()) => Ok((dev, identity, options)),
                Err(error) => {
                    dev.close();
                    Err(error)
                }
            }
        });
        match opened {
            Ok((dev, identity, options)) => Ok(Self::assemble(dev, Some(misc), identity, options, blocks)),
            Err(error) => {
                // Closing the lane gives the cores back.
                misc.close();
                Err(error)
            }
        }
    }

    /// Uses a descriptor that somebody opened read-write, and that nobody else uses or duplicated. Cores are
    /// claimed through it only if `options.claim` says so, which leaves them claimed when the process ends.
    /// The descriptor is closed with the device.
    ///
    /// # Errors
    /// D2xx; the descriptor is closed then.
    pub fn from_fd(sys: S, fd: Fd, options: Options, blocks: B) -> Result<Self, Error> {
        let dev = Node { sys, fd };
        let opened = Self::claimed(&dev, options)
            .and_then(|(identity, options)| Self::readied(&dev, options).map(|()| (identity, options)));
        match opened {
            Ok((identity, options)) => Ok(Self::assemble(dev, None, identity, options, blocks)),
            Err(error) => {
                if options.claim {
                    dev.unclaim(options.first_core, options.cores);
                }
                dev.close();
                Err(error)
            }
        }
    }

    /// Steps 3 to 7. Gives the options with the device's real core count.
    fn claimed(node: &Node<S>, options: Options) -> Result<(Identity, Options), Error> {
        let identity = node.identity()?;
        let all = crate::map::cores(identity.arch);
        let left = all.saturating_sub(options.first_core);
        let cores = if options.cores == 0 { left } else { options.cores };
        if cores == 0 || cores > left {
            let last = u64::from(options.first_core) + u64::from(cores);
            let busy =
                error(DeviceCode::CoresBusy).numbers(u64::from(options.first_core), last.saturating_sub(1));
            return Err(busy.third(u64::from(left)));
        }
        if identity.arch != Arch::Sunda {
            node.wait_for_pod(options.patience)?;
        }
        let options = Options { cores, ..options };
        if options.claim {
            node.claim(options.first_core, cores)?;
        }
        Ok((identity, options))
    }

    /// Steps 10, 11, 13 and 20.
    fn readied(dev: &Node<S>, options: Options) -> Result<(), Error> {
        let cores = options.first_core..options.first_core + options.cores;
        if options.reset {
            dev.reset(cores.clone().fold(0, |map, core| map | 1 << core))?;
        }
        if options.initialise {
            cores.into_iter().try_for_each(|core| dev.initialise(core))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::NAMES;
    use crate::abi::request::Request;

    #[test]
    fn names_are_those_of_the_table() {
        for (value, name) in NAMES {
            assert_eq!(Request::name_of(value), Some(name));
        }
    }
}
