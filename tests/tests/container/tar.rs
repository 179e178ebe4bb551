//! container.md §18, C-63 to C-90: the structure of the archive.

use neffload_tests::container::tar::{Head, Tar, base, base_members, pax_line};
use neffload_tests::container::{File, Judged, judge};

fn archive(bytes: Vec<u8>) -> Judged {
    judge(&File::raw(bytes).bytes())
}

fn is_base(judged: &Judged) {
    assert_eq!(judged.members(), base_members());
}

const WALK: &str = "failure while reading NEFF metadata ";

fn walk(text: &str) -> String {
    format!("{WALK}{text}")
}

/// A header with an edit that its checksum covers.
fn signed(mut head: Head, at: usize, bytes: &[u8]) -> Head {
    head.put(at, bytes).sign()
}

#[test]
fn container_c63_no_end_marker() {
    let judged = archive(base().bytes());
    is_base(&judged);
    assert_eq!(judged.notes, ["W706"]);
}

#[test]
fn container_c64_one_zero_block() {
    is_base(&archive(base().raw(&[0; 512]).bytes()));
}

#[test]
fn container_c65_members_after_the_end() {
    let mut tar = base();
    tar.raw(&[0; 512]).file("late", b"x");
    is_base(&archive(tar.finish()));
}

#[test]
fn container_c66_an_empty_archive() {
    assert_eq!(archive(vec![0; 512]).members(), []);
}

#[test]
fn container_c67_not_even_a_block() {
    archive(vec![0; 511]).refused(2, "Failed to open NEFF Unrecognized archive format");
}

#[test]
fn container_c68_a_partial_header() {
    let text = walk("Truncated tar archive detected while reading next header");
    archive(base().raw(&[b'x'; 100]).bytes()).refused(2, &text);
}

#[test]
fn container_c69_no_padding() {
    let tar = base().bytes();
    archive(tar[..tar.len() - 448].to_vec()).refused(2, &walk("Truncated input file (448 bytes missing)"));
    archive(tar[..tar.len() - 1].to_vec()).not_read();
}

#[test]
fn container_c70_a_cut_body() {
    let tar = base().bytes();
    let text = walk("Truncated tar archive detected while reading data");
    archive(tar[..tar.len() - 449].to_vec()).refused(2, &text);
}

#[test]
fn container_c71_first_checksum() {
    let mut tar = base().finish();
    tar[0] ^= 1;
    archive(tar).refused(2, "Failed to open NEFF Unrecognized archive format");
}

#[test]
fn container_c72_second_checksum() {
    let mut tar = base().finish();
    tar[1024] ^= 1;
    archive(tar).refused(2, &walk("Damaged tar archive (bad header checksum)"));
}

#[test]
fn container_c73_signed_checksum() {
    let name = b"caf\xc3\xa9\xff";
    let mut head = Head::new(name, b'0', 2);
    let high = name.iter().filter(|byte| **byte >= 0x80).count() as u32;
    head.put(148, format!("{:06o}\0 ", head.sum() - 256 * high).as_bytes());
    assert_eq!(archive(Tar::new().head(&head).body(b"ok").finish()).content(name), b"ok");
}

#[test]
fn container_c74_checksum_layouts() {
    let head = Head::new(b"a", b'0', 0);
    let sum = head.sum();
    let layouts =
        [format!("{sum:06o}\0 "), format!("{sum:06o} \0"), format!("{sum:07o}\0"), format!("  {sum:o}\0 ")];
    for layout in layouts {
        let mut head = head;
        head.put(148, &layout.as_bytes()[..8.min(layout.len())]);
        assert_eq!(archive(Tar::new().head(&head).finish()).names(), [b"a"]);
    }
}

#[test]
fn container_c75_letter_in_the_checksum() {
    let mut head = Head::new(b"b", b'0', 0);
    head.put(155, b"x");
    archive(Tar::new().head(&head).finish()).not_opened();
    archive(Tar::new().file("a", b"").head(&head).finish()).refused(2, &walk("Damaged tar archive"));
}

#[test]
fn container_c76_letter_in_the_size() {
    let head = signed(Head::new(b"a", b'0', 4), 124, b"00000000004x");
    archive(Tar::new().head(&head).body(b"four").finish()).not_opened();
    let judged = archive(Tar::new().file("first", b"").head(&head).body(b"four").finish());
    assert_eq!(judged.content(b"a"), b"four");
}

#[test]
fn container_c77_base_256() {
    let mut head = Head::gnu(b"a", b'0', 0);
    head.put(124, b"\x80\0\0\0\0\0\0\0\0\0\0\x04");
    head.put(108, b"\x80\0\0\0\x12\x34\x56\x78").put(116, b"\x80\0\0\0\x12\x34\x56\x78").sign();
    assert_eq!(archive(Tar::new().head(&head).body(b"four").finish()).content(b"a"), b"four");
}

