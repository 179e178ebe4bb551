//! Codes of S4 and S5: placement, staging, relocation, registration (numbers ours).

use super::remedy;
use super::table::codes;

codes! {
    /// Codes of S4 and S5: placement, staging, relocation, registration (numbers ours).
    StageCode {
        /// P4. staging.md §19, X2.
        NotEnoughCores = 'S' 101, LoadNotEnoughNc, "Insufficient number of pncs, required {a}, available {b}", "a logical core of at least {a} cores", "Load it with `--lnc {a}` (NEURON_LOGICAL_NC_CONFIG={a} for a program of the C interface).";
        /// P5.
        CoreShape = 'S' 102, Invalid, "{a} subgraphs do not make one logical core of {b} cores", "1 subgraph, or one per core", "Load it with `--lnc {a}` (NEURON_LOGICAL_NC_CONFIG={a} for a program of the C interface); a file that names another size in its header must first be packed with `--lnc {a}`.";
        /// Two subgraphs at most share a scratchpad (staging.md §8.4).
        TooManySubgraphs = 'S' 103, Invalid, "{a} subgraphs share one scratchpad", "at most {b}", "Compile the model for a logical core of at most {b} cores.";
        /// The file is for another architecture.
        Architecture = 'S' 104, Invalid, "subgraph {c} is for architecture {a}, the device has {b}", "architecture {b}", "Load it on a device of the file's architecture, or allow legacy files.";
        /// The last engine must be SP (staging.md §3.3).
        EngineOrder = 'S' 105, Failure, "the last engine of the kbin is not SP", "engines act, dve, pe, pool, sp", remedy::REPORT;
        /// A reference of the kbin leads nowhere.
        BadKbin = 'S' 106, Failure, "the kbin record is not consistent: {name}", "references that lead to records", remedy::REPORT;
        /// The group's owner core belongs to someone else (staging.md §8.4).
        CoreOwnership = 'S' 107, Invalid, "core {a} of the HBM group is not owned by this process", "all cores of the group", "Claim all cores of the group in one process.";
        /// P4, where it is the device that ends.
        BehindDevice = 'S' 108, LoadNotEnoughNc, "Insufficient number of pncs, required {a}, available {b}", "{a} cores of the device from the first one on", "Load it on a lower `--core` (NEURON_RT_VISIBLE_CORES for a program of the C interface), or on a device with more cores.";
        /// No platform fuses more (staging.md §2); a header may state anything.
        CoreSize = 'S' 109, Invalid, "a logical core of {b} cores", "1 or 2 cores", "Load it with `--lnc {a}`.";

        TooManyLibraries = 'S' 215, Invalid, "a subgraph has {a} ucode libraries", "at most {b}", remedy::FEWER;
        /// Of all libraries together (manifests.md §11.3).
        TooManyFunctions = 'S' 216, Invalid, "a subgraph has {a} functions in its ucode libraries", "at most {b}", remedy::FEWER;
        MemberLength = 'S' 214, Invalid, "a member holds {a} bytes, {b} are needed", "a payload as long as declared", remedy::COMPILE;
        ConstantLength = 'S' 201, Invalid, "constant {name} holds {a} bytes, its variable {b}", "a payload as long as the variable", remedy::COMPILE;
        DuplicateVariable = 'S' 202, Invalid, "two variables have the id {a}", "unique ids", remedy::COMPILE;
        Alignment = 'S' 203, Invalid, "alignment provided not power of 2. alignment={a}", "a power of two", remedy::COMPILE;
        NotPlaced = 'S' 204, Invalid, "Variable {name} is not staged in HBM", "a variable with an address", remedy::COMPILE;
        OutOfVariable = 'S' 205, Invalid, "invalid offset in {name}, {a} < ({b} + {c})", "an access inside the variable", remedy::COMPILE;
        /// With a negative step below the start, with a large one beyond every address.
        OutOfRange = 'S' 217, Invalid, "an access pattern from byte {a} of {name} on goes below its start, or beyond 2^64", "an access inside the variable", remedy::COMPILE;
        PointerOffset = 'S' 206, Invalid, "pointer {name} is accessed at offset {b}", "offset 0", remedy::COMPILE;
        UnknownVariable = 'S' 207, Invalid, "variable id {a} does not exist", "an id below {b}", remedy::COMPILE;
        RemoteSubgraph = 'S' 208, Failure, "remote variable {name} names subgraph {a} of {b}", "an index below {b}", remedy::COMPILE;
        RemoteMissing = 'S' 209, Failure, "Failed to find remote variable {a} in relative sg {b}", "a var_id of that subgraph", remedy::COMPILE;
        RemoteUnplaced = 'S' 210, Failure, "the target of remote variable {name} has no address", "a placed variable", remedy::COMPILE;
        SeveralTables = 'S' 211, Invalid, "a subgraph has more than one dge-table: {name}", "at most one (R42)", remedy::COMPILE;
        UsageNotLegal = 'S' 212, Invalid, "usage {name} is not legal in host memory", "device memory", remedy::REPORT;
        PointerTarget = 'S' 213, Invalid, "pointer {name} refers to variable {a}, which has no address", "a placed variable, an input or an output", remedy::COMPILE;

        PagingDiffers = 'S' 301, Invalid, "scratchpad pages of {a} bytes are asked for, pages of {b} bytes are resident", "one page size for all models of a device", "Unload the other models first, or use their page size.";
        PageTable = 'S' 304, Resource, "the table of scratchpad pages is full at {a} entries", "room for one page more", "Give the loader a larger page table.";
        PageAlignment = 'S' 305, Failure, "scratchpad page at {a:#x} is not 4 KiB aligned", "a multiple of 4096", "Please report this with the device: a driver grants whole pages.";

        RingFull = 'S' 401, QueueFull, "a ring of queue {name} needs more than {b} descriptors", "at most {b} per ring half", remedy::FEWER;
        SidesDiffer = 'S' 402, Invalid, "descriptor {c} of a block of queue {name} reads {a} and writes {b} bytes", "the same amount on both sides", remedy::COMPILE;
        DescriptorForm = 'S' 403, Invalid, "descriptor {c} of a block of queue {name} has a form that cannot be expanded", "data descriptors with 1 to 32 sources", remedy::COMPILE;
        TemplateLimit = 'S' 404, Invalid, "variable {a} at offset {b} does not fit a template address", "an id below 2^19 and an offset below 2^36", remedy::FEWER;
        ApproximateBlock = 'S' 408, Invalid, "block {a} of queue {name} can only be approximated", "a plain copy", remedy::OPAQUE;
        ExpansionLimit = 'S' 410, Resource, "the descriptors of a subgraph make more than {a} ring entries", "at most {a}", "Raise the limit on ring entries.";
        IoInDataRing = 'S' 411, Invalid, "queue {name} moves data of {name2}, which has no address before it runs", "inputs and outputs in queues of type in or out", remedy::COMPILE;
        ApproximateTable = 'S' 412, Invalid, "{a} activation and DVE tables are placed without the rings that load them", "an exact translation", remedy::OPAQUE;

        RingTags = 'S' 413, Invalid, "ring entry address {a:#x} points into both halves of its ring", "at most one of the bits 62 and 63", remedy::REPORT;
        EmptyRing = 'S' 414, Invalid, "ring entry address {a:#x} points into a half that has no storage", "a ring with entries", remedy::REPORT;
        RingPointerWide = 'S' 415, Invalid, "ring entry address {a:#x} leaves 64 bits", "an address below 2^64", remedy::REPORT;
        RingPadding = 'S' 416, Invalid, "{a} ring entries do not fit {b}", "at most {b} entries", remedy::FEWER;
        /// Two blocks with one key: no trigger could tell them apart (staging.md §5.9).
        DuplicateBlock = 'S' 418, Invalid, "queue {name} has two blocks {a} in one function", "each id once in a function", remedy::COMPILE;
        /// A higher number would be another core's register (driver-abi.md §7.9).
        SemaphoreIndex = 'S' 417, Invalid, "queue {name} uses semaphore {a}", "a number below {b}, the semaphores of a core", remedy::COMPILE;

        StreamRemainder = 'S' 501, Invalid, "the {name} stream has {a} bytes", "a multiple of 64", remedy::COMPILE;
        ExtensionAlone = 'S' 502, Invalid, "slot {a} of {name} is an extension (da) without its instruction", "a d4 or d9 before it", remedy::COMPILE;
        ExtensionMissing = 'S' 503, Invalid, "slot {a} of {name} (opcode {b:x}) lacks its extension", "a da after it", remedy::COMPILE;
        UnknownQueue = 'S' 504, Invalid, "slot {a} of {name} triggers the unknown queue {name2}", "a queue of this subgraph", remedy::COMPILE;
        UnknownBlock = 'S' 505, Invalid, "slot {a} of {name} triggers block {b} of queue {name2}, which does not exist", "a block of that queue, in the function that the trigger stands in", remedy::COMPILE;
        Unsupported = 'S' 506, Invalid, "slot {a} of {name} holds opcode {b:x}, which cannot be translated", "an instruction with a known translation", remedy::OPAQUE;
        UnknownTarget = 'S' 507, Invalid, "slot {a} of {name} branches to something unknown: {name2}", "a label or function of the same engine", remedy::COMPILE;
        OperandKind = 'S' 508, Invalid, "slot {a} of {name} (opcode {c:x}) has an operand of unknown kind {b:#x}", "marker 0x10, 0x20, 0x18, 0x28 or none", remedy::OPAQUE;
        TableIndex = 'S' 509, Invalid, "slot {a} of {name} uses entry {b} of a dge-table with {c} entries", "an entry below {c}", remedy::COMPILE;
        AddressTooWide = 'S' 510, Invalid, "address {a:#x} does not fit under an operand's marker byte", "less than 2^56", remedy::REPORT;
        BranchTooFar = 'S' 511, Invalid, "slot {a} of {name} branches over {b} bytes", "a displacement of 32 signed bits", remedy::FEWER;
        ImageTooLong = 'S' 512, Invalid, "the image of {name} has {a} slots", "less than 2^32 bytes", remedy::FEWER;
        EngineBlock = 'S' 513, Invalid, "engine block size {a:#x} is not a power of two that divides the alignment {b:#x}", "a power of two", "Give the loader another engine block size.";
        CollectiveForm = 'S' 514, Invalid, "slot {a} of {name}: collective with {name2}", "an operation with a known translation", "Compile the model without this operation.";
        DuplicateTarget = 'S' 515, Invalid, "slot {a} of {name} defines {name2} a second time", "unique labels and functions", remedy::COMPILE;
        /// Invariant I14 (staging.md §18.6).
        TargetOutside = 'S' 516, Invalid, "slot {a} of {name} branches behind the last slot: {name2}", "a slot of the image at the target", remedy::COMPILE;

        DuplicateModel = 'S' 601, InvalidHandle, "model {a} is already resident on core {b}", "a core without this model", "Unload it first, or load onto another core.";
        UnknownModel = 'S' 602, InvalidHandle, "no loaded model has the handle {a}", "a handle that a load gave and no unload took", "Use the handle of a load that succeeded, and none after its unload.";
        Busy = 'S' 603, Timeout, "model {a} is still in use", "a model that nobody uses", "Stop using it; its memory is freed by the last user.";
        Worker = 'S' 604, Failure, "the thread that stages core {a} {name}", "a thread that ends", "Give `--threads 1`, or let the process have more memory (`ulimit -v`) and more threads (`ulimit -u`); if it began and did not finish, please report this with the file.";
        IdsExhausted = 'S' 605, Resource, "all model ids are used up", "fewer than 2^32 loads in a process", "Restart the process.";

        /// Ours: no rule is known. A block that only the runtime starts has no trigger in the file.
        NoTrigger = 'W' 611, Success, "no instruction triggers {a} of the blocks of queue {name}, block {b} first", "one trigger (c1) for every block", remedy::TRIGGERS;
        /// Ours: no rule is known; a loop or a function may well start a block again.
        SeveralTriggers = 'W' 612, Success, "several instructions trigger the same block of queue {name}: {a} blocks, block {b} first", "one trigger (c1) for every block", remedy::TRIGGERS;
        /// Ours (R5: reported, never fatal).
        UnknownOpcode = 'W' 613, Success, "the {name} stream has instructions with opcode {a:#x}, of which nothing is known", "opcodes that real files have", "Nothing needs doing if the compiler is newer than this loader: they are copied as they are. `neffload disasm FILE` shows where they stand.";
        /// Ours; the runtime's own line is not known (staging.md §11.8: log only).
        EventCarveout = 'W' 614, Success, "no carve-out is the event accelerator's, so it stays off", "one of 8 bytes at 229368 in all 128 partitions from partition 0 on", remedy::COMPILE;
        /// Ours: a real slot always has it (staging.md §11.1), and no page says what another length would mean.
        SlotLength = 'W' 615, Success, "{a} slots of the {name} stream have another length than 16 words", "0x10 in byte 1 of every slot but an extension (da)", "Nothing needs doing if the compiler is newer than this loader: they are taken like the others. `neffload disasm FILE` shows where they stand.";
        HandleTable = 'S' 606, Resource, "no room for another model handle: {a} are open", "at most {a} models at a time", "Unload a model first.";

        /// Check 3 of S0 (container.md §6).
        NoRootComm = 'S' 701, Invalid, "NEURON_RT_ROOT_COMM_ID is not set", "host:port of the root communicator", "Set NEURON_RT_ROOT_COMM_ID on every rank.";
        RootComm = 'S' 702, Invalid, "{name} is not the address of a root communicator", "host:port", "Set NEURON_RT_ROOT_COMM_ID to host:port, the same on every rank.";
        WorldSize = 'S' 703, Invalid, "rank {a} is not in a world of {b} devices", "a rank below the world size, which is 1 to 65536", "Give each rank its own number, counted from 0.";
        NotInGroups = 'S' 704, Invalid, "replica groups ({a}/{b}) does not have myself {c}", "every rank in a group of every topology", "Load with the rank and the world size that the file was compiled for.";
        RankOutside = 'S' 705, Invalid, "rank {a} is outside a world of {b} devices", "ranks below {b}", "Load with the world size that the file was compiled for.";
        RankTwice = 'S' 706, Invalid, "rank {a} occurs twice in topology {b}", "every rank once", remedy::COMPILE;
        PairSet = 'S' 707, Invalid, "Failed to parse replica group generated from source_target_pairs {a}", "every rank once as source and once as target", remedy::COMPILE;
        TooManyTopologies = 'S' 708, Invalid, "a subgraph has {a} topologies of replica groups", "at most {b}", remedy::FEWER;
        TooManyStreams = 'S' 709, Invalid, "a subgraph has {a} collective streams", "at most {b}", remedy::FEWER;

        /// The load goes on without the object (staging.md §16).
        DatastoreFull = 'W' 801, Success, "the datastore is full at {a} models; this one is not listed there", "at most {a} models in it", "Nothing needs doing; tools that read the datastore do not see this model.";
        NoStatistics = 'W' 802, Success, "Unable to find hlo_stats.json in the NEFF", "the member hlo_stats.json", "Nothing needs doing; the model's count of operations stays unknown.";
        StatisticsUnread = 'W' 803, Success, "hlo_stats.json states no multiply-accumulate count", "a number under HloMacCount or mac_count", "Nothing needs doing; the model's count of operations stays unknown.";
        /// Losing it never fails a load (staging.md §2).
        PositionsLost = 'W' 804, Success, "the position map of {name} is too long to keep; positions are unknown", "at most {a} records", "Raise the limit on position records.";

        ArenaFull = 'S' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena, with `--max-memory` on the command line; `neffload plan FILE` prints the exact need.";
        Internal = 'S' 901, Failure, "internal invariant broken: {name}", "it to hold", remedy::REPORT;
    }
}
