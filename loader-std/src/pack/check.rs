//! What a compiler's packager asserts before it writes a file (manifests.md §7.7, §8.1, §8.4).
//!
//! A loader takes files that break these rules; their own producer would not have made them. The definitions are those
//! that the descriptor names, read as a loader reads them. What cannot be read holds no assert: it is named as broken,
//! [`Rule::Readable`].

use super::graphs;
use crate::chain::{self, Graph};
use crate::container;
use crate::members::Members;
use loader_core::json::{Element, Mismatch, Text};
use std::fmt;

/// Hardware queues that one file may use: those of every instance of every queue (lowering.md X-15).
const MOST_QUEUES: u64 = 11 * 16;

/// A rule of the packager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Everything that another rule is about is there and can be read.
    Readable,
    /// At most 176 DMA queues in a file.
    QueueCount,
    /// A pinned weight queue has no semaphore.
    PinnedSemaphore,
    /// Descriptors are generated in software on GPSIMD only.
    SoftwareGeneration,
    /// A call table lists physical tensors only.
    PhysicalTensors,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 5] = [
        Self::Readable,
        Self::QueueCount,
        Self::PinnedSemaphore,
        Self::SoftwareGeneration,
        Self::PhysicalTensors,
    ];

    /// A word for documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Readable => "readable",
            Self::QueueCount => "queue-count",
            Self::PinnedSemaphore => "pinned-semaphore",
            Self::SoftwareGeneration => "software-generation",
            Self::PhysicalTensors => "physical-tensors",
        }
    }

    /// The packager's own text where it is known (Confirmed); of [`Rule::Readable`] our own.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Readable => "cannot be checked",
            Self::QueueCount => "one NEFF can only use up to 11x16 number of DMA queues",
            Self::PinnedSemaphore => "Pinned weights queue should have no semaphore id",
            Self::SoftwareGeneration => "SW DGE must be on GPSIMD engine",
            Self::PhysicalTensors => "tensors in Call table must be physical tensors",
        }
    }
}

/// A rule that a tree breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub rule: Rule,
    /// The member; empty if all definitions together break it.
    pub member: String,
    /// The queue or variable, and what it has.
    pub what: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.member.is_empty() {
            write!(f, "{}: ", self.member)?;
        }
        write!(f, "{} ({})", self.rule.text(), self.what)
    }
}

/// Checks the definitions that the members' descriptor names.
#[must_use]
pub fn check(members: &impl Members) -> Vec<Broken> {
    let graphs = match graphs(members) {
        Ok(graphs) => graphs,
        Err(refusal) => {
            let member = refusal.member.clone().unwrap_or_default();
            return vec![Broken { rule: Rule::Readable, member, what: refusal.error.to_string() }];
        }
    };
    let (mut broken, mut queues) = (Vec::new(), 0);
    for graph in &graphs {
        queues = definition(members, graph, &mut broken).saturating_add(queues);
    }
    if queues > MOST_QUEUES {
        let what = format!("there are {queues}, at most {MOST_QUEUES} may be");
        broken.push(Broken { rule: Rule::QueueCount, member: String::new(), what });
    }
    broken
}

/// Checks one definition and gives the number of its queues.
fn definition(members: &impl Members, graph: &Graph, broken: &mut Vec<Broken>) -> u64 {
    let mut findings = Findings { member: &graph.definition, broken };
    match chain::document(members, graph.definition.as_bytes()) {
        Ok(root) => {
            call_tables(root, &mut findings);
            queue_table(root, &mut findings)
        }
        Err(refusal) => {
            findings.add(Rule::Readable, refusal.error.to_string());
            0
        }
    }
}

/// What is found in one definition.
struct Findings<'a> {
    member: &'a str,
    broken: &'a mut Vec<Broken>,
}

impl Findings<'_> {
    fn add(&mut self, rule: Rule, what: String) {
        self.broken.push(Broken { rule, member: self.member.to_owned(), what });
    }

    /// The value, or a remark that `what` is another thing than it must be.
    fn got<T>(&mut self, what: &str, value: Result<T, Mismatch>) -> Option<T> {
        value
            .map_err(|wrong| {
                let Mismatch { offset, found, expected } = wrong;
                self.add(Rule::Readable, format!("{what} is {found} at byte {offset}, must be {expected}"));
            })
            .ok()
    }

    /// The entries of a table; none if there is no table.
    fn table<'a>(&mut self, root: Element<'a>, key: &str) -> Vec<(String, Element<'a>)> {
        let fields = root.get(key).and_then(|table| self.got(&format!("`{key}`"), table.fields()));
        fields.into_iter().flatten().map(|(name, value)| (words(name), value)).collect()
    }

    /// A word; `none` without one, nothing if it is no string.
    fn word(&mut self, of: &str, entry: Element<'_>, key: &str) -> Option<String> {
        match entry.get(key) {
            None => Some("none".to_owned()),
            Some(value) => self.got(&format!("the {key} of {of}"), value.text()).map(words),
        }
    }
}

