#![allow(clippy::unwrap_used)]
use super::*;

const HEAD: [u8; 10] = [0x93, b'N', b'U', b'M', b'P', b'Y', 1, 0, 118, 0];

#[test]
fn finds_the_payload_however_it_is_cut() {
    for cut in 0..HEAD.len() {
        let mut head = NpyHead::new();
        let (a, b) = HEAD.split_at(cut);
        head.feed(a);
        head.feed(b);
        head.feed(b"more");
        assert_eq!(head.payload(4096, b"w.npy").unwrap(), 128);
        assert!(head.payload(127, b"w.npy").is_err());
    }
}

#[test]
fn refuses_short_foreign_and_version_2_headers() {
    let mut short = NpyHead::new();
    short.feed(HEAD.split_last().unwrap().1);
    assert!(short.payload(9, b"w.npy").is_err());
    let mut second = NpyHead::new();
    second.feed(&[0x93, b'N', b'U', b'M', b'P', b'Y', 2, 0, 118, 0]);
    assert!(second.payload(4096, b"w.npy").is_err());
    let mut foreign = NpyHead::new();
    foreign.feed(b"PK\x03\x04......");
    let error = foreign.payload(4096, b"w.npy").unwrap_err();
    assert_eq!(error.at().a, 0x4B50);
}
