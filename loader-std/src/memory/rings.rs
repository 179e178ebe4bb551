//! The descriptors that the transfers of an engine file will need (manifests.md §20.2).

use super::variables::{Variables, walk};
use crate::refusal::{Refusal, string};
use loader_core::error::Error;
use loader_core::json::{Element, Kind, Path, Reader, Segment, Want};

/// The semaphore updates of one side of a transfer, in descriptors (§20.2, Confirmed).
const SEMAPHORES: u64 = 16;

/// Descriptors by what their transfers touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rings {
    /// An input or output on either side.
    pub(super) io: u64,
    /// Both sides internal.
    pub(super) spill: u64,
}

impl Rings {
    pub(super) const fn descriptors(self) -> u64 {
        self.io.saturating_add(self.spill)
    }

    pub(super) const fn add(&mut self, other: Self) {
        self.io = self.io.saturating_add(other.io);
        self.spill = self.spill.saturating_add(other.spill);
    }
}

/// Counts the transfers of an engine file.
pub(super) fn count(content: &[u8], variables: &Variables) -> Result<Rings, Refusal> {
    let mut file = File { variables, rings: Rings::default(), transfer: Transfer::default(), refusal: None };
    match walk(b"", content, &mut file) {
        Ok(()) => Ok(file.rings),
        Err(error) => Err(file.refusal.take().unwrap_or_else(|| error.into())),
    }
}

/// One side of a transfer or of one part of its `from_arr`: the runs that it is cut into, which is
/// the product of all sizes but the first.
type Runs = Option<u64>;

/// A transfer as far as it was read. Keys come in any order, so parts are added up at its end.
#[derive(Default)]
struct Transfer {
    from: Runs,
    to: Runs,
    has_from: bool,
    touches_io: bool,
    parts: Parts,
    part: (Runs, Runs),
}

/// What the parts of a `from_arr` add up to.
#[derive(Default)]
struct Parts {
    /// Their runs on the source side, and on the destination side where they say it themselves.
    runs: u64,
    /// All of them.
    count: u64,
    /// Those that leave the destination side to the transfer.
    inherit: u64,
}

impl Transfer {
    fn end_part(&mut self) {
        let (from, to) = std::mem::take(&mut self.part);
        let parts = &mut self.parts;
        parts.count += 1;
        parts.inherit += u64::from(to.is_none());
        parts.runs = parts.runs.saturating_add(from.unwrap_or(1)).saturating_add(to.unwrap_or(0));
    }

    fn descriptors(&self) -> u64 {
        let to = self.to.unwrap_or(1);
        if self.has_from {
            return self.from.unwrap_or(1).saturating_add(to).saturating_add(2 * SEMAPHORES);
        }
        let inherited = self.parts.inherit.saturating_mul(to);
        let semaphores = self.parts.count.saturating_mul(2 * SEMAPHORES);
        self.parts.runs.saturating_add(inherited).saturating_add(semaphores)
    }
}

/// Walks an engine file: `dma[block].desc[transfer]` and, within it, `from_arr[part]`.
struct File<'v> {
    variables: &'v Variables,
    rings: Rings,
    transfer: Transfer,
    refusal: Option<Refusal>,
}

/// Steps to a transfer, to a key of it, to a part, to a key of that.
const TRANSFER: usize = 4;
const KEY: usize = 5;
const PART: usize = 6;
const PART_KEY: usize = 7;

impl File<'_> {
    fn set(&mut self, part: bool, key: &[u8], value: Element<'_>) -> Result<(), Refusal> {
        match key {
            b"from" | b"to" => {
                let name = string("from", value)?;
                self.transfer.touches_io |= self.variables.is_io(&name);
                self.transfer.has_from |= !part && key == b"from";
                return Ok(());
            }
            _ => {}
        }
        let transfer = &mut self.transfer;
        let from = key == b"from_sizes";
        let side = match (part, from) {
            (true, true) => &mut transfer.part.0,
            (true, false) => &mut transfer.part.1,
            (false, true) => &mut transfer.from,
            (false, false) => &mut transfer.to,
        };
        let key = if from { "from_sizes" } else { "to_sizes" };
        side.get_or_insert(runs(key, value)?);
        Ok(())
    }
}

fn runs(key: &str, sizes: Element<'_>) -> Result<u64, Refusal> {
    let wrong = |wrong| Refusal::mismatch(key, wrong);
    let outer = sizes.items().map_err(wrong)?.skip(1);
    outer.map(|size| size.u64().map_err(wrong)).try_fold(1u64, |runs, size| Ok(runs.saturating_mul(size?)))
}

impl Reader for File<'_> {
    fn value(&mut self, path: &Path<'_>, kind: Kind, _: u64) -> Result<Want, Error> {
        let key = match path.last() {
            Some(Segment::Key(key)) => key,
            _ => b"",
        };
        let kept = matches!(key, b"from" | b"to" | b"from_sizes" | b"to_sizes");
        let list = kind == Kind::Array;
        Ok(match path.depth() {
            0 => Want::Enter,
            1 if key == b"dma" && list => Want::Enter,
            3 if key == b"desc" && list => Want::Enter,
            2 | TRANSFER | PART if kind == Kind::Object => Want::Enter,
            KEY if key == b"from_arr" && list => Want::Enter,
            KEY | PART_KEY if kept => Want::Take,
            _ => Want::Skip,
        })
    }

    fn taken(&mut self, path: &Path<'_>, element: Element<'_>) -> Result<(), Error> {
        let part = path.depth() == PART_KEY;
        let key = path.key(if part { PART } else { TRANSFER });
        self.set(part, key, element).map_err(|refusal| {
            let error = path.name(refusal.error);
            self.refusal = Some(refusal);
            error
        })
    }

    fn leave(&mut self, path: &Path<'_>, _: u32, _: u64) -> Result<(), Error> {
        match path.depth() {
            PART => self.transfer.end_part(),
            TRANSFER => {
                let transfer = std::mem::take(&mut self.transfer);
                let descriptors = transfer.descriptors();
                let class = if transfer.touches_io { &mut self.rings.io } else { &mut self.rings.spill };
                *class = class.saturating_add(descriptors);
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
