//! Bodies of the fuzz targets. They are ordinary functions, so that kept inputs run as ordinary tests.

mod container;
mod json;
mod manifest;
mod script;

pub use container::{chunking, chunking_within, gzip_stream, header, tar_archive, two_pieces, whole};
pub use json::{diff as json_diff, lex as json_lex};
pub use manifest::manifest;

/// A target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: that of the binary.
    pub name: &'static str,
    /// Runs one input.
    ///
    /// # Panics
    /// If a property fails.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Bytes of the longest input that is worth its time.
    pub longest: usize,
}

/// All targets.
pub const TARGETS: [Target; 8] = [
    Target { name: "header", run: header, seeds: container::header_seeds, longest: 1 << 11 },
    Target { name: "gzip", run: gzip_stream, seeds: container::gzip_seeds, longest: 1 << 16 },
    Target { name: "tar", run: tar_archive, seeds: container::tar_seeds, longest: 1 << 16 },
    Target { name: "container", run: whole, seeds: container::whole_seeds, longest: 1 << 16 },
    Target { name: "chunking", run: chunking, seeds: container::chunking_seeds, longest: 1 << 16 },
    Target { name: "json_lex", run: json_lex, seeds: json::lex_seeds, longest: 1 << 14 },
    Target { name: "json_diff", run: json_diff, seeds: json::diff_seeds, longest: 1 << 14 },
    Target { name: "manifest", run: manifest, seeds: manifest::seeds, longest: 400 },
];

/// Cuts a text into pieces of the lengths that `cuts` stands for, over and over; one piece without cuts.
pub fn pieces<'d>(text: &'d [u8], cuts: &[u8]) -> impl Iterator<Item = &'d [u8]> {
    let (mut rest, mut cuts) = (text, cuts.iter().cycle());
    core::iter::from_fn(move || {
        let len = cuts.next().map_or(rest.len(), |&cut| usize::from(cut) * usize::from(cut) / 8 + 1);
        let (piece, after) = rest.split_at(len.min(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
