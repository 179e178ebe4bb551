//! One 64-byte instruction slot, and the words the runtime builds itself (staging.md §11.1, §11.4).

/// A slot.
pub type Slot = [u8; 64];

/// Byte length of a slot in 4-byte words, in byte 1 of every instruction.
const WORDS: u8 = 0x10;
/// Opcode of a relative branch.
const BRANCH: u8 = 0xA9;
/// Opcode of an event and semaphore instruction.
const EVENT: u8 = 0xA0;
/// Element type INT32 in a branch's descriptor.
const INT32: u8 = 8;
/// Target mode "relative" in a branch's descriptor.
const RELATIVE: u8 = 3;

/// `N` bytes of a slot from `at`; zeros beyond its end.
pub(super) fn bytes<const N: usize>(slot: &Slot, at: usize) -> [u8; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(slot.get(at..).unwrap_or(&[])) {
        *to = *from;
    }
    out
}

/// A little-endian u32 of a slot.
pub(super) fn word(slot: &Slot, at: usize) -> u32 {
    u32::from_le_bytes(bytes(slot, at))
}

/// One byte of a slot.
pub(super) fn byte(slot: &Slot, at: usize) -> u8 {
    slot.get(at).copied().unwrap_or(0)
}

/// Overwrites bytes of a slot.
pub(super) fn put(slot: &mut Slot, at: usize, bytes: &[u8]) {
    for (to, from) in slot.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

/// The bytes of a NUL-filled name before its NUL.
pub(super) fn name(slot: &Slot) -> [u8; 32] {
    bytes(slot, 12)
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

/// A relative branch that keeps debug bytes, hint byte and event tuple of `source`; the compare operation is
/// "always", taken as 0 (Open).
pub(super) fn branch(source: &Slot, displacement: u64) -> Slot {
    let mut slot = [0; 64];
    put(&mut slot, 0, &[BRANCH, WORDS]);
    put(&mut slot, 2, &bytes::<10>(source, 2));
    put(&mut slot, 13, &[INT32, RELATIVE]);
    put(&mut slot, 48, &displacement.to_le_bytes());
    slot
}

/// An event and semaphore instruction with the event tuple of `source`: what stands for a
/// pseudo-instruction whose slot count is known and whose encoding is not.
pub(super) fn stand_in(source: &Slot) -> Slot {
    let mut slot = [0; 64];
    put(&mut slot, 0, &[EVENT, WORDS]);
    put(&mut slot, 2, &bytes::<10>(source, 2));
    slot
}
