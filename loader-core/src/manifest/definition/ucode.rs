//! Ucode libraries (manifests.md §11): in `def.json` itself, or in the member that it names.

use super::super::build::{Build, Document, Slot, fault, full, number};
use super::super::kelf::decimal;
use super::super::record::{DefRecord, FunctionRecord, LibraryRecord, NONE, Text};
use super::super::table::Table;
use super::super::verdict::{Rank, Section};
use crate::error::{Error, ManifestCode};
use crate::json::{Element, Kind, Path, Want};
use crate::words::words;
use zerocopy::little_endian::{I32, U32};

/// Major version of the reference's own ucode, 1.21.1.0 (manifests.md §11.2, Confirmed).
const UCODE_MAJOR: u32 = 1;
/// Libraries that are looked through for a duplicate.
const LIBRARIES_MAX: u32 = 256;

/// Reads a list of library objects that stands `depth` levels deep in its document.
#[derive(Debug)]
pub(crate) struct LibraryReader {
    graph: u16,
    depth: usize,
    entry: Entry,
}

/// The library that is being read.
#[derive(Debug, Default)]
struct Entry {
    library: Slot<Text>,
    version: Slot<Text>,
    opcode: Slot<i32>,
    cpu_id: Slot<u32>,
    total_cpus: Slot<u32>,
    add_lib: Slot<bool>,
    functions: Slot<u32>,
    function_count: u32,
}

/// One `{name, opcode, sub_opcode}`; `None` is E347.
pub(crate) fn function(
    build: &mut Build<'_, '_>,
    value: Element<'_>,
) -> Result<Option<FunctionRecord>, Error> {
    let part = |key| value.get(key).map(Element::as_i32);
    let (Some(Some(opcode)), sub @ (None | Some(Some(_)))) = (part("opcode"), part("sub_opcode")) else {
        return Ok(None);
    };
    let sub_opcode = sub.flatten();
    let name = match value.get("name") {
        Some(name) => build.keep_string(name)?,
        None => Some(Text::EMPTY),
    };
    Ok(name.map(|name| FunctionRecord {
        name,
        opcode: I32::new(opcode),
        sub_opcode: I32::new(sub_opcode.unwrap_or(0)),
    }))
}

words! {
    /// Keys of a library.
    Key {
        Functions = b"functions",
        Library = b"library",
        UlibToUcodeVersion = b"ulib_to_ucode_version",
        Opcode = b"opcode",
        CpuId = b"cpu_id",
        TotalCpus = b"total_cpus",
        AddLib = b"add_lib",
    }
}

impl LibraryReader {
    pub(crate) fn new(graph: u16, depth: usize) -> Self {
        Self { graph, depth, entry: Entry::default() }
    }

