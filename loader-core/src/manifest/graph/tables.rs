//! The graph's tables while hop 1 lasts, and the algorithm over them (manifests.md §4.4).

use crate::arena::TailRef;
use crate::error::{Error, ManifestCode, Notes, Stage};
use crate::json::{Kind, Want};
use crate::manifest::build::{Build, broken, fault};
use crate::manifest::dtype;
use crate::manifest::graph::TENSOR_DIMS;
use crate::manifest::record::{TensorRecord, Text};
use crate::manifest::sort::{by_name, index};
use crate::manifest::table::Table;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

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

impl Number {
    /// The number, which must be one.
    fn get(&self, key: &[u8], at: u32) -> Result<u64, Error> {
        if self.flags.get() == FLAG_BAD {
            return Err(fault(ManifestCode::GraphMalformed).name(key).element(at));
        }
        Ok(self.value.get())
    }
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

/// Sorted inputs or outputs.
pub(crate) struct List {
    pub(crate) place: TailRef,
    pub(crate) count: u32,
}

impl Graph {
    pub(super) const fn new() -> Self {
        Self {
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
        }
    }

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

    /// The first entry id of a node.
    fn entry(&self, build: &Build<'_, '_>, node: u64) -> Result<u64, Error> {
        let at = u32::try_from(node).unwrap_or(u32::MAX);
        let Some(row) = self.rows.get::<Number>(build.arena.tail(), at) else {
            let error = fault(ManifestCode::EidDtypes).numbers(node, u64::from(self.rows.len()));
            return Err(error.name(b" (row of node_row_ptr)").name2(b"a row"));
        };
        row.get(b"node_row_ptr", at)
    }

