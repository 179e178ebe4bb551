//! What the cases run on.

use crate::real;
use loader_core::arch::Arch;
use neuron_drivers::abi::record::{
    CrwlNcMapExt, DmaQueueInit, MemAllocV2MemType64, MemBufCopy64, MemFree, MemGetPa, Record,
};
use neuron_drivers::abi::request as req;
use neuron_drivers::harness::{Client, FileMemory, Host, Mount, Options, Scratch, Shared, inside};
use neuron_drivers::neuron::{Access, Errno, Fd};
use neuron_drivers::simdrv::{Config, Driver, Version, What};
use std::io::Write as _;

/// Scratch memory: arguments at 0, results at [`OUT`], buffers from [`BUFFER`] to the end.
const SCRATCH: usize = 2 << 20;
/// Where results go.
pub(crate) const OUT: usize = 0x8000;
/// Where buffers begin.
pub(crate) const BUFFER: usize = 0x1_0000;
/// An address that nobody can access.
pub(crate) const NOWHERE: u64 = 8;

/// One process on a simulated host, or on this one.
pub(crate) struct Rig {
    /// The simulated host; a real one cannot be looked into.
    pub(crate) shared: Option<Shared>,
    /// The device.
    pub(crate) index: u32,
    pub(crate) options: Options,
    pub(crate) client: Client,
    pub(crate) tgid: u32,
}

/// An allocation with the fields that cases vary.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) size: u64,
    pub(crate) align: u64,
    pub(crate) host: bool,
    pub(crate) channel: u32,
    pub(crate) nc: u32,
    pub(crate) kind: u32,
}

/// Device memory on channel 0 for core 0, type 9.
pub(crate) const DEVICE: Ask = Ask { size: 4096, align: 0, host: false, channel: 0, nc: 0, kind: 9 };
/// Host memory.
pub(crate) const HOST: Ask = Ask { size: 4096, align: 0, host: true, channel: 0, nc: 0, kind: 2 };

/// A simulated host with what a client of it needs.
fn prepared(config: Config, options: &Options) -> (Shared, Scratch, Options) {
    let (scratch, options) = Client::prepare(SCRATCH, options).unwrap();
    (Shared::new(config).unwrap(), scratch, options)
}

impl Rig {
    fn simulated(shared: &Shared, options: &Options, client: Client) -> Self {
        let (shared, options, tgid) = (Some(shared.clone()), options.clone(), std::process::id());
        Self { shared, index: 0, options, client, tgid }
    }

    /// A real device.
    pub(crate) fn real(folder: &str, index: u32) -> Self {
        let (scratch, options) = Client::prepare(SCRATCH, &Options::default()).unwrap();
        let client = Client::real(folder, scratch);
        Self { shared: None, index, options, client, tgid: std::process::id() }
    }
}

/// Runs a case on both doors with the given host; or on the device that is there, if it is like that host.
pub(crate) fn case_on(config: Config, options: &Options, body: impl Fn(&Rig) + Sync) {
    if let Some(device) = real::device() {
        return real::case_on(&device, &config, options, body);
    }
    let (shared, scratch, fenced) = prepared(config, options);
    let client = Client::direct(&shared, &fenced, std::process::id(), scratch);
    body(&Rig::simulated(&shared, &fenced, client));

    let (shared, scratch, fenced) = prepared(config, options);
    let run = || body(&Rig::simulated(&shared, &fenced, Client::kernel(&fenced, scratch)));
    if let Err(reason) = inside(&shared, &fenced, run) {
        println!("skipped through the kernel: {reason}");
    }
}

/// As [`case_on`], and through FUSE too, where the kernel itself says when a descriptor is closed.
pub(crate) fn lifetime_on(config: Config, options: &Options, body: impl Fn(&Rig) + Sync) {
    case_on(config, options, &body);
    if real::device().is_some() {
        return;
    }
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("case").replace("::", "-");
    let folder = neffload_tests::command::Scratch::new(&format!("fuse-{name}"));
    let (shared, scratch, fenced) = prepared(config, options);
    match Mount::new(&shared, &fenced, &folder.join("")) {
        Ok(mount) => {
            let device_dir = mount.folder().to_string_lossy().trim_end_matches('/').to_owned();
            let mounted = Options { device_dir, ..fenced };
            body(&Rig::simulated(&shared, &mounted, Client::kernel(&mounted, scratch)));
        }
        Err(reason) => skipped(&name, &reason.to_string()),
    }
}

