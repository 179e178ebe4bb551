//! Reading `neff.json` / `kelp.json`: the tables of the graph as they come (manifests.md §4.2).

use super::tables::{Attr, FLAG_BAD, FLAG_OVERFLOW, FLAG_WIDE, Graph, Head, KelfNode, Node, Number, Shape};
use crate::arena::TailRef;
use crate::error::Error;
use crate::json::{Element, Kind, Path, Want};
use crate::manifest::build::{Build, Document};
use crate::manifest::fields::{Fields, Read, Type, fields};
use crate::manifest::graph::TENSOR_DIMS;
use crate::manifest::record::Text;
use crate::words::words;
use zerocopy::FromZeros;
use zerocopy::little_endian::{U32, U64};

/// State while the document streams by.
#[derive(Debug)]
pub(crate) struct GraphReader {
    pub(crate) graph: Graph,
    /// The key of the root, and the one in a node or in `attrs`, whose value is being read.
    top: Key,
    inner: Key,
    taken: Taken,
    /// The node that is being read.
    node: Fields<NodeKey>,
    /// First and number of its `output_names`: its own, and those in its `attrs`.
    outputs: [[u32; 2]; 2],
    dims: [u32; TENSOR_DIMS],
    rank: u32,
    elements: u64,
    shape_flags: u32,
}

fields! {
    /// What a node says of itself.
    NodeKey for Node {
        Name = b"name": Type::Text => name,
        FuncName = b"func_name": Type::Own,
        Kelf = b"kelf": Type::Text,
    }
}

words! {
    /// Keys of `neff.json` at any level: first those of the root, then the two of its `attrs`.
    Key {
        Nodes = b"nodes",
        ArgNodes = b"arg_nodes",
        Heads = b"heads",
        NodeRowPtr = b"node_row_ptr",
        Attrs = b"attrs",
        Dltype = b"dltype",
        Shape = b"shape",
        Name = b"name",
        OutputNames = b"output_names",
        FuncName = b"func_name",
        Kelf = b"kelf",
    }
}

/// What the value is that is being taken.
#[derive(Clone, Copy, Debug)]
enum Taken {
    Head,
    Argument,
    Row,
    Name,
    FuncName,
    Kelf,
    OutputName,
    AttrOutputName,
    Dtype,
    Shape,
    Dim,
}

impl GraphReader {
    /// Before the document; all zero bits.
    pub(crate) const NEW: Self = Self {
        graph: Graph::NEW,
        top: Key::NONE_YET,
        inner: Key::NONE_YET,
        taken: Taken::Head,
        node: Fields::NONE,
        outputs: [[0; 2]; 2],
        dims: [0; TENSOR_DIMS],
        rank: 0,
        elements: 0,
        shape_flags: 0,
    };

    fn top(&mut self, key: Key, kind: Kind) -> Want {
        self.top = key;
        let due = if key == Key::Attrs { Kind::Object } else { Kind::Array };
        if key.place() > Key::Attrs.place() || self.graph.seen(key.place()) {
            return Want::Skip;
        }
        if kind == due { Want::Enter } else { self.graph.wrong() }
    }

    const fn take(&mut self, taken: Taken) -> Want {
        self.taken = taken;
        Want::Take
    }

    /// Number of the attribute that is being read.
    const fn attr(&self) -> usize {
        self.inner.place().wrapping_sub(Key::Dltype.place())
    }

    fn output_name(
        &mut self,
        build: &mut Build<'_, '_>,
        element: Element<'_>,
        attrs: bool,
    ) -> Result<(), Error> {
        let mut name = Text::EMPTY;
        build.keep_string(element, &mut name)?;
        let [own, in_attrs] = &mut self.outputs;
        let [first, count] = if attrs { in_attrs } else { own };
        if *count == 0 {
            *first = self.graph.output_names.len();
        }
        *count = count.saturating_add(1);
        build.push(&mut self.graph.output_names, &name)
    }

    fn begin_node(&mut self) {
        self.node.begin();
        self.outputs = [[0; 2]; 2];
    }

    fn end_node(&mut self, build: &mut Build<'_, '_>) -> Result<(), Error> {
        let mut node = Node::new_zeroed();
        self.node.place(&mut node);
        if !self.node.has(NodeKey::Name) {
            node.flags = U32::new(FLAG_BAD);
        }
        let [own, in_attrs] = self.outputs;
        let [first, count] = if own == [0; 2] { in_attrs } else { own };
        (node.first_output, node.outputs) = (U32::new(first), U32::new(count));
        if self.node.is_set(NodeKey::FuncName) {
            let attr = match self.node.has(NodeKey::Kelf) {
                true => Attr::Good,
                false if self.node.is_absent(NodeKey::Kelf) => Attr::Absent,
                false => Attr::Wrong,
            };
            self.graph.found_kelf(KelfNode { node: node.name, kelf: self.node.text(NodeKey::Kelf), attr });
        }
        self.begin_node();
        build.push(&mut self.graph.nodes, &node)
    }

