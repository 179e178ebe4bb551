//! Bodies of the fuzz targets. They are ordinary functions, so that kept inputs run as ordinary tests.

mod container;
mod json;
mod manifest;
mod script;

pub use container::{chunking, gzip_stream, header, tar_archive, two_pieces, whole};
pub use json::{diff as json_diff, lex as json_lex};
pub use manifest::manifest;

/// A target: its name, its body, and inputs to begin with.
pub type Target = (&'static str, fn(&[u8]), fn() -> Vec<Vec<u8>>);

/// All targets.
pub const TARGETS: [Target; 8] = [
    ("header", header, container::header_seeds),
    ("gzip", gzip_stream, container::gzip_seeds),
    ("tar", tar_archive, container::tar_seeds),
    ("container", whole, container::whole_seeds),
    ("chunking", chunking, container::chunking_seeds),
    ("json_lex", json_lex, json::lex_seeds),
    ("json_diff", json_diff, json::diff_seeds),
    ("manifest", manifest, manifest::seeds),
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
