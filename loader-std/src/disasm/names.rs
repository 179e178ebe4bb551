//! What the ids of a subgraph mean.

use crate::info::characters;
use crate::refusal::{Refusal, string};
use loader_core::json::Element;
use std::collections::{BTreeMap, BTreeSet};

/// A variable of the definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its class, as `def.json` writes it.
    pub class: String,
}

/// Variables by id, the descriptor-generation table, and queues.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The file is for NeuronCore v1, whose slots have their fields four bytes earlier.
    v1: bool,
    variables: BTreeMap<u32, Variable>,
    table: Vec<u32>,
    queues: BTreeSet<String>,
}

impl Names {
    pub(super) fn of(definition: Element<'_>, v1: bool) -> Result<Self, Refusal> {
        let mut names = Self { v1, ..Self::default() };
        let fields = |key: &str| definition.get(key).and_then(|object| object.fields().ok());
        for (name, entry) in fields("var").into_iter().flatten() {
            let name = characters(name);
            let class = entry.get("type").map_or_else(|| Ok(String::new()), |class| string("type", class))?;
            if class == "dge-table" {
                names.table = table(entry);
            }
            // A variable without a number cannot be named by an instruction.
            if let Some(id) = entry.get("var_id").and_then(|id| id.u32().ok()) {
                names.variables.insert(id, Variable { name, class });
            }
        }
        for (name, queue) in fields("dma_queue").into_iter().flatten() {
            names.queues.insert(characters(name));
            let instances = queue.get("queue_instances").and_then(|list| list.items().ok());
            for instance in instances.into_iter().flatten() {
                names.queues.extend(string("queue_instances", instance).ok());
            }
        }
        Ok(names)
    }

    /// The variable with that id.
    #[must_use]
    pub fn variable(&self, id: u32) -> Option<&Variable> {
        self.variables.get(&id)
    }

    /// The variable id of an entry of the descriptor-generation table.
    #[must_use]
    pub fn entry(&self, index: u32) -> Option<u32> {
        self.table.get(usize::try_from(index).ok()?).copied()
    }

    pub(super) const fn is_v1(&self) -> bool {
        self.v1
    }

    /// True if there is a queue, or an instance of one, of that name (staging.md §11.7).
    #[must_use]
    pub fn has_queue(&self, name: &str) -> bool {
        self.queues.contains(name)
    }
}

fn table(entry: Element<'_>) -> Vec<u32> {
    let items = entry.get("list").and_then(|list| list.items().ok());
    items.into_iter().flatten().map(|item| item.u32().unwrap_or(u32::MAX)).collect()
}
