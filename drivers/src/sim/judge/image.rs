//! I13 to I15: programs, slot by slot.

use super::source::Source;
use crate::sim::claim::{CoreClaim, ImageClaim, OpaqueClaim, OperandClaim, Place};
use crate::sim::state::SimState;
use crate::sim::storage::Storage;
use crate::sim::violation::{Violation, check};
use loader_core::plan::ring::template;

/// Least alignment of an image (staging.md §22, Confirmed).
const ALIGN: u64 = 0x8000;
/// Bytes of a slot.
const SLOT: u64 = 64;
/// Pseudo-instructions that must not survive (staging.md §11.3).
const PSEUDO: core::ops::RangeInclusive<u8> = 0xC1..=0xDF;
/// A relative branch, whose distance in bytes is four bytes at 48 (staging.md §11.4).
const BRANCH: u8 = 0xA9;
const DISTANCE: usize = 48;
/// Addresses from here on do not fit under an operand's marker (staging.md §11.4).
const MARKER: u64 = 1 << 56;

/// True if a slot is listed as opaque.
fn is_listed(opaque: &[OpaqueClaim], slot: u32) -> bool {
    let behind = opaque.partition_point(|one| one.slot <= slot);
    behind.checked_sub(1).is_some_and(|at| slot - opaque[at].slot < opaque[at].count)
}

impl<S: Storage> SimState<S> {
    pub(super) fn judge_image(&self, core: &CoreClaim<'_>, image: &ImageClaim<'_>) -> Result<(), Violation> {
        let slots: u64 = image.slots.iter().map(|&slots| u64::from(slots)).sum();
        check(image.bytes == slots * SLOT, 13, "an image is not its slots", image.bytes)?;
        check(image.address.is_multiple_of(ALIGN), 13, "an image is not aligned", image.address)?;
        check(
            self.is_live(image.address, image.bytes),
            13,
            "an image is not in one live block",
            image.address,
        )?;
        let source = self.source(image.address, image.written);
        check(source.is_some(), 13, "an image holds other bytes than are claimed", image.address)?;
        if let Some(source) = source.filter(|source| !matches!(source, Source::Unknown)) {
            for slot in 0..u32::try_from(slots).unwrap_or(u32::MAX) {
                self.judge_slot(image, source, slot)?;
            }
            image.operands.iter().try_for_each(|operand| self.judge_operand(core, image, source, operand))?;
        }
        super::map::judge(image)
    }

    fn judge_slot(&self, image: &ImageClaim<'_>, source: Source<'_>, number: u32) -> Result<(), Violation> {
        let mut slot = [0; SLOT as usize];
        let address = image.address + u64::from(number) * SLOT;
        self.fetch(source, address, &mut slot);
        let listed = is_listed(image.opaque, number);
        check(!PSEUDO.contains(&slot[0]) || listed, 13, "a pseudo-instruction survived", address)?;
        if slot[0] != BRANCH || listed {
            return Ok(());
        }
        let mut distance = [0; 4];
        distance.copy_from_slice(&slot[DISTANCE..DISTANCE + 4]);
        let target = i64::from(number) * SLOT as i64 + i64::from(i32::from_le_bytes(distance));
        let inside = u64::try_from(target).is_ok_and(|target| target < image.bytes);
        check(inside && target % SLOT as i64 == 0, 14, "a branch ends on no slot of its image", address)
    }

    /// I15: a placed variable's address with marker 0, or the template of an input or output (R2).
    fn judge_operand(
        &self,
        core: &CoreClaim<'_>,
        image: &ImageClaim<'_>,
        source: Source<'_>,
        operand: &OperandClaim,
    ) -> Result<(), Violation> {
        let mut bytes = [0; 8];
        let at = image.address + u64::from(operand.at);
        self.fetch(source, at, &mut bytes);
        let found = core.variables.binary_search_by_key(&operand.var, |variable| variable.id);
        let variable = found.ok().map(|at| core.variables[at]).filter(|variable| operand.off < variable.size);
        let expected = variable.and_then(|variable| match variable.place {
            Place::At(address) => address.checked_add(operand.off).filter(|&address| address < MARKER),
            Place::Bound => template(operand.var, operand.off),
            Place::Nowhere => None,
        });
        let right = expected == Some(u64::from_le_bytes(bytes));
        check(right, 15, "an operand is not the address of its variable", at)
    }
}
