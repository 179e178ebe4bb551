//! The static memory plan of `virtual` variables: areas, marks, placement, pages (lowering.md §7).
//!
//! Pure arithmetic on sizes and offsets; device addresses come in a later stage.

use super::input::{DetailIn, VarIn};
use super::record::{Backing, Extra, MemRef};
use crate::error::{Error, LowerCode, Stage};
use crate::manifest::Fabric;

/// Pages of one core at most (lowering.md §7.4, Confirmed).
pub const PAGES_MOST: u64 = 1024;
/// Kbins of one group at most (lowering.md §7.5, Confirmed).
pub const GROUP_MOST: usize = 2;

/// One linear address space for `virtual` variables of a subgraph (lowering.md §7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// The default.
    Main,
    /// `backing_buf` local.
    Local,
    /// `backing_buf` shared.
    Shared,
    /// `backing_buf` sharded.
    Sharded,
    /// `fabric_path` alt: refused unless the policy appends it behind main.
    Alt,
}

impl Area {
    /// The area of a virtual variable: `fabric_path` where it is not the default, else `backing_buf`, else main.
    /// `None` for a fabric that names no area (`repl`).
    #[must_use]
    pub fn of<'a>(var: &impl VarIn<'a>) -> Option<Self> {
        use crate::manifest::Backing as From;
        Some(match (var.fabric(), var.backing()) {
            (Some(Fabric::Repl), _) => return None,
            (Some(Fabric::Alt), _) => Self::Alt,
            (Some(Fabric::Main) | None, Some(From::Local)) => Self::Local,
            (Some(Fabric::Main) | None, Some(From::Shared)) => Self::Shared,
            (Some(Fabric::Main) | None, Some(From::Sharded)) => Self::Sharded,
            (Some(Fabric::Main) | None, Some(From::Main) | None) => Self::Main,
        })
    }

    /// The area of a record.
    #[must_use]
    pub fn of_backing(backing: Backing) -> Self {
        match backing {
            Backing::LOCAL => Self::Local,
            Backing::SHARED => Self::Shared,
            Backing::SHARDED => Self::Sharded,
            _ => Self::Main,
        }
    }

    /// Number in the record. Main where the file says nothing (lowering.md O-04, Open).
    #[must_use]
    pub const fn backing(self) -> Backing {
        match self {
            Self::Main | Self::Alt => Backing::MAIN,
            Self::Local => Backing::LOCAL,
            Self::Shared => Backing::SHARED,
            Self::Sharded => Backing::SHARDED,
        }
    }

    /// True for the areas that lie in the scratchpad both cores share.
    #[must_use]
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::Shared | Self::Sharded)
    }
}

/// Area and end of a virtual variable; `None` for other classes, unknown areas and overflowing ends.
pub(crate) fn extent<'a>(var: &impl VarIn<'a>) -> Option<(Area, u64)> {
    let DetailIn::Virtual { offset } = var.detail() else { return None };
    Some((Area::of(var)?, offset.checked_add(var.size()?)?))
}

/// High-water marks of the areas of one subgraph: the largest `offset + size` of each (lowering.md §7.2).
///
/// Variables may overlap within an area: their lifetimes are disjoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    main: u64,
    local: u64,
    shared: u64,
    sharded: u64,
    alt: u64,
}

impl Marks {
    /// Raises the mark of `area` to `end`.
    pub fn reach(&mut self, area: Area, end: u64) {
        let mark = match area {
            Area::Main => &mut self.main,
            Area::Local => &mut self.local,
            Area::Shared => &mut self.shared,
            Area::Sharded => &mut self.sharded,
            Area::Alt => &mut self.alt,
        };
        *mark = end.max(*mark);
    }

    /// Marks of lowered variables.
    #[must_use]
    pub fn of(vars: &[MemRef]) -> Self {
        let mut marks = Self::default();
        for var in vars {
            if let Extra::Virtual(arm) = var.extra() {
                let end = arm.offset.get().saturating_add(var.size.get());
                marks.reach(Area::of_backing(arm.backing_buf), end);
            }
        }
        marks
    }

    /// The mark of one area.
    #[must_use]
    pub const fn mark(&self, area: Area) -> u64 {
        match area {
            Area::Main => self.main,
            Area::Local => self.local,
            Area::Shared => self.shared,
            Area::Sharded => self.sharded,
            Area::Alt => self.alt,
        }
    }

    /// `local_scratchpad_size`: main and local (lowering.md §7.3, Inferred). `None` if the sum overflows.
    #[must_use]
    pub const fn local_size(&self) -> Option<u64> {
        self.main.checked_add(self.local)
    }

    /// `shared_scratchpad_size`: shared and sharded (lowering.md §7.3, Inferred). `None` if the sum overflows.
    #[must_use]
    pub const fn shared_size(&self) -> Option<u64> {
        self.shared.checked_add(self.sharded)
    }

    /// Where an area begins within its scratchpad: local stands behind main and sharded behind shared, without
    /// rounding, so that the sums of §7.3 hold them (our order; the reference's is Open).
    #[must_use]
    pub const fn base(&self, area: Area) -> u64 {
        match area {
            Area::Main | Area::Shared | Area::Alt => 0,
            Area::Local => self.main,
            Area::Sharded => self.shared,
        }
    }
}

/// How scratchpad pages are made. Where small code goes before speed, in the one way of its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paging {
    #[cfg(not(small))]
    page: u64,
    #[cfg(not(small))]
    contiguous: bool,
}

