//! The instruction-position map (staging.md §12): device slot to source slot and back.

use crate::lower::record::{PatchEntry, PatchSection, PatchType};

/// Device byte offset to the 1-based position of its source slot, by the walk of staging.md §12.2.
///
/// `patches` are one engine's, sorted by offset; `start` is where the section's walk begins and
/// `position` the number of its first source slot. `None` for an offset before `start` or inside a slot.
#[must_use]
pub fn source_position(
    patches: &[PatchEntry],
    section: PatchSection,
    start: u32,
    position: u32,
    target: u32,
) -> Option<u32> {
    if !target.checked_sub(start)?.is_multiple_of(64) {
        return None;
    }
    let of_section = |patch: &&PatchEntry| patch.section == section && patch.offset.get() >= start;
    let mut rest = patches.iter().filter(of_section).peekable();
    let (mut at, mut position) = (start, position);
    loop {
        let mut extra = 0u32;
        while let Some(patch) = rest.next_if(|patch| patch.offset.get() <= at) {
            let count = if patch.offset.get() < at { 0 } else { patch.count.get() };
            match patch.kind {
                PatchType::DELETE => position = position.checked_add(count)?,
                PatchType::INSERT => extra = extra.checked_add(count)?,
                _ => {}
            }
        }
        let end = at.checked_add(extra.checked_add(1)?.checked_mul(64)?)?;
        if target < end {
            return Some(position);
        }
        // Nothing changes until the next patch: skip the plain stretch in one step.
        let next = rest.peek().map_or(target, |patch| patch.offset.get().min(target));
        let skip = next.checked_sub(end).map_or(0, |gap| gap / 64);
        at = end.checked_add(skip.checked_mul(64)?)?;
        position = position.checked_add(1)?.checked_add(skip)?;
    }
}

/// The device slots of source slot `wanted` (1-based): byte offset of the first one and their number,
/// 0 for a deleted slot. `None` before the section's first position.
#[must_use]
pub fn device_range(
    patches: &[PatchEntry],
    section: PatchSection,
    start: u32,
    position: u32,
    wanted: u32,
) -> Option<(u32, u32)> {
    let of_section = |patch: &&PatchEntry| patch.section == section && patch.offset.get() >= start;
    let mut rest = patches.iter().filter(of_section).peekable();
    let (mut at, mut position) = (start, position);
    if wanted < position {
        return None;
    }
    loop {
        let mut extra = 0u32;
        while let Some(patch) = rest.next_if(|patch| patch.offset.get() <= at) {
            let count = if patch.offset.get() < at { 0 } else { patch.count.get() };
            match patch.kind {
                PatchType::DELETE => {
                    position = position.checked_add(count)?;
                    if wanted < position {
                        return Some((at, 0));
                    }
                }
                PatchType::INSERT => extra = extra.checked_add(count)?,
                _ => {}
            }
        }
        let slots = extra.checked_add(1)?;
        if wanted == position {
            return Some((at, slots));
        }
        at = at.checked_add(slots.checked_mul(64)?)?;
        position = position.checked_add(1)?;
        let gap = rest.peek().map_or(u32::MAX, |patch| patch.offset.get().saturating_sub(at) / 64);
        let skip = gap.min(wanted.saturating_sub(position));
        at = at.checked_add(skip.checked_mul(64)?)?;
        position = position.checked_add(skip)?;
    }
}

#[cfg(test)]
mod tests;
