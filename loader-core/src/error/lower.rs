//! Codes of S3: lowering (lowering.md §11.8, printed there with an E).

use super::table::codes;

codes! {
    /// Codes of S3: lowering (lowering.md §11.8, printed there with an E).
    LowerCode {
        ArenaFull = 'L' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena; `neffload plan FILE` prints the exact need.";
        Internal = 'L' 901, Failure, "internal invariant broken: {name}", "", "Please report this with the file.";
    }
}
