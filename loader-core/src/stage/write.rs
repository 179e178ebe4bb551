//! Writing into a block of a plan.

use crate::device::Device;
use crate::error::{Error, Stage};
use crate::plan::copy::cuts;
use crate::plan::record::DMem;

/// Writes `bytes` at byte `at` of a block, as a part of a transfer of the whole block (staging.md §9).
pub(super) fn write<D: Device>(device: &D, block: &DMem, at: u64, bytes: &[u8]) -> Result<(), Error> {
    let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let broken = || Error::internal(Stage::Stage, "write outside a block");
    let end = at.checked_add(len).filter(|&end| end <= block.size.get()).ok_or_else(broken)?;
    for cut in cuts(block.size.get(), at..end) {
        let within = |offset: u64| offset.checked_sub(at).and_then(|offset| usize::try_from(offset).ok());
        let part = within(cut.start).zip(within(cut.end)).and_then(|(from, to)| bytes.get(from..to));
        let start = block.skip.get().saturating_add(cut.start);
        device
            .write(block.handle(), start, part.ok_or_else(broken)?)
            .map_err(|error| error.at(Stage::Stage))?;
    }
    Ok(())
}