/// Setup D of the cases, with [`lifetime_on`].
pub(crate) fn lifetime(body: impl Fn(&Rig) + Sync) {
    lifetime_on(Config::new(Arch::Cayman), &Options::default(), body);
}

/// Setup D of the cases: one v3 device of the baseline driver.
pub(crate) fn case(body: impl Fn(&Rig) + Sync) {
    case_on(Config::new(Arch::Cayman), &Options::default(), body);
}

/// Setup D once with the legacy and once with the modern driver.
pub(crate) fn both(body: impl Fn(&Rig, Version) + Sync) {
    for version in [Version::V2_24, Version::V2_30] {
        case_on(Config::with_version(Arch::Cayman, version), &Options::default(), |rig| body(rig, version));
    }
}

/// Prints why (part of) a case did not run.
pub(crate) fn skipped(case: &str, why: &str) {
    let mut out = std::io::stderr().lock();
    writeln!(out, "{case}: skipped: {why}").unwrap();
}

impl Rig {
    /// The simulated host; a case ends here on a real one.
    fn host(&self) -> &Shared {
        self.shared.as_ref().unwrap_or_else(|| real::needs_simulator())
    }

    fn with_host<R>(&self, action: impl FnOnce(&mut Host) -> R) -> R {
        action(&mut self.host().lock())
    }

    /// Runs something alone with the driver.
    pub(crate) fn driver<R>(&self, action: impl FnOnce(&mut Driver<FileMemory>) -> R) -> R {
        self.with_host(|host| action(&mut host.driver))
    }

    /// Another process on the same host, straight to the state machine.
    pub(crate) fn other(&self, tgid: u32) -> Self {
        let (scratch, options) = Client::prepare(SCRATCH, &self.options).unwrap();
        let client = Client::direct(self.host(), &options, tgid, scratch);
        Self { tgid, ..Self::simulated(self.host(), &options, client) }
    }

    pub(crate) fn open(&self, access: Access) -> Result<Fd, Errno> {
        self.client.open(self.index, access)
    }

    /// A read-write descriptor.
    pub(crate) fn fd(&self) -> Fd {
        self.open(Access::ReadWrite).unwrap()
    }

    /// A misc descriptor.
    pub(crate) fn misc(&self) -> Fd {
        self.open(Access::Write).unwrap()
    }

    /// Issues a request with a record and reads it back.
    pub(crate) fn call<T: Record>(&self, fd: Fd, request: u32, record: &mut T) -> i64 {
        let scratch = self.client.scratch();
        scratch.put(0, record.as_bytes());
        let raw = self.client.ioctl(fd, request, scratch.address(0));
        scratch.get(0, record.as_mut_bytes());
        raw
    }

    /// Issues a request with a record that nobody needs back.
    pub(crate) fn send<T: Record>(&self, fd: Fd, request: u32, record: &T) -> i64 {
        self.call(fd, request, &mut { *record })
    }

    pub(crate) fn put(&self, at: usize, bytes: &[u8]) {
        self.client.scratch().put(at, bytes);
    }

    pub(crate) fn get(&self, at: usize, bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        self.client.scratch().get(at, &mut out);
        out
    }

