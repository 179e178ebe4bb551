//! What the figures need of a definition: sizes by class, areas, engine files.

use super::sum;
use crate::chain::Graph;
use crate::members::Members;
use crate::refusal::{Refusal, string};
use loader_core::arch::Engine;
use loader_core::error::{Error, ManifestCode, Stage, ToolCode};
use loader_core::json::{Cutter, Element, Kind, Memory, Path, Reader, Want, check_size};
use loader_core::limits::Limits;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a member's payload: without the header of a `.npy`, all of any other (§15.2).
fn payload(members: &impl Members, member: &str) -> Option<u64> {
    let size = members.size(member.as_bytes())?;
    if !member.ends_with(".npy") {
        return Some(size);
    }
    let length = members.start(member.as_bytes())?.get(8..10).and_then(|bytes| bytes.try_into().ok());
    let header = length.map_or(size, |bytes| u64::from(u16::from_le_bytes(bytes)) + 10);
    Some(size.saturating_sub(header))
}

/// A constant: its file, and its size if the definition says it (R18: the oldest files do not).
#[derive(Debug, PartialEq, Eq)]
struct Constant {
    file: String,
    size: Option<u64>,
}

/// What the figures need of a definition.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// The high-water mark of each area.
    pub(super) areas: BTreeMap<String, u64>,
    pub(super) inputs: BTreeMap<String, u64>,
    pub(super) outputs: BTreeMap<String, u64>,
    pub(super) tmp_bufs: u64,
    /// Engine files, as named.
    pub(super) engines: Vec<String>,
    constants: Vec<Constant>,
}

impl Variables {
    /// True if that is the name of an input or output.
    pub(super) fn is_io(&self, name: &str) -> bool {
        self.inputs.contains_key(name) || self.outputs.contains_key(name)
    }

    /// The members that `file` variables name.
    pub(super) fn files(&self, graph: &Graph) -> BTreeSet<String> {
        self.constants.iter().map(|constant| graph.member(&constant.file)).collect()
    }

    /// The sum of all constants.
    pub(super) fn constants(&self, members: &impl Members, graph: &Graph) -> Result<u64, Refusal> {
        let mut total = 0u64;
        for constant in &self.constants {
            let size = constant.size.map_or_else(|| measured(members, graph, &constant.file), Ok)?;
            total = sum("the constants", [total, size])?;
        }
        Ok(total)
    }

    /// Adds a finished `var` entry.
    fn add(&mut self, name: &str, entry: Entry) -> Result<(), Refusal> {
        let absent = |key: &str| {
            let mut refusal = Refusal::named(ToolCode::KeyAbsent, key.as_bytes());
            refusal.error = refusal.error.name2(name.as_bytes());
            refusal
        };
        let size = || entry.size.ok_or_else(|| absent("size"));
        match entry.class.as_deref() {
            Some("virtual") => {
                // Without an offset, the variable stands at the start of its area (§7.1).
                let end = sum("an area of the scratchpad", [entry.off.unwrap_or(0), size()?])?;
                let area = entry.fabric_path.or(entry.backing_buf);
                let mark = self.areas.entry(area.unwrap_or_else(|| "main".to_owned())).or_default();
                *mark = (*mark).max(end);
            }
            Some("file") => {
                let file = entry.file.ok_or_else(|| absent("file_name"))?;
                self.constants.push(Constant { file, size: entry.size });
            }
            Some("tmp-buf") => self.tmp_bufs = sum("the tmp-buf variables", [self.tmp_bufs, size()?])?,
            Some("input") => drop(self.inputs.insert(name.to_owned(), size()?)),
            Some("output") => drop(self.outputs.insert(name.to_owned(), size()?)),
            Some(_) => {}
            None => return Err(absent("type")),
        }
        Ok(())
    }
}

fn measured(members: &impl Members, graph: &Graph, file: &str) -> Result<u64, Refusal> {
    let member = graph.member(file);
    payload(members, &member).ok_or_else(|| Refusal::absent(member.as_bytes()))
}

/// The keys of a `var` entry that matter. Of a key that is there twice, the first counts.
#[derive(Default)]
struct Entry {
    class: Option<String>,
    size: Option<u64>,
    off: Option<u64>,
    fabric_path: Option<String>,
    backing_buf: Option<String>,
    file: Option<String>,
}

impl Entry {
    fn set(&mut self, key: &[u8], value: Element<'_>) -> Result<(), Refusal> {
        let text = |key| string(key, value).map(Some);
        let number = |key| value.u64().map(Some).map_err(|wrong| Refusal::mismatch(key, wrong));
        match key {
            b"type" if self.class.is_none() => self.class = text("type")?,
            b"size" if self.size.is_none() => self.size = number("size")?,
            b"backing_variable_off" if self.off.is_none() => {
                self.off = number("backing_variable_off")?;
            }
            b"fabric_path" if self.fabric_path.is_none() => {
                self.fabric_path = text("fabric_path")?;
            }
            b"backing_buf" if self.backing_buf.is_none() => {
                self.backing_buf = text("backing_buf")?;
            }
            b"file_name" if self.file.is_none() => self.file = text("file_name")?,
            _ => {}
        }
        Ok(())
    }
}

