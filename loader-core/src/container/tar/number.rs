//! Numbers of tar headers and pax records (container.md §10.4).

/// Blanks, an optional minus, digits of `base`; ends at the first other byte; no digits are 0. Saturates.
pub(super) fn text(bytes: &[u8], base: u8) -> i64 {
    let blanks = bytes.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    let mut rest = bytes.get(blanks..).unwrap_or(&[]);
    let negative = rest.first() == Some(&b'-');
    if negative {
        rest = rest.get(1..).unwrap_or(&[]);
    }
    let digits = rest.iter().map_while(|byte| byte.checked_sub(b'0').filter(|digit| *digit < base));
    let value = digits
        .fold(0i64, |value, digit| value.saturating_mul(i64::from(base)).saturating_add(i64::from(digit)));
    if negative { value.saturating_neg() } else { value }
}

/// A header field: octal text, or two's complement when the first byte has its high bit. Saturates.
pub(super) fn field(bytes: &[u8]) -> i64 {
    match bytes.first() {
        Some(first) if first & 0x80 != 0 => binary(bytes),
        _ => text(bytes, 8),
    }
}

fn binary(bytes: &[u8]) -> i64 {
    // The high bit is the mark; the next one is the sign. Fields have at most 12 bytes.
    let negative = bytes.first().is_some_and(|first| first & 0x40 != 0);
    let mut value: i128 = if negative { -1 } else { 0 };
    for (at, &byte) in bytes.iter().take(12).enumerate() {
        let byte = if at == 0 && !negative { byte & 0x7F } else { byte };
        value = value.wrapping_shl(8) | i128::from(byte);
    }
    i64::try_from(value).unwrap_or(if negative { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::{field, text};

    #[test]
    fn text_stops_where_it_must() {
        let cases = [
            (&b"00000000004x"[..], 4),
            (b" \t-12", -10),
            (b"", 0),
            (b"+3", 0),
            (b"777777777777", 0xF_FFFF_FFFF),
        ];
        for (bytes, want) in cases {
            assert_eq!(text(bytes, 8), want);
        }
        assert_eq!(text(b"3.7", 10), 3);
        assert_eq!(text(b"99999999999999999999", 10), i64::MAX);
    }

    #[test]
    fn binary_is_big_endian_and_saturates() {
        assert_eq!(field(b"\x80\0\0\0\0\0\0\0\0\0\x01\x02"), 258);
        assert_eq!(field(b"\xff\xff\xff\xff\xff\xff\xff\xfe"), -2);
        assert_eq!(field(b"\x80\x01\0\0\0\0\0\0\0\0\0\0"), i64::MAX);
        assert_eq!(field(b"\xff\0\0\0\0\0\0\0\0\0\0\0"), i64::MIN);
    }
}
