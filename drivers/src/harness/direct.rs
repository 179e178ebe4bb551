//! The simulated driver without a kernel in between: system calls go straight to the state machine.

use super::host::{Options, Shared};
use super::process::ProcessMemory;
use crate::abi::errno::{EBADF, EIO, ENOENT, ENOSYS};
use crate::neuron::{Access, Errno, Fd, Sys};
use crate::simdrv::{Caller, OpenFlags, OpenId};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// First number that is given to descriptors, apart from those of the process.
const FIRST: i32 = 1000;

/// System calls of one simulated process.
#[derive(Debug)]
pub struct Direct {
    shared: Shared,
    options: Options,
    caller: Caller,
    killed: AtomicBool,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    opens: BTreeMap<i32, OpenId>,
    texts: BTreeMap<i32, File>,
    next: i32,
}

impl Direct {
    /// A process with that id.
    #[must_use]
    pub fn new(shared: &Shared, options: &Options, tgid: u32) -> Self {
        let caller = Caller { rawio: options.rawio, ..Caller::process(tgid) };
        Self {
            shared: shared.clone(),
            options: options.clone(),
            caller,
            killed: AtomicBool::new(false),
            table: Mutex::default(),
        }
    }

    /// The process.
    #[must_use]
    pub const fn caller(&self) -> Caller {
        self.caller
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open file behind a descriptor.
    #[must_use]
    pub fn open_id(&self, fd: Fd) -> Option<OpenId> {
        self.table().opens.get(&fd.0).copied()
    }

    /// From now on a SIGTERM is pending in the calling thread.
    pub fn pend_sigterm(&self) {
        self.killed.store(true, Ordering::Relaxed);
    }

    fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    /// Ends the process: everything it has open is closed.
    pub fn exit(&self) {
        let opens = core::mem::take(&mut self.table().opens);
        let files: std::vec::Vec<_> = opens.into_values().map(|open| (open, true)).collect();
        self.shared.lock().driver.exit(self.caller.tgid, &files);
    }

    /// Repeats a call that sleeps, with time passing at the harness's pace.
    fn until_done<T>(&self, mut call: impl FnMut() -> Option<T>) -> T {
        loop {
            if let Some(done) = call() {
                return done;
            }
            self.pause();
        }
    }
}

impl Sys for Direct {
    fn open(&self, path: &CStr, access: Access) -> Result<Fd, Errno> {
        use super::paths::{Known, look_up};
        let path = path.to_str().map_err(|_| ENOENT)?;
        let known = look_up(path, &self.options, &self.shared.lock());
        let mut table = self.table();
        let fd = FIRST + table.next;
        match known {
            Some(Known::Text(text)) => {
                let file = super::opening::text_file(&text).map_err(|_| EIO)?;
                table.texts.insert(fd, file);
            }
            Some(Known::Node(index)) => {
                let flags = match access {
                    Access::Read => OpenFlags::ReadOnly,
                    Access::Write => OpenFlags::WriteOnly,
                    Access::ReadWrite => OpenFlags::ReadWrite,
                };
                let opened =
                    self.until_done(|| self.shared.open(self.caller, || self.is_killed(), index, flags));
                table.opens.insert(fd, opened.map_err(|raw| (-raw) as Errno)?);
            }
            _ => return Err(ENOENT),
        }
        table.next += 1;
        Ok(Fd(fd))
    }

    fn close(&self, fd: Fd) {
        let mut table = self.table();
        table.texts.remove(&fd.0);
        let Some(open) = table.opens.remove(&fd.0) else { return };
        drop(table);
        self.until_done(|| self.shared.lock().driver.flush(self.caller, open).then_some(()));
        self.shared.lock().driver.release(open);
    }

    fn exists(&self, path: &CStr) -> bool {
        use super::paths::{Known, look_up};
        let known = path.to_str().ok().and_then(|path| look_up(path, &self.options, &self.shared.lock()));
        known.is_some_and(|known| known != Known::Missing)
    }

    fn read(&self, fd: Fd, out: &mut [u8]) -> Result<usize, Errno> {
        let mut table = self.table();
        let file = table.texts.get_mut(&fd.0).ok_or(EBADF)?;
        file.read(out).map_err(|error| error.raw_os_error().unwrap_or(EIO))
    }

    unsafe fn ioctl(&self, fd: Fd, request: u32, argument: *mut u8) -> i64 {
        let Some(open) = self.open_id(fd) else { return -i64::from(EBADF) };
        let mut memory = ProcessMemory::fenced(std::process::id(), self.options.fence.clone());
        let call = (open, request, argument as u64);
        self.until_done(|| self.shared.ioctl(self.caller, || self.is_killed(), call, &mut memory))
    }

    fn mmap(&self, fd: Fd, length: usize, offset: u64, write: bool) -> Result<*mut u8, Errno> {
        let open = self.open_id(fd).ok_or(EBADF)?;
        let mut host = self.shared.lock();
        let plan = host.driver.mmap(self.caller, open, length as u64, offset, write);
        let plan = plan.map_err(|raw| (-raw) as Errno)?;
        let (index, _) = host.driver.opened(open).ok_or(EBADF)?;
        let file = host.driver.device(index).memory().reopen(true, true).map_err(|_| ENOSYS)?;
        let writable = write && plan.writable;
        let prot = if writable { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        // SAFETY: no address is asked for, so no existing mapping is touched.
        let at = unsafe {
            libc::mmap(
                core::ptr::null_mut(),
                plan.length as usize,
                prot,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                plan.offset.cast_signed(),
            )
        };
        if at == libc::MAP_FAILED {
            host.driver.not_mapped(plan.record);
            return Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(EIO));
        }
        host.driver.mapped(plan.record, at as u64);
        Ok(at.cast())
    }

    unsafe fn munmap(&self, address: *mut u8, length: usize) {
        self.shared.lock().driver.munmap(self.caller, address as u64, length as u64);
        // SAFETY: the caller promises that the range is a mapping of its own.
        unsafe { libc::munmap(address.cast(), length) };
    }

    fn pause(&self) {
        self.shared.lock().driver.tick(self.options.pace.max(1));
    }

    fn milliseconds(&self) -> u64 {
        self.shared.lock().driver.now() / 1000
    }
}
