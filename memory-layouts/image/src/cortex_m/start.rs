//! From reset to `main`: the vector table, static memory, the floating-point unit.

use core::ptr::{addr_of, addr_of_mut};

// SAFETY: the linker script defines these names.
unsafe extern "C" {
    static mut data_start: u64;
    static data_end: u64;
    static data_load: u64;
    static mut bss_start: u64;
    static bss_end: u64;
    /// Only its address counts.
    #[link_name = "stack_top"]
    static top: u64;
}

/// Where the stack begins.
pub(super) fn stack_top() -> *const u8 {
    (&raw const top).cast()
}

/// One entry of the vector table.
#[repr(C)]
union Vector {
    stack: *const u64,
    // SAFETY: only the processor follows a vector.
    handler: unsafe extern "C" fn() -> !,
    reserved: usize,
}

// SAFETY: the table is read by the processor only.
unsafe impl Sync for Vector {}

/// Stack, reset, then every fault as a stop.
#[unsafe(link_section = ".vectors")]
#[used]
static VECTORS: [Vector; 16] = [
    Vector { stack: &raw const top },
    Vector { handler: reset },
    Vector { handler: fault },
    Vector { handler: fault },
    Vector { handler: fault },
    Vector { handler: fault },
    Vector { handler: fault },
    Vector { reserved: 0 },
    Vector { reserved: 0 },
    Vector { reserved: 0 },
    Vector { reserved: 0 },
    Vector { handler: fault },
    Vector { handler: fault },
    Vector { reserved: 0 },
    Vector { handler: fault },
    Vector { handler: fault },
];

/// Coprocessor access control: full access to the floating-point unit.
const CPACR: *mut u32 = 0xE000_ED88 as *mut u32;

/// # Safety
/// The processor calls this once, with the stack of the vector table.
#[unsafe(no_mangle)]
unsafe extern "C" fn reset() -> ! {
    // SAFETY: the register exists on every Cortex-M4, and nothing has used the unit yet. The ranges are the
    // linker script's: multiples of eight bytes, apart from each other, and used by nobody before this.
    unsafe {
        CPACR.write_volatile(CPACR.read_volatile() | 0xF << 20);
        core::arch::asm!("dsb", "isb");
        let (mut to, mut from) = (addr_of_mut!(data_start), addr_of!(data_load));
        while to.cast_const() < addr_of!(data_end) {
            to.write_volatile(from.read_volatile());
            (to, from) = (to.add(1), from.add(1));
        }
        let mut to = addr_of_mut!(bss_start);
        while to.cast_const() < addr_of!(bss_end) {
            to.write_volatile(0);
            to = to.add(1);
        }
    }
    super::exit(super::main())
}

/// # Safety
/// The processor calls this on a fault.
unsafe extern "C" fn fault() -> ! {
    super::exit(102)
}