    pub(crate) fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        functions: &Table,
        path: &Path<'_>,
        kind: Kind,
    ) -> Want {
        let level = path.depth().saturating_sub(self.depth);
        match level {
            0 if kind == Kind::Object => {
                self.entry = Entry::default();
                Want::Enter
            }
            0 => {
                let rank = Rank::new(self.graph, Section::Ucode).step(1);
                build.offer(rank, fault(ManifestCode::UcodeMalformed).name(b"(not named)").name2(b"entry"));
                Want::Skip
            }
            1 => match path.key(self.depth) {
                b"functions" => self.entry.functions.enter(kind, functions.len()),
                _ => Want::Take,
            },
            2 => Want::Take,
            _ => Want::Skip,
        }
    }

    pub(crate) fn taken(
        &mut self,
        build: &mut Build<'_, '_>,
        functions: &mut Table,
        path: &Path<'_>,
        value: Element<'_>,
    ) -> Result<(), Error> {
        let entry = &mut self.entry;
        match Key::of(path.key(self.depth)) {
            Key::Functions => match function(build, value)? {
                Some(record) => {
                    entry.function_count = entry.function_count.saturating_add(1);
                    functions.push(build.arena, record).map_err(full)?;
                }
                None => entry.functions = Slot::Wrong,
            },
            Key::Library if entry.library.is_absent() => entry.library.set(build.keep_string(value)?),
            Key::UlibToUcodeVersion if entry.version.is_absent() => {
                entry.version.set(build.keep_string(value)?);
            }
            Key::Opcode => entry.opcode.set(value.as_i32()),
            Key::CpuId => entry.cpu_id.set(value.as_u32()),
            Key::TotalCpus => entry.total_cpus.set(value.as_u32()),
            Key::AddLib => entry.add_lib.set(value.as_flag()),
            _ => {}
        }
        Ok(())
    }

    /// A container of the list ended.
    pub(crate) fn leave(
        &mut self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        path: &Path<'_>,
    ) -> Result<(), Error> {
        if path.depth() != self.depth {
            return Ok(());
        }
        let ordinal = path.index(self.depth.saturating_sub(1)).unwrap_or(0);
        match self.check(build, def) {
            Ok(record) if ordinal < LIBRARIES_MAX => {
                def.libraries.push(build.arena, record).map(drop).map_err(full)
            }
            Ok(_) => {
                let error = fault(ManifestCode::LimitExceeded).name(b"ucode libraries");
                Err(error.numbers(0, u64::from(LIBRARIES_MAX)))
            }
            Err(error) => {
                let rank = Rank::new(self.graph, Section::Ucode).step(1).item(ordinal, 0);
                build.offer(rank, error.element(ordinal));
                Ok(())
            }
        }
    }

    fn check(&self, build: &Build<'_, '_>, def: &DefRecord) -> Result<LibraryRecord, Error> {
        let entry = &self.entry;
        let tail = build.arena.tail();
        let library =
            entry.library.get().ok_or_else(|| fault(ManifestCode::UcodeLibrary).name(b"(not named)"))?;
        let name = library.get(tail);
        let refused = |code: ManifestCode| fault(code).name(name);
        let version = entry.version.get().ok_or_else(|| refused(ManifestCode::UcodeVersion))?;
        if version_major(version.get(tail)) != Some(UCODE_MAJOR) {
            return Err(refused(ManifestCode::UcodeMismatch).numbers(0, u64::from(UCODE_MAJOR)));
        }
        let malformed = |key: &str| refused(ManifestCode::UcodeMalformed).name2(key.as_bytes());
        let opcode = entry.opcode.get().ok_or_else(|| malformed("opcode"))?;
        match entry.cpu_id {
            Slot::Absent | Slot::Got(0) => {}
            Slot::Got(cpu) => return Err(refused(ManifestCode::UcodeCpu).numbers(u64::from(cpu), 0)),
            Slot::Wrong => return Err(malformed("cpu_id")),
        }
        let total_cpus = match entry.total_cpus {
            Slot::Absent => 0,
            Slot::Got(total @ (0 | 1 | 8)) => total,
            Slot::Got(total) => return Err(refused(ManifestCode::UcodeCpus).numbers(u64::from(total), 0)),
            Slot::Wrong => return Err(malformed("total_cpus")),
        };
        if entry.functions.is_wrong() {
            return Err(refused(ManifestCode::UcodeFunction));
        }
        let same = |at: u32| {
            let other = def.libraries.get::<LibraryRecord>(tail, at);
            other.is_some_and(|other| other.name.get(tail) == name)
        };
        if (0..def.libraries.len()).any(same) {
            return Err(refused(ManifestCode::UcodeTwice));
        }
        let dir = Text { place: def.definition.place, len: def.dir_len };
        let member = number(build.find(dir, library));
        if member == NONE {
            return Err(build.missing(ManifestCode::UcodeLibrary, dir, library));
        }
        Ok(LibraryRecord {
            name: library,
            version,
            member: U32::new(member),
            opcode: I32::new(opcode),
            total_cpus: U32::new(total_cpus),
            first_function: U32::new(entry.functions.get().unwrap_or(0)),
            functions: U32::new(entry.function_count),
            add_lib: u8::from(entry.add_lib.get() == Some(true)),
            pad: [0; 3],
        })
    }
}

/// `X` of `X.Y.Z.W`; `None` if it is no such version.
fn version_major(text: &[u8]) -> Option<u32> {
    let mut parts = text.split(|&byte| byte == b'.');
    let major = decimal(parts.next()?)?;
    let rest = parts.by_ref().take(4).try_fold(0u32, |count, part| {
        decimal(part)?;
        count.checked_add(1)
    });
    (rest == Some(3)).then_some(major)
}

/// The member that `ucode_lib` names: an array of libraries.
#[derive(Debug)]
pub(crate) struct UcodeReader {
    pub(crate) def: DefRecord,
    reader: LibraryReader,
}

impl UcodeReader {
    #[inline(never)]
    pub(crate) fn new(graph: u16, def: &DefRecord) -> Self {
        Self { def: *def, reader: LibraryReader::new(graph, 1) }
    }
}

impl Document for UcodeReader {
    const ROOT: Kind = Kind::Array;

    fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        kind: Kind,
        _: u64,
    ) -> Result<Want, Error> {
        let functions = &self.def.functions;
        Ok(if path.depth() == 0 { Want::Enter } else { self.reader.value(build, functions, path, kind) })
    }

    fn taken(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, value: Element<'_>) -> Result<(), Error> {
        self.reader.taken(build, &mut self.def.functions, path, value)
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, _: u32) -> Result<(), Error> {
        if path.depth() == 0 { Ok(()) } else { self.reader.leave(build, &mut self.def, path) }
    }

    fn finish(&mut self, _: &mut Build<'_, '_>) -> Result<(), Error> {
        Ok(())
    }
}
