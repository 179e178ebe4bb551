//! Reading `neff.json` / `kelp.json`: the tables of the graph as they come (manifests.md §4.2).

use super::tables::{FLAG_BAD, FLAG_OVERFLOW, FLAG_WIDE, Graph, Head, Node, Number, Shape};
use crate::error::Error;
use crate::json::{Element, Kind, Path, Want};
use crate::manifest::build::{Build, Document, Slot, full};
use crate::manifest::graph::TENSOR_DIMS;
use crate::manifest::record::Text;
use crate::words::words;
use zerocopy::little_endian::{U32, U64};

/// State while the document streams by.
#[derive(Debug)]
pub(crate) struct GraphReader {
    pub(crate) graph: Graph,
    node: NodeDraft,
    dims: [u32; TENSOR_DIMS],
    rank: u32,
    elements: u64,
    shape_flags: u32,
}

/// The node that is being read.
#[derive(Debug, Default)]
struct NodeDraft {
    name: Slot<Text>,
    is_kelf: Slot<bool>,
    kelf: Slot<Text>,
    outputs: Option<(u32, u32)>,
    attr_outputs: Option<(u32, u32)>,
}

words! {
    /// Keys of `neff.json` at any level.
    Key {
        Attrs = b"attrs",
        Nodes = b"nodes",
        ArgNodes = b"arg_nodes",
        Heads = b"heads",
        NodeRowPtr = b"node_row_ptr",
        Name = b"name",
        OutputNames = b"output_names",
        FuncName = b"func_name",
        Kelf = b"kelf",
    }
}

impl GraphReader {
    pub(crate) const fn new() -> Self {
        Self {
            graph: Graph::new(),
            node: NodeDraft {
                name: Slot::Absent,
                is_kelf: Slot::Absent,
                kelf: Slot::Absent,
                outputs: None,
                attr_outputs: None,
            },
            dims: [0; TENSOR_DIMS],
            rank: 0,
            elements: 1,
            shape_flags: 0,
        }
    }

    fn top(&mut self, key: &[u8], word: Key, kind: Kind) -> Want {
        let array = kind == Kind::Array;
        let fits = match word {
            Key::Attrs => kind == Kind::Object,
            _ => array,
        };
        if self.graph.seen(key) {
            return Want::Skip;
        }
        if fits { Want::Enter } else { self.graph.wrong() }
    }

    fn output_name(
        &mut self,
        build: &mut Build<'_, '_>,
        element: Element<'_>,
        attrs: bool,
    ) -> Result<(), Error> {
        let name = build.keep_string(element)?.unwrap_or(Text::EMPTY);
        let index = self.graph.output_names.push(build.arena, name).map_err(full)?;
        let range = if attrs { &mut self.node.attr_outputs } else { &mut self.node.outputs };
        let (first, count) = range.unwrap_or((index, 0));
        *range = Some((first, count.saturating_add(1)));
        Ok(())
    }

    fn end_node(&mut self, build: &mut Build<'_, '_>) -> Result<(), Error> {
        let draft = core::mem::take(&mut self.node);
        let (first, count) = draft.outputs.or(draft.attr_outputs).unwrap_or((0, 0));
        let node = Node {
            name: draft.name.get().unwrap_or(Text::EMPTY),
            flags: U32::new(if draft.name.get().is_none() { FLAG_BAD } else { 0 }),
            first_output: U32::new(first),
            outputs: U32::new(count),
        };
        if draft.is_kelf.get() == Some(true) {
            self.graph.found_kelf(node.name, draft.kelf);
        }
        self.graph.nodes.push(build.arena, node).map_err(full)?;
        Ok(())
    }

    fn end_shape(&mut self, build: &mut Build<'_, '_>) -> Result<(), Error> {
        let kept = usize::try_from(self.rank).unwrap_or(usize::MAX).min(TENSOR_DIMS);
        let place = build.arena.alloc_tail::<U32>(kept).map_err(full)?;
        if let Some(slots) = build.arena.tail_slice_mut::<U32>(place, kept) {
            for (slot, dim) in slots.iter_mut().zip(&self.dims) {
                slot.set(*dim);
            }
        }
        let shape = Shape {
            place,
            rank: U32::new(self.rank),
            flags: U32::new(self.shape_flags),
            elements: U64::new(self.elements),
        };
        self.graph.shapes.push(build.arena, shape).map_err(full)?;
        (self.rank, self.elements, self.shape_flags) = (0, 1, 0);
        Ok(())
    }

    fn dim(&mut self, element: Element<'_>) {
        let at = usize::try_from(self.rank).unwrap_or(usize::MAX);
        match element.as_u64() {
            Some(dim) => {
                match (u32::try_from(dim), self.dims.get_mut(at)) {
                    (Ok(dim), Some(slot)) => *slot = dim,
                    (Err(_), _) => self.shape_flags |= FLAG_WIDE,
                    (Ok(_), None) => {}
                }
                match self.elements.checked_mul(dim) {
                    Some(elements) => self.elements = elements,
                    None => self.shape_flags |= FLAG_OVERFLOW,
                }
            }
            None => self.shape_flags |= FLAG_BAD,
        }
        self.rank = self.rank.saturating_add(1);
    }

