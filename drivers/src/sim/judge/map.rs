//! I16 and I17: the position map, walked once (staging.md §12.2).

use crate::sim::claim::{ImageClaim, PatchClaim, PatchKind, RangeClaim, Section};
use crate::sim::violation::{Violation, check};

/// Bytes of a slot.
const SLOT: u32 = 64;

/// One section that comes from the file: its bytes of the image, and its slots of the file.
struct Part<'a> {
    section: Section,
    /// First byte of the image, and where offsets of records count from.
    start: u32,
    base: u32,
    slots: u32,
    source: u32,
    /// The way back for its slots of the file.
    ranges: &'a [RangeClaim],
}

pub(super) fn judge(image: &ImageClaim<'_>) -> Result<(), Violation> {
    let [preamble, main, postamble, function] = image.slots;
    let [of_main, of_functions] = image.source;
    let all = image.ranges.len() as u64;
    let whole = u64::from(of_main) + u64::from(of_functions) == all;
    check(whole, 17, "the way back does not have one entry for each slot of the file", all)?;
    let (first, rest) = image.ranges.split_at(of_main as usize);
    let start = (preamble + main + postamble) * SLOT;
    region(image, Section::Preamble, 0, preamble)?;
    region(image, Section::Postamble, (preamble + main) * SLOT, postamble)?;
    let (section, base) = (Section::Main, preamble * SLOT);
    part(image, &Part { section, start: base, base: 0, slots: main, source: of_main, ranges: first })?;
    let section = Section::Function;
    part(image, &Part { section, start, base: start, slots: function, source: of_functions, ranges: rest })
}

fn of_section<'a>(image: &ImageClaim<'a>, section: Section) -> impl Iterator<Item = &'a PatchClaim> {
    image.patches.iter().filter(move |patch| patch.section == section)
}

/// Preamble and postamble are one insertion each.
fn region(image: &ImageClaim<'_>, section: Section, offset: u32, slots: u32) -> Result<(), Violation> {
    let mut sum = 0;
    for patch in of_section(image, section) {
        let right = patch.kind == PatchKind::Insert && patch.offset == offset;
        check(
            right,
            16,
            "a record of the preamble or postamble is no insertion at its start",
            patch.offset.into(),
        )?;
        sum += patch.count;
    }
    check(sum == slots, 16, "preamble or postamble are not inserted in whole", sum.into())
}

fn part(image: &ImageClaim<'_>, part: &Part<'_>) -> Result<(), Violation> {
    let end = part.start + part.slots * SLOT;
    let (mut last, mut sum) = (0, i64::from(part.source));
    for patch in of_section(image, part.section) {
        let at = patch.offset.saturating_add(part.base);
        check((part.start..=end).contains(&at), 16, "a record lies outside its section", at.into())?;
        check(at >= last, 16, "the records are not in order", at.into())?;
        last = at;
        sum += match patch.kind {
            PatchKind::Insert => i64::from(patch.count),
            PatchKind::Delete => -i64::from(patch.count),
            PatchKind::Modify => 0,
        };
    }
    let right = sum == i64::from(part.slots);
    check(right, 16, "slots, insertions and deletions do not add up", part.slots.into())?;
    walk(image, part, end)
}

/// The walk from device slots to slots of the file, beside the way back.
fn walk(image: &ImageClaim<'_>, part: &Part<'_>, end: u32) -> Result<(), Violation> {
    let mut patches = of_section(image, part.section).peekable();
    let mut ranges = part.ranges.iter();
    let mut expect = |at: u32, slots: u32| {
        let right = ranges.next() == Some(&RangeClaim { at, slots });
        check(right, 17, "a slot of the file does not lead to the device slots that lead to it", at.into())
    };
    let mut at = part.start;
    loop {
        let mut run = 1;
        while let Some(patch) = patches.next_if(|patch| patch.offset.saturating_add(part.base) <= at) {
            match patch.kind {
                PatchKind::Delete => (0..patch.count).try_for_each(|_| expect(at, 0))?,
                PatchKind::Insert => run += patch.count,
                PatchKind::Modify => {}
            }
        }
        if at >= end {
            break;
        }
        expect(at, run)?;
        at += run * SLOT;
    }
    check(at == end, 17, "an expansion leaves its section", at.into())?;
    check(ranges.next().is_none(), 17, "slots of the file that lead nowhere", end.into())
}
