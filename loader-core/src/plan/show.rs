//! Byte counts as the vendor's breakdown prints them (staging.md §17.4).

use core::fmt;

/// A byte count that prints like `30.562KB`: binary units, three decimals, nearest, ties to even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShowBytes(pub u64);

impl fmt::Display for ShowBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shift, suffix) = match self.0 {
            0..=0x3FF => (0u32, "B"),
            0x400..=0xF_FFFF => (10, "KB"),
            0x10_0000..=0x3FFF_FFFF => (20, "MB"),
            _ => (30, "GB"),
        };
        let scaled = u128::from(self.0).saturating_mul(1000);
        let unit = 1u128.wrapping_shl(shift);
        let whole = scaled.wrapping_shr(shift);
        let twice = (scaled & unit.saturating_sub(1)).saturating_mul(2);
        let up = twice > unit || (twice == unit && whole & 1 == 1);
        let milli = whole.saturating_add(u128::from(up));
        let (units, rest) = (milli.checked_div(1000), milli.checked_rem(1000));
        let mut text = heapless::String::<32>::new();
        // 20 digits at most: it fits. Padding needs the text as one value.
        fmt::write(&mut text, format_args!("{}.{:03}{suffix}", units.unwrap_or(0), rest.unwrap_or(0)))?;
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::ShowBytes;
    use std::string::ToString;

    #[test]
    fn vendor_figures() {
        let cases = [
            (0, "0.000B"),
            (1023, "1023.000B"),
            (1024, "1.000KB"),
            (1 << 20, "1.000MB"),
            (1 << 30, "1.000GB"),
            (446_576, "436.109KB"),
            (461_832, "451.008KB"),
            (31_296, "30.562KB"),
            (236_096, "230.562KB"),
            (u64::MAX, "17179869184.000GB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(ShowBytes(bytes).to_string(), text);
        }
    }
}
