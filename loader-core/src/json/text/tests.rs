#![allow(clippy::unwrap_used)]

use super::Text;

#[test]
fn unescapes_every_escape() {
    let text = Text::from_raw(br#"a\"\\\/\b\f\n\r\t\u00e9\ud834\udd1ez"#);
    let mut out = [0; 32];
    let plain = "a\"\\/\u{8}\u{c}\n\r\té𝄞z".as_bytes();
    assert_eq!(text.unescape(&mut out).unwrap(), plain);
    assert!(text.is(plain) && !text.is(b"a") && text.plain().is_none());
    assert_eq!(text.len(), plain.len());
    assert!(text.unescape(&mut [0; 8]).is_none());
}

#[test]
fn compares_by_characters() {
    let plain = Text::from_raw(b"size");
    let escaped = Text::from_raw(br"s\u0069ze");
    assert!(plain.equals(escaped) && escaped.equals(plain) && escaped.equals(escaped));
    assert!(!escaped.is(b"siz") && !escaped.is(b"sizes"));
    assert!(!plain.equals(Text::from_raw(b"sizes")));
}
