//! The graph's tables while hop 1 lasts, and the algorithm over them (manifests.md §4.4).

use crate::arena::TailRef;
use crate::error::{Error, ManifestCode, Notes, Stage, remark};
use crate::json::{Kind, Want};
use crate::manifest::build::{Build, broken, fault};
use crate::manifest::dtype;
use crate::manifest::graph::TENSOR_DIMS;
use crate::manifest::record::{TensorRecord, Text};
use crate::manifest::sort::{by_name, index};
use crate::manifest::table::Table;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A part of the wrong type; an error only if it is used.
pub(super) const FLAG_BAD: u32 = 1;
/// A dimension that 32 bits do not hold.
pub(super) const FLAG_WIDE: u32 = 2;
/// More elements than 64 bits hold.
pub(super) const FLAG_OVERFLOW: u32 = 4;

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Node {
    pub(super) name: Text,
    pub(super) flags: U32,
    pub(super) first_output: U32,
    pub(super) outputs: U32,
}

/// A node number or entry id as the file has it, however large.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Number {
    pub(super) value: U64,
    pub(super) flags: U32,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Head {
    pub(super) node: U64,
    pub(super) output: U64,
    pub(super) flags: U32,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Shape {
    pub(super) place: TailRef,
    pub(super) rank: U32,
    pub(super) flags: U32,
    pub(super) elements: U64,
}

/// The first node whose `func_name` is `__kelf`, and its attribute `kelf`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KelfNode {
    pub(crate) node: Text,
    pub(crate) kelf: Text,
    pub(crate) attr: Attr,
}

/// What `kelf` is: a string, something else, or not there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attr {
    Absent,
    Wrong,
    Good,
}

#[derive(Debug)]
pub(crate) struct Graph {
    pub(super) nodes: Table,
    pub(super) output_names: Table,
    pub(super) args: Table,
    pub(super) heads: Table,
    pub(super) rows: Table,
    pub(super) dtypes: Table,
    pub(super) shapes: Table,
    pub(crate) kelf: KelfNode,
    pub(crate) kelf_nodes: u32,
    /// Bits of the keys of the root that were met.
    top: u8,
    top_wrong: u8,
    /// `dltype`, `shape`: met, and whether their second element is an array.
    attrs: [(bool, bool); 2],
}

/// One of the two lists of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The argument nodes.
    Inputs,
    /// The heads.
    Outputs,
}

impl Graph {
    pub(super) const NEW: Self = Self {
        nodes: Table::EMPTY,
        output_names: Table::EMPTY,
        args: Table::EMPTY,
        heads: Table::EMPTY,
        rows: Table::EMPTY,
        dtypes: Table::EMPTY,
        shapes: Table::EMPTY,
        kelf: KelfNode { node: Text::EMPTY, kelf: Text::EMPTY, attr: Attr::Absent },
        kelf_nodes: 0,
        top: 0,
        top_wrong: 0,
        attrs: [(false, false); 2],
    };

    /// Notes the top-level key of that number, of five; true if it was met before.
    pub(super) fn seen(&mut self, number: usize) -> bool {
        let bit = 1u8.wrapping_shl(u32::try_from(number).unwrap_or(0));
        let seen = self.top & bit != 0;
        self.top |= bit;
        seen
    }

    /// A top-level key has the wrong type: as good as absent.
    pub(super) const fn wrong(&mut self) -> Want {
        self.top_wrong = 1;
        Want::Skip
    }

    /// `dltype` or `shape` begins, which are numbers 0 and 1.
    pub(super) fn attr(&mut self, number: usize, kind: Kind) -> Want {
        match self.attrs.get_mut(number) {
            Some((met, _)) if !*met => {
                *met = true;
                if kind == Kind::Array { Want::Enter } else { Want::Skip }
            }
            _ => Want::Skip,
        }
    }

