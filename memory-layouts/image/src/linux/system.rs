//! Four system calls.

use core::arch::asm;
use core::fmt;

const WRITE: usize = 1;
const LSEEK: usize = 8;
const PREAD64: usize = 17;
const EXIT_GROUP: usize = 231;
const SEEK_END: usize = 2;

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

/// A descriptor to write text to.
pub struct Out(pub i32);

impl fmt::Write for Out {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            // SAFETY: the bytes are valid for their length.
            let result = unsafe { call(WRITE, [self.0 as usize, rest.as_ptr() as usize, rest.len(), 0]) };
            let written = value(result).map_err(|_| fmt::Error)?;
            rest = rest.get(written..).ok_or(fmt::Error)?;
        }
        Ok(())
    }
}
