//! container.md §18, C-50 to C-62: gzip; and the windows of §9.3.

use loader_core::limits::Limits;
use loader_core::policy::Policy;
use neffload_tests::build::filler;
use neffload_tests::container::tar::{Tar, base, base_members};
use neffload_tests::container::{File, GZIP_HEADER, Judged, deflate, gzip, gzip_level, judge, judge_with};
use neffload_tests::{real_files, skip};

fn payload(bytes: Vec<u8>) -> Judged {
    judge(&File::new(2, bytes).bytes())
}

fn is_base(judged: &Judged) {
    assert_eq!(judged.members(), base_members());
}

/// A gzip member with that header.
fn with_header(header: &[u8]) -> Vec<u8> {
    let gz = gzip(&base().finish());
    [header, &gz[10..]].concat()
}

#[test]
fn container_c50_two_gzip_members() {
    let tar = base().finish();
    for cut in [0, 1, 511, 512, 700, tar.len() - 1, tar.len()] {
        is_base(&payload([gzip(&tar[..cut]), gzip_level(&tar[cut..], 0)].concat()));
    }
}

#[test]
fn container_c51_zero_fill() {
    for fill in [1, 17, 512, 10185] {
        let judged = payload([gzip(&base().finish()), vec![0; fill]].concat());
        is_base(&judged);
        assert_eq!(judged.notes, [""; 0]);
    }
}

#[test]
fn container_c51a_text_after_the_stream() {
    let judged = payload([gzip(&base().finish()), b"hello".to_vec()].concat());
    is_base(&judged);
    assert_eq!(judged.notes, ["W703"]);
    for tail in [&b"\x1f\x8b"[..], b"\x1f\x8b\x08\0\0\0\0\0\0", b"\x1f\x8b\x08\xe0\0\0\0\0\0\0\0"] {
        is_base(&payload([&gzip(&base().finish())[..], tail].concat()));
    }
}

#[test]
fn container_c51b_real_files_verified() {
    let files = real_files();
    if files.is_empty() {
        skip!("no shared data");
    }
    for path in files {
        let file = std::fs::read(&path).unwrap();
        let judged = judge_with(&file, &Policy::DEFAULT, &Limits::DEFAULT);
        assert!(judged.members().len() > 10, "{}", path.display());
        assert!(judged.names().contains(&&b"neff.json"[..]));
        assert_eq!(judged.notes, [""; 0], "{}", path.display());
    }
}

#[test]
fn container_c52_optional_header_parts() {
    let parts: [(u8, &[u8]); 6] = [
        (0x08, b"name\0"),
        (0x10, b"comment\0"),
        (0x04, b"\x03\0abc"),
        (0x04, b"\0\0"),
        (0x02, b"\xde\xad"),
        (0x1F, b"\x05\0extra\x6e\0\x63\0\xff\xff"),
    ];
    for (flags, bytes) in parts {
        let header = [&[0x1F, 0x8B, 8, flags, 1, 2, 3, 4, 5, 6], bytes].concat();
        is_base(&payload(with_header(&header)));
    }
}

#[test]
fn container_c53_reserved_flags() {
    payload(with_header(&[0x1F, 0x8B, 8, 0x20, 0, 0, 0, 0, 0, 3])).not_opened();
}

#[test]
fn container_c54_wrong_length() {
    let mut gz = gzip(&base().finish());
    let last = gz.len() - 1;
    gz[last] ^= 0xFF;
    let judged = payload(gz);
    is_base(&judged);
    assert_eq!(judged.notes, ["W702"]);
}

#[test]
fn container_c55_no_trailer() {
    let gz = gzip(&base().finish());
    for missing in 1..=8 {
        payload(gz[..gz.len() - missing].to_vec()).refused(2, "Failed to open NEFF (null)");
    }
}

/// An archive whose end marker begins at byte `end`.
fn archive_ending_at(end: usize) -> Vec<u8> {
    let mut tar = Tar::new();
    tar.file("neff.json", filler(9, end - 512));
    assert_eq!(tar.0.len(), end);
    tar.finish()
}

#[test]
fn container_c56_cut_in_half() {
    let small = gzip(&base().finish());
    payload(small[..small.len() / 2].to_vec()).refused(2, "Failed to open NEFF truncated gzip input");
    let large = gzip(&archive_ending_at(200 * 1024));
    let text = "failure while reading NEFF metadata truncated gzip input";
    payload(large[..large.len() / 2].to_vec()).refused(2, text);
}

#[test]
fn container_c57_gzip_in_gzip() {
    let judged = payload(gzip(&gzip(&base().finish())));
    is_base(&judged);
    let large = archive_ending_at(300 * 1024);
    assert_eq!(payload(gzip_level(&gzip(&large), 0)).members()[0].1.len(), 300 * 1024 - 512);
}

