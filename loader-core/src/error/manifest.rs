//! Codes of S2: the manifest chain (manifests.md §23).

use super::table::codes;

codes! {
    /// Codes of S2: the manifest chain (manifests.md §23).
    ManifestCode {
        GraphMissing = 'E' 101, Invalid, "Invalid NN: {name}, neff.json is missing", "a member `neff.json` or `kelp.json`", "";
        ArenaFull = 'E' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena; `neffload plan FILE` prints the exact need.";
        Internal = 'E' 901, Failure, "internal invariant broken: {name}", "", "Please report this with the file.";
    }
}
