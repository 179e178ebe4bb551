//! One 64-byte instruction slot, and the words the runtime builds itself (staging.md §11.1, §11.4).

use crate::plan::record::FUNCTION_NAME;

/// A slot.
pub type Slot = [u8; 64];

/// Byte length of a slot in 4-byte words, in byte 1 of every instruction.
pub(super) const WORDS: u8 = 0x10;
/// Opcode of a relative branch.
const BRANCH: u8 = 0xA9;
/// Opcode of an event and semaphore instruction.
const EVENT: u8 = 0xA0;
/// Element type INT32 in a branch's descriptor.
const INT32: u8 = 8;
/// Target mode "relative" in a branch's descriptor.
const RELATIVE: u8 = 3;

/// `N` bytes of a slot from `at`; zeros where it has no so many.
#[inline(always)]
pub(super) fn bytes<const N: usize>(slot: &Slot, at: usize) -> [u8; N] {
    slot.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
}

/// A little-endian u32 of a slot.
#[inline(always)]
pub(super) fn word(slot: &Slot, at: usize) -> u32 {
    u32::from_le_bytes(bytes(slot, at))
}

/// A little-endian u64 of a slot.
#[inline(always)]
pub(super) fn long(slot: &Slot, at: usize) -> u64 {
    u64::from_le_bytes(bytes(slot, at))
}

/// One byte of a slot.
pub(super) fn byte(slot: &Slot, at: usize) -> u8 {
    slot.get(at).copied().unwrap_or(0)
}

/// Overwrites bytes of a slot.
#[inline(always)]
pub(super) fn put<const N: usize>(slot: &mut Slot, at: usize, bytes: [u8; N]) {
    if let Some(to) = slot.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *to = bytes;
    }
}

/// The bytes of a NUL-filled name.
pub(super) fn name(slot: &Slot) -> &[u8; FUNCTION_NAME] {
    slot.get(12..).and_then(<[u8]>::first_chunk).unwrap_or(&[0; FUNCTION_NAME])
}

/// Without NUL fill.
#[inline(never)]
pub(in crate::plan) fn trimmed(name: &[u8]) -> &[u8] {
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    name.get(..end).unwrap_or(name)
}

/// Bytes from a branch's own slot to its target, as stored: 32 signed bits, zero-extended (T50).
#[must_use]
pub fn displacement(here: u32, target: u32) -> Option<u64> {
    let slots = i64::from(target).checked_sub(i64::from(here))?;
    let bytes = i32::try_from(slots.checked_mul(64)?).ok()?;
    Some(u64::from(bytes.cast_unsigned()))
}

/// Makes a slot a relative branch that keeps debug bytes, hint byte and event tuple; the compare operation is
/// "always", taken as 0 (Open).
pub(super) fn branch(slot: &mut Slot, displacement: u64) {
    blank(slot, BRANCH);
    put(slot, 13, [INT32, RELATIVE]);
    put(slot, 48, displacement.to_le_bytes());
}

/// Makes a slot an event and semaphore instruction with its event tuple: what stands for a pseudo-instruction whose slot
/// count is known and whose encoding is not.
pub(super) fn stand_in(slot: &mut Slot) {
    blank(slot, EVENT);
}

/// Leaves of a slot what every instruction has, with another opcode.
fn blank(slot: &mut Slot, opcode: u8) {
    let [code, words, _, _, _, _, _, _, _, _, _, _, rest @ ..] = slot;
    (*code, *words) = (opcode, WORDS);
    rest.fill(0);
}