impl Paging {
    /// Pages of `page` bytes; `contiguous` if they are one adjacent range (R20, R41).
    ///
    /// # Errors
    /// L905 for 0 and for sizes above 4294967295.
    pub fn new(page: u64, contiguous: bool) -> Result<Self, Error> {
        let paging = Self {
            #[cfg(not(small))]
            page,
            #[cfg(not(small))]
            contiguous,
        };
        let is_made = (paging.page_size(), paging.is_contiguous()) == (page, contiguous);
        if page == 0 || page > u64::from(u32::MAX) || !is_made {
            return Err(Error::new(Stage::Lower, LowerCode::ScratchpadPageSize).numbers(page, 0));
        }
        Ok(paging)
    }

    /// Bytes of a page.
    #[must_use]
    #[cfg(not(small))]
    pub const fn page_size(&self) -> u64 {
        self.page
    }

    /// Bytes of a page.
    #[must_use]
    #[cfg(small)]
    pub const fn page_size(&self) -> u64 {
        crate::policy::Policy::DEFAULT.page_size()
    }

    /// Whether the pages are one adjacent range.
    #[must_use]
    #[cfg(not(small))]
    pub const fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Whether the pages are one adjacent range.
    #[must_use]
    #[cfg(small)]
    pub const fn is_contiguous(&self) -> bool {
        crate::policy::Policy::DEFAULT.contiguous_scratchpad()
    }

    fn within(&self, offset: u64) -> u64 {
        offset.checked_rem(self.page_size()).unwrap_or(0)
    }

    /// Pages that hold `bytes`.
    #[must_use]
    pub const fn pages(&self, bytes: u64) -> u64 {
        crate::bytes::pieces(bytes, self.page_size())
    }

    /// Whether a variable can live in shared pages: always in contiguous ones, else only within one page.
    /// Otherwise it gets memory of its own, and its extent still counts in the mark (lowering.md §7.4).
    #[must_use]
    pub fn fits(&self, offset: u64, size: u64) -> bool {
        self.is_contiguous()
            || self.within(offset).checked_add(size).is_some_and(|end| end <= self.page_size())
    }

    /// Page index and offset in it, of `offset` in a scratchpad of `count` pages (lowering.md §7.6): contiguous
    /// pages are numbered from the top, page 0 being the highest. `None` beyond the last page.
    #[must_use]
    pub fn locate(&self, offset: u64, count: u64) -> Option<(u64, u64)> {
        let page = offset.checked_div(self.page_size())?;
        let last = count.checked_sub(1)?;
        let index = if self.is_contiguous() { last.checked_sub(page)? } else { page };
        (page <= last).then_some((index, self.within(offset)))
    }

    /// Whether `size` bytes at `offset` end inside `count` contiguous pages.
    #[must_use]
    pub fn holds(&self, offset: u64, size: u64, count: u64) -> bool {
        let end = offset.checked_add(size);
        end.zip(self.page_size().checked_mul(count)).is_some_and(|(end, all)| end <= all)
    }
}

/// Places a region on a core's cursor: its offset, and the cursor behind it (lowering.md §7.5). A paged region
/// that would cross a page starts on the next one.
///
/// # Errors
/// L906 if the cursor overflows.
pub fn place(cursor: u64, size: u64, paging: &Paging) -> Result<(u64, u64), Error> {
    let overflow = || Error::new(Stage::Lower, LowerCode::ScratchpadLayout).numbers(cursor, size);
    let taken = paging.within(cursor);
    let slack = paging.page_size().saturating_sub(taken);
    let crosses = taken != 0 && slack < size && !paging.is_contiguous();
    let offset = if crosses { cursor.checked_add(slack).ok_or_else(overflow)? } else { cursor };
    Ok((offset, offset.checked_add(size).ok_or_else(overflow)?))
}

/// Sizes of one kbin's scratchpads in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Of its own core.
    pub local: u64,
    /// Shared by the group.
    pub shared: u64,
}

/// Where the scratchpads of a group of kbins lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Offset of the shared scratchpad on core 0; always 0.
    pub shared_offset: u64,
    /// Its size: the largest that a kbin asks for.
    pub shared_size: u64,
    /// Offset of each kbin's local scratchpad on its core.
    pub local_offset: [u64; GROUP_MOST],
    /// Pages of each core.
    pub pages: [u64; GROUP_MOST],
}

/// Lays out the scratchpads of a group: the shared one first, on core 0, then each kbin's own (lowering.md §7.5).
/// `same_core` puts both kbins' own scratchpads on core 0 (Open; off).
///
/// # Errors
/// L906 for more than two kbins or an overflow, L907 for more than 1024 pages on a core.
pub fn layout(group: &[Sizes], paging: &Paging, same_core: bool) -> Result<Layout, Error> {
    let fail = |code| Error::new(Stage::Lower, code);
    if group.len() > GROUP_MOST {
        let most = u64::try_from(GROUP_MOST).unwrap_or(u64::MAX);
        return Err(
            fail(LowerCode::ScratchpadLayout).numbers(u64::try_from(group.len()).unwrap_or(u64::MAX), most)
        );
    }
    let shared_size = group.iter().map(|sizes| sizes.shared).max().unwrap_or(0);
    let mut layout = Layout { shared_size, ..Layout::default() };
    let mut cursors = [layout.shared_size, 0];
    for (kbin, sizes) in group.iter().enumerate() {
        let core = if same_core { 0 } else { kbin };
        let (Some(cursor), Some(slot)) = (cursors.get_mut(core), layout.local_offset.get_mut(kbin)) else {
            continue;
        };
        (*slot, *cursor) = place(*cursor, sizes.local, paging)?;
    }
    for ((core, pages), cursor) in (0..).zip(&mut layout.pages).zip(cursors) {
        *pages = paging.pages(cursor);
        if *pages > PAGES_MOST {
            return Err(fail(LowerCode::ScratchpadPages).numbers(*pages, PAGES_MOST).third(core));
        }
    }
    Ok(layout)
}

#[cfg(test)]
mod tests;
