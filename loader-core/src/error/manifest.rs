//! Codes of S2: the manifest chain (manifests.md §23).

use super::remedy;
use super::table::codes;

codes! {
    /// Codes of S2: the manifest chain (manifests.md §23).
    ManifestCode {
        GraphMissing = 'E' 101, Invalid, "Invalid NN: {name}, neff.json is missing", "a member `neff.json` or `kelp.json`", remedy::MEMBER;
        GraphFields = 'E' 102, Invalid, "Missing required fields in NEFF JSON", "`nodes`, `arg_nodes`, `heads`, `node_row_ptr` and `attrs`", remedy::COMPILE;
        GraphAttrs = 'E' 103, Invalid, "Missing dltype or shape in attrs", "both in `attrs`", remedy::COMPILE;
        GraphDtypes = 'E' 104, Invalid, "Invalid dltype data format", "an array whose second element is an array of strings", remedy::COMPILE;
        GraphShapes = 'E' 105, Invalid, "Invalid shape data format", "an array whose second element is an array of arrays", remedy::COMPILE;
        /// First name: what the number counts, where it is no entry id. Second name: what it should be.
        EidDtypes = 'E' 106, Invalid, "EID {a}{name} out of bounds for dtypes", "{name2} below {b}", remedy::COMPILE;
        EidShapes = 'E' 107, Invalid, "EID {a} out of bounds for shapes", "{name2} below {b}", remedy::COMPILE;
        HeadNode = 'E' 108, Invalid, "Output node ID {a} out of bounds", "a node number below {b}", remedy::COMPILE;
        TensorRank = 'E' 109, Invalid, "Too many dimensions ({a})", "at most {b} dimensions, each below 4294967296", remedy::COMPILE;
        KelfNodeMissing = 'E' 110, Invalid, "No KELF node found in NEFF JSON", "a node whose `func_name` is `__kelf`", remedy::COMPILE;
        KelfAttrMissing = 'E' 111, Invalid, "KELF node found but missing 'kelf' attribute", "`kelf` in the node's `attrs`, the name of a member", remedy::COMPILE;
        KelfAttrType = 'E' 112, Invalid, "KELF attribute is not a string", "`kelf` in the node's `attrs`, a string", remedy::COMPILE;
        TensorSize = 'E' 113, Invalid, "size of tensor {name} does not fit 64 bits", "a shape and dtype whose bytes fit 64 bits", remedy::COMPILE;
        /// Ours: a part of the graph manifest has the wrong type.
        GraphMalformed = 'E' 114, Invalid, "malformed {name} in NEFF JSON", "`name` of a node, a string; `arg_nodes` and `node_row_ptr`, arrays of unsigned numbers; `heads`, an array of arrays [node, output, version]", remedy::COMPILE;
        /// The text is the reference's; the numbers are the size and the configured maximum.
        JsonTooLarge = 'E' 120, Invalid, "File {name} size ({a}) exceeds json parser maximum ({b})", "a member of at most {b} bytes", "Raise the JSON member limit, or have the compiler write less.";
        /// First name: what was found. Second name: what was expected.
        JsonMalformed = 'E' 121, Invalid, "malformed JSON: found {name}", "{name2}", remedy::COMPILE;
        JsonDuplicateKey = 'E' 122, Invalid, "duplicate key {name} in one JSON object", "each key once", remedy::COMPILE;
        /// Ours: the reader's memory is bounded.
        JsonElementTooLarge = 'E' 123, Resource, "JSON element {name} does not fit the element buffer of {b} bytes", "an element of at most {b} bytes", "Give a larger element buffer.";
        /// Ours: the reader's memory is bounded.
        JsonKeyTooLong = 'E' 124, Resource, "JSON key {name} does not fit the key memory of {b} bytes", "shorter or fewer keys", "Give a larger key buffer.";
        KelfVersion = 'E' 201, Invalid, "invalid string (.) in {name}", "`MAJOR.MINOR` or `MAJOR.MINOR-suffix`", remedy::COMPILE;
        KelfTarget = 'E' 202, Invalid, "Invalid target '{name}'", "`sunda`, `v2`, `cayman`, `v3`, `mariana`, `v4`, `*` or an empty string", "Compile the model for one of these targets.";
        /// Cause `NEFF_ARCH_INCOMPAT`.
        ArchMismatch = 'E' 203, Invalid, "Loading a NEFF compiled for a different arch is not allowed, NEFF arch: v{a}, instance arch: v{b}", "a NEFF compiled for v{b}", "Please ensure that --target <correct_arch> is passed as a neuronx-cc command line flag. To override, set NEURON_RT_ALLOW_LEGACY_NEFF=1 and restart.";
        /// Ours: R22.
        NeuronCoreV1 = 'E' 204, Invalid, "compiled for NeuronCore-v1 (Inf1), which this loader does not load", "a KELF with the key `target`", "Compile the model for a current device. `inspect`, `info` and `memory` answer for this file, and `verify` without `--deep` says whether it is intact.";
        /// Ours: a part of the KELF is absent or has the wrong type.
        KelfMalformed = 'E' 205, Invalid, "malformed {name} in the KELF", "`version` and `target`, strings; `graphs`, an array of objects with the strings `name` and `definition`", remedy::COMPILE;
        KelfMissing = 'E' 206, Invalid, "KELF member {name} is missing", "a member of that name", remedy::MEMBER;
        KelfGraphs = 'E' 207, Invalid, "the KELF lists {name2}: {name}", "at least one graph, each name once", remedy::COMPILE;
        CoreCount = 'E' 208, LoadNotEnoughNc, "Insufficient number of pncs, required {a}, available {b}", "as many subgraphs as the logical core has cores, {b}, or 1", "Load it with `--lnc {a}` (NEURON_LOGICAL_NC_CONFIG={a} for a program of the C interface); a file that names another size in its header must first be packed with `--lnc {a}`.";
        DefinitionMissing = 'E' 301, Invalid, "definition {name} is missing", "a member of that name", remedy::MEMBER;
        NoOutputs = 'E' 302, Invalid, "subgraph {name}: no Outputs", "an object `var` with at least one `output`", remedy::COMPILE;
        VarIds = 'E' 303, Invalid, "Unexpected var_ids set! max={a}, size={b}", "ids that are dense from 0", remedy::COMPILE;
        InvalidTarget = 'E' 304, Invalid, "Invalid target = {a}", "2 (sunda), 3 (cayman) or 4 (mariana)", "Compile the model for one of these targets.";
        /// Ours: a top-level key has the wrong type.
        DefinitionMalformed = 'E' 305, Invalid, "malformed {name} in def.json", "`fp8_conversion_config`, an object of flags and unsigned numbers; `dma` and `runtime_statebuffer_reservation`, arrays; `ucode_lib`, a string or an array; `ext_isa_ucode_lib_def` and `cc_streams`, objects; a string for each engine; `num_streams` and `#rank_world_size`, unsigned numbers", remedy::COMPILE;
        VarType = 'E' 310, Invalid, "Failed to parse, key: type", "a string", remedy::COMPILE;
        VarId = 'E' 311, Invalid, "missing <var_id> in {name}", "an unsigned number below 4294967296", remedy::COMPILE;
        VarClassUnknown = 'E' 312, Invalid, "unknown type '{name2}' of variable {name}", "`state-buffer`, `input`, `output`, `tmp-buf`, `virtual`, `file`, `remote`, `pointer`, `list` or `dge-table`", remedy::COMPILE;
        VarAlignment = 'E' 313, Invalid, "alignment provided not power of 2. alignment={a}", "a power of two, or 0 for none", remedy::COMPILE;
        VarSize = 'E' 314, Invalid, "Failed to parse, key: size", "an unsigned number", remedy::COMPILE;
        PointerSize = 'E' 315, Invalid, "pointer {name} of size {a}", "size 8", remedy::COMPILE;
        VarList = 'E' 316, Invalid, "Failed to parse, key: list", "an array of variable ids", remedy::COMPILE;
        ConstantMissing = 'E' 317, Invalid, "Failed to get neff weight content for {name}", "a member of that name", remedy::MEMBER;
        PrintDtype = 'E' 318, Invalid, "Device print dtype {name} has {a} characters. Only {b} are supported", "at most {b} characters", "Print the tensor as another dtype, or leave the print out of the model.";
        PrintShape = 'E' 319, Invalid, "Device print only supports shape dimentions of up to {b}, found {a}", "at most {b} dimensions", "Reshape the tensor before it is printed, or leave the print out of the model.";
        NumpyHeader = 'E' 320, Invalid, "NUMPY {name} bad header {name2}", "a version-1 NumPy file with its whole header", remedy::COMPILE;
        VarIdTwice = 'E' 321, Invalid, "var_id {a} of {name} is used twice", "each id once", remedy::COMPILE;
        VarExtent = 'E' 322, Invalid, "backing_variable_off {a} + size {b} of {name} overflows", "an end below 2^64", remedy::COMPILE;
        VarReference = 'E' 323, Invalid, "{name} refers to variable {a}, which does not exist", "an id below {b}", remedy::COMPILE;
        /// Ours: a key of a `var` entry has the wrong type or an impossible value.
        VarMalformed = 'E' 324, Invalid, "malformed {name2} of variable {name}", "`size`, `alignment`, `backing_variable_off`, `referenced_var_id` and `pipe`, numbers; `dtype`, `file_name` and `prefix`, strings, the last of at most 511 bytes; a name without U+0000; `shape`, an array of unsigned numbers; `fabric_path`, one of `main`, `alt` and `repl`; `backing_buf`, one of `main`, `local`, `shared` and `sharded`; of a `remote` one, `remote_vtpb_rel_sg_id` (or `remote_sg_id`, `remote_core`), `remote_var_id` and `remote_name`, an index, an id and a name", remedy::COMPILE;
        /// Ours: the address of a cell in itself means nothing, and no known file has one.
        PointerSelf = 'E' 325, Invalid, "pointer {name} refers to itself", "another variable", remedy::COMPILE;
        /// Ours: so a cycle of pointers is refused as well.
        PointerChain = 'E' 326, Invalid, "pointer {name} refers to the pointer {name2}", "a variable that is not a pointer", remedy::COMPILE;
        QueueType = 'E' 330, Invalid, "missing <type> in {name}", "a string", remedy::COMPILE;
        QueueRole = 'E' 331, Invalid, "unknown type '{name2}' of DMA queue {name}", "`in`, `out`, `data`, `act_load`, `embedding_update` or `dynamic`", remedy::COMPILE;
        QueueOwner = 'E' 332, Invalid, "Invalid owner '{name2}' for DMA queue {name}", "`pe`, `act`, `pool`, `dve` or `sp`", remedy::COMPILE;
        QueueCount = 'E' 333, Invalid, "num_queues is {name} in DMA queue {name2}", "1 to {b}", remedy::COMPILE;
        QueueInstances = 'E' 334, Invalid, "Invalid Neff: Queue set instances are not supported for {name2} queues ({name})", "no `queue_instances` on such a queue", remedy::COMPILE;
        QueueSemaphores = 'E' 335, Invalid, "Runtime supports maximum of {b} semaphores per queue set, found: {a}", "at most {b}", remedy::FEWER;
        QueueActLoad = 'E' 336, Invalid, "act_load queue {name} has {a} queues, or is the second one", "one act_load set with one queue", remedy::COMPILE;
        QueueSets = 'E' 337, Invalid, "{a} DMA queue sets", "at most {b}", remedy::FEWER;
        QueueDge = 'E' 338, Invalid, "NEFF requested {a} HW DGE queues, supported: {b}", "at most {b}", remedy::FEWER;
        QueueTable = 'E' 339, Invalid, "malformed {name2} of dma_queue {name}", "an object for each queue: `semaphore` and `embedding_update_sync_semaphore`, unsigned numbers, the last one present for `embedding_update`; `semaphore_set`, an array of such; `queue_instances`, an array of strings, these and the name without U+0000; `pinned`, `dge` and `indirect_memcpy`, true or false; `dynamic_dma`, a flag or an object; `fabric_path`, one of `main`, `alt` and `repl`", remedy::COMPILE;
        UcodeManifest = 'E' 340, Invalid, "ucode manifest {name} is missing", "a member of that name", remedy::MEMBER;
        UcodeLibrary = 'E' 341, Invalid, "invalid GPSIMD lib {name}: the key `library` or its member is absent", "the name of a member", remedy::MEMBER;
        UcodeVersion = 'E' 342, Invalid, "Missing GPSIMD lib version!", "`ulib_to_ucode_version`, a string", "Build the library of custom operations again with the current tools.";
        UcodeMismatch = 'E' 343, Invalid, "Mismatch between GPSIMD lib version and NRT version!", "major version {b}", "Build the library of custom operations again for version {b}.";
        UcodeCpu = 'E' 344, Invalid, "UCode Library {name} has cpu_id {a}", "0", "Build the library of custom operations again with the current tools.";
        UcodeCpus = 'E' 345, Invalid, "UCode Library {name} has invalid number of total cpus {a}", "0, 1 or 8", "Build the library of custom operations again with the current tools.";
        UcodeTwice = 'E' 346, Invalid, "UCode Library {name} has already been added", "each library once", remedy::COMPILE;
        UcodeFunction = 'E' 347, Invalid, "failed to parse function field", "an array of objects with `name` and `opcode`", remedy::COMPILE;
        /// Ours: a part of a library entry is absent or has the wrong type.
        UcodeMalformed = 'E' 348, Invalid, "malformed {name2} of ucode library {name}", "an object for each library: `opcode`, a number; `cpu_id` and `total_cpus`, unsigned numbers", remedy::COMPILE;
        CarveoutMissing = 'E' 350, Invalid, "Missing or corrupted runtime_statebuffer_reservation field in def.json and NEURON_RT_ALLOW_LEGACY_NEFF=1 is not set. Potentially a legacy neff without proper compiler support", "`runtime_statebuffer_reservation`, an array", "Recompile, or set NEURON_RT_ALLOW_LEGACY_NEFF=1 if the file is trusted.";
        CarveoutType = 'E' 351, Invalid, "Invalid runtime_statebuffer_reservation type {name}", "`evtaccel`", remedy::COMPILE;
        CarveoutField = 'E' 352, Invalid, "missing {name} in runtime_statebuffer_reservation", "an object with the string `type` and the unsigned numbers `offset`, `size`, `base_partition` and `partitions`", remedy::COMPILE;
        EngineMissing = 'E' 360, Invalid, "engine file {name} is missing", "a member of that name", remedy::MEMBER;
        BlobMissing = 'E' 361, Invalid, "instruction blob {name} is missing", "a member of that name", remedy::MEMBER;
        EngineTable = 'E' 362, Invalid, "table {name} of engine {name2} is missing", "a member of that name", remedy::MEMBER;
        BlobSize = 'E' 363, Invalid, "Instruction size {a} for {name} exceeds maximum supported size {b}", "at most {b} bytes", remedy::FEWER;
        /// Ours: a key of an engine file has the wrong type.
        EngineMalformed = 'E' 364, Invalid, "malformed {name} in an engine file", "`dma`, an array; `activation_function_sets`, an array of strings; `act_semaphore`, an unsigned number; `profile_meta_data`, an array of at most 25; `dve_tables`, an object or an array of one", remedy::COMPILE;
        BlockId = 'E' 370, Invalid, "invalid dma block {a}: {name}", "an unsigned number below 4294967296", remedy::COMPILE;
        BlockQueue = 'E' 371, Invalid, "invalid dma block {a}: no known queue {name}", "`queue` or `instance_name` of a declared queue set", remedy::COMPILE;
        TransferOp = 'E' 372, Invalid, "Unknown dma operation: {name}", "`copy`, `cast`, `fma`, `add`, `min`, `max` or `transpose`", remedy::COMPILE;
        TransferVariable = 'E' 373, Invalid, "dma transfer names unknown variable {name}", "a variable of the same subgraph", remedy::COMPILE;
        AccessZero = 'E' 374, Invalid, "Size cannot be 0", "sizes above 0", remedy::COMPILE;
        AccessShape = 'E' 375, Invalid, "access pattern with {a} sizes and {b} steps", "1 to 4 of each, equally many", remedy::COMPILE;
        AccessDtype = 'E' 376, Invalid, "Invalid cce desc ap without dtype", "a dtype at every end of an arithmetic transfer", remedy::COMPILE;
        DtypeUnknown = 'E' 377, Invalid, "unknown dtype {name}", "one of `float8e3`, `float8e4`, `float8e5`, `float16`, `float32`, `float32r`, `bfloat16`, `uint8`, `uint16`, `uint32`, `uint64`, `int8`, `int16`, `int32`, `int64`, `float8_e4m3fn`, `float8_e4m3fn_x4`, `float8_e5m2_x4` and `float4_e2m1fn_x4`", remedy::COMPILE;
        TransferSources = 'E' 378, Invalid, "dma transfer with {a} sources", "at most {b}", remedy::COMPILE;
        ScaleDtype = 'E' 379, Invalid, "scale_dtype {name}", "`float32`", remedy::COMPILE;
        RemoteUnresolved = 'E' 380, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}: {name}", "the name of a variable of the subgraph that owns it", remedy::COMPILE;
        /// Ours: a key of a block or transfer has the wrong type.
        TransferMalformed = 'E' 381, Invalid, "malformed {name} of a dma transfer", "an object for each transfer: `op`, `from`, `to` and dtypes, strings; offsets, `size`, `num_tiling_dimensions` and `transpose_element_size`, unsigned numbers; sizes and steps, arrays of 1 to 4 numbers; `transpose_shape`, an array of 4; `from_arr`, an array of objects; `cast`, true or false; `scale` and `constant`, numbers", remedy::COMPILE;
        /// Ours: a key of a block has the wrong type.
        BlockMalformed = 'E' 382, Invalid, "malformed {name} of dma block {a}", "`desc`, an array; `semaphore`, `event` and `priority_class`, unsigned numbers; `remote_semaphores`, an array of such; `section_start_desc`, true or false; `function_start`, a string", remedy::COMPILE;
        /// The text is the reference's for all four; the codes tell them apart (manifests.md §7.9).
        RemoteOwn = 'E' 383, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}: {name} names its own subgraph", "another subgraph", remedy::COMPILE;
        /// So a cycle is refused as well.
        RemoteChain = 'E' 384, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}: {name} refers to the remote variable {name2}", "a variable that is not remote", remedy::COMPILE;
        RemoteSubgraph = 'E' 385, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}: {name} names subgraph {c}", "a subgraph from {a} to {b}", remedy::COMPILE;
        /// Ours: its keys, the form of its name and the same name there say different things (lowering.md §9.3).
        RemoteSources = 'E' 386, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}: {name} names more than one variable", "the same owner by its keys and by its name", remedy::COMPILE;
        Collectives = 'E' 390, Invalid, "malformed {name}", "arrays of ranks, nested three deep", remedy::COMPILE;
        ArenaFull = 'E' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena, with `--max-memory` on the command line; `neffload plan FILE` prints the exact need.";
        /// Ours: a count of the file is above what the caller allows.
        LimitExceeded = 'E' 810, Resource, "more than {b} {name}", "at most {b}", "Raise the limit of that name in `Limits` if the file can be trusted.";
        Internal = 'E' 901, Failure, "internal invariant broken: {name}", "it to hold", remedy::REPORT;
        UnknownDtype = 'W' 101, Success, "Unknown dtype: {name}, defaulting to UNKNOWN", "one of `uint64`, `int8`, `uint8`, `int16`, `uint16`, `bfloat16`, `float16`, `int32`, `uint32`, `float32` and `int64`", "Check what reads this tensor: its elements have no known type.";
        ArchIgnored = 'W' 203, Success, "Loading a NEFF compiled for a different arch, NEFF arch: v{a}, instance arch: v{b}", "a NEFF compiled for v{b}", "Compile the model for this host; NEURON_RT_ALLOW_LEGACY_NEFF lets it through without a promise.";
        EnginePlaceholder = 'W' 361, Success, "Engine {name} not found in NEFF {name2}, using empty placeholder", "an engine file for every engine", "Nothing needs doing if the model does not use the engine; otherwise compile it again.";
        /// Ours (§16: optional, never an error).
        InfoMalformed = 'W' 391, Success, "info.json is not read: it is malformed", "a JSON object", remedy::COMPILE;
        /// Ours (§17.2: accepted, with a warning).
        AliasShared = 'W' 392, Success, "output {name} takes the buffer of {name2} and of another input", "one input for each output", "Give each input an output of its own where the model is made, if the sharing is not meant.";
    }
}
