//! Codes of S2: the manifest chain (manifests.md §23).

use super::table::codes;

codes! {
    /// Codes of S2: the manifest chain (manifests.md §23).
    ManifestCode {
        GraphMissing = 'E' 101, Invalid, "Invalid NN: {name}, neff.json is missing", "a member `neff.json` or `kelp.json`", "";
        /// The text is the reference's; the numbers are the size and the configured maximum.
        JsonTooLarge = 'E' 120, Invalid, "File {name} size ({a}) exceeds json parser maximum ({b})", "", "Raise the JSON member limit, or have the compiler write less.";
        /// First name: what was found. Second name: what was expected.
        JsonMalformed = 'E' 121, Invalid, "malformed JSON: found {name}", "{name2}", "";
        JsonDuplicateKey = 'E' 122, Invalid, "duplicate key {name} in one JSON object", "each key once", "";
        /// Ours: the reader's memory is bounded.
        JsonElementTooLarge = 'E' 123, Resource, "JSON element {name} does not fit the element buffer of {b} bytes", "an element of at most {b} bytes", "Give a larger element buffer.";
        /// Ours: the reader's memory is bounded.
        JsonKeyTooLong = 'E' 124, Resource, "JSON key {name} does not fit the key memory of {b} bytes", "shorter or fewer keys", "Give a larger key buffer.";
        ArenaFull = 'E' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena; `neffload plan FILE` prints the exact need.";
        Internal = 'E' 901, Failure, "internal invariant broken: {name}", "", "Please report this with the file.";
    }
}
