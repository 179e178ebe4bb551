//! The enumerations of lowering.md §3 as numbers with names; unknown numbers are kept.

use super::layout::open_enums;
use crate::arch::{Arch, Engine};

open_enums! {
    /// Architecture of a kbin (lowering.md §3.1, Confirmed).
    ArchNumber(U32, u32) {
        INVALID = 0 "invalid",
        INVALID_1 = 1 "invalid 1",
        SUNDA = 2 "sunda",
        CAYMAN = 3 "cayman",
        MARIANA = 4 "mariana",
    }

    /// Engine of a block or owner of a queue (lowering.md §3.2, Confirmed).
    EngType(U32, u32) {
        PE = 0 "pe",
        ACT = 1 "act",
        POOL = 2 "pool",
        DVE = 3 "dve",
        SP = 4 "sp",
        /// Not an engine; here also the owner of a queue that names none.
        NONE = 5 "none",
    }

    /// Kind of a ring (lowering.md §3.3, Confirmed).
    RingType(U32, u32) {
        ENG = 0 "eng",
        H2T = 1 "h2t",
        H2T_SERVICE = 2 "h2t service",
        H2T_COPY = 3 "h2t copy",
        COLLECTIVES = 4 "collectives",
        MODEL = 5 "model",
        DATA = 6 "data",
        IN = 7 "in",
        OUT = 8 "out",
        INDIRECT_MEMCPY = 9 "indirect memcpy",
        ACT_TBL = 10 "act table",
        DYNAMIC_ACT_TBL = 11 "dynamic act table",
        DVE_TBL = 12 "dve table",
        IOQ_SWITCHER = 13 "io-queue switcher",
        TOPSP_INIT = 14 "topsp init",
        EMBEDDING_UPDATE = 15 "embedding update",
        CUSTOM_OP = 16 "custom op",
        GENERIC = 17 "generic",
    }

    /// Form of a descriptor (lowering.md §3.4, Confirmed).
    DescType(U32, u32) {
        DATA = 0 "data",
        EVENT = 1 "event",
        INC_SEMA = 2 "inc sema",
    }

    /// Operation of a descriptor (lowering.md §3.4, Confirmed). Not the device's own numbers.
    Op(I32, i32) {
        INVALID = -1 "invalid",
        COPY = 0 "copy",
        FMA = 1 "fma",
        ADD = 2 "add",
        MIN = 3 "min",
        MAX = 4 "max",
        TRANSPOSE = 5 "transpose",
    }

    /// Element type of an access pattern (lowering.md §3.5, Confirmed). Not the public dtype codes.
    Dtype(U32, u32) {
        INVALID = 0 "none",
        FP8_E3 = 1 "fp8_e3",
        FP8_E4 = 2 "fp8_e4",
        FP8_E5 = 3 "fp8_e5",
        FP16 = 4 "fp16",
        FP32 = 5 "fp32",
        FP32R = 6 "fp32r",
        BF16 = 7 "bf16",
        U8 = 8 "u8",
        U16 = 9 "u16",
        U32 = 10 "u32",
        U64 = 11 "u64",
        I8 = 12 "i8",
        I16 = 13 "i16",
        I32 = 14 "i32",
        I64 = 15 "i64",
    }

    /// Class of a variable (lowering.md §3.6, Confirmed).
    MrType(U32, u32) {
        INVALID = 0 "invalid",
        SB = 1 "state-buffer",
        BUFFER_STAGED = 2 "staged buffer",
        BUFFER = 3 "file",
        TMP_BUF = 4 "tmp-buf",
        INPUT = 5 "input",
        OUTPUT = 6 "output",
        PTR = 7 "pointer",
        VIRTUAL_TMP_BUF = 8 "virtual",
        LIST = 9 "list",
        PTR_TABLE = 10 "dge-table",
        REMOTE = 11 "remote",
    }

    /// Backing buffer of a virtual variable (lowering.md §3.7; pairing with the strings Inferred).
    Backing(U32, u32) {
        LOCAL = 0 "local",
        SHARED = 1 "shared",
        SHARDED = 2 "sharded",
        MAIN = 3 "main",
    }

    /// Kind of a state-buffer carve-out (lowering.md §3.8, Confirmed).
    CarveoutType(U32, u32) {
        INVALID = 0 "invalid",
        EVTACCEL = 1 "evtaccel",
    }

    /// What a patch entry did (lowering.md §3.8, Confirmed).
    PatchType(U32, u32) {
        INSERT = 0 "insert",
        MODIFY = 1 "modify",
        DELETE = 2 "delete",
    }

    /// Part of the program a patch entry is in (lowering.md §3.8, Confirmed).
    PatchSection(U32, u32) {
        PREAMBLE = 0 "preamble",
        POSTAMBLE = 1 "postamble",
        MAIN = 2 "main",
        FUNCTION = 3 "function",
    }
}

impl From<Arch> for ArchNumber {
    fn from(arch: Arch) -> Self {
        Self::new(arch.number())
    }
}

impl ArchNumber {
    /// The architecture, if it is one that can be loaded.
    #[must_use]
    pub const fn arch(self) -> Option<Arch> {
        Arch::from_number(self.get())
    }
}

impl From<Engine> for EngType {
    fn from(engine: Engine) -> Self {
        Self::new(engine.number())
    }
}

impl EngType {
    /// The engine, if it is one.
    #[must_use]
    pub const fn engine(self) -> Option<Engine> {
        Engine::from_number(self.get())
    }
}

impl Dtype {
    /// Bytes of one element; `None` for none and for unknown numbers (lowering.md §3.5, Confirmed).
    #[must_use]
    pub const fn bytes(self) -> Option<u8> {
        match self.get() {
            1 | 2 | 3 | 8 | 12 => Some(1),
            4 | 7 | 9 | 13 => Some(2),
            5 | 6 | 10 | 14 => Some(4),
            11 | 15 => Some(8),
            _ => None,
        }
    }
}

impl MrType {
    /// True for the classes whose bytes the caller owns: bound at execute, never placed at load (R2).
    #[must_use]
    pub const fn is_io(self) -> bool {
        matches!(self.get(), 5 | 6)
    }
}
