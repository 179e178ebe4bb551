//! A variable of a subgraph, as its `var` entry says (manifests.md §7).

use super::class::{Backing, Fabric, VarClass};
use super::record::{VarRecord, var_flag};
use super::table::Table;
use crate::arena::Tail;
use crate::source::MemberId;
use zerocopy::little_endian::{U32, U64};

/// Device-print request (manifests.md §7.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Print<'m> {
    /// Text before the contents; at most 511 bytes.
    pub prefix: &'m [u8],
    /// Number of the print pipe.
    pub pipe: i32,
}

/// What only one class has.
#[derive(Clone, Copy, Debug)]
pub enum Detail<'m> {
    /// Nothing beyond the common fields.
    None,
    /// `virtual`: bytes from the start of its area.
    Virtual {
        /// `backing_variable_off`.
        offset: u64,
    },
    /// `file`: where the payload lies.
    File {
        /// The member, `sg_dir` + `/` + `file_name`.
        member: MemberId,
        /// First payload byte in the member: past the header of an `.npy`, else 0.
        payload_offset: u64,
        /// Payload bytes.
        payload_len: u64,
    },
    /// `pointer`.
    Pointer {
        /// Id of the variable whose address the cell holds.
        referenced: u32,
    },
    /// `list`.
    List {
        /// Variable ids.
        ids: Ids<'m>,
    },
    /// `dge-table`.
    DgeTable {
        /// Variable ids.
        ids: Ids<'m>,
    },
    /// `remote`: the owner, resolved (manifests.md §7.9, R16).
    Remote {
        /// Subgraph of the owner.
        subgraph: u32,
        /// The owner's id there.
        var_id: u32,
    },
}

/// The variable ids of a `list` or `dge-table`.
#[derive(Clone, Copy, Debug)]
pub struct Ids<'m> {
    tail: Tail<'m>,
    table: &'m Table,
    first: u32,
    len: u32,
}

impl<'m> Ids<'m> {
    /// How many.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// True if there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Id `index`, in constant time.
    #[must_use]
    pub fn get(&self, index: u32) -> Option<u32> {
        let at = self.first.checked_add(index).filter(|_| index < self.len)?;
        self.table.get::<U32>(self.tail, at).map(|id| id.get())
    }

    /// The ids in file order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + use<'m> {
        let ids = *self;
        (0..self.len).map_while(move |index| ids.get(index))
    }
}

/// One variable. `Copy`; all references live as long as the caller's memory.
#[derive(Clone, Copy, Debug)]
pub struct Variable<'m> {
    /// Dense id, 0 to `var_count` − 1.
    pub id: u32,
    /// The key of its entry.
    pub name: &'m [u8],
    /// Its class.
    pub class: VarClass,
    /// `size` in bytes as the entry gives it; see [`Variable::bytes`] for constants.
    pub size: Option<u64>,
    /// `alignment` in bytes, a power of two; 0 is "none given".
    pub alignment: u32,
    /// Device-print element type, at most 15 bytes; free text.
    pub dtype: &'m [u8],
    /// Device-print shape, at most 8 dimensions.
    pub shape: &'m [U64],
    /// Device print, for the classes that have it.
    pub print: Option<Print<'m>>,
    /// `fabric_path`, if given.
    pub fabric: Option<Fabric>,
    /// `backing_buf`, if given.
    pub backing: Option<Backing>,
    /// What its class adds.
    pub detail: Detail<'m>,
}

impl<'m> Variable<'m> {
    pub(crate) fn new(tail: Tail<'m>, lists: &'m Table, record: &'m VarRecord) -> Option<Self> {
        let has = |flag| record.flags & flag != 0;
        let class = VarClass::from_code(record.class)?;
        let print = Print { prefix: record.prefix.get(tail), pipe: record.pipe.get() };
        Some(Self {
            id: record.var_id.get(),
            name: record.name.get(tail),
            class,
            size: has(var_flag::SIZE).then(|| record.size.get()),
            alignment: record.alignment.get(),
            dtype: record.dtype.get(..usize::from(record.dtype_len))?,
            shape: tail.slice::<U64>(record.shape, usize::from(record.shape_len))?,
            print: (has(var_flag::PRINT) && class.can_print()).then_some(print),
            fabric: Fabric::ALL.get(usize::from(record.fabric)).copied().filter(|_| has(var_flag::FABRIC)),
            backing: Backing::ALL
                .get(usize::from(record.backing))
                .copied()
                .filter(|_| has(var_flag::BACKING)),
            detail: detail(tail, lists, class, record),
        })
    }

    /// Bytes the variable takes: a constant's own payload length, else `size` (manifests.md §7.7, R18).
    #[must_use]
    pub const fn bytes(&self) -> Option<u64> {
        match self.detail {
            Detail::File { payload_len, .. } => Some(payload_len),
            _ => self.size,
        }
    }

    /// Area of a `virtual` variable: `fabric_path`, else `backing_buf`, else `main` (manifests.md §7.6).
    #[must_use]
    pub fn area(&self) -> &'static str {
        match (self.fabric, self.backing) {
            (Some(fabric), _) => fabric.name(),
            (None, Some(backing)) => backing.name(),
            (None, None) => Backing::Main.name(),
        }
    }
}

fn detail<'m>(tail: Tail<'m>, table: &'m Table, class: VarClass, record: &VarRecord) -> Detail<'m> {
    let ids = Ids { tail, table, first: record.d.get(), len: record.c.get() };
    match class {
        VarClass::Virtual => Detail::Virtual { offset: record.a.get() },
        VarClass::File => Detail::File {
            member: MemberId(record.c.get()),
            payload_offset: record.a.get(),
            payload_len: record.b.get(),
        },
        VarClass::Pointer => Detail::Pointer { referenced: record.c.get() },
        VarClass::List => Detail::List { ids },
        VarClass::DgeTable => Detail::DgeTable { ids },
        VarClass::Remote => Detail::Remote { subgraph: record.c.get(), var_id: record.d.get() },
        VarClass::StateBuffer | VarClass::TmpBuf | VarClass::Input | VarClass::Output => Detail::None,
    }
}