#[test]
fn container_c58_layers_are_counted() {
    let mut bytes = base().finish();
    for _ in 0..24 {
        bytes = gzip(&bytes);
    }
    is_base(&payload(bytes.clone()));
    let text = "Failed to open NEFF Input requires too many filters for decoding";
    payload(gzip(&bytes)).refused(2, text);
    let limits = Limits { gzip_layers: 3, ..Limits::DEFAULT };
    let policy = Policy { verify_digest: false, ..Policy::DEFAULT };
    assert_eq!(judge_with(&File::new(2, bytes).bytes(), &policy, &limits).error().id().to_string(), "C507");
}

#[test]
fn container_c59_gzip_of_nothing() {
    payload(gzip(b"")).refused(2, "Failed to open NEFF Unrecognized archive format");
}

#[test]
fn container_c60_gzip_of_text() {
    payload(gzip(b"some text that is no archive")).not_opened();
    payload(gzip(&[b'x'; 2000])).not_opened();
}

#[test]
fn container_c61_other_formats() {
    let magics: [&[u8]; 5] =
        [b"\xfd7zXZ\0", b"BZh91AY&SY", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\x04\x22\x4d\x18"];
    for magic in magics {
        payload([magic, &filler(61, 3000)].concat()).not_opened();
    }
}

#[test]
fn container_c62_flipped_bits() {
    let gz = gzip(&base().finish());
    for bit in 80..(gz.len() - 8) * 8 {
        let mut bytes = gz.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if let Err(error) = payload(bytes).result {
            assert_eq!(error.status().number(), 2, "bit {bit}: {error}");
        }
    }
}

#[test]
fn container_windows_damage_behind_the_last_needed_window() {
    // The end marker's first block is the last of window 0: the second one need not be readable.
    let tar = archive_ending_at(65536 - 512);
    let gz = gzip_level(&tar, 0);
    let cut = gz.len() - 8 - 600;
    let judged = payload(gz[..cut].to_vec());
    judged.refused(2, "Failed to open NEFF truncated gzip input");
    // The window's last byte makes it complete, and what the input has no byte of does not matter.
    let gz = stored(&tar);
    for more in [0, 6] {
        let judged = payload(gz[..WINDOW_STORED + more].to_vec());
        assert_eq!(judged.names(), [b"neff.json"], "{more} bytes more");
        assert_eq!(judged.notes, ["W704"], "{more} bytes more");
    }
    // A block that makes no sense right behind a full window voids it.
    let broken = [&gz[..WINDOW_STORED], &[6]].concat();
    payload(broken).refused(2, "Failed to open NEFF gzip decompression failed");
}

/// Bytes that [`stored`] takes for the first window.
const WINDOW_STORED: usize = 10 + 2 * (5 + 32768);

/// A gzip member in stored blocks of half a window.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut out = GZIP_HEADER.to_vec();
    for block in data.chunks(32768) {
        let len = u16::try_from(block.len()).unwrap();
        out.push(0);
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(&(!len).to_le_bytes());
        out.extend_from_slice(block);
    }
    out
}

#[test]
fn container_windows_an_end_right_behind_a_window_is_the_next_ones() {
    let gz = stored(&archive_ending_at(70_144));
    for (missing, text) in [(1, "Failed to open NEFF"), (0, "failure while reading NEFF metadata")] {
        let judged = payload(gz[..WINDOW_STORED - missing].to_vec());
        judged.refused(2, &format!("{text} truncated gzip input"));
    }
}

#[test]
fn container_windows_exactly_one_window() {
    let tar = archive_ending_at(65536 - 1024);
    assert_eq!(tar.len(), 65536);
    for level in [0, 6] {
        let gz = gzip_level(&tar, level);
        payload(gz[..gz.len() - 8].to_vec()).refused(2, "Failed to open NEFF (null)");
        let longer = gzip_level(&[&tar[..], &[0; 1024]].concat(), level);
        assert_eq!(payload(longer[..longer.len() - 8].to_vec()).names(), [b"neff.json"]);
    }
}

#[test]
fn container_windows_damage_goes_before_a_fault_of_the_archive() {
    let mut tar = base().finish();
    tar[1024 + 3] ^= 1; // the second header's name: its checksum is wrong now
    payload(gzip(&tar)).refused(2, "failure while reading NEFF metadata Damaged tar archive");
    let gz = gzip(&tar);
    payload(gz[..gz.len() - 9].to_vec()).refused(2, "Failed to open NEFF truncated gzip input");
}

#[test]
fn container_windows_header_then_nothing() {
    let gz = gzip(&base().finish());
    let text = "Failed to open NEFF truncated gzip input";
    payload([&gz[..], &GZIP_HEADER].concat()).refused(2, text);
}

#[test]
fn container_gzip_distance_behind_the_start() {
    // A second member may not reach into the first one's data.
    let first = gzip(&base().finish());
    let far = [&GZIP_HEADER[..], &[0x4B, 0x04, 0x42, 0x00], &[0; 8]].concat();
    payload([first, far].concat()).refused(2, "Failed to open NEFF gzip decompression failed");
    assert!(!deflate(b"a", 6).is_empty());
}
