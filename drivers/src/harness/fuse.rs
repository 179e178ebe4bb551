//! The simulated driver as files of a FUSE mount (driver-abi.md §19.2).
//!
//! The kernel itself tells every close of every descriptor, by fork, exec and exit too, so this front end shows
//! the lifetime rules exactly. Mapped memory is the simulated one, because opened files pass through to it. That
//! needs the privilege to mount and to register backing files, and Linux 6.9.
//!
//! It differs from the driver in three ways: mappings are not asked about, so a wrong length is accepted; they do
//! not delay the release of a file; and a bad argument address of a request that is encoded as write is EFAULT
//! before the driver sees it.

mod session;
mod wire;

use super::host::{Options, Shared};
use session::Session;
use std::ffi::CString;
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

/// Why there can be no mount here.
#[derive(Debug)]
pub struct NoMount {
    /// What was tried.
    pub step: &'static str,
    /// The kernel's answer.
    pub error: io::Error,
}

impl fmt::Display for NoMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no FUSE passthrough here: {}: {}", self.step, self.error)
    }
}

impl std::error::Error for NoMount {}

/// The last refusal of the system.
fn refused(step: &'static str) -> NoMount {
    NoMount { step, error: io::Error::last_os_error() }
}

/// A mounted folder with `neuron0` and so on in it. It is unmounted when the value goes away.
#[derive(Debug)]
pub struct Mount {
    folder: PathBuf,
    stop: OwnedFd,
    server: Option<JoinHandle<()>>,
}

impl Mount {
    /// Mounts the devices of a host in an existing folder.
    ///
    /// # Errors
    /// If the system forbids any of it; nothing is mounted then.
    pub fn new(shared: &Shared, options: &Options, folder: &Path) -> Result<Self, NoMount> {
        // SAFETY: the path ends with a zero byte.
        let device = unsafe { libc::open(c"/dev/fuse".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        let device = own(device, "/dev/fuse")?;
        let stop = own(event(), "eventfd")?;
        mount(device.as_raw_fd(), folder)?;
        let mut mounted = Self { folder: folder.to_path_buf(), stop, server: None };
        let mut session = Session::new(device, shared, options, mounted.stop.as_raw_fd());
        // Dropping `mounted` unmounts again.
        session.begin()?;
        mounted.server = Some(thread::spawn(move || session.run()));
        Ok(mounted)
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let path = c_path(&self.folder);
        // SAFETY: the path ends with a zero byte.
        unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
        // SAFETY: eight bytes from a valid place to an owned descriptor.
        unsafe { libc::write(self.stop.as_raw_fd(), (&raw const ONE).cast(), 8) };
        if let Some(server) = self.server.take()
            && let Err(panic) = server.join()
            && !thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

/// What an event descriptor is woken with.
static ONE: u64 = 1;

fn event() -> RawFd {
    // SAFETY: no memory is passed.
    unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) }
}

fn own(fd: RawFd, step: &'static str) -> Result<OwnedFd, NoMount> {
    // SAFETY: a descriptor that was just made is owned by nobody else.
    if fd < 0 { Err(refused(step)) } else { Ok(unsafe { OwnedFd::from_raw_fd(fd) }) }
}

fn c_path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap_or_default()
}

fn mount(device: RawFd, folder: &Path) -> Result<(), NoMount> {
    // SAFETY: no memory is passed.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let data = std::format!("fd={device},rootmode=40755,user_id={user},group_id={group},allow_other\0");
    let path = c_path(folder);
    // SAFETY: all four texts end with a zero byte and live through the call.
    let done = unsafe {
        libc::mount(
            c"neffload-simdrv".as_ptr(),
            path.as_ptr(),
            c"fuse".as_ptr(),
            libc::MS_NOSUID | libc::MS_NODEV,
            data.as_ptr().cast(),
        )
    };
    if done == 0 { Ok(()) } else { Err(refused("mount")) }
}
