//! Words of the manifests that name a kind: variable classes, queue roles, areas, fabrics, operations.

/// Class of a variable: the `type` strings (manifests.md §7.2, Confirmed; `remote` and `dge-table` Inferred).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum VarClass {
    /// `state-buffer`: the on-chip state buffer.
    StateBuffer = 1,
    /// `file`: a constant, loaded once from a member.
    File = 3,
    /// `tmp-buf`: device memory private to this file.
    TmpBuf = 4,
    /// `input`: a caller's tensor.
    Input = 5,
    /// `output`: a caller's tensor.
    Output = 6,
    /// `pointer`: an 8-byte cell with another variable's address.
    Pointer = 7,
    /// `virtual`: a place in the shared scratchpad.
    Virtual = 8,
    /// `list`: a list of variable ids.
    List = 9,
    /// `dge-table`: a table of addresses for descriptor generation.
    DgeTable = 10,
    /// `remote`: alias of a variable of another subgraph.
    Remote = 11,
}

impl VarClass {
    /// Every class, by record type.
    pub const ALL: [Self; 10] = [
        Self::StateBuffer,
        Self::File,
        Self::TmpBuf,
        Self::Input,
        Self::Output,
        Self::Pointer,
        Self::Virtual,
        Self::List,
        Self::DgeTable,
        Self::Remote,
    ];

    /// The `type` string.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StateBuffer => "state-buffer",
            Self::File => "file",
            Self::TmpBuf => "tmp-buf",
            Self::Input => "input",
            Self::Output => "output",
            Self::Pointer => "pointer",
            Self::Virtual => "virtual",
            Self::List => "list",
            Self::DgeTable => "dge-table",
            Self::Remote => "remote",
        }
    }

    /// The class that a `type` string names.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name().as_bytes() == name)
    }

    /// Record type number (`mr_type`) in the lowered plan (manifests.md §7.2).
    #[must_use]
    pub const fn record_type(self) -> u32 {
        match self {
            Self::StateBuffer => 1,
            Self::File => 3,
            Self::TmpBuf => 4,
            Self::Input => 5,
            Self::Output => 6,
            Self::Pointer => 7,
            Self::Virtual => 8,
            Self::List => 9,
            Self::DgeTable => 10,
            Self::Remote => 11,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.record_type() == u32::from(code))
    }

    /// Whether an entry without `size` is refused (manifests.md §7.4 row 5).
    #[must_use]
    pub const fn needs_size(self) -> bool {
        matches!(self, Self::Input | Self::Output | Self::TmpBuf | Self::Virtual | Self::Pointer)
    }

    /// Whether device print applies (manifests.md §7.5).
    #[must_use]
    pub const fn can_print(self) -> bool {
        matches!(self, Self::File | Self::TmpBuf | Self::Virtual)
    }
}

/// Backing buffer of a `virtual` variable: the `backing_buf` strings
/// (numbers Confirmed, pairing Inferred: manifests.md §7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Backing {
    /// `local`.
    Local = 0,
    /// `shared`.
    Shared = 1,
    /// `sharded`.
    Sharded = 2,
    /// `main`, the default.
    Main = 3,
}

impl Backing {
    /// Every backing buffer, by number.
    pub const ALL: [Self; 4] = [Self::Local, Self::Shared, Self::Sharded, Self::Main];

    /// The `backing_buf` string.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Shared => "shared",
            Self::Sharded => "sharded",
            Self::Main => "main",
        }
    }

    /// The buffer that a string names.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|backing| backing.name().as_bytes() == name)
    }

    /// Number in the lowered record.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Local => 0,
            Self::Shared => 1,
            Self::Sharded => 2,
            Self::Main => 3,
        }
    }
}

/// A `fabric_path` string: `main` and `alt` (manifests.md §7.1), `repl` seen in real files (R14).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Fabric {
    /// `main`, the default.
    Main = 0,
    /// `alt`.
    Alt = 1,
    /// `repl`.
    Repl = 2,
}

impl Fabric {
    /// Every path.
    pub const ALL: [Self; 3] = [Self::Main, Self::Alt, Self::Repl];

    /// The string.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Alt => "alt",
            Self::Repl => "repl",
        }
    }

    /// The path that a string names.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|fabric| fabric.name().as_bytes() == name)
    }
}

/// Role of a queue set: the `type` strings (manifests.md §8.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Role {
    /// `in`.
    In,
    /// `out`.
    Out,
    /// `data`.
    Data,
    /// `act_load`.
    ActLoad,
    /// `embedding_update`.
    EmbeddingUpdate,
    /// `dynamic`: descriptors are generated on the device.
    Dynamic,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 6] =
        [Self::In, Self::Out, Self::Data, Self::ActLoad, Self::EmbeddingUpdate, Self::Dynamic];

    /// The `type` string.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
            Self::Data => "data",
            Self::ActLoad => "act_load",
            Self::EmbeddingUpdate => "embedding_update",
            Self::Dynamic => "dynamic",
        }
    }

    /// The role that a string names.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name().as_bytes() == name)
    }

    /// Ring type number (manifests.md §8.2); `indirect` is the queue's `indirect_memcpy`.
    #[must_use]
    pub const fn ring_type(self, indirect: bool) -> u32 {
        match self {
            Self::In => 7,
            Self::Out => 8,
            Self::Data if indirect => 9,
            Self::Data | Self::Dynamic => 6,
            Self::ActLoad => 11,
            Self::EmbeddingUpdate => 15,
        }
    }

    /// The word of E334 for roles that take no queue instances.
    #[must_use]
    pub const fn without_instances(self) -> Option<&'static str> {
        match self {
            Self::In => Some("input"),
            Self::Out => Some("output"),
            Self::EmbeddingUpdate => Some("embedding update"),
            Self::Data | Self::ActLoad | Self::Dynamic => None,
        }
    }
}

/// Operation of a transfer (manifests.md §13.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DmaOp {
    /// Absent, `copy`, and (with the cast flag, Inferred) `cast`.
    #[default]
    Copy = 0,
    /// `fma`.
    Fma = 1,
    /// `add`.
    Add = 2,
    /// `min`.
    Min = 3,
    /// `max`.
    Max = 4,
    /// `transpose`.
    Transpose = 5,
}

crate::words::words! {
    /// Names of operations.
    OpName {
        Copy = b"copy",
        Cast = b"cast",
        Fma = b"fma",
        Add = b"add",
        Min = b"min",
        Max = b"max",
        Transpose = b"transpose",
        TransposeOp = b"transpose_op",
    }
}

impl DmaOp {
    /// The operation and cast flag that an `op` string names.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<(Self, bool)> {
        Some(match OpName::of(name) {
            OpName::Copy => (Self::Copy, false),
            OpName::Cast => (Self::Copy, true),
            OpName::Fma => (Self::Fma, false),
            OpName::Add => (Self::Add, false),
            OpName::Min => (Self::Min, false),
            OpName::Max => (Self::Max, false),
            OpName::Transpose | OpName::TransposeOp => (Self::Transpose, false),
            _ => return None,
        })
    }

    /// Number in the lowered descriptor.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::Copy => 0,
            Self::Fma => 1,
            Self::Add => 2,
            Self::Min => 3,
            Self::Max => 4,
            Self::Transpose => 5,
        }
    }

    /// Whether the engine computes: every end then needs a dtype (E376).
    #[must_use]
    pub const fn is_arithmetic(self) -> bool {
        matches!(self, Self::Fma | Self::Add | Self::Min | Self::Max)
    }
}
