//! Byte counts and other counts for people.

use std::fmt;

/// Bytes in binary units: `512 B`, `1.5 MiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return f.pad(&format!("{} B", self.0));
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = UNITS[0];
        for next in &UNITS[1..] {
            if value < 1023.95 {
                break;
            }
            value /= 1024.0;
            unit = next;
        }
        f.pad(&format!("{value:.1} {unit}"))
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
    use super::{Count, Size};

    #[test]
    fn sizes_use_binary_units() {
        let shown = |bytes| Size(bytes).to_string();
        assert_eq!(shown(0), "0 B");
        assert_eq!(shown(1023), "1023 B");
        assert_eq!(shown(1024), "1.0 KiB");
        assert_eq!(shown(1_572_864), "1.5 MiB");
        assert_eq!(shown((1 << 20) - 1), "1.0 MiB");
        assert_eq!(shown(u64::MAX), "16.0 EiB");
        assert_eq!(format!("{:>9}|{:<9}|", Size(5), Size(5)), "      5 B|5 B      |");
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(Count(1, "block").to_string(), "1 block");
        assert_eq!(Count(0, "block").to_string(), "0 blocks");
        assert_eq!(Count(1_234_567, "slot").to_string(), "1,234,567 slots");
        assert_eq!(Count(999, "slot").to_string(), "999 slots");
    }
}