#[test]
fn container_c78_sizes_out_of_range() {
    let sizes: [(&[u8], &str); 3] = [
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "Tar entry has negative file size"),
        (b"\x80\0\0\0\x10\0\0\0\0\0\0\0", "Tar entry size overflow"),
        (b"\x80\0\0\0\x40\0\0\0\0\0\0\0", "Tar entry size overflow"),
    ];
    for (size, text) in sizes {
        let head = signed(Head::new(b"a", b'0', 0), 124, size);
        archive(Tar::new().head(&head).finish()).refused(2, &walk(text));
    }
}

#[test]
fn container_c79_a_size_larger_than_the_payload() {
    for size in [4096u64, 1 << 32] {
        let head =
            signed(Head::new(b"a", b'0', 0), 124, &[&[0x80, 0, 0, 0][..], &size.to_be_bytes()].concat());
        let judged = archive(Tar::new().head(&head).body(b"four").finish());
        judged.refused(2, &walk("Truncated tar archive detected while reading data"));
    }
}

#[test]
fn container_c80_mixed_dialects() {
    let mut tar = Tar::new();
    tar.head(&signed(Head::new(b"v7", b'0', 1), 257, &[0; 8])).body(b"1");
    tar.file("ustar", b"2").head(&Head::gnu(b"gnu", b'0', 1)).body(b"3");
    tar.head(&signed(Head::new(b"odd", b'\0', 1), 257, b"ustarXYZ")).body(b"4");
    let judged = archive(tar.finish());
    assert_eq!(judged.names(), [&b"gnu"[..], b"odd", b"ustar", b"v7"]);
}

#[test]
fn container_c81_prefix_and_name() {
    let (prefix, name) = ([b'p'; 155], [b'n'; 100]);
    let head = signed(Head::new(&name, b'0', 0), 345, &prefix);
    let whole = [&prefix[..], b"/", &name].concat();
    assert_eq!(archive(Tar::new().head(&head).finish()).names(), [&whole[..]]);
    let head = signed(Head::new(b"file", b'0', 0), 345, b"dir/");
    assert_eq!(archive(Tar::new().head(&head).finish()).names(), [b"dir/file"]);
}

#[test]
fn container_c82_gnu_has_no_prefix() {
    let mut head = Head::gnu(b"name", b'0', 0);
    head.put(345, b"12345670123\0prefix").sign();
    assert_eq!(archive(Tar::new().head(&head).finish()).names(), [b"name"]);
}

#[test]
fn container_c83_long_names() {
    let name = [b'l'; 300];
    for body in [[&name[..], b"\0"].concat(), name.to_vec(), [&name[..], b"\0rest"].concat()] {
        let tar = Tar::new().entry(b"././@LongLink", b'L', &body).file("short", b"x").finish();
        assert_eq!(archive(tar).names(), [&name[..]]);
    }
    let tar = Tar::new().entry(b"L", b'L', b"").file("short", b"x").finish();
    assert_eq!(archive(tar).names(), [b"short"]);
}

#[test]
fn container_c84_the_longest_name() {
    let name = vec![b'l'; 1 << 20];
    let long = |name: &[u8]| archive(Tar::new().entry(b"L", b'L', name).file("short", b"x").finish());
    assert_eq!(long(&name).names(), [&name[..]]);
    long(&[&name[..], b"l"].concat()).refused(2, &walk("Special header too large"));
}

#[test]
fn container_c85_repeated_records() {
    let mut tar = Tar::new();
    tar.file("first", b"");
    let twice = |kind: u8, body: &[u8]| {
        archive(tar.clone().entry(b"s", kind, body).entry(b"s", kind, body).file("m", b"").finish())
    };
    twice(b'L', b"name").refused(2, &walk("Redundant 'L' header"));
    twice(b'x', &pax_line(b"a", b"b")).refused(2, &walk("Redundant 'x' header"));
    twice(b'g', &pax_line(b"a", b"b")).refused(2, &walk("Redundant 'g' header"));
    let mixed = tar.clone().entry(b"s", b'x', b"").entry(b"s", b'X', b"").file("m", b"").finish();
    archive(mixed).not_read();
    let apart = tar.clone().entry(b"s", b'x', b"").entry(b"s", b'g', b"").file("m", b"").finish();
    assert_eq!(archive(apart).names(), [&b"first"[..], b"m"]);
}

#[test]
fn container_c86_pax_path_and_size() {
    let judged = archive(Tar::new().pax(&[("path", b"long/name")]).file("short", b"x").finish());
    assert_eq!(judged.content(b"long/name"), b"x");
    for declared in [0, 600] {
        let mut tar = Tar::new();
        tar.pax(&[("size", b"3")]).head(&Head::new(b"a", b'0', declared)).body(b"abc").file("b", b"after");
        let judged = archive(tar.finish());
        assert_eq!(judged.content(b"a"), b"abc");
        assert_eq!(judged.content(b"b"), b"after");
    }
}

