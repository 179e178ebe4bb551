//! What a device's addresses hold: one sparse space keyed by physical address (driver-abi.md §17.1).

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

/// Bytes behind physical addresses. Never written reads as zero.
pub trait Memory {
    /// Fills `out` from `address` on.
    fn read(&self, address: u64, out: &mut [u8]);

    /// Stores `bytes` from `address` on.
    fn write(&mut self, address: u64, bytes: &[u8]);

    /// Forgets `bytes` from `address` on; they read as zero again.
    fn forget(&mut self, address: u64, bytes: u64);
}

const PAGE: u64 = 64 << 10;

/// A map of 64 KiB pages.
#[derive(Debug, Default)]
pub struct Pages {
    pages: BTreeMap<u64, Box<[u8]>>,
}

/// Cuts `len` bytes at `address` into (page, offset in page, bytes).
fn cuts(address: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0usize;
    core::iter::from_fn(move || {
        let at = address.wrapping_add(done as u64);
        let within = (at % PAGE) as usize;
        let now = (len - done).min(PAGE as usize - within);
        done += now;
        (now > 0).then_some((at / PAGE, within, now))
    })
}

impl Memory for Pages {
    fn read(&self, address: u64, mut out: &mut [u8]) {
        for (page, within, now) in cuts(address, out.len()) {
            let (part, rest) = core::mem::take(&mut out).split_at_mut(now);
            match self.pages.get(&page) {
                Some(bytes) => part.copy_from_slice(&bytes[within..within + now]),
                None => part.fill(0),
            }
            out = rest;
        }
    }

    fn write(&mut self, address: u64, mut bytes: &[u8]) {
        for (page, within, now) in cuts(address, bytes.len()) {
            let (part, rest) = bytes.split_at(now);
            let place = self.pages.entry(page).or_insert_with(|| alloc::vec![0; PAGE as usize].into());
            place[within..within + now].copy_from_slice(part);
            bytes = rest;
        }
    }

    fn forget(&mut self, address: u64, bytes: u64) {
        let (first, last) = (address.div_ceil(PAGE), (address + bytes) / PAGE);
        if first < last {
            let mut gone = self.pages.split_off(&first);
            self.pages.append(&mut gone.split_off(&last));
        }
        for edge in [address / PAGE, (address + bytes) / PAGE] {
            if let Some(page) = self.pages.get_mut(&edge) {
                let from = address.max(edge * PAGE) - edge * PAGE;
                let to = (address + bytes).min((edge + 1) * PAGE).saturating_sub(edge * PAGE);
                page[from.min(to) as usize..to as usize].fill(0);
            }
        }
    }
}
