//! The scratchpad's arithmetic (staging.md §8.4): regions, pages, and the page behind an offset.

/// Most pages of one core (Confirmed).
pub const MOST_PAGES: u32 = 1024;
/// Alignment that pages are asked for with (Confirmed).
pub const PAGE_ALIGN: u64 = 0x40_0000;
/// Alignment that a page must have (Confirmed).
pub const PAGE_ALIGN_HARD: u64 = 0x1000;
/// Most subgraphs that share a scratchpad (Confirmed).
pub const MOST_SUBGRAPHS: usize = 2;

/// Page size and adjacency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    /// Bytes of a page, not 0.
    pub page: u64,
    /// Pages are one adjacent range.
    pub contiguous: bool,
}

impl Paging {
    /// Puts a region on a cursor and returns its offset; `None` if the sizes overflow.
    pub fn place(self, cursor: &mut u64, size: u64) -> Option<u64> {
        let inside = cursor.checked_rem(self.page)?;
        let rest = self.page.checked_sub(inside)?;
        let skips = inside != 0 && rest < size && !self.contiguous;
        let base = if skips { cursor.checked_add(rest)? } else { *cursor };
        *cursor = base.checked_add(size)?;
        Some(base)
    }

    /// Pages that `bytes` need.
    #[must_use]
    pub const fn pages(self, bytes: u64) -> Option<u64> {
        if self.page == 0 { None } else { Some(bytes.div_ceil(self.page)) }
    }

    /// Which of `pages` pages backs `[offset, offset + size)`, and where in it. `None`: it does not fit
    /// and gets a block of its own.
    #[must_use]
    pub fn locate(self, offset: u64, size: u64, pages: u32) -> Option<(u32, u64)> {
        let end = offset.checked_add(size)?;
        let within = offset.checked_rem(self.page)?;
        let index = u32::try_from(offset.checked_div(self.page)?).ok()?;
        let fits = if self.contiguous {
            end <= self.page.checked_mul(u64::from(pages))?
        } else {
            within.checked_add(size)? <= self.page
        };
        if !fits || index >= pages {
            return None;
        }
        let mirrored = pages.checked_sub(1)?.checked_sub(index)?;
        Some((if self.contiguous { mirrored } else { index }, within))
    }
}

/// Where the regions of the subgraphs of one load lie, all on the sharing core (the default, Inferred).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// Offset of each subgraph's local region.
    pub local: [u64; MOST_SUBGRAPHS],
    /// Bytes used in all; the shared region is at offset 0.
    pub end: u64,
}

/// Lays the regions out: the largest shared one at offset 0, then the local ones in order.
#[must_use]
pub fn regions(paging: Paging, sizes: &[(u64, u64)]) -> Option<Regions> {
    let mut regions = Regions::default();
    let shared = sizes.iter().map(|&(_, shared)| shared).max().unwrap_or(0);
    let mut cursor = 0;
    paging.place(&mut cursor, shared)?;
    for (slot, &(local, _)) in regions.local.iter_mut().zip(sizes) {
        *slot = paging.place(&mut cursor, local)?;
    }
    regions.end = cursor;
    Some(regions)
}

#[cfg(test)]
mod tests;
