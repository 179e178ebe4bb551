//! The memory functions that compiled code calls by name, since there is no C library.

use core::arch::asm;

/// # Safety
/// As C's `memcpy`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller promises that both ranges are valid and apart; the instruction copies `count` bytes upward.
    unsafe {
        asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    to
}

/// # Safety
/// As C's `memmove`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if (to as usize).wrapping_sub(from as usize) >= count {
        // SAFETY: the destination does not begin inside the source, so copying upward reads each byte in time.
        return unsafe { memcpy(to, from, count) };
    }
    let last = count.wrapping_sub(1);
    // SAFETY: the caller promises that both ranges are valid; from the last byte downward each is read in time,
    // and the direction flag is put back.
    unsafe {
        asm!("std", "rep movsb", "cld", inout("rcx") count => _,
            inout("rdi") to.wrapping_add(last) => _, inout("rsi") from.wrapping_add(last) => _, options(nostack));
    }
    to
}

/// # Safety
/// As C's `memset`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    // SAFETY: the caller promises that the range is valid; the instruction writes `count` bytes upward.
    unsafe {
        asm!("rep stosb", inout("rcx") count => _, inout("rdi") to => _, in("al") byte as u8,
            options(nostack, preserves_flags));
    }
    to
}

/// # Safety
/// As C's `memcmp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    for at in 0..count {
        // SAFETY: the caller promises that both ranges have `count` bytes.
        let (a, b) = unsafe { (*one.add(at), *other.add(at)) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// # Safety
/// As C's `bcmp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(one: *const u8, other: *const u8, count: usize) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe { memcmp(one, other, count) }
}

/// # Safety
/// As C's `strlen`.
#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let left: usize;
    // SAFETY: the caller promises a zero byte; the instruction reads upward until it has seen it.
    unsafe {
        asm!("repne scasb", inout("rcx") usize::MAX => left, inout("rdi") text => _, in("al") 0u8,
            options(nostack));
    }
    // The count went down once for each byte, the zero byte among them, from the largest number.
    (!left).wrapping_sub(1)
}

/// Named by the precompiled core library; never called, because panics abort.
// SAFETY: nothing else in the program has this name.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
