//! Codes of S4 and S5: placement, staging, relocation, registration (numbers ours).

use super::table::codes;

codes! {
    /// Codes of S4 and S5: placement, staging, relocation, registration (numbers ours).
    StageCode {
        ArenaFull = 'S' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena; `neffload plan FILE` prints the exact need.";
        Internal = 'S' 901, Failure, "internal invariant broken: {name}", "", "Please report this with the file.";
    }
}
