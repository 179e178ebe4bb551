//! The descriptors that the transfers of an engine file will need (manifests.md §20.2).

use super::variables::{Variables, walk};
use super::{sum, too_large};
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
    /// Adds those of another engine file.
    pub(super) fn add(&mut self, other: Self) -> Result<(), Refusal> {
        self.io = sum(DESCRIPTORS, [self.io, other.io])?;
        self.spill = sum(DESCRIPTORS, [self.spill, other.spill])?;
        Ok(())
    }
}

/// The figure that overflows where this file's do.
const DESCRIPTORS: &str = "the DMA descriptors";

/// Counts the transfers of an engine file.
pub(super) fn count(content: &[u8], variables: &Variables) -> Result<Rings, Refusal> {
    let mut file = File {
        variables,
        rings: Rings::default(),
        transfer: Transfer::default(),
        met: [false; 2],
        refusal: None,
    };
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
    /// The first `from`, `to` and `from_arr` were met.
    met: [bool; 3],
    /// The same of `from` in the present part.
    part_met: bool,
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
    fn end_part(&mut self) -> Result<(), Refusal> {
        let (from, to) = std::mem::take(&mut self.part);
        self.part_met = false;
        let parts = &mut self.parts;
        parts.count += 1;
        parts.inherit += u64::from(to.is_none());
        parts.runs = sum(DESCRIPTORS, [parts.runs, from.unwrap_or(1), to.unwrap_or(0)])?;
        Ok(())
    }

    fn descriptors(&self) -> Result<u64, Refusal> {
        let to = self.to.unwrap_or(1);
        let [has_from, ..] = self.met;
        if has_from {
            return sum(DESCRIPTORS, [self.from.unwrap_or(1), to, 2 * SEMAPHORES]);
        }
        let inherited = self.parts.inherit.checked_mul(to).ok_or_else(|| too_large(DESCRIPTORS))?;
        sum(DESCRIPTORS, [self.parts.runs, inherited, self.parts.count * 2 * SEMAPHORES])
    }
}

/// Walks an engine file: `dma[block].desc[transfer]` and, within it, `from_arr[part]`.
struct File<'v> {
    variables: &'v Variables,
    rings: Rings,
    transfer: Transfer,
    /// The first `dma` was met, and the first `desc` of the present block.
    met: [bool; 2],
    refusal: Option<Refusal>,
}

/// Steps to a transfer, to a key of it, to a part, to a key of that.
const TRANSFER: usize = 4;
const KEY: usize = 5;
const PART: usize = 6;
const PART_KEY: usize = 7;

impl File<'_> {
    fn set(&mut self, part: bool, key: &[u8], value: Element<'_>) -> Result<(), Refusal> {
        if matches!(key, b"from" | b"to") {
            return self.end(part, key == b"from", value);
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
        if side.is_none() {
            *side = Some(runs(key, value)?);
        }
        Ok(())
    }

    /// The variable at one end. A part of `from_arr` has no destination.
    fn end(&mut self, part: bool, from: bool, value: Element<'_>) -> Result<(), Refusal> {
        let name = string(if from { "from" } else { "to" }, value)?;
        let transfer = &mut self.transfer;
        let [met_from, met_to, _] = &mut transfer.met;
        let met = match (part, from) {
            (true, true) => &mut transfer.part_met,
            (true, false) => return Ok(()),
            (false, true) => met_from,
            (false, false) => met_to,
        };
        if !std::mem::replace(met, true) {
            transfer.touches_io |= self.variables.is_io(&name);
        }
        Ok(())
    }

    /// Keeps the refusal with its details; the cutter only carries the error.
    fn keep<T>(&mut self, result: Result<T, Refusal>) -> Result<T, Error> {
        result.map_err(|refusal| {
            let error = refusal.error;
            self.refusal = Some(refusal);
            error
        })
    }

    /// A transfer is complete.
    fn end_transfer(&mut self) -> Result<(), Refusal> {
        let transfer = std::mem::take(&mut self.transfer);
        let descriptors = transfer.descriptors()?;
        let class = if transfer.touches_io { &mut self.rings.io } else { &mut self.rings.spill };
        *class = sum(DESCRIPTORS, [*class, descriptors])?;
        Ok(())
    }
}

/// Enters the first value of a key that has one of the right kind (§3: the first counts).
fn first(met: &mut bool, list: bool) -> Want {
    if std::mem::replace(met, true) || !list { Want::Skip } else { Want::Enter }
}

fn runs(key: &str, sizes: Element<'_>) -> Result<u64, Refusal> {
    let wrong = |wrong| Refusal::mismatch(key, wrong);
    let outer = sizes.items().map_err(wrong)?.skip(1);
    outer
        .map(|size| size.u64().map_err(wrong))
        .try_fold(1u64, |runs, size| runs.checked_mul(size?).ok_or_else(|| too_large(DESCRIPTORS)))
}

impl Reader for File<'_> {
    fn value(&mut self, path: &Path<'_>, kind: Kind, _: u64) -> Result<Want, Error> {
        let key = match path.last() {
            Some(Segment::Key(key)) => key,
            _ => b"",
        };
        let kept = matches!(key, b"from" | b"to" | b"from_sizes" | b"to_sizes");
        let list = kind == Kind::Array;
        let ([dma, desc], [_, _, parts]) = (&mut self.met, &mut self.transfer.met);
        Ok(match path.depth() {
            0 => Want::Enter,
            1 if key == b"dma" => first(dma, list),
            2 if kind == Kind::Object => {
                *desc = false;
                Want::Enter
            }
            3 if key == b"desc" => first(desc, list),
            TRANSFER | PART if kind == Kind::Object => Want::Enter,
            KEY if key == b"from_arr" => first(parts, list),
            KEY | PART_KEY if kept => Want::Take,
            _ => Want::Skip,
        })
    }

    fn taken(&mut self, path: &Path<'_>, element: Element<'_>) -> Result<(), Error> {
        let part = path.depth() == PART_KEY;
        let key = path.key(if part { PART } else { TRANSFER });
        let set = self.set(part, key, element);
        self.keep(set)
    }

    fn leave(&mut self, path: &Path<'_>, _: u32, _: u64) -> Result<(), Error> {
        let ended = match path.depth() {
            PART => self.transfer.end_part(),
            TRANSFER => self.end_transfer(),
            _ => Ok(()),
        };
        self.keep(ended)
    }
}

#[cfg(test)]
mod tests;
