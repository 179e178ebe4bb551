//! The graph manifest's answer: inputs and outputs by name (manifests.md §4.4, §4.5).

pub(crate) mod reader;
pub(crate) mod tables;

use super::record::{RootRecord, TensorRecord, wide};
use crate::arena::{Tail, TailRef};
use zerocopy::little_endian::U32;

/// Dimensions of a graph tensor at most (manifests.md §4.4).
pub const TENSOR_DIMS: usize = 32;

/// One input or output of the whole graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor<'m> {
    /// Its name.
    pub name: &'m [u8],
    /// Entry id: flat number of a node output.
    pub eid: u32,
    /// dtype string as written.
    pub dtype: &'m [u8],
    /// Public dtype code (manifests.md §14.1); 0 is unknown.
    pub dtype_code: u8,
    /// Extents, outermost first; empty for a scalar.
    pub shape: &'m [U32],
    /// Bytes.
    pub size: u64,
}

/// Inputs and outputs, each sorted by name (byte order), each name once.
#[derive(Clone, Copy, Debug)]
pub struct IoMaps<'m> {
    pub(crate) tail: Tail<'m>,
    pub(crate) record: &'m RootRecord,
}

impl<'m> IoMaps<'m> {
    fn list(&self, place: TailRef, count: U32) -> impl ExactSizeIterator<Item = Tensor<'m>> + use<'m> {
        let tail = self.tail;
        let records = tail.slice::<TensorRecord>(place, wide(count)).unwrap_or(&[]);
        records.iter().map(move |record| Tensor {
            name: record.name.get(tail),
            eid: record.eid.get(),
            dtype: record.dtype.get(tail),
            dtype_code: record.code,
            shape: tail.slice::<U32>(record.shape, usize::from(record.ndim)).unwrap_or(&[]),
            size: record.size.get(),
        })
    }

    /// Inputs by name.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Tensor<'m>> + use<'m> {
        self.list(self.record.inputs, self.record.input_count)
    }

    /// Outputs by name.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Tensor<'m>> + use<'m> {
        self.list(self.record.outputs, self.record.output_count)
    }
}
