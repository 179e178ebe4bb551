//! Codes of the tooling view and of the memory analyser (manifests.md §19.3, §20.5).

use super::table::codes;

codes! {
    /// Codes of the tooling view and of the memory analyser (manifests.md §19.3, §20.5).
    ToolCode {
        NoFile = 'N' 101, Invalid, "NEFF does not exist.", "", "";
        NoCollectives = 'N' 102, Invalid, "NEFF does not have CC op", "replica_groups, src_target_pairs or #rank_world_size", "";
        /// Only where `replica_groups` is the one source that is asked.
        EmptyReplicaGroups = 'N' 103, Invalid, "Empty replica_groups found", "", "";
        /// Only where `src_target_pairs` is the one source that is asked.
        EmptyPairs = 'N' 104, Invalid, "Empty src_target_pairs found", "", "";
        EmptyTopology = 'N' 105, Invalid, "Empty topology found at index {a}, possible MPMD neff file", "groups in every topology", "Compile with --stopAfter=compile and ask each program by itself.";
        UnequalTopologies = 'N' 106, Invalid, "Inconsistent worker count across topologies: {a} vs {b}. Possible MPMD neff file", "the same count in every topology", "Compile with --stopAfter=compile and ask each program by itself.";
        ManyAliases = 'N' 107, Invalid, "1 input aliasing to multiple outputs is not supported", "", "";
        /// Ours; first name: the member or the pattern.
        MemberAbsent = 'N' 108, Invalid, "{name} not found", "", "";
        /// Ours.
        KeyAbsent = 'N' 109, Invalid, "key {name} is missing", "", "";
        /// Ours; second name: what it should be. Of a list, an item may be meant: see the place.
        KeyType = 'N' 110, Invalid, "key {name} is not {name2}", "the type that manifests.md gives", "";
        /// Ours.
        BadPattern = 'N' 111, Invalid, "{name} is not a regular expression", "", "";
        /// Ours.
        NoGetter = 'N' 112, Invalid, "NeffInfo has no getter {name}", "", "`neffload info --help` lists the getters.";
        /// Ours.
        NoArgument = 'N' 113, Invalid, "getter {name} needs an argument", "a regular expression", "";
        /// Ours.
        UnsupportedPattern = 'N' 114, Invalid, "{name} uses look-around or a backreference, which are not supported", "a regular expression without them", "";
        /// Ours: the highest rank of `src_target_pairs` is 2^64 - 1.
        WorldTooLarge = 'N' 115, Invalid, "the world size after rank {a} does not fit 64 bits", "ranks below {a}", "";
        NoHeader = 'M' 101, Invalid, "no NEFF header followed by a gzipped tar", "", "";
        UnreadablePayload = 'M' 102, Invalid, "unreadable NEFF payload ({name})", "", "";
        UnexpectedLayout = 'M' 103, Invalid, "unexpected NEFF layout ({name})", "", "";
        /// Ours.
        BadPageSize = 'M' 104, Invalid, "scratchpad page size {name} is not usable", "a whole number of MiB above 0, below 4 GiB", "";
        /// Ours (manifests.md §23: checked arithmetic).
        FigureOverflow = 'M' 105, Invalid, "{name} would exceed 64 bits", "sizes of a real device", "";
    }
}