    pub(crate) fn u64_at(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.get(at, 8).try_into().unwrap())
    }

    pub(crate) fn address(&self, at: usize) -> u64 {
        self.client.scratch().address(at)
    }

    /// The record of an allocation whose handle goes to [`OUT`].
    pub(crate) fn alloc_record(&self, ask: Ask) -> MemAllocV2MemType64 {
        let mut raw = MemAllocV2MemType64::default();
        raw.size.set(ask.size);
        raw.align.set(ask.align);
        raw.host_memory.set(u32::from(ask.host));
        raw.dram_channel.set(ask.channel);
        raw.nc_id.set(ask.nc);
        raw.mem_type.set(ask.kind);
        raw.mem_handle.set(self.address(OUT));
        raw
    }

    /// Allocates; the handle, or the raw result.
    pub(crate) fn try_alloc(&self, fd: Fd, ask: Ask) -> Result<u64, i64> {
        match self.send(fd, req::MEM_ALLOC_V2MT64, &self.alloc_record(ask)) {
            0 => Ok(self.u64_at(OUT)),
            raw => Err(raw),
        }
    }

    pub(crate) fn alloc(&self, fd: Fd, ask: Ask) -> u64 {
        self.try_alloc(fd, ask).unwrap()
    }

    pub(crate) fn free(&self, fd: Fd, handle: u64) -> i64 {
        let mut raw = MemFree::default();
        raw.mem_handle.set(handle);
        self.send(fd, req::MEM_FREE, &raw)
    }

    pub(crate) fn pa(&self, fd: Fd, handle: u64) -> u64 {
        let mut raw = MemGetPa::default();
        raw.mem_handle.set(handle);
        raw.pa.set(self.address(OUT));
        assert_eq!(self.send(fd, req::MEM_GET_PA, &raw), 0);
        self.u64_at(OUT)
    }

    /// Copies between the buffer at byte `at` of the scratch memory and a chunk.
    pub(crate) fn copy(
        &self,
        fd: Fd,
        (handle, offset): (u64, u64),
        at: usize,
        size: u64,
        to_device: bool,
    ) -> i64 {
        let mut raw = MemBufCopy64::default();
        raw.mem_handle.set(handle);
        raw.buffer.set(self.address(at));
        raw.size.set(size);
        raw.offset.set(offset);
        raw.copy_to_mem_handle.set(u32::from(to_device));
        self.send(fd, req::MEM_BUF_COPY64, &raw)
    }

    /// Writes bytes into a chunk.
    pub(crate) fn write(&self, fd: Fd, handle: u64, offset: u64, bytes: &[u8]) {
        self.put(BUFFER, bytes);
        assert_eq!(self.copy(fd, (handle, offset), BUFFER, bytes.len() as u64, true), 0);
    }

    /// Reads bytes from a chunk.
    pub(crate) fn read(&self, fd: Fd, handle: u64, offset: u64, bytes: usize) -> Vec<u8> {
        assert_eq!(self.copy(fd, (handle, offset), BUFFER, bytes as u64, false), 0);
        self.get(BUFFER, bytes)
    }

    /// Claims cores.
    pub(crate) fn mark(&self, fd: Fd, count: u32, start: u32, end: u32) -> (i64, CrwlNcMapExt) {
        let mut raw = CrwlNcMapExt::default();
        raw.nc_count.set(count);
        raw.start_nc_index.set(start);
        raw.end_nc_index.set(end);
        (self.call(fd, req::CRWL_NC_RANGE_MARK_EXT0, &mut raw), raw)
    }

    /// The record of a queue with rings of the given handles and counts.
    pub(crate) fn queue(&self, engine: u32, queue: u32, tx: (u64, u32), rx: (u64, u32)) -> DmaQueueInit {
        let mut raw = DmaQueueInit::default();
        raw.eng_id.set(engine);
        raw.qid.set(queue);
        raw.tx_handle.set(tx.0);
        raw.tx_desc_count.set(tx.1);
        raw.rx_handle.set(rx.0);
        raw.rx_desc_count.set(rx.1);
        raw
    }

    /// The violations so far, taken away.
    pub(crate) fn violations(&self) -> Vec<What> {
        self.driver(|driver| driver.take_violations().into_iter().map(|one| one.what).collect())
    }

    /// Whether the real driver would have stopped the kernel, once.
    pub(crate) fn stopped(&self) -> bool {
        self.with_host(|host| !std::mem::take(&mut host.stops).is_empty())
    }
}

/// A negated errno.
pub(crate) fn no(errno: i32) -> i64 {
    -i64::from(errno)
}
