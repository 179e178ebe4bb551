//! The memory of a process, through the kernel: a bad address is a short transfer, not a crash.

use crate::simdrv::UserMemory;
use std::vec::Vec;

const PAGE: u64 = 4096;

/// Memory of a process that this one may inspect; of itself as well.
#[derive(Debug)]
pub struct ProcessMemory {
    pid: i32,
    /// If not empty, addresses outside these ranges count as unmapped.
    fence: Vec<(u64, u64)>,
}

#[derive(Clone, Copy)]
enum Way {
    In,
    Out,
}

impl ProcessMemory {
    /// All memory of a process.
    #[must_use]
    pub const fn new(pid: u32) -> Self {
        Self { pid: pid.cast_signed(), fence: Vec::new() }
    }

    /// Only the given ranges (address, bytes) of a process; all of it if there are none.
    #[must_use]
    pub const fn fenced(pid: u32, fence: Vec<(u64, u64)>) -> Self {
        Self { pid: pid.cast_signed(), fence }
    }

    /// How many of `len` bytes at `address` lie inside the fence.
    fn allowed(&self, address: u64, len: usize) -> usize {
        if self.fence.is_empty() {
            return len;
        }
        let room = self.fence.iter().find_map(|&(base, bytes)| bytes.checked_sub(address.checked_sub(base)?));
        usize::try_from(room.unwrap_or(0)).map_or(len, |room| room.min(len))
    }

    fn once(&self, way: Way, address: u64, local: *mut u8, len: usize) -> usize {
        let here = libc::iovec { iov_base: local.cast(), iov_len: len };
        let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: len };
        // SAFETY: `local` is valid for `len` bytes by the callers below; the other side is checked by the kernel.
        let moved = unsafe {
            match way {
                Way::In => libc::process_vm_readv(self.pid, &raw const here, 1, &raw const there, 1, 0),
                Way::Out => libc::process_vm_writev(self.pid, &raw const here, 1, &raw const there, 1, 0),
            }
        };
        usize::try_from(moved).unwrap_or(0)
    }

    /// Moves up to `len` bytes, page by page once a transfer came short.
    fn transfer(&self, way: Way, address: u64, local: *mut u8, len: usize) -> usize {
        let mut done = self.once(way, address, local, len);
        while done < len {
            let at = address.wrapping_add(done as u64);
            let now = (len - done).min((PAGE - at % PAGE) as usize);
            // SAFETY: `done < len`, so the pointer stays inside the caller's buffer.
            let moved = self.once(way, at, unsafe { local.add(done) }, now);
            done += moved;
            if moved < now {
                break;
            }
        }
        done
    }
}

impl UserMemory for ProcessMemory {
    fn read(&mut self, address: u64, out: &mut [u8]) -> usize {
        let len = self.allowed(address, out.len());
        out.len() - self.transfer(Way::In, address, out.as_mut_ptr(), len)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> usize {
        let len = self.allowed(address, bytes.len());
        bytes.len() - self.transfer(Way::Out, address, bytes.as_ptr().cast_mut(), len)
    }
}
