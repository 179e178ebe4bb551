//! Codes of the tooling view and of the memory analyser (manifests.md §19.3, §20.5).

use super::table::codes;

codes! {
    /// Codes of the tooling view and of the memory analyser (manifests.md §19.3, §20.5).
    ToolCode {
        NoFile = 'N' 101, Invalid, "NEFF does not exist.", "", "";
    }
}