    /// An item of one of the two begins.
    pub(super) fn attr_item(&mut self, number: usize, index: Option<u32>, kind: Kind) -> Want {
        match self.attrs.get_mut(number) {
            Some((_, array)) if index == Some(1) && kind == Kind::Array => {
                *array = true;
                Want::Enter
            }
            _ => Want::Skip,
        }
    }

    pub(super) const fn found_kelf(&mut self, kelf: KelfNode) {
        if self.kelf_nodes == 0 {
            self.kelf = kelf;
        }
        self.kelf_nodes = self.kelf_nodes.saturating_add(1);
    }

    /// The checks that come before any tensor: E102 to E105.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let [(has_dtypes, dtypes), (has_shapes, shapes)] = self.attrs;
        let code = if self.top != 31 || self.top_wrong != 0 {
            ManifestCode::GraphFields
        } else if !has_dtypes || !has_shapes {
            ManifestCode::GraphAttrs
        } else if !dtypes {
            ManifestCode::GraphDtypes
        } else if !shapes {
            ManifestCode::GraphShapes
        } else {
            return Ok(());
        };
        Err(fault(code))
    }

    /// Enters the inputs or the outputs by name.
    #[cfg_attr(small, inline(never))]
    pub(crate) fn tensors(
        &self,
        build: &mut Build<'_, '_>,
        side: Side,
        notes: &mut impl Notes,
        (place, count): (&mut TailRef, &mut U32),
    ) -> Result<(), Error> {
        let mut tensors = Table::EMPTY;
        let (all, key): (_, &[u8]) = match side {
            Side::Inputs => (&self.args, b"arg_nodes"),
            Side::Outputs => (&self.heads, b"heads"),
        };
        for at in 0..all.len() {
            let tail = build.arena.tail();
            let (node, output, flags) = match side {
                Side::Inputs => {
                    let node = all.get::<Number>(tail, at).ok_or_else(|| broken("an argument"))?;
                    (node.value.get(), None, node.flags)
                }
                Side::Outputs => {
                    let head = all.get::<Head>(tail, at).ok_or_else(|| broken("a head"))?;
                    (head.node.get(), Some(head.output.get()), head.flags)
                }
            };
            good(flags, key, at)?;
            let mut tensor = TensorRecord::new_zeroed();
            self.tensor(build, (node, output), notes, &mut tensor)?;
            build.push(&mut tensors, &tensor)?;
        }
        sorted(build, &tensors, place, count)
    }

    /// Output `output` of a node; an argument is the node itself, by its own name.
    fn tensor(
        &self,
        build: &Build<'_, '_>,
        (node, output): (u64, Option<u64>),
        notes: &mut impl Notes,
        tensor: &mut TensorRecord,
    ) -> Result<(), Error> {
        let tail = build.arena.tail();
        let at = u32::try_from(node).unwrap_or(u32::MAX);
        let Some(record) = self.nodes.get::<Node>(tail, at) else {
            return Err(fault(ManifestCode::HeadNode).numbers(node, u64::from(self.nodes.len())));
        };
        let own = |output: &u64| *output < u64::from(record.outputs.get());
        let named = output.filter(own).and_then(|output| {
            let index = record.first_output.get().checked_add(u32::try_from(output).ok()?)?;
            self.output_names.get::<Text>(tail, index)
        });
        if named.is_none() && record.flags.get() == FLAG_BAD {
            return Err(fault(ManifestCode::GraphMalformed).name(b"name of a node"));
        }
        tensor.name = *named.unwrap_or(&record.name);
        // The first entry id of the node.
        let Some(row) = self.rows.get::<Number>(tail, at) else {
            let error = fault(ManifestCode::EidDtypes).numbers(node, u64::from(self.rows.len()));
            return Err(error.name(b" (row of node_row_ptr)").name2(b"a row"));
        };
        good(row.flags, b"node_row_ptr", at)?;
        let (first, output) = (row.value.get(), output.unwrap_or(0));
        match first.checked_add(output) {
            Some(eid) => self.describe(build, eid, notes, tensor),
            // A sum above 64 bits is out of bounds as its larger part is.
            None => Err(beyond(ManifestCode::EidDtypes, first.max(output), &self.dtypes)),
        }
    }

    /// `describe(e)` of §4.4.
    fn describe(
        &self,
        build: &Build<'_, '_>,
        eid: u64,
        notes: &mut impl Notes,
        tensor: &mut TensorRecord,
    ) -> Result<(), Error> {
        let tail = build.arena.tail();
        let at = u32::try_from(eid).unwrap_or(u32::MAX);
        let Some(dtype) = self.dtypes.get::<Text>(tail, at) else {
            return Err(beyond(ManifestCode::EidDtypes, eid, &self.dtypes));
        };
        let Some(shape) = self.shapes.get::<Shape>(tail, at) else {
            return Err(beyond(ManifestCode::EidShapes, eid, &self.shapes));
        };
        let (rank, flags) = (shape.rank.get(), shape.flags.get());
        let most = u64::try_from(TENSOR_DIMS).unwrap_or(0);
        let refused = || fault(ManifestCode::TensorRank).numbers(rank.into(), most).element(at);
        if u64::from(rank) > most || flags & FLAG_BAD != 0 {
            return Err(refused());
        }
        let (code, bytes) = dtype::public(dtype.get(tail)).unwrap_or_else(|| {
            let note = || Error::new(Stage::Manifest, ManifestCode::UnknownDtype).name(dtype.get(tail));
            remark(notes, || build.placed(note()));
            (dtype::UNKNOWN, 1)
        });
        let size = shape.elements.get().checked_mul(u64::from(bytes));
        let Some(size) = size.filter(|_| flags & FLAG_OVERFLOW == 0) else {
            return Err(fault(ManifestCode::TensorSize).name(tensor.name.get(tail)).element(at));
        };
        if flags & FLAG_WIDE != 0 {
            return Err(refused());
        }
        (tensor.dtype, tensor.size, tensor.eid) = (*dtype, U64::new(size), U32::new(at));
        (tensor.code, tensor.shape) = (code, shape.place);
        tensor.ndim = u8::try_from(rank).unwrap_or(0);
        Ok(())
    }
}

