//! Codes of S2: the manifest chain (manifests.md §23).

use super::table::codes;

codes! {
    /// Codes of S2: the manifest chain (manifests.md §23).
    ManifestCode {
        GraphMissing = 'E' 101, Invalid, "Invalid NN: {name}, neff.json is missing", "a member `neff.json` or `kelp.json`", "";
        GraphFields = 'E' 102, Invalid, "Missing required fields in NEFF JSON", "`nodes`, `arg_nodes`, `heads`, `node_row_ptr` and `attrs`", "";
        GraphAttrs = 'E' 103, Invalid, "Missing dltype or shape in attrs", "both in `attrs`", "";
        GraphDtypes = 'E' 104, Invalid, "Invalid dltype data format", "an array whose second element is an array of strings", "";
        GraphShapes = 'E' 105, Invalid, "Invalid shape data format", "an array whose second element is an array of arrays", "";
        EidDtypes = 'E' 106, Invalid, "EID {a} out of bounds for dtypes", "an entry id below {b}", "";
        EidShapes = 'E' 107, Invalid, "EID {a} out of bounds for shapes", "an entry id below {b}", "";
        HeadNode = 'E' 108, Invalid, "Output node ID {a} out of bounds", "a node number below {b}", "";
        TensorRank = 'E' 109, Invalid, "Too many dimensions ({a})", "at most {b} dimensions, each below 4294967296", "";
        KelfNodeMissing = 'E' 110, Invalid, "No KELF node found in NEFF JSON", "a node whose `func_name` is `__kelf`", "";
        KelfAttrMissing = 'E' 111, Invalid, "KELF node found but missing 'kelf' attribute", "", "";
        KelfAttrType = 'E' 112, Invalid, "KELF attribute is not a string", "", "";
        TensorSize = 'E' 113, Invalid, "size of tensor {name} does not fit 64 bits", "", "";
        /// Ours: a part of the graph manifest has the wrong type.
        GraphMalformed = 'E' 114, Invalid, "malformed {name} in NEFF JSON", "", "";
        /// The text is the reference's; the numbers are the size and the configured maximum.
        JsonTooLarge = 'E' 120, Invalid, "File {name} size ({a}) exceeds json parser maximum ({b})", "", "Raise the JSON member limit, or have the compiler write less.";
        /// First name: what was found. Second name: what was expected.
        JsonMalformed = 'E' 121, Invalid, "malformed JSON: found {name}", "{name2}", "";
        JsonDuplicateKey = 'E' 122, Invalid, "duplicate key {name} in one JSON object", "each key once", "";
        /// Ours: the reader's memory is bounded.
        JsonElementTooLarge = 'E' 123, Resource, "JSON element {name} does not fit the element buffer of {b} bytes", "an element of at most {b} bytes", "Give a larger element buffer.";
        /// Ours: the reader's memory is bounded.
        JsonKeyTooLong = 'E' 124, Resource, "JSON key {name} does not fit the key memory of {b} bytes", "shorter or fewer keys", "Give a larger key buffer.";
        KelfVersion = 'E' 201, Invalid, "invalid string (.) in {name}", "`MAJOR.MINOR` or `MAJOR.MINOR-suffix`", "";
        KelfTarget = 'E' 202, Invalid, "Invalid target '{name}'", "`sunda`, `v2`, `cayman`, `v3`, `mariana`, `v4`, `*` or an empty string", "";
        /// Cause `NEFF_ARCH_INCOMPAT`.
        ArchMismatch = 'E' 203, Invalid, "Loading a NEFF compiled for a different arch is not allowed, NEFF arch: v{a}, instance arch: v{b}", "", "Please ensure that --target <correct_arch> is passed as a neuronx-cc command line flag. To override, set NEURON_RT_ALLOW_LEGACY_NEFF=1 and restart.";
        /// Ours: R22.
        NeuronCoreV1 = 'E' 204, Invalid, "compiled for NeuronCore-v1 (Inf1), which this loader does not load", "a KELF with the key `target`", "Compile the model for a current device. `inspect`, `info` and `memory` answer for this file, and `verify` without `--deep` says whether it is intact.";
        /// Ours: a part of the KELF is absent or has the wrong type.
        KelfMalformed = 'E' 205, Invalid, "malformed {name} in the KELF", "", "";
        KelfMissing = 'E' 206, Invalid, "KELF member {name} is missing", "", "";
        KelfGraphs = 'E' 207, Invalid, "the KELF lists no graph, or graph {name} twice", "at least one graph, each name once", "";
        CoreCount = 'E' 208, LoadNotEnoughNc, "Insufficient number of pncs, required {a}, available {b}", "", "Load it with `--lnc {a}`, or pack it with `--lnc {a}`.";
        DefinitionMissing = 'E' 301, Invalid, "definition {name} is missing", "", "";
        NoOutputs = 'E' 302, Invalid, "subgraph {name}: no Outputs", "an object `var` with at least one `output`", "";
        VarIds = 'E' 303, Invalid, "Unexpected var_ids set! max={a}, size={b}", "ids that are dense from 0", "";
        InvalidTarget = 'E' 304, Invalid, "Invalid target = {a}", "", "";
        /// Ours: a top-level key has the wrong type.
        DefinitionMalformed = 'E' 305, Invalid, "malformed {name} in def.json", "", "";
        VarType = 'E' 310, Invalid, "Failed to parse, key: type", "a string", "";
        VarId = 'E' 311, Invalid, "missing <var_id> in {name}", "an unsigned number below 4294967296", "";
        VarClassUnknown = 'E' 312, Invalid, "unknown type '{name2}' of variable {name}", "a class of manifests.md §7.2", "";
        VarAlignment = 'E' 313, Invalid, "alignment provided not power of 2. alignment={a}", "", "";
        VarSize = 'E' 314, Invalid, "Failed to parse, key: size", "an unsigned number", "";
        PointerSize = 'E' 315, Invalid, "pointer {name} of size {a}", "size 8", "";
        VarList = 'E' 316, Invalid, "Failed to parse, key: list", "an array of variable ids", "";
        ConstantMissing = 'E' 317, Invalid, "Failed to get neff weight content for {name}", "", "";
        PrintDtype = 'E' 318, Invalid, "Device print dtype {name} has {a} characters. Only {b} are supported", "", "";
        PrintShape = 'E' 319, Invalid, "Device print only supports shape dimentions of up to {b}, found {a}", "", "";
        NumpyHeader = 'E' 320, Invalid, "NUMPY {name} bad header {a:x} != 0x4e93", "a version-1 NumPy file with its whole header", "";
        VarIdTwice = 'E' 321, Invalid, "var_id {a} of {name} is used twice", "each id once", "";
        VarExtent = 'E' 322, Invalid, "backing_variable_off {a} + size {b} of {name} overflows", "", "";
        VarReference = 'E' 323, Invalid, "{name} refers to variable {a}, which does not exist", "an id below {b}", "";
        /// Ours: a key of a `var` entry has the wrong type or an impossible value.
        VarMalformed = 'E' 324, Invalid, "malformed {name2} of variable {name}", "", "";
        QueueType = 'E' 330, Invalid, "missing <type> in {name}", "", "";
        QueueRole = 'E' 331, Invalid, "unknown type '{name2}' of DMA queue {name}", "`in`, `out`, `data`, `act_load`, `embedding_update` or `dynamic`", "";
        QueueOwner = 'E' 332, Invalid, "Invalid owner '{name2}' for DMA queue {name}", "`pe`, `act`, `pool`, `dve` or `sp`", "";
        QueueCount = 'E' 333, Invalid, "DMA queue {name} has {a} queues", "1 to {b}", "";
        QueueInstances = 'E' 334, Invalid, "Invalid Neff: Queue set instances are not supported for {name2} queues ({name})", "", "";
        QueueSemaphores = 'E' 335, Invalid, "Runtime supports maximum of {b} semaphores per queue set, found: {a}", "", "";
        QueueActLoad = 'E' 336, Invalid, "act_load queue {name} has {a} queues, or is the second one", "one act_load set with one queue", "";
        QueueSets = 'E' 337, Invalid, "{a} DMA queue sets", "at most {b}", "";
        QueueDge = 'E' 338, Invalid, "NEFF requested {a} HW DGE queues, supported: {b}", "", "";
        QueueTable = 'E' 339, Invalid, "malformed {name2} of dma_queue {name}", "", "";
        UcodeManifest = 'E' 340, Invalid, "ucode manifest {name} is missing", "", "";
        UcodeLibrary = 'E' 341, Invalid, "invalid GPSIMD lib {name}: the key `library` or its member is absent", "", "";
        UcodeVersion = 'E' 342, Invalid, "Missing GPSIMD lib version!", "", "";
        UcodeMismatch = 'E' 343, Invalid, "Mismatch between GPSIMD lib version and NRT version!", "major version {b}", "";
        UcodeCpu = 'E' 344, Invalid, "UCode Library {name} has cpu_id {a}", "0", "";
        UcodeCpus = 'E' 345, Invalid, "UCode Library {name} has invalid number of total cpus {a}", "0, 1 or 8", "";
        UcodeTwice = 'E' 346, Invalid, "UCode Library {name} has already been added", "", "";
        UcodeFunction = 'E' 347, Invalid, "failed to parse function field", "an array of objects with `name` and `opcode`", "";
        /// Ours: a part of a library entry is absent or has the wrong type.
        UcodeMalformed = 'E' 348, Invalid, "malformed {name2} of ucode library {name}", "", "";
        CarveoutMissing = 'E' 350, Invalid, "Missing or corrupted runtime_statebuffer_reservation field in def.json and NEURON_RT_ALLOW_LEGACY_NEFF=1 is not set. Potentially a legacy neff without proper compiler support", "", "";
        CarveoutType = 'E' 351, Invalid, "Invalid runtime_statebuffer_reservation type {name}", "`evtaccel`", "";
        CarveoutField = 'E' 352, Invalid, "missing {name} in runtime_statebuffer_reservation", "an unsigned number", "";
        EngineMissing = 'E' 360, Invalid, "engine file {name} is missing", "", "";
        BlobMissing = 'E' 361, Invalid, "instruction blob {name} is missing", "", "";
        EngineTable = 'E' 362, Invalid, "table {name} of engine {name2} is missing", "", "";
        BlobSize = 'E' 363, Invalid, "Instruction size {a} for {name} exceeds maximum supported size {b}", "", "";
        /// Ours: a key of an engine file has the wrong type.
        EngineMalformed = 'E' 364, Invalid, "malformed {name} in an engine file", "", "";
        BlockId = 'E' 370, Invalid, "invalid dma block {a}: no id", "an unsigned number below 4294967296", "";
        BlockQueue = 'E' 371, Invalid, "invalid dma block {a}: no known queue {name}", "`queue` or `instance_name` of a declared queue set", "";
        TransferOp = 'E' 372, Invalid, "Unknown dma operation: {name}", "", "";
        TransferVariable = 'E' 373, Invalid, "dma transfer names unknown variable {name}", "", "";
        AccessZero = 'E' 374, Invalid, "Size cannot be 0", "", "";
        AccessShape = 'E' 375, Invalid, "access pattern with {a} sizes and {b} steps", "1 to 4 of each, equally many", "";
        AccessDtype = 'E' 376, Invalid, "Invalid cce desc ap without dtype", "", "";
        DtypeUnknown = 'E' 377, Invalid, "unknown dtype {name}", "", "";
        TransferSources = 'E' 378, Invalid, "dma transfer with {a} sources", "at most {b}", "";
        ScaleDtype = 'E' 379, Invalid, "scale_dtype {name}", "`float32`", "";
        RemoteUnresolved = 'E' 380, Invalid, "Failed to resolve remote variables for subgraphs {a} to {b}: {name}", "", "";
        /// Ours: a key of a block or transfer has the wrong type.
        TransferMalformed = 'E' 381, Invalid, "malformed {name} of a dma transfer", "", "";
        /// Ours: a key of a block has the wrong type.
        BlockMalformed = 'E' 382, Invalid, "malformed {name} of dma block {a}", "", "";
        Collectives = 'E' 390, Invalid, "malformed {name}", "arrays of ranks, nested three deep", "";
        ArenaFull = 'E' 801, Resource, "the arena is full: {a} bytes needed, {b} available", "an arena that holds this file", "Give a larger arena; `neffload plan FILE` prints the exact need.";
        /// Ours: a count of the file is above what the caller allows.
        LimitExceeded = 'E' 810, Resource, "more than {b} {name}", "", "Raise the limit.";
        Internal = 'E' 901, Failure, "internal invariant broken: {name}", "", "Please report this with the file.";
        UnknownDtype = 'W' 101, Success, "Unknown dtype: {name}, defaulting to UNKNOWN", "", "";
        ArchIgnored = 'W' 203, Success, "Loading a NEFF compiled for a different arch, NEFF arch: v{a}, instance arch: v{b}", "", "";
        EnginePlaceholder = 'W' 361, Success, "Engine {name} not found in NEFF {name2}, using empty placeholder", "", "";
    }
}
