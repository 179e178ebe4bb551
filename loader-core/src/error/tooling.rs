//! Codes of the tooling view and of the memory analyser (manifests.md §19.3, §20.5).

use super::remedy;
use super::table::codes;

codes! {
    /// Codes of the tooling view and of the memory analyser (manifests.md §19.3, §20.5).
    ToolCode {
        NoFile = 'N' 101, Invalid, "NEFF does not exist.", "the path of a file", "Check the path.";
        NoCollectives = 'N' 102, Invalid, "NEFF does not have CC op", "replica_groups, src_target_pairs or #rank_world_size", "Nothing needs doing: the file has no collective operations.";
        /// Only where `replica_groups` is the one source that is asked.
        EmptyReplicaGroups = 'N' 103, Invalid, "Empty replica_groups found", "at least one group", remedy::COMPILE;
        /// Only where `src_target_pairs` is the one source that is asked.
        EmptyPairs = 'N' 104, Invalid, "Empty src_target_pairs found", "at least one pair", remedy::COMPILE;
        EmptyTopology = 'N' 105, Invalid, "Empty topology found at index {a}, possible MPMD neff file", "groups in every topology", "Compile with --stopAfter=compile and ask each program by itself.";
        UnequalTopologies = 'N' 106, Invalid, "Inconsistent worker count across topologies: {a} vs {b}. Possible MPMD neff file", "the same count in every topology", "Compile with --stopAfter=compile and ask each program by itself.";
        ManyAliases = 'N' 107, Invalid, "1 input aliasing to multiple outputs is not supported", "one output for every input", "`neffload info FILE getTensorMapJson` shows the map as it stands.";
        /// Ours; first name: the member or the pattern.
        MemberAbsent = 'N' 108, Invalid, "{name} not found", "a member that fits", "`neffload members FILE` lists what is there.";
        /// Ours.
        KeyAbsent = 'N' 109, Invalid, "key {name} is missing", "a document with this key", remedy::COMPILE;
        /// Ours; second name: what it should be. Of a list, an item may be meant: see the place.
        KeyType = 'N' 110, Invalid, "key {name} is not {name2}", "{name2}", remedy::COMPILE;
        /// Ours.
        BadPattern = 'N' 111, Invalid, "{name} is not a regular expression", "a regular expression", "Correct the pattern; `.*` fits every name.";
        /// Ours.
        NoGetter = 'N' 112, Invalid, "NeffInfo has no getter {name}", "a name of the roster", "`neffload info --help` lists the getters.";
        /// Ours.
        NoArgument = 'N' 113, Invalid, "getter {name} needs an argument", "a regular expression", "Give one: `neffload info FILE {name} REGEX`.";
        /// Ours.
        UnsupportedPattern = 'N' 114, Invalid, "{name} uses look-around or a backreference, which are not supported", "a regular expression without them", "Write the pattern without them, or filter what a wider pattern finds.";
        /// Ours: the highest rank of `src_target_pairs` is 2^64 - 1.
        WorldTooLarge = 'N' 115, Invalid, "the world size after rank {a} does not fit 64 bits", "ranks below {a}", remedy::COMPILE;
        /// Ours.
        NoParameter = 'N' 116, Invalid, "getter {name} takes no argument", "an argument for findInNeff alone", "Leave the argument out: `neffload info FILE {name}`.";
        /// Ours; the name is that or a number.
        NoSubgraph = 'N' 117, Invalid, "there is no subgraph {name}", "the name of a subgraph, or its number from 0 on", "`neffload inspect FILE` lists the subgraphs.";
        NoHeader = 'M' 101, Invalid, "no NEFF header followed by a gzipped tar", "a header of 1024 bytes and a gzip of a tar", "`neffload find FILE` looks for a NEFF inside; `neffload verify FILE` says what is wrong with one.";
        UnreadablePayload = 'M' 102, Invalid, "unreadable NEFF payload ({name})", "a payload that can be unpacked", "`neffload verify FILE` says where it is damaged.";
        UnexpectedLayout = 'M' 103, Invalid, "unexpected NEFF layout ({name})", "the manifests of a compiled model", "`neffload verify --deep FILE` says what is wrong with them.";
        /// Ours.
        BadPageSize = 'M' 104, Invalid, "scratchpad page size {name} is not usable", "a whole number of MiB above 0, below 4 GiB, in NEURON_SCRATCHPAD_PAGE_SIZE a multiple of 512", "Give another `--page-size`, or another value to the variable.";
        /// Ours.
        BadEngineBlock = 'M' 106, Invalid, "NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB is {name}, which is not usable", "one number of KiB above 0 and below 4 GiB, for all engines", "Give a power of two, or unset the variable.";
        /// Ours: no page says how a value that is none is read (manifests.md §12.1).
        BadFp8 = 'M' 107, Invalid, "{name} is not usable", "0 or 1 in NEURON_RT_DBG_FP8_RANGE_EXT, NEURON_RT_DBG_OCP_FP8_SAT, NEURON_RT_DBG_FP8_SIS and NEURON_RT_DBG_FP8_SNS; a number in NEURON_RT_DBG_FP8_EMAX_E4M3 and NEURON_RT_DBG_FP8_EMAX_E5M2", "Give such a value, or unset the variable.";
        /// Ours: no page says how a value that is none is read (driver-abi.md §13.3).
        BadTimeout = 'M' 108, Invalid, "NEURON_RT_EXEC_TIMEOUT is {name}, which is not usable", "a number of seconds", "Give such a number, or unset the variable for 30.";
        /// Ours: no page says how a value that is none is read (driver-abi.md §13.3).
        BadContiguous = 'M' 109, Invalid, "NEURON_RT_CONTIGUOUS_SCRATCHPAD is {name}, which is not usable", "0 or 1", "Give 0 for pages anywhere, 1 for one range of pages of 64 MiB, or unset the variable.";
        /// Ours (manifests.md §23: checked arithmetic).
        FigureOverflow = 'M' 105, Invalid, "{name} would exceed 64 bits", "sizes of a real device", remedy::COMPILE;
    }
}
