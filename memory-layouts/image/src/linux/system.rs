//! Four system calls.

use core::arch::asm;
use core::sync::atomic::{AtomicBool, Ordering};

const WRITE: usize = 1;
const LSEEK: usize = 8;
const PREAD64: usize = 17;
const EXIT_GROUP: usize = 231;
const SEEK_END: usize = 2;
/// EINTR: asked again.
pub const INTERRUPTED: i32 = 4;

/// # Safety
/// The arguments must be what the call of that number takes.
unsafe fn call(number: usize, [a, b, c, d]: [usize; 4]) -> isize {
    let result;
    // SAFETY: the kernel preserves all registers but rax, rcx and r11; the caller answers for the arguments.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Ends the process.
pub fn exit(status: i32) -> ! {
    loop {
        // SAFETY: takes a number and does not return.
        unsafe { call(EXIT_GROUP, [status as usize, 0, 0, 0]) };
    }
}

/// Reads from a place in a file; the result is the kernel's.
pub fn read_at(fd: i32, offset: u64, out: &mut [u8]) -> Result<usize, i32> {
    // SAFETY: the buffer is valid for its length.
    value(unsafe { call(PREAD64, [fd as usize, out.as_mut_ptr() as usize, out.len(), offset as usize]) })
}

/// Length of a file; an error for a pipe.
pub fn length(fd: i32) -> Result<u64, i32> {
    // SAFETY: seeking has no memory effects.
    value(unsafe { call(LSEEK, [fd as usize, 0, SEEK_END, 0]) }).map(|length| length as u64)
}

const fn value(result: isize) -> Result<usize, i32> {
    if result < 0 { Err(-result as i32) } else { Ok(result as usize) }
}

/// Some text could not be written.
static LOST: AtomicBool = AtomicBool::new(false);

/// Whether all text was written so far.
pub fn all_written() -> bool {
    !LOST.load(Ordering::Relaxed)
}

/// Writes to a descriptor as long as it takes something.
pub fn write(fd: i32, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: the bytes are valid for their length.
        let result = unsafe { call(WRITE, [fd as usize, bytes.as_ptr() as usize, bytes.len(), 0]) };
        match value(result) {
            Ok(written) if written > 0 => bytes = bytes.get(written..).unwrap_or(&[]),
            Err(INTERRUPTED) => {}
            _ => return LOST.store(true, Ordering::Relaxed),
        }
    }
}
