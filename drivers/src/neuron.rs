//! The accelerator behind the kernel driver: real `open`, `ioctl` and `mmap` calls (driver-abi.md).

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod bare_sys;
#[cfg(feature = "libc")]
mod libc_sys;
mod sys;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub use bare_sys::Bare;
#[cfg(feature = "libc")]
pub use libc_sys::Libc;
pub use sys::{Access, Errno, Fd, Sys};
