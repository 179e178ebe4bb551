//! S2's work for variables and transfers on top of `serde_json`: the yardstick, not a loader.
//!
//! As S2 it holds no document: blocks and variables stream through visitors, names are resolved to
//! identifiers, and what is kept is a record for each variable and block. As S2 it remembers the last name
//! of either end, since neighbouring transfers mostly name the same variables.

use super::s2::Counts;
use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::HashMap;
use std::fmt;

/// A variable's entry.
#[derive(Deserialize)]
struct Variable<'a> {
    r#type: &'a str,
    var_id: u32,
    size: Option<u64>,
    alignment: Option<u64>,
    backing_variable_off: Option<u64>,
    fabric_path: Option<&'a str>,
    file_name: Option<&'a str>,
}

/// What is kept of it.
struct Kept {
    id: u32,
    size: u64,
    offset: u64,
}

/// One transfer.
#[derive(Deserialize)]
struct Transfer<'a> {
    from: &'a str,
    from_off: u64,
    from_dtype: &'a str,
    from_sizes: Dims<u64>,
    from_steps: Dims<i64>,
    to: &'a str,
    to_off: u64,
    to_dtype: &'a str,
    to_sizes: Dims<u64>,
    to_steps: Dims<i64>,
    op: &'a str,
    num_tiling_dimensions: Option<u8>,
}

/// Up to four numbers without a heap.
struct Dims<T> {
    count: usize,
    values: [T; 4],
}

impl<'de, T: Deserialize<'de> + Copy + Default> Deserialize<'de> for Dims<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Four<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Copy + Default> Visitor<'de> for Four<T> {
            type Value = Dims<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Dims<T>, A::Error> {
                let mut dims = Dims { count: 0, values: [T::default(); 4] };
                while let Some(value) = items.next_element()? {
                    if let Some(slot) = dims.values.get_mut(dims.count) {
                        *slot = value;
                    }
                    dims.count += 1;
                }
                Ok(dims)
            }
        }
        from.deserialize_seq(Four(std::marker::PhantomData))
    }
}

/// What the readers share.
#[derive(Default)]
struct State {
    names: HashMap<String, u32>,
    /// The last source and the last destination.
    last: [String; 2],
    variables: Vec<Kept>,
    /// Number and transfers of each block.
    blocks: Vec<(u32, u32)>,
    dims: usize,
    transfers: u64,
}

/// A part of a document that is read into the state.
#[derive(Clone, Copy)]
enum Part {
    Root,
    Variables,
    Blocks,
    Block,
    Transfers,
}

struct Read<'s> {
    state: &'s mut State,
    part: Part,
}

impl Read<'_> {
    fn part(&mut self, part: Part) -> Read<'_> {
        Read { state: self.state, part }
    }
}

impl<'de> DeserializeSeed<'de> for Read<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<u32, D::Error> {
        match self.part {
            Part::Root | Part::Variables | Part::Block => from.deserialize_map(self),
            Part::Blocks | Part::Transfers => from.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for Read<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a manifest")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<u32, A::Error> {
        let (mut id, mut transfers) = (0, 0);
        while let Some(key) = map.next_key::<&str>()? {
            match (self.part, key) {
                (Part::Root, "var") => drop(map.next_value_seed(self.part(Part::Variables))?),
                (Part::Root, "dma") => drop(map.next_value_seed(self.part(Part::Blocks))?),
                (Part::Variables, name) => self.state.variable(name, &map.next_value()?),
                (Part::Block, "id") => id = map.next_value()?,
                (Part::Block, "desc") => transfers = map.next_value_seed(self.part(Part::Transfers))?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if let Part::Block = self.part {
            self.state.blocks.push((id, transfers));
        }
        Ok(0)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<u32, A::Error> {
        let mut count = 0;
        if let Part::Blocks = self.part {
            while items.next_element_seed(self.part(Part::Block))?.is_some() {
                count += 1;
            }
            return Ok(count);
        }
        while let Some(transfer) = items.next_element::<Transfer<'_>>()? {
            self.state.transfer(&transfer).ok_or_else(|| serde::de::Error::custom("a bad transfer"))?;
            count += 1;
        }
        Ok(count)
    }
}

impl State {
    fn variable(&mut self, name: &str, variable: &Variable<'_>) {
        let known = ["virtual", "file", "state-buffer", "input", "output"].contains(&variable.r#type);
        let area = variable.fabric_path.is_none_or(|path| path == "main");
        let aligned = variable.alignment.is_none_or(u64::is_power_of_two);
        let size = variable.size.unwrap_or(0) + variable.file_name.map_or(0, |name| name.len() as u64);
        if known && area && aligned {
            self.names.insert(name.to_owned(), variable.var_id);
            let offset = variable.backing_variable_off.unwrap_or(0);
            self.variables.push(Kept { id: variable.var_id, size, offset });
        }
    }

    fn transfer(&mut self, transfer: &Transfer<'_>) -> Option<()> {
        let [last_from, last_to] = &mut self.last;
        known(&self.names, last_from, transfer.from)?;
        known(&self.names, last_to, transfer.to)?;
        let from = end(transfer.from_dtype, &transfer.from_sizes, &transfer.from_steps)?;
        let to = end(transfer.to_dtype, &transfer.to_sizes, &transfer.to_steps)?;
        let copy = transfer.op == "copy" && transfer.num_tiling_dimensions.is_none_or(|count| count <= 4);
        self.transfers += u64::from(copy && transfer.from_off | transfer.to_off < 1 << 48);
        self.dims += from + to;
        Some(())
    }
}

/// Whether there is a variable of that name.
fn known(names: &HashMap<String, u32>, last: &mut String, name: &str) -> Option<()> {
    if last != name {
        names.get(name)?;
        last.clear();
        last.push_str(name);
    }
    Some(())
}

/// Checks one end; returns its dimensions.
fn end(dtype: &str, sizes: &Dims<u64>, steps: &Dims<i64>) -> Option<usize> {
    let whole = sizes.count == steps.count && sizes.count <= 4 && dtype == "bfloat16";
    let walked = sizes.values.iter().take(sizes.count).zip(steps.values).all(|(&size, _)| size > 0);
    (whole && walked).then_some(sizes.count)
}

/// Reads every definition, then every engine file.
pub(super) fn read(manifests: &[(String, Vec<u8>)]) -> Result<Counts> {
    let mut state = State::default();
    let definition = |name: &str| name.ends_with("def.json");
    let first = manifests.iter().filter(|(name, _)| definition(name));
    for (name, text) in first.chain(manifests.iter().filter(|(name, _)| !definition(name))) {
        let mut reader = serde_json::Deserializer::from_slice(text);
        Read { state: &mut state, part: Part::Root }
            .deserialize(&mut reader)
            .with_context(|| name.clone())?;
        reader.end()?;
    }
    state.variables.sort_by_key(|variable| variable.id);
    let fits = |kept: &&Kept| kept.offset.checked_add(kept.size).is_some();
    Ok(Counts {
        variables: state.variables.iter().filter(fits).count() as u64,
        blocks: state.blocks.len() as u64,
        transfers: state.transfers,
    })
}
