//! The loop that answers the kernel's messages.

use super::wire::{self, op};
use super::{NoMount, refused};
use crate::abi::errno::{EINVAL, EIO, ENOENT, ENOSYS};
use crate::harness::host::{Options, Shared};
use crate::harness::process::ProcessMemory;
use crate::harness::procfs;
use crate::simdrv::{Caller, OpenFlags, OpenId};
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::time::Instant;
use std::vec::Vec;
use zerocopy::{FromBytes, Immutable, IntoBytes};

/// First node of a device; the root is before it.
const FIRST: u64 = 2;
/// Attributes do not change.
const VALID: u64 = 3600;

/// What a caller wants of the driver.
#[derive(Clone, Copy, Debug)]
enum Work {
    Open(u32, OpenFlags),
    Ioctl(OpenId, u32, u64),
    Flush(OpenId),
}

/// A message whose answer the driver decides.
#[derive(Clone, Copy, Debug)]
struct Call {
    unique: u64,
    caller: Caller,
    work: Work,
}

/// Serves one mount.
#[derive(Debug)]
pub(super) struct Session {
    device: OwnedFd,
    shared: Shared,
    options: Options,
    stop: RawFd,
    /// Process of a thread; a thread that is ending can no longer be asked.
    threads: BTreeMap<u32, u32>,
    /// Backing file of each node, once it was opened.
    backing: BTreeMap<u32, i32>,
    /// Calls whose callers sleep in the driver.
    sleeping: Vec<Call>,
    buffer: Vec<u8>,
}

/// The record at the start of a message's body.
fn record<T: FromBytes>(body: &[u8]) -> Option<T> {
    T::read_from_prefix(body).ok().map(|(record, _)| record)
}

impl Session {
    pub(super) fn new(device: OwnedFd, shared: &Shared, options: &Options, stop: RawFd) -> Self {
        Self {
            device,
            shared: shared.clone(),
            options: options.clone(),
            stop,
            threads: BTreeMap::new(),
            backing: BTreeMap::new(),
            sleeping: Vec::new(),
            buffer: std::vec![0; wire::BUFFER],
        }
    }

    /// Answers the first message, and registers the memory of every device.
    pub(super) fn begin(&mut self) -> Result<(), NoMount> {
        let (header, body) = self.receive().ok_or_else(|| refused("the first message"))?;
        let asked = record::<wire::InitIn>(&body).filter(|_| header.opcode == op::INIT);
        let Some(asked) = asked else { return Err(unsupported("the first message")) };
        if asked.flags & wire::INIT_EXT == 0 {
            return Err(unsupported("the kernel's FUSE version"));
        }
        self.answer(
            header.unique,
            &wire::InitOut {
                major: 7,
                minor: asked.minor.min(40),
                readahead: asked.readahead,
                flags: wire::INIT_EXT,
                background: 16,
                congestion: 12,
                max_write: wire::MAX_WRITE,
                granularity: 1,
                max_pages: 0,
                map_alignment: 0,
                flags2: wire::PASSTHROUGH,
                stack_depth: 1,
                rest: [0; 12],
            },
        );
        let devices = self.shared.lock().driver.config().devices;
        (0..devices).try_for_each(|index| self.register(index))
    }

    /// Makes the memory of a device known as a backing file.
    fn register(&mut self, index: u32) -> Result<(), NoMount> {
        let host = self.shared.lock();
        let fd = host.driver.device(index).memory().file().as_raw_fd();
        let map = wire::BackingMap { fd, flags: 0, padding: 0 };
        // SAFETY: the request reads the sixteen bytes of `map`.
        let id = unsafe { libc::ioctl(self.device.as_raw_fd(), wire::BACKING_OPEN as _, &raw const map) };
        drop(host);
        if id <= 0 {
            return Err(refused("registering a backing file"));
        }
        self.backing.insert(index, id);
        Ok(())
    }

