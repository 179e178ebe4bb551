//! Codes of S3: lowering (lowering.md §11.8, printed there with an E).

use super::remedy;
use super::table::codes;

codes! {
    /// Codes of S3: lowering (lowering.md §11.8, printed there with an E). Where S2 refuses a file for the same
    /// reason, its own code is what a user sees (R25); these are for callers with working sets of their own.
    LowerCode {
        TwoPrograms = 'L' 104, Invalid, "an engine has two programs, {name} and {name2}", "one blob name, in the engine file or in def.json", remedy::COMPILE;
        /// A fixed name field cannot hold the name.
        NameTooLong = 'L' 105, Invalid, "the name {name} has {a} bytes", "at most {b} bytes", "Compile the model with a shorter name.";
        NoOutputs = 'L' 201, Invalid, "subgraph {name} has no Outputs", "at least one variable of type output", remedy::COMPILE;
        VarIdsNotDense = 'L' 202, Invalid, "Unexpected var_ids set! max={a}, size={b}", "var_ids 0 to {b} minus 1", remedy::COMPILE;
        DuplicateVar = 'L' 203, Invalid, "variable {name} repeats a name or the var_id {a}", "each name and each id once", remedy::COMPILE;
        AlignmentNotPow2 = 'L' 204, Invalid, "alignment provided not power of 2. alignment={a}", "a power of two, or 0 for none", remedy::COMPILE;
        DtypeTooLong = 'L' 205, Invalid, "Device print dtype {name} has {a} characters. Only {b} are supported", "at most {b} characters", "Print the tensor as another dtype, or leave the print out of the model.";
        ShapeTooDeep = 'L' 206, Invalid, "Device print only supports shape dimentions of up to {b}, {name} has {a}", "at most {b} dimensions", "Reshape the tensor before it is printed, or leave the print out of the model.";
        PointerSize = 'L' 207, Invalid, "pointer {name} has size {a}", "size 8", remedy::COMPILE;
        /// A pointer, list or descriptor names no variable of its subgraph.
        BadVarReference = 'L' 208, Invalid, "{name} refers to variable {a}", "a var_id below {b}", remedy::COMPILE;
        ExtentOverflow = 'L' 209, Invalid, "the extent of {name} overflows: {a} + {b}", "an end below 2^64", remedy::COMPILE;
        UnsupportedArea = 'L' 210, Invalid, "virtual variable {name} lies in the area {name2}", "the area main, local, shared or sharded", remedy::COMPILE;
        PointerChain = 'L' 211, Invalid, "pointer {name} refers to the pointer {name2}", "a variable that is not a pointer", remedy::COMPILE;
        PointerSelf = 'L' 212, Invalid, "pointer {name} refers to itself", "another variable", remedy::COMPILE;
        /// A class that needs a size has none.
        MissingSize = 'L' 213, Invalid, "Failed to parse, key: size of variable {name}", "a size in bytes", remedy::COMPILE;
        /// No address on a device reaches that far.
        SizeTooLarge = 'L' 214, Invalid, "variable {name} has {a} bytes", "at most 2^56, the addresses under an operand's marker byte", remedy::COMPILE;
        TooManyQueues = 'L' 301, Invalid, "{a} DMA queues in one subgraph", "at most {b}", remedy::FEWER;
        TooManySemaphores = 'L' 302, Invalid, "Runtime supports maximum of {b} semaphores per queue set, found: {a}", "at most {b}", remedy::FEWER;
        BadQueueOwner = 'L' 303, Invalid, "Invalid owner '{name2}' for DMA queue {name}", "one of pe, act, pool, dve, sp", remedy::COMPILE;
        QueueInstancesNotAllowed = 'L' 304, Invalid, "Invalid Neff: Queue set instances are not supported for {name2} queues ({name})", "a queue without queue_instances", remedy::COMPILE;
        ActLoadQueue = 'L' 305, Invalid, "act_load queue {name} is the {a}. of its kind, with {b} hardware queues", "one act_load queue in the file, with one hardware queue", remedy::COMPILE;
        TooManyHwDge = 'L' 306, Invalid, "NEFF requested {a} HW DGE queues", "at most {b} on this architecture", remedy::FEWER;
        DynamicDmaIncomplete = 'L' 307, Invalid, "dynamic queue {name} lacks its scratch", "both SB_scratch_partition_offset and SB_scratch_partition_size", remedy::COMPILE;
        UnknownQueue = 'L' 308, Invalid, "invalid dma block {a}: its queue is not declared", "a queue of dma_queue", remedy::COMPILE;
        ApShape = 'L' 309, Invalid, "Size cannot be 0", "1 to 8 dimensions, none of them empty", remedy::COMPILE;
        TooManySources = 'L' 310, Invalid, "a descriptor with {a} sources", "at most {b} on this architecture", remedy::COMPILE;
        CceDtype = 'L' 311, Invalid, "Invalid cce desc ap without dtype", "a dtype for every end of an arithmetic transfer", remedy::COMPILE;
        UnknownInstance = 'L' 312, Invalid, "invalid dma block {a}: queue {name} has no instance {b}", "an instance of the queue", remedy::COMPILE;
        TooManyHwQueues = 'L' 313, Invalid, "the queues of subgraph {name} take {a} hardware queues", "at most 11x16", remedy::FEWER;
        EmptyBlock = 'L' 315, Invalid, "block {a} of queue {name} has no descriptor to end it", "at least one", remedy::COMPILE;
        MemberMissing = 'L' 401, Invalid, "Failed to get neff weight content for {name}", "a member with its bytes", remedy::MEMBER;
        InstrTooLarge = 'L' 402, Invalid, "Instruction size {a} for {name} exceeds maximum supported size {b}", "at most {b} bytes", remedy::FEWER;
        NumpyHeader = 'L' 403, Invalid, "the payload of {name} ends beyond 2^64", "a payload inside its member", remedy::COMPILE;
        TooManyProfiles = 'L' 404, Invalid, "activation set {name} has {a} profiles", "at most {b}", remedy::FEWER;
        /// On sunda `control_table` fills the fast slot (R19); elsewhere its slot is unknown (lowering.md O-10).
        DveControlTable = 'L' 405, Invalid, "dve_tables has a control_table whose slot is not known", "control_table alone on sunda, control_fast_table and control_slow_table elsewhere", "Compile the model again with the current compiler.";
        CarveoutMissing = 'L' 501, Invalid, "Missing or corrupted runtime_statebuffer_reservation field in def.json and NEURON_RT_ALLOW_LEGACY_NEFF=1 is not set. Potentially a legacy neff without proper compiler support", "runtime_statebuffer_reservation in def.json, possibly empty", "Allow legacy files if this one is trusted.";
        CarveoutType = 'L' 502, Invalid, "Invalid runtime_statebuffer_reservation type {a}", "evtaccel (1)", remedy::COMPILE;
        UcodeVersionMissing = 'L' 503, Invalid, "Missing GPSIMD lib version!", "ulib_to_ucode_version of library {name}", "Build the library of custom operations again with the current tools.";
        UcodeDuplicate = 'L' 504, Invalid, "UCode Library {name} has already been added", "each library once", remedy::COMPILE;
        TooManyExtIsa = 'L' 505, Invalid, "Number of ExtISA Op trying to load {a} exceeds the maximum {b}", "at most {b}", remedy::FEWER;
        UcodeVersion = 'L' 506, Invalid, "Mismatch between GPSIMD lib version and NRT version!", "major version 1 in library {name}, found {a}", "Build the library of custom operations again for version 1.";
        UcodeCpus = 'L' 507, Invalid, "UCode Library {name} has invalid number of total cpus {a}", "0, 1 or 8", "Build the library of custom operations again with the current tools.";
        UcodeCpuId = 'L' 508, Invalid, "UCode Library {name} has cpu_id {a}", "cpu_id 0", "Build the library of custom operations again with the current tools.";
        UcodeFunction = 'L' 509, Invalid, "failed to parse function field: {name} has opcode {a} and sub-opcode {b}", "numbers that fit a byte", remedy::COMPILE;
        InvalidTarget = 'L' 601, Invalid, "Invalid target = {a}", "2 (sunda), 3 (cayman) or 4 (mariana)", "Compile the model for one of these targets.";
        TargetMismatch = 'L' 602, Invalid, "Loading a NEFF compiled for a different arch is not allowed, NEFF arch: v{a}, instance arch: v{b}", "a file for v{b}", "Compile for this host, or allow legacy files.";
        RemoteNotFound = 'L' 701, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}", "variable {c} of the owner behind {name}", remedy::COMPILE;
        KbinCount = 'L' 702, Invalid, "Insufficient number of pncs, required {a}, available {b}", "1 subgraph, or as many as the logical core has cores", "Load it with `--lnc {a}` (NEURON_LOGICAL_NC_CONFIG={a} for a program of the C interface); a file that names another size in its header must first be packed with `--lnc {a}`.";
        DuplicateSubgraph = 'L' 703, Invalid, "subgraph {name} is listed twice", "each name once", remedy::COMPILE;
        RemoteGroupIndex = 'L' 704, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}", "an owner among these, but {name} names subgraph {c}", remedy::COMPILE;
        RemoteSelfReference = 'L' 705, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}", "an owner other than subgraph {c}, where {name} itself is", remedy::COMPILE;
        RemoteChain = 'L' 706, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}", "an owner's own variable behind {name}, not a remote one", remedy::COMPILE;
        RemoteBadClass = 'L' 707, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}", "a variable with memory behind {name}, not of class {c}", remedy::COMPILE;
        ArenaFull = 'L' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena, with `--max-memory` on the command line; `neffload plan FILE` prints the exact need.";
        /// One of the limits of the loader; the name says which.
        CountLimit = 'L' 802, Invalid, "{a} {name}", "at most {b}", "Raise the limit if this file is trusted.";
        Internal = 'L' 901, Failure, "internal invariant broken: {name}", "it to hold", remedy::REPORT;
        /// The resolver's refusals (lowering.md §8.4).
        ResolveOutOfBounds = 'L' 902, Invalid, "invalid offset in {name}, {a} < ({b} + {c})", "an access inside the variable", remedy::COMPILE;
        ResolveUnplaced = 'L' 903, Invalid, "Variable {name} is not staged in HBM", "a variable with an address", remedy::COMPILE;
        ResolvePointerOffset = 'L' 904, Failure, "internal invariant broken: pointer {name} accessed at offset {b}", "offset 0", remedy::REPORT;
        ScratchpadPageSize = 'L' 905, Invalid, "Invalid scratchpad page size {a} bytes", "1 to 4294967295 bytes", "Give another `--page-size`, or NEURON_SCRATCHPAD_PAGE_SIZE.";
        ScratchpadLayout = 'L' 906, Invalid, "Failed to calculate scratchpad info", "scratchpads that end below 2^64, of at most 2 kbins", "Give another `--page-size`, or NEURON_SCRATCHPAD_PAGE_SIZE, or compile the model with a smaller scratchpad.";
        ScratchpadPages = 'L' 907, Resource, "the scratchpad of core {c} takes {a} pages", "at most {b}, and {name} to end within them", "Give a larger `--page-size`, or NEURON_SCRATCHPAD_PAGE_SIZE.";
        PatchSection = 'L' 908, Invalid, "Failed to find section {a} in the patch list", "section main or function", remedy::REPORT;
        PatchBounds = 'L' 909, Invalid, "device_ip {a:#x} is out of bounds of main and function buffer", "a position in one of them", remedy::REPORT;
        InstrTail = 'W' 601, Success, "the instructions of {name} end with {a} bytes that fill no slot", "whole 64-byte slots", remedy::COMPILE;
        GraphOrder = 'W' 602, Success, "subgraph {name} stands before {name2}", "subgraphs in the order of their names", "Nothing needs doing; the order is taken as it is.";
        SizeMismatch = 'W' 603, Success, "constant {name} has {a} bytes of payload, its entry says {b}", "a payload as long as its entry says", remedy::COMPILE;
        NoDefaultFunctions = 'W' 604, Success, "No default Extended Isa functions found. This will lead to hangs.", "functions of the default library {name}", "Use a host that supplies the library, or compile the model without these functions.";
        IoSizesDiffer = 'W' 605, Success, "the cores disagree on the size of {name}: {a} and {b} bytes", "one size", remedy::COMPILE;
        OwnerAssumed = 'W' 606, Success, "DMA queue {name} has no owner; pool is assumed", "an owner", remedy::COMPILE;
        NoDefaultLibrary = 'W' 607, Success, "the file asks for functions of the default library, which this host does not supply", "a host with the default library", "Do not run the model here if it uses them; loading it is safe.";
        /// Ours: no rule is known, and no known file does it (real-files.md: a set lists one semaphore per hardware queue).
        SemaphoreCount = 'W' 609, Success, "DMA queue {name} lists {a} semaphores", "one for each of its {b} hardware queues", remedy::COMPILE;
        /// Ours: no rule is known, and no known file does it.
        ForeignSemaphore = 'W' 610, Success, "block {a} ends with semaphore {b}, which its DMA queue {name} does not list", "a semaphore of the queue", remedy::COMPILE;
        ProfileUnread = 'W' 608, Success, "the profiles of an activation set could not be read to their end", "profile_meta_data of numbers that fit their fields", remedy::COMPILE;
    }
}