    fn dtype(&mut self, build: &mut Build<'_, '_>, element: Element<'_>) -> Result<(), Error> {
        let text = element.as_text();
        let last = self.graph.dtypes.len().checked_sub(1);
        let last = last.and_then(|at| self.graph.dtypes.get::<Text>(build.arena.tail(), at).copied());
        let same = last.filter(|last| text.is_some_and(|text| text.is(last.get(build.arena.tail()))));
        let dtype = match (same, text) {
            (Some(same), _) => same,
            (None, Some(text)) => build.keep_text(text)?,
            (None, None) => Text::EMPTY,
        };
        self.graph.dtypes.push(build.arena, dtype).map_err(full)?;
        Ok(())
    }
}

/// One head: `[node, output, version]`.
fn head(element: Element<'_>) -> Head {
    let mut items = element.as_items().into_iter().flatten().map(Element::as_u64);
    let node = items.next().flatten();
    let output = items.next().flatten();
    let flags = U32::new(if node.and(output).is_none() { FLAG_BAD } else { 0 });
    Head { node: U64::new(node.unwrap_or(0)), output: U64::new(output.unwrap_or(0)), flags }
}

fn number(element: Element<'_>) -> Number {
    let value = element.as_u64();
    let flags = U32::new(if value.is_none() { FLAG_BAD } else { 0 });
    Number { value: U64::new(value.unwrap_or(0)), flags }
}

impl Document for GraphReader {
    fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        kind: Kind,
        _: u64,
    ) -> Result<Want, Error> {
        Ok(match (path.depth(), Key::of(path.key(0))) {
            (1, word @ (Key::Nodes | Key::ArgNodes | Key::Heads | Key::NodeRowPtr | Key::Attrs)) => {
                self.top(path.key(0), word, kind)
            }
            (2, Key::Nodes) => {
                self.node = NodeDraft::default();
                if kind != Kind::Object {
                    self.end_node(build)?;
                }
                Want::Enter
            }
            (2, Key::ArgNodes | Key::Heads | Key::NodeRowPtr) => Want::Take,
            (3, Key::Nodes) => match Key::of(path.key(2)) {
                Key::Name => Want::Take,
                Key::Attrs | Key::OutputNames => Want::Enter,
                _ => Want::Skip,
            },
            (4, Key::Nodes) if path.key(2) == b"output_names" => Want::Take,
            (4, Key::Nodes) => match Key::of(path.key(3)) {
                Key::FuncName | Key::Kelf => Want::Take,
                Key::OutputNames => Want::Enter,
                _ => Want::Skip,
            },
            (5, Key::Nodes) => Want::Take,
            (2, Key::Attrs) => self.graph.attr(path.key(1), kind),
            (3, Key::Attrs) => self.graph.attr_item(path.key(1), path.index(2), kind),
            (4, Key::Attrs) if path.key(1) == b"dltype" => Want::Take,
            (4, Key::Attrs) if kind == Kind::Array => Want::Enter,
            (4, Key::Attrs) => {
                self.shape_flags |= FLAG_BAD;
                Want::Take
            }
            (5, Key::Attrs) => Want::Take,
            _ => Want::Skip,
        })
    }

    fn taken(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        element: Element<'_>,
    ) -> Result<(), Error> {
        match (path.depth(), Key::of(path.key(0))) {
            (2, Key::Heads) => self.graph.heads.push(build.arena, head(element)).map(drop).map_err(full),
            (2, key) => {
                let table = if key == Key::ArgNodes { &mut self.graph.args } else { &mut self.graph.rows };
                table.push(build.arena, number(element)).map(drop).map_err(full)
            }
            (3, _) => {
                let name = build.keep_string(element)?;
                self.node.name.set(name);
                Ok(())
            }
            (4, Key::Nodes) if path.key(2) == b"output_names" => self.output_name(build, element, false),
            (4, Key::Nodes) if path.key(3) == b"func_name" => {
                self.node.is_kelf.set(element.as_text().map(|text| text.is(b"__kelf")));
                Ok(())
            }
            (4, Key::Nodes) => {
                let name = build.keep_string(element)?;
                self.node.kelf.set(name);
                Ok(())
            }
            (5, Key::Nodes) => self.output_name(build, element, true),
            (4, _) if path.key(1) == b"dltype" => self.dtype(build, element),
            (4, _) => self.end_shape(build),
            _ => {
                self.dim(element);
                Ok(())
            }
        }
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, _: u32) -> Result<(), Error> {
        match (path.depth(), Key::of(path.key(0))) {
            (2, Key::Nodes) => self.end_node(build),
            (4, Key::Attrs) => self.end_shape(build),
            _ => Ok(()),
        }
    }
}
