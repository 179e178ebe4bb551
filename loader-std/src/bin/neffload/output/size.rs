//! Byte counts and other counts for people.

use std::fmt;

/// The sum of sizes that a file may have made up, for people: 2^64 - 1 stands for all that is more.
pub(crate) fn total(sizes: impl IntoIterator<Item = u64>) -> u64 {
    sizes.into_iter().fold(0, u64::saturating_add)
}

/// Bytes in binary units: `512 B`, `1.5 MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return f.pad(&format!("{} B", self.0));
        }
        let mut tenths = self.tenths(10);
        let mut unit = UNITS[0];
        for (next, shift) in UNITS[1..].iter().zip((20..).step_by(10)) {
            if tenths < 10_240 {
                break;
            }
            tenths = self.tenths(shift);
            unit = next;
        }
        f.pad(&format!("{}.{} {unit}", tenths / 10, tenths % 10))
    }
}

impl Size {
    /// Tenths of a unit of `1 << shift` bytes, rounded to the nearest, a half to the even one. In whole numbers: the
    /// tables of floating-point output are pages that a command which prints no other fraction need not touch.
    const fn tenths(self, shift: u32) -> u64 {
        let scaled = self.0 as u128 * 10;
        let (whole, rest, half) = ((scaled >> shift) as u64, scaled & ((1 << shift) - 1), 1 << (shift - 1));
        let up = rest > half || rest == half && whole % 2 == 1;
        whole + up as u64
    }
}

/// A count with its noun: `1 block`, `1,024 blocks`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count(pub(crate) u64, pub(crate) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 { "" } else { "s" };
        f.pad(&format!("{} {}{plural}", grouped(self.0), self.1))
    }
}

/// Decimal digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Count, Size, total};

    #[test]
    fn sizes_use_binary_units() {
        let shown = |bytes| Size(bytes).to_string();
        assert_eq!(shown(0), "0 B");
        assert_eq!(shown(1023), "1023 B");
        assert_eq!(shown(1024), "1.0 KiB");
        assert_eq!(shown(1_572_864), "1.5 MiB");
        assert_eq!((shown(1280), shown(1408)), ("1.2 KiB".to_owned(), "1.4 KiB".to_owned()));
        assert_eq!((shown(1_048_524), shown(1_048_525)), ("1023.9 KiB".to_owned(), "1.0 MiB".to_owned()));
        assert_eq!(shown((1 << 20) - 1), "1.0 MiB");
        assert_eq!(shown(u64::MAX), "16.0 EiB");
        assert_eq!(format!("{:>9}|{:<9}|", Size(5), Size(5)), "      5 B|5 B      |");
    }

    #[test]
    fn made_up_sizes_do_not_wrap() {
        assert_eq!((total([]), total([1, 2, 3])), (0, 6));
        assert_eq!(total([1 << 63, 1 << 63, 5]), u64::MAX);
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(Count(1, "block").to_string(), "1 block");
        assert_eq!(Count(0, "block").to_string(), "0 blocks");
        assert_eq!(Count(1_234_567, "slot").to_string(), "1,234,567 slots");
        assert_eq!(Count(999, "slot").to_string(), "999 slots");
    }
}