    /// Serves until the mount is gone or `stop` is signalled.
    pub(super) fn run(mut self) {
        let mut last = Instant::now();
        loop {
            let entry = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            let mut polls = [entry(self.device.as_raw_fd()), entry(self.stop)];
            let timeout = if self.sleeping.is_empty() { -1 } else { 1 };
            // SAFETY: the two entries are valid.
            unsafe { libc::poll(polls.as_mut_ptr(), 2, timeout) };
            if polls[0].revents & libc::POLLIN != 0
                && let Some((header, body)) = self.receive()
            {
                self.serve(&header, &body);
            } else if polls[1].revents != 0 || polls[0].revents != 0 {
                break;
            }
            if !self.sleeping.is_empty() && self.options.pace > 0 {
                let passed = last.elapsed().as_micros() as u64 * self.options.pace / 1000;
                self.shared.lock().driver.tick(passed.max(1));
            }
            last = Instant::now();
            for call in core::mem::take(&mut self.sleeping) {
                self.settle(call);
            }
        }
    }

    /// The next message; `None` if there is none after all.
    fn receive(&mut self) -> Option<(wire::InHeader, Vec<u8>)> {
        // SAFETY: the buffer is valid for its length.
        let got = unsafe {
            libc::read(self.device.as_raw_fd(), self.buffer.as_mut_ptr().cast(), self.buffer.len())
        };
        let message = self.buffer.get(..usize::try_from(got).ok()?)?;
        let (header, body) = wire::InHeader::read_from_prefix(message).ok()?;
        Some((header, body.to_vec()))
    }

    fn send(&self, unique: u64, error: i32, body: &[u8]) {
        let header = wire::OutHeader { len: (16 + body.len()) as u32, error, unique };
        let message = [header.as_bytes(), body].concat();
        // SAFETY: the message is valid for its length. A caller that went away is nobody's concern.
        unsafe { libc::write(self.device.as_raw_fd(), message.as_ptr().cast(), message.len()) };
    }

    fn answer<T: IntoBytes + Immutable>(&self, unique: u64, body: &T) {
        self.send(unique, 0, body.as_bytes());
    }

    fn refuse(&self, unique: u64, errno: i32) {
        self.send(unique, -errno, &[]);
    }

    fn serve(&mut self, header: &wire::InHeader, body: &[u8]) {
        let unique = header.unique;
        match header.opcode {
            op::LOOKUP => self.look_up(header, body),
            op::GETATTR => match self.attributes(header.node) {
                Some(attr) => self.answer(unique, &wire::AttrOut { valid: VALID, nsec: 0, dummy: 0, attr }),
                None => self.refuse(unique, ENOENT),
            },
            op::FORGET | op::BATCH_FORGET => {}
            op::INTERRUPT => self.interrupt(body),
            op::OPEN => {
                let asked = record::<wire::OpenIn>(body);
                let mode = asked.map(|asked| OpenFlags::from_bits(asked.flags.cast_signed()));
                let index = header.node.checked_sub(FIRST).and_then(|index| u32::try_from(index).ok());
                self.begin_call(header, mode.zip(index).map(|(mode, index)| Work::Open(index, mode)));
            }
            op::IOCTL => {
                let asked = record::<wire::IoctlIn>(body);
                let work = |asked: wire::IoctlIn| {
                    Work::Ioctl(OpenId(asked.handle as u32), asked.request, asked.argument)
                };
                self.begin_call(header, asked.map(work));
            }
            op::FLUSH => {
                let asked = record::<wire::CloseIn>(body);
                self.begin_call(header, asked.map(|asked| Work::Flush(OpenId(asked.handle as u32))));
            }
            op::RELEASE => {
                if let Some(asked) = record::<wire::CloseIn>(body) {
                    self.shared.lock().driver.release(OpenId(asked.handle as u32));
                }
                self.send(unique, 0, &[]);
            }
            _ => self.refuse(unique, ENOSYS),
        }
    }