    fn node<'a>(&self, build: &'a Build<'_, '_>, node: u64) -> Result<&'a Node, Error> {
        let missing = || fault(ManifestCode::HeadNode).numbers(node, u64::from(self.nodes.len()));
        let at = u32::try_from(node).ok();
        at.and_then(|at| self.nodes.get::<Node>(build.arena.tail(), at)).ok_or_else(missing)
    }

    fn node_name(node: &Node) -> Result<Text, Error> {
        if node.flags.get() == FLAG_BAD {
            return Err(fault(ManifestCode::GraphMalformed).name(b"name of a node"));
        }
        Ok(node.name)
    }

    /// Inputs: the outputs 0 of the argument nodes.
    pub(crate) fn inputs(&self, build: &mut Build<'_, '_>, notes: &mut impl Notes) -> Result<List, Error> {
        let mut tensors = Table::EMPTY;
        for at in 0..self.args.len() {
            let node = self.args.get::<Number>(build.arena.tail(), at);
            let node = node.ok_or_else(|| broken("an argument"))?.get(b"arg_nodes", at)?;
            let name = Self::node_name(self.node(build, node)?)?;
            let eid = self.entry(build, node)?;
            let tensor = self.describe(build, name, eid, notes)?;
            build.push(&mut tensors, &tensor)?;
        }
        sorted(build, &tensors)
    }

    /// Outputs: the heads.
    pub(crate) fn outputs(&self, build: &mut Build<'_, '_>, notes: &mut impl Notes) -> Result<List, Error> {
        let mut tensors = Table::EMPTY;
        for at in 0..self.heads.len() {
            let head = self.heads.get::<Head>(build.arena.tail(), at).copied();
            let head = head.ok_or_else(|| broken("a head"))?;
            if head.flags.get() == FLAG_BAD {
                return Err(fault(ManifestCode::GraphMalformed).name(b"heads").element(at));
            }
            let (name, eid) = self.head(build, head)?;
            let tensor = self.describe(build, name, eid, notes)?;
            build.push(&mut tensors, &tensor)?;
        }
        sorted(build, &tensors)
    }

    /// Name and entry id of a head.
    fn head(&self, build: &Build<'_, '_>, head: Head) -> Result<(Text, u64), Error> {
        let output = head.output.get();
        let node = self.node(build, head.node.get())?;
        let named = || {
            let index = node.first_output.get().checked_add(u32::try_from(output).ok()?)?;
            self.output_names.get::<Text>(build.arena.tail(), index).copied()
        };
        let name = if output < u64::from(node.outputs.get()) { named() } else { None };
        let name = match name {
            Some(name) => name,
            None => Self::node_name(node)?,
        };
        let first = self.entry(build, head.node.get())?;
        // A sum above 64 bits is out of bounds as its larger part is.
        let beyond = || Self::beyond(ManifestCode::EidDtypes, first.max(output), self.dtypes.len());
        Ok((name, first.checked_add(output).ok_or_else(beyond)?))
    }

    fn beyond(code: ManifestCode, eid: u64, count: u32) -> Error {
        fault(code).numbers(eid, u64::from(count)).name2(b"an entry id")
    }

    /// `describe(e)` of §4.4.
    fn describe(
        &self,
        build: &Build<'_, '_>,
        name: Text,
        eid: u64,
        notes: &mut impl Notes,
    ) -> Result<TensorRecord, Error> {
        let tail = build.arena.tail();
        let beyond = |code, count: u32| Self::beyond(code, eid, count);
        let place = u32::try_from(eid).ok();
        let dtype = place.and_then(|eid| self.dtypes.get::<Text>(tail, eid));
        let dtype = dtype.ok_or_else(|| beyond(ManifestCode::EidDtypes, self.dtypes.len()))?;
        let shape = place.and_then(|eid| self.shapes.get::<Shape>(tail, eid));
        let shape = shape.ok_or_else(|| beyond(ManifestCode::EidShapes, self.shapes.len()))?;
        let eid = place.ok_or_else(|| broken("an entry id"))?;
        let rank = u64::from(shape.rank.get());
        let most = u64::try_from(TENSOR_DIMS).unwrap_or(0);
        let refused = || fault(ManifestCode::TensorRank).numbers(rank, most).element(eid);
        if rank > most || shape.flags.get() & FLAG_BAD != 0 {
            return Err(refused());
        }
        let (code, bytes) = dtype::public(dtype.get(tail)).unwrap_or_else(|| {
            let note = Error::new(Stage::Manifest, ManifestCode::UnknownDtype).name(dtype.get(tail));
            notes.note(build.placed(note));
            (dtype::UNKNOWN, 1)
        });
        let elements = Some(shape.elements.get()).filter(|_| shape.flags.get() & FLAG_OVERFLOW == 0);
        let size = elements.and_then(|elements| elements.checked_mul(u64::from(bytes)));
        let overflow = || fault(ManifestCode::TensorSize).name(name.get(tail)).element(eid);
        let size = size.ok_or_else(overflow)?;
        if shape.flags.get() & FLAG_WIDE != 0 {
            return Err(refused());
        }
        Ok(TensorRecord {
            name,
            dtype: *dtype,
            size: U64::new(size),
            eid: U32::new(eid),
            code,
            ndim: u8::try_from(shape.rank.get()).unwrap_or(0),
            pad: U16::ZERO,
            shape: shape.place,
        })
    }
}

/// The tensors by name; of several with one name the last stays (an ordered map's insert).
fn sorted(build: &mut Build<'_, '_>, tensors: &Table) -> Result<List, Error> {
    let count = tensors.len();
    let (mut order, mut place) = (TailRef::NULL, TailRef::NULL);
    by_name::<TensorRecord>(build, tensors, &mut order)?;
    let length = usize::try_from(count).unwrap_or(usize::MAX);
    build.room::<TensorRecord>(length, &mut place)?;
    let Some((slots, tail)) = build.arena.last_in_tail::<TensorRecord>(length) else {
        return Err(broken("tensors"));
    };
    let name = |at| tensors.name::<TensorRecord>(tail, at);
    let (mut slots, mut kept) = (slots.iter_mut(), 0u32);
    for at in 0..count {
        let this = index(tail, order, count, at).ok_or_else(|| broken("a tensor"))?;
        let next = index(tail, order, count, at.wrapping_add(1));
        if next.is_some_and(|next| name(next) == name(this)) {
            continue;
        }
        if let (Some(slot), Some(tensor)) = (slots.next(), tensors.get::<TensorRecord>(tail, this)) {
            *slot = *tensor;
        }
        kept = kept.wrapping_add(1);
    }
    Ok(List { place, count: kept })
}
