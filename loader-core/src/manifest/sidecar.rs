//! Sidecars that a load never needs: `info.json`, `tensor_map.json`, `hlo_stats.json`,
//! `metrics.json` (manifests.md §16 to §18). Readers over one validated document.
//!
//! ```
//! use loader_core::json::Element;
//! use loader_core::manifest::sidecar::mac_count;
//!
//! let text = br#"{"HloMacCount": 4194304, "Traffic": 262144}"#;
//! let document = Element::parse(text, &Default::default()).unwrap();
//! assert_eq!(mac_count(document), Some(4194304));
//! ```

use crate::json::{Element, Kind, Text};

/// What `info.json` says, as far as its keys are known from real files.
#[derive(Clone, Copy, Debug, Default)]
pub struct Info<'a> {
    /// `tool_version`: the compiler's version (Confirmed).
    pub tool_version: Option<Text<'a>>,
    /// `kelp_version`.
    pub kelp_version: Option<Text<'a>>,
    /// `name`: the file name that the header repeats.
    pub name: Option<Text<'a>>,
    /// `nki_version`.
    pub nki_version: Option<Text<'a>>,
    /// `num_tpb`.
    pub num_tpb: Option<u64>,
    /// `num_tpb_requested`.
    pub num_tpb_requested: Option<u64>,
    per_node: Option<Element<'a>>,
}

impl<'a> Info<'a> {
    /// Reads the document; keys that are absent or of another type are `None`.
    #[must_use]
    pub fn read(document: Element<'a>) -> Self {
        let text = |key| document.get(key).and_then(|value| value.as_text());
        let number = |key| document.get(key).and_then(|value| value.as_u64());
        Self {
            tool_version: text("tool_version"),
            kelp_version: text("kelp_version"),
            name: text("name"),
            nki_version: text("nki_version"),
            num_tpb: number("num_tpb"),
            num_tpb_requested: number("num_tpb_requested"),
            per_node: document.get("num_tpb_per_node"),
        }
    }

    /// `num_tpb_per_node`, up to the first value that is no unsigned number.
    pub fn num_tpb_per_node(&self) -> impl Iterator<Item = u64> + use<'a> {
        let items = self.per_node.and_then(|list| list.as_items());
        items.into_iter().flatten().map_while(|item| item.as_u64())
    }
}

/// Multiply-accumulate count of `hlo_stats.json`: `HloMacCount` in real files, else `mac_count` (P).
#[must_use]
pub fn mac_count(document: Element<'_>) -> Option<u64> {
    let key = |key| document.get(key).and_then(|value| value.as_u64());
    key("HloMacCount").or_else(|| key("mac_count"))
}

/// One row of `metrics.json`.
#[derive(Clone, Copy, Debug)]
pub struct Metric<'a> {
    /// `MetricName`.
    pub name: Text<'a>,
    /// `Value`.
    pub value: f64,
    /// `Unit`.
    pub unit: Option<Text<'a>>,
}

/// The rows of `metrics.json` (an array of objects); what is not a row is passed over.
pub fn metrics(document: Element<'_>) -> impl Iterator<Item = Metric<'_>> {
    document.as_items().into_iter().flatten().filter_map(|row| {
        let name = row.get("MetricName")?.as_text()?;
        let value = row.get("Value")?.as_f64()?;
        let unit = row.get("Unit").and_then(|unit| unit.as_text());
        Some(Metric { name, value, unit })
    })
}

/// What a tensor of the map is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorKind {
    /// `kind` is `input`, or it stands in `inputs`.
    Input,
    /// `kind` is `output`, or it stands in `outputs`.
    Output,
    /// `is_const`, and no kind.
    Constant,
    /// None of these.
    Other,
}

/// One tensor of a `tensor_map.json`.
#[derive(Clone, Copy, Debug)]
pub struct MappedTensor<'a> {
    /// Its name.
    pub name: Text<'a>,
    /// What it is.
    pub kind: TensorKind,
    /// The whole entry, for the keys that only some writers have.
    pub entry: Element<'a>,
}

/// One pair of `alias_map`.
#[derive(Clone, Copy, Debug)]
pub struct Alias<'a> {
    /// `input_name`: the donated input.
    pub input: Text<'a>,
    /// `output_name`: the output that reuses it.
    pub output: Text<'a>,
    /// `must_alias`: in place is required.
    pub must: bool,
}

/// A `tensor_map.json` in either shape: names to entries (every real file; wrapped in `tensor_map`
/// on Inf1), or `inputs`, `outputs` and `alias_map` (manifests.md §17.1).
#[derive(Clone, Copy, Debug)]
pub struct TensorMap<'a> {
    root: Element<'a>,
    listed: bool,
}

impl<'a> TensorMap<'a> {
    /// Tells the shape apart.
    #[must_use]
    pub fn read(document: Element<'a>) -> Self {
        let wrapped = document.get("tensor_map").filter(|inner| inner.kind() == Kind::Object);
        let root = wrapped.unwrap_or(document);
        let array = |key| root.get(key).is_some_and(|value| value.kind() == Kind::Array);
        Self { root, listed: array("inputs") || array("outputs") || array("alias_map") }
    }

    /// Whether it has the shape with `inputs` and `alias_map`.
    #[must_use]
    pub const fn is_listed(&self) -> bool {
        self.listed
    }

    /// All tensors, in file order.
    pub fn tensors(&self) -> impl Iterator<Item = MappedTensor<'a>> + use<'a> {
        let (root, listed) = (self.root, self.listed);
        let list = move |key, kind| {
            let items = root.get(key).filter(|_| listed).and_then(|list| list.as_items());
            items.into_iter().flatten().filter_map(move |entry| {
                Some(MappedTensor { name: entry.get("name")?.as_text()?, kind, entry })
            })
        };
        let fields = root.as_fields().filter(|_| !listed).into_iter().flatten();
        let named = fields.map(|(name, entry)| MappedTensor { name, kind: kind(entry), entry });
        named.chain(list("inputs", TensorKind::Input)).chain(list("outputs", TensorKind::Output))
    }

    /// The alias pairs, in file order; none in the shape of names to entries.
    pub fn aliases(&self) -> impl Iterator<Item = Alias<'a>> + use<'a> {
        let items = self.root.get("alias_map").filter(|_| self.listed).and_then(|list| list.as_items());
        items.into_iter().flatten().filter_map(|pair| {
            let name = |key| pair.get(key).and_then(|name| name.as_text());
            let must = pair.get("must_alias").is_some_and(|flag| flag.as_flag() == Some(true));
            Some(Alias { input: name("input_name")?, output: name("output_name")?, must })
        })
    }
}

fn kind(entry: Element<'_>) -> TensorKind {
    let word = entry.get("kind").and_then(|kind| kind.as_text());
    let constant = entry.get("is_const").is_some_and(|flag| flag.as_flag() == Some(true));
    match word {
        Some(word) if word.is(b"input") => TensorKind::Input,
        Some(word) if word.is(b"output") => TensorKind::Output,
        _ if constant => TensorKind::Constant,
        _ => TensorKind::Other,
    }
}

#[cfg(test)]
mod tests;
