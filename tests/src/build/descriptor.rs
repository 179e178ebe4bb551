//! Transfers of DMA blocks (manifests.md §13.3).

use serde_json::{Map, Value, json};

/// One end of a transfer.
#[derive(Clone, Debug)]
pub struct End {
    var: String,
    dtype: Option<&'static str>,
    offset: u64,
    sizes: Vec<u64>,
    steps: Vec<i64>,
}

impl End {
    /// `sizes[0]` bytes at `offset`, repeated by the outer sizes at the outer steps (bytes).
    #[must_use]
    pub fn new(var: &str, offset: u64, sizes: &[u64], steps: &[i64]) -> Self {
        Self { var: var.to_owned(), dtype: None, offset, sizes: sizes.to_vec(), steps: steps.to_vec() }
    }

    /// Names the element type.
    #[must_use]
    pub const fn dtype(mut self, dtype: &'static str) -> Self {
        self.dtype = Some(dtype);
        self
    }

    fn put(&self, side: &str, into: &mut Map<String, Value>) {
        into.insert(side.to_owned(), json!(self.var));
        if let Some(dtype) = self.dtype {
            into.insert(format!("{side}_dtype"), json!(dtype));
        }
        into.insert(format!("{side}_off"), json!(self.offset));
        into.insert(format!("{side}_sizes"), json!(self.sizes));
        into.insert(format!("{side}_steps"), json!(self.steps));
    }
}

/// One element of a block's `desc`.
#[derive(Clone, Debug)]
pub struct Descriptor(Map<String, Value>);

impl Descriptor {
    fn between(from: &End, to: &End) -> Self {
        let mut keys = Map::new();
        from.put("from", &mut keys);
        to.put("to", &mut keys);
        Self(keys)
    }

    /// A copy.
    #[must_use]
    pub fn copy(from: &End, to: &End) -> Self {
        Self::between(from, to).with("op", "copy")
    }

    /// A copy that changes the element type.
    #[must_use]
    pub fn cast(from: &End, to: &End) -> Self {
        Self::between(from, to).with("op", "cast")
    }

    /// A copy without `op`, as Inf1 compilers and transposes have it.
    #[must_use]
    pub fn plain(from: &End, to: &End) -> Self {
        Self::between(from, to)
    }

    /// A transposing copy.
    #[must_use]
    pub fn transpose(from: &End, to: &End, shape: [u64; 4], element_size: u64) -> Self {
        Self::between(from, to)
            .with("transpose_op", "WZXY")
            .with("transpose_shape", shape.as_slice())
            .with("transpose_element_size", element_size)
    }

    /// The sum of several sources.
    #[must_use]
    pub fn gather(sources: &[End], to: &End) -> Self {
        let sources = sources.iter().map(|source| {
            let mut keys = Map::new();
            source.put("from", &mut keys);
            Value::Object(keys)
        });
        let mut keys = Map::new();
        keys.insert("from_arr".to_owned(), sources.collect());
        to.put("to", &mut keys);
        Self(keys).with("num_tiling_dimensions", 1).with("op", "add")
    }

    /// Sets another key.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// The JSON element.
    #[must_use]
    pub fn json(self) -> Value {
        Value::Object(self.0)
    }
}