    const fn begin_shape(&mut self, flags: u32) {
        (self.rank, self.elements, self.shape_flags) = (0, 1, flags);
    }

    fn end_shape(&mut self, build: &mut Build<'_, '_>) -> Result<(), Error> {
        let kept = usize::try_from(self.rank).unwrap_or(usize::MAX).min(TENSOR_DIMS);
        let mut place = TailRef::NULL;
        build.room::<U32>(kept, &mut place)?;
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
        build.push(&mut self.graph.shapes, &shape)
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
        let (table, tail) = (&mut self.graph.dtypes, build.arena.tail());
        let mut dtype = Text::EMPTY;
        if let Some(text) = element.as_text() {
            let last = table.len().checked_sub(1).and_then(|at| table.get::<Text>(tail, at));
            match last.filter(|last| text.is(last.get(tail))) {
                Some(last) => dtype = *last,
                None => build.keep_text(text, &mut dtype)?,
            }
        }
        build.push(table, &dtype)
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
        Ok(match (self.top, path.depth()) {
            (_, 1) => self.top(Key::of(path.key(0)), kind),
            (Key::ArgNodes, 2) => self.take(Taken::Argument),
            (Key::Heads, 2) => self.take(Taken::Head),
            (Key::NodeRowPtr, 2) => self.take(Taken::Row),
            (Key::Nodes, 2) => {
                self.begin_node();
                if kind != Kind::Object {
                    self.end_node(build)?;
                }
                Want::Enter
            }
            (Key::Nodes, 3) => {
                self.inner = Key::of(path.key(2));
                match self.inner {
                    Key::Name => self.take(Taken::Name),
                    Key::Attrs | Key::OutputNames => Want::Enter,
                    _ => Want::Skip,
                }
            }
            (Key::Nodes, 4) if self.inner == Key::OutputNames => self.take(Taken::OutputName),
            (Key::Nodes, 4) => match Key::of(path.key(3)) {
                Key::FuncName => self.take(Taken::FuncName),
                Key::Kelf => self.take(Taken::Kelf),
                Key::OutputNames => Want::Enter,
                _ => Want::Skip,
            },
            (Key::Nodes, 5) => self.take(Taken::AttrOutputName),
            (Key::Attrs, 2) => {
                self.inner = Key::of(path.key(1));
                self.graph.attr(self.attr(), kind)
            }
            (Key::Attrs, 3) => self.graph.attr_item(self.attr(), path.index(2), kind),
            (Key::Attrs, 4) if self.inner == Key::Dltype => self.take(Taken::Dtype),
            (Key::Attrs, 4) if kind == Kind::Array => {
                self.begin_shape(0);
                Want::Enter
            }
            (Key::Attrs, 4) => {
                self.begin_shape(FLAG_BAD);
                self.take(Taken::Shape)
            }
            (Key::Attrs, 5) => self.take(Taken::Dim),
            _ => Want::Skip,
        })
    }

    fn taken(&mut self, build: &mut Build<'_, '_>, _: &Path<'_>, element: Element<'_>) -> Result<(), Error> {
        match self.taken {
            Taken::Head => return build.push(&mut self.graph.heads, &head(element)),
            Taken::Argument => return build.push(&mut self.graph.args, &number(element)),
            Taken::Row => return build.push(&mut self.graph.rows, &number(element)),
            Taken::Name => return self.node.take(build, NodeKey::Name, element),
            Taken::Kelf => return self.node.take(build, NodeKey::Kelf, element),
            Taken::OutputName => return self.output_name(build, element, false),
            Taken::AttrOutputName => return self.output_name(build, element, true),
            Taken::Dtype => return self.dtype(build, element),
            Taken::Shape => return self.end_shape(build),
            Taken::FuncName => {
                let kelf = element.as_text().map(|text| u64::from(text.is(b"__kelf")));
                self.node.put(NodeKey::FuncName, Read::or_wrong(kelf));
            }
            Taken::Dim => self.dim(element),
        }
        Ok(())
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, _: u32) -> Result<(), Error> {
        match (self.top, path.depth()) {
            (Key::Nodes, 2) => self.end_node(build),
            (Key::Attrs, 4) => self.end_shape(build),
            _ => Ok(()),
        }
    }
}
