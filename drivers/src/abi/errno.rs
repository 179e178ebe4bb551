//! The errno values this ABI uses, as negative raw results carry them (driver-abi.md §6).

/// A bare -1 inside the driver: copy timeout, ring alignment, too many descriptors, wrong descriptor type.
pub const EPERM: i32 = 1;
/// Nothing of that name.
pub const ENOENT: i32 = 2;
/// A signal ended the wait; from `open` only.
pub const EINTR: i32 = 4;
/// A register could not be read.
pub const EIO: i32 = 5;
/// No such device.
pub const ENXIO: i32 = 6;
/// A dump is longer than its limit.
pub const E2BIG: i32 = 7;
/// Not a descriptor.
pub const EBADF: i32 = 9;
/// Try again; or a chunk dump's array is too small.
pub const EAGAIN: i32 = 11;
/// Memory ran out; also: nothing at that address, or an address outside the engine windows.
pub const ENOMEM: i32 = 12;
/// The process is not attached, or the descriptor's access mode forbids it.
pub const EACCES: i32 = 13;
/// A user address that cannot be read or written.
pub const EFAULT: i32 = 14;
/// Attach table full, no consecutive cores, lock starved, election running.
pub const EBUSY: i32 = 16;
/// Another ultraserver mode is set.
pub const EEXIST: i32 = 17;
/// No such device node.
pub const ENODEV: i32 = 19;
/// A wrong argument, or a request this driver does not know.
pub const EINVAL: i32 = 22;
/// Request 40, or a 32-bit process.
pub const ENOTTY: i32 = 25;
/// A descriptor dump is longer than the ring.
pub const EFBIG: i32 = 27;
/// Injected failure of a mapping.
pub const ENOSPC: i32 = 28;
/// A path is longer than this loader makes them.
pub const ENAMETOOLONG: i32 = 36;
/// A notification device type that does not exist; a system call the kernel does not have.
pub const ENOSYS: i32 = 38;
/// A kernel-log text without terminator.
pub const EBADMSG: i32 = 74;
/// Modern drivers: time ran out.
pub const ETIMEDOUT: i32 = 110;
/// Writer lock taken, and the model is already current.
pub const EALREADY: i32 = 114;
/// Kernel-internal "not supported" that leaks; no C library knows it.
pub const ENOTSUPP: i32 = 524;

/// A short text for an errno of this ABI.
#[must_use]
pub const fn text(errno: i32) -> &'static str {
    match errno {
        EPERM => "device timeout or bad ring",
        ENOENT => "handle table exhausted, or no such handle",
        EINTR => "interrupted by a signal",
        EIO => "a register could not be read",
        ENXIO => "no such device, or a bad range",
        E2BIG => "beyond the object's size",
        EBADF => "not an open descriptor",
        EAGAIN => "not possible now",
        ENOMEM => "no memory, or nothing at that address",
        EACCES => "process not attached, or access mode forbids it",
        EFAULT => "a user address cannot be accessed",
        EBUSY => "busy",
        EEXIST => "already set",
        ENODEV => "no such device",
        EINVAL => "argument or request not accepted",
        ENOTTY => "request not served",
        EFBIG => "longer than the ring",
        ENOSPC => "no space for the mapping",
        ENOSYS => "not known",
        EBADMSG => "text without terminator",
        ETIMEDOUT => "timed out",
        EALREADY => "already current",
        ENOTSUPP => "not supported by this device",
        _ => "operating-system error",
    }
}
