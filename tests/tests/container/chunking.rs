//! The same bytes give the same events however they are cut.

use loader_core::container::{Digesting, Entry, Events, Reader};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::file::Buffers;
use neffload_tests::build::filler;
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

    #[test]
    fn files_at_the_limit(tar in archive(), layers in 1u8..4, level in 0u8..10, off in -2i64..3, of in 0u8..4, piece in 1usize..3000) {
        // The limit is the size of one of the streams, or a little beside it.
        let streams: Vec<_> = (0..layers).scan(tar, |inner, _| {
            let stream = inner.clone();
            *inner = gzip_level(inner, level);
            Some((stream.len() as i64, inner.clone()))
        }).collect();
        let inflated_bytes = (streams[usize::from(of % layers)].0 + off) as u64;
        let file = File::new(2, streams.into_iter().next_back().unwrap().1).bytes();
        fuzz::chunking_within(&file, piece, &Limits { inflated_bytes, ..Limits::DEFAULT });
    }
}

/// Every limit up to the size of the streams, and every way to cut the file into equal pieces.
#[test]
fn each_layer_is_held_to_the_limit() {
    let mut tar = Tar::new();
    tar.file("a", filler(3, 700)).file("b", [1; 600]);
    let tar = tar.finish();
    let sizes = [tar.len(), gzip_level(&tar, 0).len()];
    let file = File::new(2, gzip_level(&gzip_level(&tar, 0), 0)).bytes();
    for limit in
        (0..sizes[1] + 2).step_by(7).chain(sizes[0] - 514..sizes[0] - 510).chain([sizes[1] - 1, sizes[1]])
    {
        let limits = Limits { inflated_bytes: limit as u64, ..Limits::DEFAULT };
        let refusal = [1, 5, 511, 1300].map(|piece| fuzz::chunking_within(&file, piece, &limits));
        // The whole outer stream is needed, its trailer too: it holds the inner one's last window.
        let expected = (limit < sizes[1]).then(|| "C505".to_owned());
        assert_eq!(refusal, [(); 4].map(|()| expected.clone()), "{limit}");
    }
}

/// Damage behind the archive's end counts as far as the decoding windows of all layers reach, and where they
/// end must not depend on the pieces.
#[test]
fn windows_of_nested_layers_do_not_depend_on_the_pieces() {
    let mut tar = Tar::new();
    tar.file("neff.json", filler(1, 60_000));
    let long = [tar.finish(), filler(2, 150_000)].concat();
    for (inner, outer) in [(0, 0), (1, 0), (6, 6)] {
        let inner = gzip_level(&long, inner);
        let outer = gzip_level(&inner, outer);
        for cut in (60_000..140_000).step_by(9_973).chain(65_536..65_560) {
            let file = File::new(2, outer[..cut].to_vec()).bytes();
            for piece in [997, 4096, 33_000] {
                fuzz::chunking_within(&file, piece, &Limits::DEFAULT);
            }
        }
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
    (names.0, format!("{} {}", error.id(), error.at().offset.unwrap_or(0)))
}

/// What an outer layer loses within its first window was needed to open the archive, however long the inner one is
/// (container.md §9.3).
#[test]
fn an_outer_window_that_is_lost_opens_nothing() {
    let archive = [tar::base().finish(), vec![0; 300_000]].concat();
    let inner = gzip(&archive);
    assert!(inner.len() < 10_000);
    let whole = gzip(&inner);
    let long = gzip_level(&tar::base().file("long", filler(3, 200_000)).finish(), 0);
    for (payload, refusal) in [
        (damaged_after(&inner), "C303"),
        (whole[..whole.len() - 8].to_vec(), "C305"),
        (whole[..whole.len() - 3].to_vec(), "C305"),
        (whole[..whole.len() - 9].to_vec(), "C304"),
        // The inner layer's first window needs two outer ones.
        (gzip_level(&long, 0)[..150_000].to_vec(), "C402"),
        (gzip_level(&long, 0)[..100_000].to_vec(), "C304"),
    ] {
        let file = File::new(2, payload).bytes();
        for piece in [1, 64, 4096, usize::MAX] {
            let said = names_and_refusal(&file, piece).1;
            assert!(said.starts_with(refusal), "{said}, not {refusal}, in pieces of {piece}");
        }
    }
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
