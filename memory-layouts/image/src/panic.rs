//! What happens on a panic: nothing that could be reached from our own code.

use core::panic::PanicInfo;

#[cfg(feature = "no-panic")]
// SAFETY: the name is declared, not defined; what refers to it does not link.
unsafe extern "C" {
    /// Does not exist. If a panic can be reached, this name is in the linker's refusal.
    fn neffload_a_panic_can_be_reached() -> !;
}

#[cfg(feature = "no-panic")]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never runs, because an image that calls it does not link.
    unsafe { neffload_a_panic_can_be_reached() }
}

#[cfg(not(feature = "no-panic"))]
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    #[cfg(target_os = "linux")]
    crate::linux::exit(101);
    #[cfg(target_os = "none")]
    crate::cortex_m::exit(101);
}
