//! container.md §18, C-91 to C-107: members, names, sparse files.

use loader_core::error::{ContainerCode, Error, Stage};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use neffload_tests::container::tar::{Head, Tar, base};
use neffload_tests::container::{File, Judged, gzip, judge, judge_with};

fn archive(tar: &Tar) -> Judged {
    judge(&File::raw(tar.finish()).bytes())
}

#[test]
fn container_c91_duplicates() {
    let judged = archive(Tar::new().file("a", b"first").file("b", b"").file("a", b"second one"));
    assert_eq!(judged.names(), [b"a", b"b"]);
    assert_eq!(judged.content(b"a"), b"second one");
    assert_eq!(judged.notes, ["W705"]);
}

#[test]
fn container_c92_a_leading_dot_is_dropped() {
    let judged = archive(Tar::new().file("./a", b"first").file("a", b"second"));
    assert_eq!(judged.members(), [(b"a".to_vec(), b"second".to_vec())]);
}

#[test]
fn container_c93_other_names_are_kept() {
    let judged = archive(
        Tar::new().file("././a", b"1").file("/a", b"2").file("../a", b"3").file("a//b", b"4").file("", b"5"),
    );
    assert_eq!(judged.names(), [&b""[..], b"../a", b"./a", b"/a", b"a//b"]);
    assert_eq!(judged.content(b""), b"5");
    assert_eq!(judged.notes, ["W709", "W709"]);
}

#[test]
fn container_c94_folders() {
    let mut tar = Tar::new();
    tar.head(&Head::new(b"folder", b'5', 512)).file("a", b"1");
    tar.head(&Head::new(b"d/", b'0', 0)).file("b", b"2").entry(b"dump", b'D', b"listing").file("c", b"3");
    assert_eq!(archive(&tar).names(), [b"a", b"b", b"c"]);
}

#[test]
fn container_c95_a_folder_with_a_body() {
    archive(Tar::new().entry(b"d/", b'0', b"body")).not_read();
}

#[test]
fn container_c96_bombs() {
    let policy = Policy { verify_digest: false, ..Policy::DEFAULT };
    let limits = Limits { inflated_bytes: 1 << 20, ..Limits::DEFAULT };
    let mut tar = Tar::new();
    tar.file("zeros", vec![0; 4 << 20]);
    let bomb = judge_with(&File::new(2, gzip(&tar.finish())).bytes(), &policy, &limits);
    bomb.refused(4, "the payload inflates to more than 1048576 bytes");
    let layered = judge_with(&File::new(2, gzip(&gzip(&tar.finish()))).bytes(), &policy, &limits);
    layered.refused(4, "the payload inflates");
    let mut hole = Tar::new();
    hole.pax(&[("GNU.sparse.map", b"99999999,1"), ("GNU.sparse.realsize", b"100000000")]).file("s", b"x");
    judge_with(&File::raw(hole.finish()).bytes(), &policy, &limits).refused(4, "the payload inflates");
    let few = Limits { members: 2, ..Limits::DEFAULT };
    judge_with(&File::base().bytes(), &policy, &few).refused(4, "more than 2 archive members");
    let short = Limits { names_total: 20, ..Limits::DEFAULT };
    judge_with(&File::base().bytes(), &policy, &short).refused(4, "member names of more than 20 bytes");
}

#[test]
fn container_c97_links_and_devices() {
    let mut tar = Tar::new();
    for (name, kind) in [(b"sym", b'2'), (b"fif", b'6'), (b"chr", b'3'), (b"blk", b'4'), (b"hrd", b'1')] {
        tar.head(&Head::new(name, kind, 512));
    }
    let judged = archive(tar.file("z", b"end"));
    assert_eq!(judged.names(), [&b"blk"[..], b"chr", b"fif", b"hrd", b"sym", b"z"]);
    assert!(judged.members().iter().all(|(name, content)| content.is_empty() || name == b"z"));
}

#[test]
fn container_c98_a_hard_link_with_content() {
    let mut tar = Tar::new();
    tar.pax(&[("comment", b"x")]).file("a", b"").entry(b"link", b'1', b"four").file("z", b"end");
    let judged = archive(&tar);
    assert_eq!(judged.content(b"link"), b"four");
    assert_eq!(judged.content(b"z"), b"end");
}

#[test]
fn container_c99_wavegraphs_are_dropped() {
    let mut tar = base();
    let before = archive(&tar).members().to_vec();
    for name in ["sg00/wavegraph-bin.json", "wavegraph-bin.json", "xwavegraph-bin.json"] {
        tar.file(name, b"dropped");
    }
    assert_eq!(archive(&tar).members(), before);
}

