//! The first instructions, and the way from the kernel's stack to a slice of arguments.

use core::arch::naked_asm;

/// Where the kernel jumps to. The stack pointer is at the argument count, aligned to 16.
///
/// # Safety
/// Only the kernel may start here.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    // The outermost frame has no caller; the count's address is the one argument.
    naked_asm!("xor ebp, ebp", "mov rdi, rsp", "call {begin}", "ud2", begin = sym begin)
}

/// # Safety
/// `stack` must be the stack pointer that the kernel gave the process.
unsafe extern "C" fn begin(stack: *const usize) -> ! {
    // SAFETY: the kernel puts the argument count there.
    let count = unsafe { *stack };
    // SAFETY: as many pointers follow, which live as long as the process.
    let arguments = unsafe { core::slice::from_raw_parts(stack.add(1).cast::<*const u8>(), count) };
    super::exit(super::main(arguments))
}
