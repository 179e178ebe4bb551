//! The harness around a program and its children.

use super::host::{Options, Shared};
use super::seccomp::{Listener, Program, START, STEPS, Unavailable, install};
use super::supervisor::{Supervisor, Where};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};

/// A program under the harness.
#[derive(Debug)]
pub struct Launched {
    /// The program.
    pub child: Child,
    watch: Watch,
}

/// The supervisor of a program.
#[derive(Debug)]
pub struct Watch {
    supervisor: JoinHandle<Option<Refusal>>,
    stop: OwnedFd,
}

impl Launched {
    /// The program and its supervisor.
    #[must_use]
    pub fn split(self) -> (Child, Watch) {
        (self.child, self.watch)
    }

    /// As [`Watch::settle`].
    ///
    /// # Panics
    /// If the supervisor panicked.
    pub fn settle(self) {
        self.watch.settle();
    }
}

impl Watch {
    /// Waits until the supervisor has seen the end of every process of the program.
    ///
    /// # Panics
    /// If the supervisor panicked.
    pub fn settle(self) {
        let served = self.supervisor.join();
        drop(self.stop);
        if let Err(panic) = served {
            std::panic::resume_unwind(panic);
        }
    }
}

/// What a child could not do before it became the program: the step, and the errno.
type Refusal = (&'static str, i32);

/// What a child does between fork and exec: system calls only, no allocation.
fn prepare(options: &Options, parent: u32, channel: RawFd, program: &Program) -> io::Result<()> {
    if let Some((soft, hard)) = options.descriptors {
        let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
        // SAFETY: the limit is valid to read.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    }
    if options.bound {
        // Without somebody who answers, the program would go on with calls that fail for no reason it could know.
        // SAFETY: no memory is passed.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
        // SAFETY: no memory is passed. If the parent ended before that, nobody sends the signal.
        if unsafe { libc::getppid() }.cast_unsigned() != parent {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
    }
    match install(program) {
        Ok(listener) => send_fd(channel, listener),
        Err((step, errno)) => {
            let note = [u8::from(step == STEPS[1]), errno.to_le_bytes()[0]];
            // SAFETY: the bytes are valid for their number.
            unsafe { libc::send(channel, note.as_ptr().cast(), note.len(), 0) };
            Err(io::Error::from_raw_os_error(errno))
        }
    }
}

/// Starts a program whose device calls, and those of its children, the simulated driver answers.
///
/// # Errors
/// If the kernel gives no listener, or the program does not start.
pub fn launch(shared: &Shared, options: &Options, command: &mut Command) -> Result<Launched, Unavailable> {
    let fault = |step| move |error| Unavailable { step, error };
    let (ours, theirs) = UnixStream::pair().map_err(fault("socketpair"))?;
    let program = Program::new();
    let (channel, parent, child_options) = (theirs.as_raw_fd(), std::process::id(), options.clone());
    // SAFETY: between fork and exec the closure makes system calls only and allocates nothing.
    unsafe { command.pre_exec(move || prepare(&child_options, parent, channel, &program)) };
    let (options, shared) = (options.clone(), shared.clone());
    // SAFETY: no memory is passed.
    let stop = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
    if stop < 0 {
        return Err(fault("eventfd")(io::Error::last_os_error()));
    }
    // SAFETY: the descriptor is fresh and owned by nobody else.
    let stop = unsafe { OwnedFd::from_raw_fd(stop) };
    let stop_fd = stop.as_raw_fd();
    let supervisor = thread::spawn(move || {
        let fd = match receive_fd(ours.as_raw_fd()) {
            Ok(fd) => fd,
            Err(refusal) => return refusal,
        };
        // SAFETY: the descriptor was made by the kernel for this process and is owned by nobody else.
        let listener = unsafe { Listener::from_fd(fd) };
        Supervisor::new(listener, shared, options, Where::Outside, stop_fd).run();
        None
    });
    // The child waits in `exec` for the supervisor, and `spawn` waits for the child.
    let spawned = command.spawn();
    drop(theirs);
    match spawned {
        Ok(child) => Ok(Launched { child, watch: Watch { supervisor, stop } }),
        // The supervisor knows whether it was the harness or the program that failed.
        Err(error) => match supervisor.join() {
            Ok(Some((step, errno))) => Err(fault(step)(io::Error::from_raw_os_error(errno))),
            _ => Err(fault(START)(error)),
        },
    }
}

/// Room for one descriptor in a control message.
#[repr(C, align(8))]
struct Control([u8; 64]);

fn message(vector: &mut libc::iovec, control: &mut Control, bytes: usize) -> libc::msghdr {
    // SAFETY: all-zero is a valid value of this plain structure.
    let mut header: libc::msghdr = unsafe { core::mem::zeroed() };
    header.msg_iov = vector;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = bytes as _;
    header
}

/// Sends a descriptor. Async-signal-safe.
fn send_fd(socket: RawFd, fd: RawFd) -> io::Result<()> {
    let mut byte = [0u8];
    let mut vector = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut control = Control([0; 64]);
    // SAFETY: a pure computation.
    let space = unsafe { libc::CMSG_SPACE(size_of::<RawFd>() as u32) } as usize;
    let header = message(&mut vector, &mut control, space);
    // SAFETY: the header's control buffer is aligned and has room for one message with one number.
    unsafe {
        let part = libc::CMSG_FIRSTHDR(&raw const header);
        (*part).cmsg_level = libc::SOL_SOCKET;
        (*part).cmsg_type = libc::SCM_RIGHTS;
        (*part).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(part).cast::<RawFd>().write_unaligned(fd);
        if libc::sendmsg(socket, &raw const header, 0) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Receives a descriptor, or the reason why there is none, if the other side could give one.
fn receive_fd(socket: RawFd) -> Result<RawFd, Option<Refusal>> {
    let mut bytes = [0u8; 2];
    let mut vector = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut control = Control([0; 64]);
    let mut header = message(&mut vector, &mut control, 64);
    // SAFETY: the header's buffers are valid for their lengths, and what is read was written by the kernel.
    let (got, fd) = unsafe {
        let got = libc::recvmsg(socket, &raw mut header, libc::MSG_CMSG_CLOEXEC);
        if got <= 0 {
            return Err(None);
        }
        let part = libc::CMSG_FIRSTHDR(&raw const header);
        let holds = !part.is_null() && (*part).cmsg_type == libc::SCM_RIGHTS;
        (got, holds.then(|| libc::CMSG_DATA(part).cast::<RawFd>().read_unaligned()))
    };
    fd.ok_or_else(|| (got == 2).then(|| (STEPS[usize::from(bytes[0] & 1)], i32::from(bytes[1]))))
}
