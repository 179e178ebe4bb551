//! Codes of S0 and S1: the container (container.md §13.1; the numbers are ours).

use super::table::codes;

codes! {
    /// Codes of S0 and S1: the container (container.md §13.1; the numbers are ours).
    ContainerCode {
        ArenaFull = 'C' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena; `neffload plan FILE` prints the exact need.";
        Internal = 'C' 901, Failure, "internal invariant broken: {name}", "", "Please report this with the file.";
    }
}
