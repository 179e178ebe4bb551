//! Text and an exit status through the debugger, which QEMU plays.

use core::arch::asm;

const WRITE0: usize = 4;
const EXIT_EXTENDED: usize = 0x20;
/// "The application ended"; its status follows.
const APPLICATION_EXIT: usize = 0x2_0026;

/// # Safety
/// The argument must be what the operation takes.
unsafe fn call(operation: usize, argument: usize) {
    // SAFETY: the debugger preserves all registers but r0; the caller answers for the argument.
    unsafe { asm!("bkpt 0xab", inlateout("r0") operation => _, in("r1") argument, options(nostack)) };
}

/// Ends the machine.
pub fn exit(status: i32) -> ! {
    let block = [APPLICATION_EXIT, status as usize];
    loop {
        // SAFETY: two words, alive until the call returns.
        unsafe { call(EXIT_EXTENDED, block.as_ptr() as usize) };
    }
}

/// Writes to the debugger's console.
pub fn write(bytes: &[u8]) {
    let mut line = [0u8; 65];
    for piece in bytes.chunks(64) {
        for (slot, &byte) in line.iter_mut().zip(piece.iter().chain(&[0])) {
            *slot = byte;
        }
        // SAFETY: the text ends with a zero byte and lives until the call returns.
        unsafe { call(WRITE0, line.as_ptr() as usize) };
    }
}