fn words(text: Text<'_>) -> String {
    container::text(&text.bytes().collect::<Vec<u8>>())
}

/// Checks the queues and counts them.
fn queue_table(root: Element<'_>, findings: &mut Findings<'_>) -> u64 {
    let mut count = 0u64;
    for (name, queue) in findings.table(root, "dma_queue") {
        let of = format!("queue {name}");
        if findings.got(&of, queue.fields()).is_none() {
            continue;
        }
        count = count.saturating_add(hardware(&of, queue, findings));
        check_queue(&of, queue, findings);
    }
    count
}

/// Hardware queues of a queue, as a load counts them: `num_queues` for each instance, which an empty list leaves one.
fn hardware(of: &str, queue: Element<'_>, findings: &mut Findings<'_>) -> u64 {
    let each = queue
        .get("num_queues")
        .and_then(|number| findings.got(&format!("num_queues of {of}"), number.u64()))
        .unwrap_or(1);
    let names = queue.get("queue_instances").map(|list| list.items());
    let names = names.and_then(|names| findings.got(&format!("queue_instances of {of}"), names));
    let instances = names.map_or(1, |names| u64::try_from(names.count()).unwrap_or(u64::MAX));
    each.max(1).saturating_mul(instances.max(1))
}

fn check_queue(of: &str, queue: Element<'_>, findings: &mut Findings<'_>) {
    let pinned = queue.get("pinned").and_then(|flag| findings.got(&format!("pinned of {of}"), flag.flag()));
    let set = queue.get("semaphore_set").map(|set| set.items());
    let set = set.and_then(|set| findings.got(&format!("semaphore_set of {of}"), set));
    let semaphore = match (queue.get("semaphore"), set) {
        (Some(_), _) => Some("semaphore"),
        // An empty set has no semaphore.
        (None, Some(set)) => set.into_iter().next().map(|_| "semaphore_set"),
        (None, None) => None,
    };
    if let (Some(true), Some(key)) = (pinned, semaphore) {
        findings.add(Rule::PinnedSemaphore, format!("{of} has a {key}"));
    }
    // A queue with scratch for descriptors has them generated by software; the engine is its owner. The type `dynamic`
    // alone says nothing of it: compilers give it to queues with hardware generation too, on other engines
    // (real-files.md §4).
    let generated = queue.get("dynamic_dma").is_some_and(|value| match value.flag() {
        Ok(flag) => flag,
        Err(_) => findings.got(&format!("dynamic_dma of {of}"), value.fields()).is_some(),
    });
    let owner = findings.word(of, queue, "owner");
    if let Some(owner) = owner.filter(|owner| generated && owner != "pool") {
        findings.add(Rule::SoftwareGeneration, format!("the owner of {of} is {owner}, must be pool"));
    }
}

/// Classes that have memory of their own (Inferred: the text says "physical").
const PHYSICAL: [&str; 4] = ["input", "output", "file", "tmp-buf"];

fn call_tables(root: Element<'_>, findings: &mut Findings<'_>) {
    let variables = findings.table(root, "var");
    let mut classes = Vec::new();
    for (name, variable) in &variables {
        let id = variable.get("var_id").and_then(|id| id.u64().ok());
        classes.push((id, name, findings.word(&format!("variable {name}"), *variable, "type")));
    }
    for ((table, variable), (_, _, class)) in variables.iter().zip(&classes) {
        if class.as_deref() != Some("dge-table") {
            continue;
        }
        let list = variable.get("list").map(|list| list.items());
        let list = list.and_then(|list| findings.got(&format!("the list of {table}"), list));
        for item in list.into_iter().flatten() {
            let Some(id) = findings.got(&format!("an entry of {table}"), item.u64()) else { continue };
            match classes.iter().find(|(other, ..)| *other == Some(id)) {
                None => {
                    findings.add(Rule::Readable, format!("{table} lists {id}, which no variable has as id"));
                }
                Some((_, name, Some(class))) if !PHYSICAL.contains(&class.as_str()) => {
                    findings.add(Rule::PhysicalTensors, format!("{table} lists {name}, of class {class}"));
                }
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
