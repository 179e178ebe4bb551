//! One side of a descriptor, walked as contiguous pieces (R10, R29): dimension 1 moves fastest.

use crate::layout::SMALL;
use crate::lower::record::Dim;

/// Most dimensions of an access pattern (lowering.md §2.5).
pub const MOST_DIMS: usize = 8;

/// A cursor over an access pattern. Lengths count *units*: bytes, or elements for a cast.
#[derive(Clone, Copy, Debug)]
pub struct Walk<'m> {
    outer: &'m [Dim],
    index: [u64; MOST_DIMS],
    unit: u64,
    inner: u64,
    run: u64,
    done_in_run: u64,
    over: bool,
}

impl<'m> Walk<'m> {
    /// A pattern that is over.
    pub(super) const OVER: Self =
        Self { outer: &[], index: [0; MOST_DIMS], unit: 1, inner: 0, run: 0, done_in_run: 0, over: true };

    /// Starts at byte `off`. `None` if the pattern has no dimension, more than eight, an empty one, or if
    /// its fastest dimension cannot be cut into units.
    #[must_use]
    pub fn new(dims: &'m [Dim], off: u64, unit: u64) -> Option<Self> {
        let mut walk = Self::OVER;
        walk.start(dims, off, unit)?;
        Some(walk)
    }

    /// The same, where the walk lies; it is large. Small code leaves the number of dimensions and their sizes to S2 (E374,
    /// E375).
    pub(super) fn start(&mut self, dims: &'m [Dim], off: u64, unit: u64) -> Option<()> {
        let (first, rest) = dims.split_first()?;
        let (size, step) = (first.size.get(), first.step.get());
        if !SMALL && (dims.len() > MOST_DIMS || dims.iter().any(|dim| dim.size.get() == 0)) {
            return None;
        }
        let dense = step == 1 || size == 1;
        let (inner, outer) = if dense { (size, rest) } else { (1, dims) };
        let whole = unit != 0 && inner.is_multiple_of(unit);
        *self = Self { outer, unit, inner: inner.checked_div(unit)?, run: off, over: false, ..Self::OVER };
        whole.then_some(())
    }

    /// Number of contiguous runs; `None` on overflow.
    #[must_use]
    pub fn runs(&self) -> Option<u64> {
        self.outer.iter().try_fold(1u64, |runs, dim| runs.checked_mul(dim.size.get()))
    }

    /// Units in all; `None` on overflow.
    #[must_use]
    pub fn units(&self) -> Option<u64> {
        self.runs()?.checked_mul(self.inner)
    }

    /// Byte offset of the next unit, in the variable.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.run.wrapping_add(self.done_in_run.wrapping_mul(self.unit))
    }

    /// Units left in the present run; 0 at the end of the pattern.
    #[must_use]
    pub const fn left(&self) -> u64 {
        if self.over { 0 } else { self.inner.saturating_sub(self.done_in_run) }
    }

    /// Moves on by `units`, at most [`Walk::left`].
    pub fn advance(&mut self, units: u64) {
        self.done_in_run = self.done_in_run.saturating_add(units);
        if self.done_in_run < self.inner {
            return;
        }
        self.done_in_run = 0;
        // Offsets cannot leave the variable: `extent` was checked before the walk began.
        for (dim, index) in self.outer.iter().zip(self.index.iter_mut()) {
            let step = dim.step.get();
            *index = index.saturating_add(1);
            if *index < dim.size.get() {
                self.run = self.run.wrapping_add_signed(step);
                return;
            }
            let back = dim.size.get().saturating_sub(1);
            self.run = self.run.wrapping_sub(back.wrapping_mul(step.cast_unsigned()));
            *index = 0;
        }
        self.over = true;
    }
}

/// First byte and end of what a pattern touches; `None` if that is not within 0 and 2^64.
#[must_use]
pub fn extent(dims: &[Dim], off: u64) -> Option<(u64, u64)> {
    let (mut low, mut high) = (i128::from(off), i128::from(off));
    for dim in dims {
        let reach = i128::from(dim.size.get().checked_sub(1)?).checked_mul(i128::from(dim.step.get()))?;
        if reach < 0 {
            low = low.checked_add(reach)?;
        } else {
            high = high.checked_add(reach)?;
        }
    }
    Some((u64::try_from(low).ok()?, u64::try_from(high.checked_add(1)?).ok()?))
}

#[cfg(test)]
mod tests;
