#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
extern crate std;
use super::{Header, HeaderView, Uuid};
use std::string::ToString;
use zerocopy::IntoBytes;

#[test]
fn what_is_emitted_is_read_back() {
    let mut header = Header::new(b"model");
    header.uuid = *b"0123456789abcdef";
    header.lnc_size = 2;
    let view = header.emit();
    assert_eq!(view.as_bytes().len(), 1024);
    assert_eq!(Header::parse(HeaderView::of(view.as_bytes()).unwrap()), header);
}

#[test]
fn a_name_without_nul_ends_with_its_field() {
    let mut view = Header::new(b"").emit();
    view.name = [b'n'; 256];
    view.pad[467] = 1;
    let header = Header::parse(&view);
    assert_eq!(header.name.as_bytes().len(), 256);
    assert!(!header.pad_is_zero);
}

#[test]
fn uuids_print_in_groups() {
    let bytes =
        [0x56, 0x18, 0x26, 0xfb, 0x12, 0x5f, 0x4b, 0xb8, 0x99, 0x1c, 0x29, 0xe0, 0x85, 0xc8, 0x94, 0x9a];
    assert_eq!(Uuid(&bytes).to_string(), "561826fb-125f-4bb8-991c-29e085c8949a");
}
