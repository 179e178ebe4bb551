//! The nearest double of a decimal number, in little code: exact arithmetic on one long integer.
//!
//! The core library's reader is fast and brings 16 KB of code and tables; this one takes 1 KB and half a kilobyte of
//! stack. Both round to nearest, ties to even, so they agree on every text.

/// Words of the long integer. The longest that is needed is 768 digits over `10^1100`, with 64 bits to spare.
const LIMBS: usize = 132;

/// Digits that can decide how a number is rounded; whether any later one differs from zero is all that counts then.
const DIGITS: u32 = 768;

/// Powers of ten that fit a word.
const STEP: u32 = 9;

/// A long integer, least word first, and whether something was cut off below it.
struct Long {
    words: [u32; LIMBS],
    rest: bool,
}

const fn low(value: u64) -> u32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

impl Long {
    /// `self * factor + plus`.
    fn multiply(&mut self, factor: u32, plus: u32) {
        let mut carry = u64::from(plus);
        for word in &mut self.words {
            // At most (2^32 - 1)^2 + 2^32 - 1.
            carry = u64::from(*word).wrapping_mul(factor.into()).wrapping_add(carry);
            *word = low(carry);
            carry = carry.wrapping_shr(32);
        }
    }

    fn divide(&mut self, divisor: u32) {
        let mut left = 0u64;
        for word in self.words.iter_mut().rev() {
            let part = left.wrapping_shl(32) | u64::from(*word);
            *word = low(part.checked_div(divisor.into()).unwrap_or(0));
            left = part.checked_rem(divisor.into()).unwrap_or(0);
        }
        self.rest |= left != 0;
    }

    fn bits(&self) -> u32 {
        let (mut count, mut top) = (0u32, 0u32);
        for &word in &self.words {
            count = count.wrapping_add(32);
            if word != 0 {
                top = count.wrapping_sub(word.leading_zeros());
            }
        }
        top
    }

    fn bit(&self, at: u32) -> bool {
        let word = usize::try_from(at / 32).ok().and_then(|word| self.words.get(word));
        word.is_some_and(|word| word.wrapping_shr(at % 32) & 1 != 0)
    }

    /// The integer over `2^shift`, rounded.
    fn rounded(&self, shift: u32) -> u64 {
        let top = self.bits();
        let value =
            (shift..top).rev().fold(0u64, |value, at| value.wrapping_shl(1) | u64::from(self.bit(at)));
        let half = shift.checked_sub(1);
        let below = self.rest || half.is_some_and(|half| (0..half).any(|at| self.bit(at)));
        let up = half.is_some_and(|half| self.bit(half)) && (below || value & 1 != 0);
        value.wrapping_add(u64::from(up))
    }
}

/// Ten to a small power.
fn ten(power: u32) -> u32 {
    10u32.wrapping_pow(power.min(STEP))
}

/// A number of JSON as a double; infinite where it is too large. `None` if the text is no number.
#[inline(never)]
pub(crate) fn read(text: &[u8]) -> Option<f64> {
    let (minus, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut long = Long { words: [0; LIMBS], rest: false };
    let (mut digits, mut exponent, mut fraction, mut any) = (0u32, 0i32, false, false);
    let mut bytes = text.iter();
    for &byte in bytes.by_ref() {
        match byte {
            b'0'..=b'9' => {
                any = true;
                exponent = exponent.wrapping_sub(i32::from(fraction));
                if digits < DIGITS {
                    long.multiply(10, u32::from(byte & 15));
                    digits = digits.wrapping_add(u32::from(digits != 0 || byte != b'0'));
                } else {
                    long.rest |= byte != b'0';
                    exponent = exponent.wrapping_add(1);
                }
            }
            b'.' if !fraction => fraction = true,
            b'e' | b'E' => {
                exponent = exponent.saturating_add(power(bytes.as_slice())?);
                break;
            }
            _ => return None,
        }
    }
    let value = if any { f64::from_bits(long.scaled(digits, exponent)) } else { return None };
    Some(if minus { -value } else { value })
}

/// What stands behind the `e`; beyond all bounds it stays there.
fn power(text: &[u8]) -> Option<i32> {
    let (minus, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let mut value = if digits.is_empty() { return None } else { 0i32 };
    for &byte in digits {
        let digit = i32::from(byte.is_ascii_digit().then_some(byte & 15)?);
        value = value.saturating_mul(10).saturating_add(digit);
    }
    Some(if minus { value.wrapping_neg() } else { value })
}

impl Long {
    /// The bits of the double nearest to the integer, which has so many digits, times ten to a power.
    fn scaled(&mut self, digits: u32, exponent: i32) -> u64 {
        let magnitude = exponent.saturating_add_unsigned(digits);
        if digits == 0 || magnitude < -330 {
            return 0;
        }
        if magnitude > 310 {
            return f64::INFINITY.to_bits();
        }
        let mut left = exponent.unsigned_abs();
        let mut shift = 0i32;
        if exponent < 0 {
            // Room for 64 bits more than the divisor has, in whole words.
            let room = left.wrapping_mul(10) / 3;
            let words = (room.wrapping_add(96).saturating_sub(self.bits().saturating_sub(1))) / 32;
            shift = i32::try_from(words.wrapping_mul(32)).unwrap_or(0);
            let words = usize::try_from(words).unwrap_or(0);
            self.words.rotate_right(words.min(LIMBS));
        }
        while left > 0 {
            let step = left.min(STEP);
            if exponent < 0 {
                self.divide(ten(step))
            } else {
                self.multiply(ten(step), 0)
            }
            left = left.wrapping_sub(step);
        }
        // The value lies from 2^(top - 1) to 2^top; its last bit is worth 2^last.
        let bits = i32::try_from(self.bits()).unwrap_or(0);
        let top = bits.wrapping_sub(shift);
        let last = top.wrapping_sub(53).max(-1074);
        let value = self.rounded(u32::try_from(last.wrapping_add(shift)).unwrap_or(0));
        let value = value.wrapping_shl(u32::try_from(last.wrapping_add(shift).wrapping_neg()).unwrap_or(0));
        // A carry from the fraction goes to the exponent, as it should; it may reach the infinite.
        let biased = u64::try_from(last.wrapping_add(1074)).unwrap_or(0);
        value.wrapping_add(biased.wrapping_shl(52)).min(f64::INFINITY.to_bits())
    }
}

#[cfg(test)]
mod tests;