    /// Attributes of a node, if it is one.
    fn attributes(&self, node: u64) -> Option<wire::Attr> {
        let devices = u64::from(self.shared.lock().driver.config().devices);
        let file = node != wire::ROOT;
        if file && !(FIRST..FIRST + devices).contains(&node) {
            return None;
        }
        let mode = if file { libc::S_IFREG | 0o666 } else { libc::S_IFDIR | 0o755 };
        Some(wire::Attr {
            ino: node,
            size: if file { 1 << 62 } else { 0 },
            blocks: 0,
            times: [0; 3],
            nanoseconds: [0; 3],
            mode,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn look_up(&self, header: &wire::InHeader, body: &[u8]) {
        let name = body.split(|byte| *byte == 0).next().and_then(|name| core::str::from_utf8(name).ok());
        let index = name.and_then(|name| name.strip_prefix("neuron")?.parse::<u32>().ok());
        let node = index.filter(|_| header.node == wire::ROOT).map(|index| FIRST + u64::from(index));
        match node.and_then(|node| self.attributes(node)) {
            Some(attr) => self.answer(
                header.unique,
                &wire::EntryOut {
                    node: attr.ino,
                    generation: 0,
                    entry_valid: VALID,
                    attr_valid: VALID,
                    entry_nsec: 0,
                    attr_nsec: 0,
                    attr,
                },
            ),
            None => self.refuse(header.unique, ENOENT),
        }
    }

    /// Who sent a message. The kernel names the thread.
    fn caller(&mut self, tid: u32) -> Caller {
        let found = procfs::process_of(tid);
        if let Some(tgid) = found {
            self.threads.insert(tid, tgid);
        }
        let tgid = found.or_else(|| self.threads.get(&tid).copied()).unwrap_or(tid);
        Caller { tgid, tid, killed: false, rawio: self.options.rawio }
    }

    fn begin_call(&mut self, header: &wire::InHeader, work: Option<Work>) {
        let Some(work) = work else { return self.refuse(header.unique, EINVAL) };
        let caller = self.caller(header.pid);
        self.settle(Call { unique: header.unique, caller, work });
    }

    /// Answers a call, or puts it to those that sleep.
    fn settle(&mut self, call: Call) {
        let Call { unique, caller, work } = call;
        let killed = || procfs::is_killed(caller.tid);
        let done = match work {
            Work::Open(index, mode) => {
                self.shared.open(caller, killed, index, mode).map(|opened| match opened {
                    Ok(open) => match self.backing.get(&index) {
                        Some(&backing) => self.answer(
                            unique,
                            &wire::OpenOut {
                                handle: u64::from(open.0),
                                flags: wire::OPEN_PASSTHROUGH,
                                backing,
                            },
                        ),
                        None => self.refuse(unique, EIO),
                    },
                    Err(raw) => self.refuse(unique, (-raw) as i32),
                })
            }
            Work::Ioctl(open, request, argument) => {
                let mut memory = ProcessMemory::fenced(caller.tgid, self.options.fence.clone());
                let served = if self.options.silent == Some(request) {
                    Some(0)
                } else {
                    self.shared.ioctl(caller, killed, (open, request, argument), &mut memory)
                };
                served.map(|raw| {
                    let result = raw as i32;
                    self.answer(unique, &wire::IoctlOut { result, flags: 0, in_vectors: 0, out_vectors: 0 });
                })
            }
            Work::Flush(open) => {
                let flushed = self.shared.lock().driver.flush(caller, open);
                flushed.then(|| self.send(unique, 0, &[]))
            }
        };
        if done.is_none() {
            self.sleeping.push(call);
        }
    }

    /// A signal hit a caller that sleeps: whether it is deadly is looked at when it is asked for again, at once.
    fn interrupt(&mut self, body: &[u8]) {
        let Some(hit) = record::<wire::InterruptIn>(body) else { return };
        if let Some(at) = self.sleeping.iter().position(|call| call.unique == hit.unique) {
            let call = self.sleeping.swap_remove(at);
            self.settle(call);
        }
    }
}

fn unsupported(step: &'static str) -> NoMount {
    NoMount { step, error: std::io::Error::from(std::io::ErrorKind::Unsupported) }
}