#[test]
fn container_c100_names_like_wavegraphs() {
    let judged = archive(Tar::new().file("wavegraph-bin.json.bak", b"").file("Wavegraph-bin.json", b""));
    assert_eq!(judged.names(), [&b"Wavegraph-bin.json"[..], b"wavegraph-bin.json.bak"]);
}

#[test]
fn container_c101_a_folder_like_a_wavegraph() {
    assert_eq!(archive(Tar::new().file("sg00/wavegraph-bin.json/", b"")).members(), []);
}

#[test]
fn container_c102_empty_members() {
    assert_eq!(archive(Tar::new().file("a", b"").file("b", b"")).members().len(), 2);
}

#[test]
fn container_c103_any_byte_in_a_name() {
    let judged = archive(Tar::new().file("a b", b"1").file("c\nd", b"2").file(b"\xff", b"3"));
    assert_eq!(judged.names(), [&b"a b"[..], b"c\nd", b"\xff"]);
}

#[test]
fn container_c104_many_members() {
    let mut tar = Tar::new();
    for number in 0..100_000 {
        tar.file(format!("m{number}"), b"");
    }
    let file = File::new(2, gzip(&tar.finish())).bytes();
    let policy = Policy { verify_digest: false, ..Policy::DEFAULT };
    let judged = judge_with(&file, &policy, &Limits::DEFAULT);
    assert_eq!(judged.members().len(), 100_000);
}

#[test]
fn container_c105_byte_order() {
    let judged =
        archive(Tar::new().file("b", b"").file("a/b", b"").file("B", b"").file("a", b"").file("a.b", b""));
    assert_eq!(judged.names(), [&b"B"[..], b"a", b"a.b", b"a/b", b"b"]);
}

#[test]
fn container_c106_lookup_is_exact() {
    use loader_core::arena::Arena;
    use loader_core::container::scan;
    let file = File::base().bytes();
    let (mut memory, mut buffers) = (vec![0; 1 << 16], loader_std::file::Buffers::new());
    let mut arena = Arena::new(&mut memory).unwrap();
    let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
    let notes = &mut loader_core::error::Ignored;
    let container =
        scan(&mut &file[..], buffers.workspace(), 0, &mut arena, &limits, &policy, notes).unwrap();
    assert!(container.table.find(&[b"sg00", b"/", b"pe.bin"]).is_some());
    assert!(container.table.find(&[b"sg00/PE.bin"]).is_none());
    let missing = Error::new(Stage::Manifest, ContainerCode::FileNotFound).name(b"sg00/PE.bin");
    assert_eq!(missing.log().to_string(), "file not found sg00/PE.bin in NEFF");
}

/// A member of the sparse form 0.1: two runs of four bytes.
fn sparse(map: &[u8], size: &[u8]) -> Tar {
    let mut tar = Tar::new();
    tar.pax(&[("GNU.sparse.map", map), ("GNU.sparse.realsize", size), ("GNU.sparse.name", b"s")]);
    tar.file("GNUSparseFile/s", b"AAAABBBB").file("z", b"end");
    tar
}

#[test]
fn container_c107_sparse_members() {
    let judged = archive(&sparse(b"0,4,10,4", b"14"));
    assert_eq!(judged.content(b"s"), b"AAAA\0\0\0\0\0\0BBBB");
    assert_eq!(judged.content(b"z"), b"end");
    archive(&sparse(b"0,4,10,4", b"20")).refused(2, "failure while reading NEFF metadata (open NEFF) ");
    archive(&sparse(b"10,2,0,4", b"14")).not_read();
    let mut text = Tar::new();
    text.pax(&[("GNU.sparse.major", b"1"), ("GNU.sparse.minor", b"0"), ("GNU.sparse.realsize", b"14")]);
    let mut body = b"2\n0\n4\n10\n4\n".to_vec();
    body.resize(512, 0);
    body.extend(b"AAAABBBB");
    let judged = archive(text.file("s", &body).file("z", b"end"));
    assert_eq!(judged.content(b"s"), b"AAAA\0\0\0\0\0\0BBBB");
    let mut old = Head::gnu(b"s", b'S', 8);
    old.put(386, b"00000000000\x0000000000004\x0000000000012\x0000000000004\0");
    old.put(483, b"00000000016\0").sign();
    let judged = archive(Tar::new().head(&old).body(b"AAAABBBB").file("z", b"end"));
    assert_eq!(judged.content(b"s"), b"AAAA\0\0\0\0\0\0BBBB");
}
