//! The nearest double of a decimal number, in little code: exact arithmetic on one long number.
//!
//! The core library's reader is fast and brings 16 KB of code and tables; this one takes less than 1 KB and half a
//! kilobyte of stack. Both round to nearest, ties to even, so they agree on every number.

/// Words below the point: more than the 1,075 bits that decide how the smallest double is rounded.
const BELOW: usize = 36;

/// All words: above the point, 768 digits and one more.
const LIMBS: usize = 117;

/// Bits below that of the smallest double.
const SMALLEST: usize = 78;

const _: () = assert!(BELOW * 32 == 1074 + SMALLEST);

/// Digits that can decide how a number is rounded; whether any later one differs from zero is all that counts then.
const DIGITS: u32 = 768;

/// A long number, least word first, and whether something was cut off below it.
struct Long {
    words: [u32; LIMBS],
    rest: bool,
}

const fn low(value: u64) -> u32 {
    let [a, b, c, d, ..] = value.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

impl Long {
    /// Ten times the number, which has nothing below the point, and a digit.
    fn append(&mut self, digit: u8) {
        let mut carry = u64::from(digit);
        for word in self.words.iter_mut().skip(BELOW) {
            carry = u64::from(*word).wrapping_mul(10).wrapping_add(carry);
            *word = low(carry);
            carry = carry.wrapping_shr(32);
        }
    }

    /// A tenth of the number.
    fn divide(&mut self) {
        let mut left = 0u64;
        for word in self.words.iter_mut().rev() {
            let part = left.wrapping_shl(32) | u64::from(*word);
            if part != 0 {
                *word = low(part / 10);
                left = part % 10;
            }
        }
        self.rest |= left != 0;
    }

    fn bit(&self, at: usize) -> bool {
        let word = self.words.get(at / 32).copied().unwrap_or(0);
        word.wrapping_shr(u32::try_from(at % 32).unwrap_or(0)) & 1 != 0
    }

    /// The bits of the double nearest to the number.
    fn rounded(&self) -> u64 {
        let top = self.words.iter().rposition(|word| *word != 0).unwrap_or(0);
        let (mut value, mut at) = (0u64, top.wrapping_add(1).wrapping_mul(32).max(SMALLEST));
        // As many bits as a double has, unless the number is too small for them.
        while at > SMALLEST && value < 1 << 52 {
            at = at.wrapping_sub(1);
            value = value.wrapping_shl(1) | u64::from(self.bit(at));
        }
        let exponent = super::lexer::wide(at.wrapping_sub(SMALLEST));
        at = at.wrapping_sub(1);
        let below = self.rest || (0..at).any(|at| self.bit(at));
        let up = self.bit(at) && (below || value & 1 != 0);
        // A carry from the fraction goes to the exponent, as it should; it may reach the infinite.
        let bits = value.wrapping_add(u64::from(up)).wrapping_add(exponent.wrapping_shl(52));
        bits.min(f64::INFINITY.to_bits())
    }

    /// The bits of the double nearest to the integer, which has so many digits, times ten to a power.
    fn scaled(&mut self, digits: u32, exponent: i32) -> u64 {
        let magnitude = exponent.saturating_add_unsigned(digits);
        if digits == 0 || magnitude < -330 {
            return 0;
        }
        if magnitude > 310 {
            return f64::INFINITY.to_bits();
        }
        for _ in 0..exponent.unsigned_abs() {
            if exponent < 0 { self.divide() } else { self.append(0) }
        }
        self.rounded()
    }
}

/// A number of JSON as a double; infinite where it is too large.
#[inline(never)]
pub(crate) fn read(text: &[u8]) -> f64 {
    let mut long = Long { words: [0; LIMBS], rest: false };
    let (mut digits, mut exponent, mut fraction) = (0u32, 0i32, false);
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'0'..=b'9' => {
                exponent = exponent.wrapping_sub(i32::from(fraction));
                if digits < DIGITS {
                    long.append(byte & 15);
                    digits = digits.wrapping_add(u32::from(digits != 0 || byte != b'0'));
                } else {
                    long.rest |= byte != b'0';
                    exponent = exponent.wrapping_add(1);
                }
            }
            b'.' => fraction = true,
            b'e' | b'E' => {
                exponent = exponent.saturating_add(power(bytes.as_slice()));
                break;
            }
            _ => {}
        }
    }
    let value = f64::from_bits(long.scaled(digits, exponent));
    if text.first() == Some(&b'-') { -value } else { value }
}

/// What stands behind the `e`; beyond all bounds it stays there.
fn power(text: &[u8]) -> i32 {
    let value = text
        .iter()
        .filter(|byte| byte.is_ascii_digit())
        .fold(0i32, |value, byte| value.saturating_mul(10).saturating_add(i32::from(byte & 15)));
    if text.first() == Some(&b'-') { value.wrapping_neg() } else { value }
}

#[cfg(test)]
mod tests;
