#![allow(clippy::unwrap_used)]
extern crate std;
use super::*;

#[test]
fn names_of_remote_variables() {
    assert_eq!(braced(b"SB{1}"), Some((&b"SB"[..], 1)));
    assert_eq!(braced(b"a{2}{10}"), Some((&b"a{2}"[..], 10)));
    assert_eq!(braced(b"{1}"), None);
    assert_eq!(braced(b"SB{}"), None);
    assert_eq!(braced(b"SB{x}"), None);
    assert_eq!(suffixed(b"kv_remote_0"), Some((&b"kv"[..], 0)));
    assert_eq!(suffixed(b"kv_remote_1_remote_0"), Some((&b"kv_remote_1"[..], 0)));
    assert_eq!(suffixed(b"_remote_0"), None);
    assert_eq!(suffixed(b"kv_remote_"), None);
}
