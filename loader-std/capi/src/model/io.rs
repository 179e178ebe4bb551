//! Inputs and outputs of a model: the names that an execution binds (staging.md §5.6), as the graph describes them
//! (manifests.md §4.4).
//!
//! Both have the same names, unless the graph has operators of the host around the program, which old files have and no
//! runtime of these devices runs (manifests.md §2.5). What the graph reads and writes then is not what the program
//! reads and writes, and only the program's own names and sizes count.

use super::{Core, Feature};
use loader_std::loader::IoEntry;
use loader_std::room::{self, Full};
use std::collections::BTreeMap;

/// An input or output of a model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IoTensor {
    pub(crate) name: Vec<u8>,
    pub(crate) output: bool,
    /// Public dtype code, which is also that of the interface; 0 if the graph does not say.
    pub(crate) dtype: u32,
    pub(crate) shape: Vec<u32>,
    /// Bytes that an execution takes.
    pub(crate) size: u64,
}

impl IoTensor {
    /// What it is to the model, in a word.
    pub(crate) const fn kind(&self) -> &'static str {
        if self.output { "output" } else { "input" }
    }

    fn described(entry: &IoEntry, output: bool, least: u64) -> Result<Self, Full> {
        let IoEntry { name, info } = entry;
        let extents = usize::try_from(info.ndim.get()).unwrap_or(usize::MAX);
        Ok(Self {
            name: room::copy(name)?,
            output,
            dtype: info.dtype.get(),
            shape: info.shape.iter().take(extents).map(|extent| extent.get()).collect(),
            size: info.size.get().max(least),
        })
    }

    fn bare(name: &[u8], output: bool, size: u64) -> Result<Self, Full> {
        Ok(Self { name: room::copy(name)?, output, dtype: 0, shape: Vec::new(), size })
    }
}

/// Inputs by name, then outputs by name.
pub(super) fn tensors(
    cores: &[Core],
    inputs: &[IoEntry],
    outputs: &[IoEntry],
) -> Result<Vec<IoTensor>, Full> {
    let mut all = one_side(cores.iter().flat_map(|core| &core.inputs), inputs, false)?;
    let rest = one_side(cores.iter().flat_map(|core| &core.outputs), outputs, true)?;
    room::grow(&mut all, rest.len())?;
    all.extend(rest);
    Ok(all)
}

fn one_side<'c>(
    features: impl Iterator<Item = &'c Feature>,
    graph: &[IoEntry],
    output: bool,
) -> Result<Vec<IoTensor>, Full> {
    // What an execution wants, with the bytes that suffice for every core.
    let mut wanted: BTreeMap<&[u8], u64> = BTreeMap::new();
    for feature in features {
        let least = wanted.entry(&feature.name).or_default();
        *least = feature.least.max(*least);
    }
    let entries: BTreeMap<&[u8], &IoEntry> = graph.iter().map(|entry| (&*entry.name, entry)).collect();
    if wanted.keys().all(|name| entries.contains_key(name)) {
        // A name that no core binds is the graph's all the same.
        let least = |name| wanted.get(name).copied().unwrap_or(0);
        let described = entries.iter().map(|(name, entry)| IoTensor::described(entry, output, least(name)));
        return room::try_collect(described);
    }
    room::try_collect(wanted.iter().map(|(name, least)| match entries.get(name) {
        Some(entry) => IoTensor::described(entry, output, *least),
        None => IoTensor::bare(name, output, *least),
    }))
}

#[cfg(test)]
mod tests {
    use super::{IoTensor, one_side};
    use crate::model::Feature;
    use loader_core::plan::record::IoInfo;
    use loader_std::loader::IoEntry;

    fn entry(name: &str, size: u64) -> IoEntry {
        let mut info = IoInfo { size: size.into(), dtype: 6.into(), ndim: 1.into(), ..IoInfo::default() };
        info.shape[0] = 7.into();
        IoEntry { name: name.as_bytes().into(), info }
    }

    fn listed(features: &[(&str, u64)], graph: &[IoEntry]) -> Vec<(String, u64, u32, usize)> {
        let feature = |&(name, least): &(&str, u64)| Feature { name: name.into(), least, var: 0 };
        let features: Vec<Feature> = features.iter().map(feature).collect();
        let tensors = one_side(features.iter(), graph, false).unwrap();
        let row = |IoTensor { name, size, dtype, shape, .. }: IoTensor| {
            (String::from_utf8(name).unwrap(), size, dtype, shape.len())
        };
        tensors.into_iter().map(row).collect()
    }

    #[test]
    fn the_graph_describes_what_the_cores_bind() {
        let graph = [entry("unused", 8), entry("x", 8)];
        // Two cores share a name; the larger part decides.
        assert_eq!(
            listed(&[("x", 4), ("x", 16)], &graph),
            [("unused".to_owned(), 8, 6, 1), ("x".to_owned(), 16, 6, 1)]
        );
    }

    #[test]
    fn operators_of_the_host_hide_the_names_of_the_graph() {
        let graph = [entry("data", 768), entry("same", 8)];
        assert_eq!(
            listed(&[("same", 8), ("input", 384)], &graph),
            [("input".to_owned(), 384, 0, 0), ("same".to_owned(), 8, 6, 1)]
        );
    }
}
