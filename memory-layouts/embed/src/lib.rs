//! One function for C: loads a file that is in memory, within memory of the caller.
//!
//! The C library of the program gives the memory functions that compiled code calls.
#![no_std]

use core::panic::PanicInfo;
use core::slice;
use loader_core::arch::Arch;
use loader_core::container::{Extent, Layer};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::plan::pages::Page;
use loader_core::policy::Policy;
use neffload_agent::{Buffers, Loaded, Options, load};
use neuron_drivers::sim::{Config, Content, Fixed, LocalSim, Slot};

/// Status of a call that makes no sense.
const INVALID: i32 = 2;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

/// Named by the precompiled core library; never called, because panics abort.
// SAFETY: nothing else in the program has this name.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// Loads a file onto the simulated device and unloads it again; `memory` is for arenas and buffers, and 256 KiB
/// are enough for any file of ordinary size. 0, or the runtime's status number.
///
/// # Safety
/// `file` must be readable for `file_bytes`, `memory` writable for `memory_bytes` and apart from it, and `cores`
/// null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn neffload_check(
    file: *const u8,
    file_bytes: usize,
    memory: *mut u8,
    memory_bytes: usize,
    cores: *mut u32,
) -> i32 {
    if file.is_null() || memory.is_null() {
        return INVALID;
    }
    // SAFETY: the caller promises a readable file and memory that is ours alone until this returns.
    let (file, memory) =
        unsafe { (slice::from_raw_parts(file, file_bytes), slice::from_raw_parts_mut(memory, memory_bytes)) };
    match check(file, memory) {
        Ok(count) => {
            if !cores.is_null() {
                // SAFETY: the caller promises that what is not null can be written.
                unsafe { cores.write(count) };
            }
            0
        }
        Err(status) => status,
    }
}

fn check(mut file: &[u8], memory: &mut [u8]) -> Result<u32, i32> {
    let (members, rest) = memory.split_at_mut_checked(96 << 10).ok_or(INVALID)?;
    let (scratch, rest) = rest.split_at_mut_checked(4096).ok_or(INVALID)?;
    let (names, arena) = rest.split_at_mut_checked(768).ok_or(INVALID)?;
    let (mut layers, mut pages) = ([Layer::new()], [None::<Page>; 16]);
    let mut slots = [Slot::EMPTY; 320];
    let extents: &mut [Extent] = &mut [];
    let mut buffers = Buffers {
        members,
        arena,
        input: &mut [0; 1],
        layers: &mut layers,
        names,
        extents,
        scratch,
        pages: &mut pages,
    };
    let options = Options { limits: Limits::DEFAULT, policy: Policy::DEFAULT, keep: 4096, core: 0 };
    let open = giving(|arch: Arch| {
        let config = Config { content: Content::Digest, ..Config::flat(arch) };
        Ok(LocalSim::new(config, Fixed::new(&mut slots, &mut [], &mut [])))
    });
    let count = |loaded: &Loaded<'_, '_, LocalSim<'_>>| u32::try_from(loaded.plan.len()).unwrap_or(u32::MAX);
    load(&mut file, &mut buffers, &options, open, count)
        .map_err(|refused| i32::try_from(refused.error.status().number()).unwrap_or(INVALID))
}

/// Says that a closure that opens a device runs once, so that it may give away what it captured.
fn giving<D>(open: impl FnOnce(Arch) -> Result<D, Error>) -> impl FnOnce(Arch) -> Result<D, Error> {
    open
}
