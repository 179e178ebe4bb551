//! The same bytes give the same events however they are cut.

use loader_core::container::{Digesting, Entry, Events, Reader};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::file::Buffers;
use neffload_tests::container::tar::{self, Tar};
use neffload_tests::container::{File, GZIP_HEADER, gzip, gzip_level};
use neffload_tests::fuzz;
use proptest::collection::vec;
use proptest::prelude::*;

/// A small archive with names and sizes around the edges that matter.
fn archive() -> impl Strategy<Value = Vec<u8>> {
    let size = prop_oneof![Just(0usize), Just(1), Just(511), Just(512), Just(513), 0usize..3000];
    let member = ("[a-z/.]{0,120}", size, any::<bool>());
    vec(member, 0..6).prop_map(|members| {
        let mut tar = Tar::new();
        for (name, size, pax) in members {
            if pax {
                tar.pax(&[("path", name.as_bytes()), ("mtime", b"1.5")]);
            }
            tar.file(name, vec![size as u8; size]);
        }
        tar.finish()
    })
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    (archive(), 0u8..3, 0u8..10, vec(any::<u8>(), 0..40)).prop_map(|(tar, layers, level, fill)| {
        let payload = (0..layers).fold(tar, |inner, _| gzip_level(&inner, level));
        File::new(2, [payload, fill].concat()).bytes()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sound_files(file in file(), cuts in any::<[u8; 8]>()) {
        fuzz::chunking(&[&cuts[..], &file].concat());
    }

    #[test]
    fn damaged_files(mut file in file(), at in any::<prop::sample::Index>(), bit in 0u8..8, cuts in any::<[u8; 8]>()) {
        let at = at.index(file.len());
        file[at] ^= 1 << bit;
        fuzz::chunking(&[&cuts[..], &file].concat());
    }

    #[test]
    fn cut_files(file in file(), at in any::<prop::sample::Index>(), cuts in any::<[u8; 8]>()) {
        fuzz::chunking(&[&cuts[..], &file[..at.index(file.len())]].concat());
    }
}

#[test]
fn the_trailer_on_every_edge() {
    let mut tar = Tar::new();
    tar.file("a", vec![7; 100]);
    let file = File::new(2, [gzip_level(&tar.finish(), 6), vec![0; 9]].concat()).bytes();
    for cut in 1..60u8 {
        // The pieces have cut² / 8 + 1 bytes; every position of the short stream is an edge of some.
        fuzz::chunking(&[&[cut; 8][..], &file].concat());
    }
    for edge in 1024..file.len() {
        fuzz::two_pieces(&file, edge);
    }
}

/// Names as they are delivered.
#[derive(Default)]
struct Names(Vec<String>);

impl Events for Names {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.0.push(String::from_utf8_lossy(entry.raw_name).into_owned());
        Ok(())
    }

    fn data(&mut self, _: u64, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// A gzip header, one stored block, and a block of a type that does not exist.
fn damaged_after(data: &[u8]) -> Vec<u8> {
    let len = (data.len() as u16).to_le_bytes();
    [&GZIP_HEADER[..], &[0], &len, &len.map(|byte| !byte), data, &[7]].concat()
}

fn names_and_refusal(file: &[u8], piece: usize) -> (Vec<String>, String) {
    let (mut buffers, mut names) = (Buffers::new(), Names::default());
    let policy = Policy { verify_digest: false, ..Policy::DEFAULT };
    let size = Some(file.len() as u64);
    let mut reader = Reader::new(size, buffers.workspace(), &Limits::DEFAULT, &policy, Digesting::Report);
    for piece in file.chunks(piece) {
        reader.feed(piece, &mut names);
    }
    let error = reader.finish(&mut names).unwrap_err();
    (names.0, format!("{} {}", error.id(), error.at.offset.unwrap_or(0)))
}

/// Found by fuzzing: what lies before damage was delivered or not, depending on the pieces.
#[test]
fn what_lies_before_damage_is_delivered_in_any_pieces() {
    let archive = &tar::base().finish()[..1024];
    let inner = damaged_after(archive);
    let nested = damaged_after(&gzip(&[archive, &[0; 1024]].concat()));
    let names = vec!["kelf-0.json".to_owned()];
    for (payload, names, refusal) in [
        (inner.clone(), names.clone(), "C303 1024"),
        (gzip(&inner), names.clone(), "C303 1024"),
        (damaged_after(&inner), names.clone(), "C303 1024"),
        (nested, names, "C303 2048"),
    ] {
        let file = File::new(2, payload).bytes();
        for piece in [1, 2, 3, 7, 64, 512, 1100, usize::MAX] {
            assert_eq!(names_and_refusal(&file, piece), (names.clone(), refusal.to_owned()), "{piece}");
        }
    }
}