const KEYS: [&[u8]; 6] =
    [b"type", b"size", b"backing_variable_off", b"fabric_path", b"backing_buf", b"file_name"];

/// Walks a definition: into `var`, into each entry, to the keys that matter.
#[derive(Default)]
struct Definition {
    variables: Variables,
    entry: Entry,
    /// The keys of the root that matter, as far as they were met: of two equal ones the first counts (§3).
    met: BTreeSet<Vec<u8>>,
    has_table: bool,
    /// The names in `var` and `dma_queue`, where none may be twice.
    names: BTreeSet<Vec<u8>>,
    refusal: Option<Refusal>,
}

impl Definition {
    fn top(&mut self, key: &[u8], kind: Kind) -> Want {
        let (table, engine) = (matches!(key, b"var" | b"dma_queue"), Engine::from_key(key).is_some());
        if !(table || engine) || !self.met.insert(key.to_vec()) {
            return Want::Skip;
        }
        match kind {
            Kind::Object if table => {
                self.names.clear();
                Want::Enter
            }
            Kind::String if engine => Want::Take,
            _ => Want::Skip,
        }
    }

    fn name_once(&mut self, name: &[u8], offset: u64) -> Result<(), Refusal> {
        if self.names.insert(name.to_vec()) {
            return Ok(());
        }
        Err(Error::new(Stage::Tool, ManifestCode::JsonDuplicateKey).name(name).offset(offset).into())
    }

    /// Keeps the refusal with its details; the cutter only carries the error.
    fn keep<T>(&mut self, result: Result<T, Refusal>) -> Result<T, Error> {
        result.map_err(|refusal| {
            let error = refusal.error;
            self.refusal = Some(refusal);
            error
        })
    }
}

impl Reader for Definition {
    fn value(&mut self, path: &Path<'_>, kind: Kind, offset: u64) -> Result<Want, Error> {
        Ok(match path.depth() {
            0 => Want::Enter,
            1 => self.top(path.key(0), kind),
            2 => {
                let named = self.name_once(path.key(1), offset);
                self.keep(named)?;
                if path.key(0) == b"var" && kind == Kind::Object { Want::Enter } else { Want::Skip }
            }
            3 if KEYS.contains(&path.key(2)) => Want::Take,
            _ => Want::Skip,
        })
    }

    fn taken(&mut self, path: &Path<'_>, element: Element<'_>) -> Result<(), Error> {
        if path.depth() == 1 {
            let file = self.keep(string("engine", element))?;
            self.variables.engines.push(file);
            return Ok(());
        }
        let set = self.entry.set(path.key(2), element);
        self.keep(set)
    }

    fn leave(&mut self, path: &Path<'_>, _: u32, _: u64) -> Result<(), Error> {
        match path.depth() {
            1 => self.has_table |= path.key(0) == b"var",
            2 => {
                let entry = std::mem::take(&mut self.entry);
                let name = String::from_utf8_lossy(path.key(1));
                let added = self.variables.add(&name, entry);
                self.keep(added)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Reads a subgraph's definition.
pub(super) fn read(members: &impl Members, graph: &Graph) -> Result<Variables, Refusal> {
    let name = graph.definition.as_bytes();
    let content = members.content(name).ok_or_else(|| Refusal::absent(name).of(name))?;
    let mut definition = Definition::default();
    walk(name, content, &mut definition)
        .map_err(|error| definition.refusal.take().unwrap_or_else(|| error.into()).of(name))?;
    if !definition.has_table {
        return Err(Refusal::named(ToolCode::KeyAbsent, b"var").of(name));
    }
    Ok(definition.variables)
}

/// Longest taken value: a name, a file name, or the sizes of an access pattern.
const ELEMENT: usize = 64 << 10;
/// Keys of one path.
const PATH_KEYS: usize = 128 << 10;

/// Reads one member with a cutter.
pub(super) fn walk(name: &[u8], content: &[u8], reader: &mut impl Reader) -> Result<(), Error> {
    let limits = Limits::DEFAULT;
    check_size(name, u64::try_from(content.len()).unwrap_or(u64::MAX), &limits)?;
    let (mut element, mut keys) = (vec![0; ELEMENT], vec![0; PATH_KEYS]);
    let memory = Memory { element: &mut element, keys: &mut keys };
    let mut cutter = Cutter::new(&limits, memory);
    cutter.feed(content, reader)?;
    cutter.finish(reader).map(|_| ())
}