fn pax_body(body: &[u8]) -> Judged {
    archive(Tar::new().file("first", b"").entry(b"s", b'x', body).file("m", b"").finish())
}

#[test]
fn container_c87_malformed_pax() {
    let cases: [(&[u8], &str); 9] = [
        (b"99 path=a\n", "Ignoring malformed pax attribute: overlarge"),
        (b"x1 path=a\n", "Ignoring malformed pax attributes: malformed attribute size field"),
        (b"9 path=a\n\0\0\0", "Ignoring malformed pax attributes: malformed attribute size field"),
        (b"7 patha\n", "Ignoring malformed pax attributes: overlarge attribute name"),
        (b"8 path=a", "Malformed pax attributes"),
        (b"8 path=ab\n", "Malformed pax attributes"),
        (b"5 =a\n", "Ignoring malformed pax attributes: empty name found"),
        (b"2 path=a\n", "Ignoring malformed pax attributes: empty name found"),
        (b"100000000 path=a\n", "Ignoring malformed pax attribute: overlarge"),
    ];
    for (body, text) in cases {
        pax_body(body).refused(2, &walk(text));
    }
    let long_key = pax_line(&[b'k'; 600], b"v");
    pax_body(&long_key).refused(2, &walk("Ignoring malformed pax attributes: overlarge attribute name"));
}

#[test]
fn container_c88_global_records_have_no_effect() {
    let body = pax_line(b"path", b"other");
    let judged = archive(Tar::new().entry(b"g", b'g', &body).file("m", b"x").finish());
    assert_eq!(judged.names(), [b"m"]);
}

#[test]
fn container_c89_a_record_without_a_member() {
    let mut tar = Tar::new();
    tar.file("m", b"x").pax(&[("path", b"y")]);
    archive(tar.bytes())
        .refused(2, &walk("Damaged tar archive (end-of-archive within a sequence of headers)"));
    assert_eq!(archive(tar.finish()).names(), [b"m"]);
}

#[test]
fn container_c90_a_global_record_at_the_end() {
    let mut tar = Tar::new();
    tar.file("m", b"x").entry(b"g", b'g', &pax_line(b"a", b"b"));
    assert_eq!(archive(tar.bytes()).names(), [b"m"]);
    let cut = tar.bytes();
    assert_eq!(archive(cut[..cut.len() - 100].to_vec()).names(), [b"m"]);
}

#[test]
fn container_pax_values() {
    let accepted: [(&str, &[u8]); 10] = [
        ("size", b"3.7"),
        ("size", b"3x"),
        ("uid", b"5"),
        ("mtime", b"1.5"),
        ("hdrcharset", b"BINARY"),
        ("hdrcharset", b"ISO-IR 10646 2000 UTF-8"),
        ("comment", b"whatever"),
        ("path", b""),
        ("path", "größe".as_bytes()),
        ("linkpath", b"\xff"),
    ];
    for (key, value) in accepted {
        let judged = archive(Tar::new().pax(&[(key, value)]).file("m", b"abc").finish());
        assert_eq!(judged.members()[0].1, b"abc", "{key}");
    }
    let refused: [(&str, &[u8]); 8] = [
        ("size", b"-1"),
        ("size", b"99999999999999999999"),
        ("size", &[b'1'; 65]),
        ("mtime", b"-1"),
        ("mtime", &[b'1'; 129]),
        ("hdrcharset", b"LATIN-1"),
        ("path", b"\xff"),
        ("GNU.sparse.map", b"1,,2"),
    ];
    for (key, value) in refused {
        archive(Tar::new().file("first", b"").pax(&[(key, value)]).file("m", b"abc").finish()).not_read();
    }
    let binary: [(&str, &[u8]); 2] = [("path", b"\xff"), ("hdrcharset", b"BINARY")];
    assert_eq!(archive(Tar::new().pax(&binary).file("m", b"").finish()).names(), [b"\xff"]);
}

#[test]
fn container_long_name_and_pax_path_the_later_one_wins() {
    let mut pax_last = Tar::new();
    pax_last.entry(b"L", b'L', b"from-L\0").pax(&[("path", b"from-pax")]).file("m", b"");
    assert_eq!(archive(pax_last.finish()).names(), [b"from-pax"]);
    let mut long_last = Tar::new();
    long_last.pax(&[("path", b"from-pax")]).entry(b"L", b'L', b"from-L\0").file("m", b"");
    assert_eq!(archive(long_last.finish()).names(), [b"from-L"]);
}

#[test]
fn container_volume_labels_and_acls() {
    let labelled = Tar::new().entry(b"label", b'V', b"").file("m", b"x").finish();
    assert_eq!(archive(labelled).names(), [b"m"]);
    let acl = Tar::new().file("m", b"x").entry(b"acl", b'A', b"acl").file("n", b"x").finish();
    archive(acl).refused(2, &walk("Solaris ACL"));
}