/// A part of the wrong type is used.
fn good(flags: U32, key: &[u8], at: u32) -> Result<(), Error> {
    if flags.get() == FLAG_BAD {
        return Err(fault(ManifestCode::GraphMalformed).name(key).element(at));
    }
    Ok(())
}

/// An entry id that a table does not have.
fn beyond(code: ManifestCode, eid: u64, table: &Table) -> Error {
    fault(code).numbers(eid, u64::from(table.len())).name2(b"an entry id")
}

/// The tensors by name; of several with one name the last stays (an ordered map's insert).
fn sorted(
    build: &mut Build<'_, '_>,
    tensors: &Table,
    place: &mut TailRef,
    kept: &mut U32,
) -> Result<(), Error> {
    let count = tensors.len();
    let mut order = TailRef::NULL;
    by_name::<TensorRecord>(build, tensors, &mut order)?;
    let length = usize::try_from(count).unwrap_or(usize::MAX);
    build.room::<TensorRecord>(length, place)?;
    let Some((slots, tail)) = build.arena.last_in_tail::<TensorRecord>(length) else {
        return Err(broken("tensors"));
    };
    let name = |at| tensors.name::<TensorRecord>(tail, at);
    let mut slots = slots.iter_mut();
    for at in 0..count {
        let this = index(tail, order, count, at).ok_or_else(|| broken("a tensor"))?;
        let next = index(tail, order, count, at.wrapping_add(1));
        if next.is_some_and(|next| name(next) == name(this)) {
            continue;
        }
        if let (Some(slot), Some(tensor)) = (slots.next(), tensors.get::<TensorRecord>(tail, this)) {
            *slot = *tensor;
        }
        kept.set(kept.get().wrapping_add(1));
    }
    Ok(())
}
