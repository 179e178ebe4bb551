//! Ucode libraries (manifests.md §11): in `def.json` itself, or in the member that it names.

use super::super::build::{Build, Document, beyond, fault, number as number_of};
use super::super::fields::Type::{Flag, I32, Own, Text as Kept, U32 as Unsigned};
use super::super::fields::{Fields, fields};
use super::super::kelf::decimal;
use super::super::record::{DefRecord, FunctionRecord, LibraryRecord, NONE};
use super::super::table::Table;
use super::super::verdict::{Rank, Section};
use crate::error::{Error, ManifestCode};
use crate::json::{Element, Kind, Path, Want};
use zerocopy::FromZeros;
use zerocopy::little_endian::U32;

/// Major version of the reference's own ucode, 1.21.1.0 (manifests.md §11.2, Confirmed).
const UCODE_MAJOR: u32 = 1;
/// Libraries that are looked through for a duplicate.
const LIBRARIES_MAX: u32 = 256;

/// Reads a list of library objects that stands `depth` levels deep in its document.
#[derive(Debug)]
pub(crate) struct LibraryReader {
    graph: u16,
    depth: usize,
    /// What the library that is being read has said, and its functions.
    said: Fields<Key>,
    key: Key,
    functions: u32,
}

fields! {
    /// Keys of a function.
    FunctionKey for FunctionRecord {
        Name = b"name": Own,
        Opcode = b"opcode": I32 => opcode,
        SubOpcode = b"sub_opcode": I32 => sub_opcode,
    }
}

/// One `{name, opcode, sub_opcode}`; false is E347.
pub(crate) fn function(
    build: &mut Build<'_, '_>,
    value: Element<'_>,
    record: &mut FunctionRecord,
) -> Result<bool, Error> {
    let mut said = Fields::<FunctionKey>::NONE;
    let wrong = said.object(value, &mut |name| name.as_text().map(|_| 0));
    if wrong.is_some() || !said.has(FunctionKey::Opcode) {
        return Ok(false);
    }
    said.place(record);
    match value.get("name") {
        Some(name) => build.keep_string(name, &mut record.name),
        None => Ok(true),
    }
}

fields! {
    /// Keys of a library (manifests.md §11.2).
    pub(super) Key for LibraryRecord {
        Library = b"library": Kept => name,
        UlibToUcodeVersion = b"ulib_to_ucode_version": Kept => version,
        Opcode = b"opcode": I32 => opcode,
        CpuId = b"cpu_id": Unsigned,
        TotalCpus = b"total_cpus": Unsigned => total_cpus,
        AddLib = b"add_lib": Flag => add_lib,
        Functions = b"functions": Own,
    }
}

impl LibraryReader {
    pub(crate) const fn new(graph: u16, depth: usize) -> Self {
        Self { graph, depth, said: Fields::NONE, key: Key::NONE_YET, functions: 0 }
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
                self.said.begin();
                self.functions = 0;
                Want::Enter
            }
            0 => {
                let rank = Rank::new(self.graph, Section::Ucode).step(1);
                build.offer(rank, fault(ManifestCode::UcodeMalformed).name(b"(not named)").name2(b"entry"));
                Want::Skip
            }
            1 => {
                self.key = Key::of(path.key(self.depth));
                match self.key {
                    Key::Functions => self.said.enter(Key::Functions, kind, functions.len()),
                    _ => Want::Take,
                }
            }
            2 => Want::Take,
            _ => Want::Skip,
        }
    }

    pub(crate) fn taken(
        &mut self,
        build: &mut Build<'_, '_>,
        functions: &mut Table,
        value: Element<'_>,
    ) -> Result<(), Error> {
        if self.key != Key::Functions {
            return self.said.take(build, self.key, value);
        }
        let mut record = FunctionRecord::new_zeroed();
        if !function(build, value, &mut record)? {
            self.said.spoil(Key::Functions);
            return Ok(());
        }
        self.functions = self.functions.saturating_add(1);
        build.push(functions, &record)
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
        let mut record = LibraryRecord::new_zeroed();
        if let Err(error) = self.check(build, def, &mut record) {
            build.offer_item(Rank::new(self.graph, Section::Ucode).step(1), ordinal, 0, error);
            return Ok(());
        }
        if ordinal >= LIBRARIES_MAX {
            return Err(beyond(b"ucode libraries", LIBRARIES_MAX));
        }
        build.push(&mut def.libraries, &record)
    }

    fn check(&self, build: &Build<'_, '_>, def: &DefRecord, record: &mut LibraryRecord) -> Result<(), Error> {
        let said = &self.said;
        said.place(record);
        if !said.has(Key::Library) {
            return Err(fault(ManifestCode::UcodeLibrary).name(b"(not named)"));
        }
        let tail = build.arena.tail();
        let name = record.name.get(tail);
        let (cpu, cpus) = (said.u32(Key::CpuId), record.total_cpus.get());
        let version = version_major(record.version.get(tail));
        let twice = |at| def.libraries.name::<LibraryRecord>(tail, at) == name;
        // The code, a number for it, and the key that is at fault if the code names one.
        let (code, number, key) = match () {
            () if !said.has(Key::UlibToUcodeVersion) => (ManifestCode::UcodeVersion, 0, Key::Other),
            () if version != Some(UCODE_MAJOR) => (ManifestCode::UcodeMismatch, 0, Key::Other),
            () if !said.has(Key::Opcode) => (ManifestCode::UcodeMalformed, 0, Key::Opcode),
            () if said.is_wrong(Key::CpuId) => (ManifestCode::UcodeMalformed, 0, Key::CpuId),
            () if cpu != 0 => (ManifestCode::UcodeCpu, cpu, Key::Other),
            () if said.is_wrong(Key::TotalCpus) => (ManifestCode::UcodeMalformed, 0, Key::TotalCpus),
            () if !matches!(cpus, 0 | 1 | 8) => (ManifestCode::UcodeCpus, cpus, Key::Other),
            () if said.is_wrong(Key::Functions) => (ManifestCode::UcodeFunction, 0, Key::Other),
            () if (0..def.libraries.len()).any(twice) => (ManifestCode::UcodeTwice, 0, Key::Other),
            () => return self.keep(build, def, record),
        };
        let due = if code == ManifestCode::UcodeMismatch { UCODE_MAJOR } else { 0 };
        Err(fault(code).name(name).name2(key.word()).numbers(u64::from(number), u64::from(due)))
    }

    /// Where the library lies, and what it has.
    fn keep(&self, build: &Build<'_, '_>, def: &DefRecord, record: &mut LibraryRecord) -> Result<(), Error> {
        record.member = U32::new(number_of(build.find(def.dir(), record.name)));
        if record.member.get() == NONE {
            return Err(build.missing(ManifestCode::UcodeLibrary, def.dir(), record.name));
        }
        record.first_function = U32::new(self.said.u32(Key::Functions));
        record.functions = U32::new(self.functions);
        Ok(())
    }
}

/// `X` of `X.Y.Z.W`; `None` if it is no such version.
fn version_major(text: &[u8]) -> Option<u32> {
    let (mut major, mut parts) = (None, 0u32);
    for part in text.split(|&byte| byte == b'.') {
        let number = decimal(part)?;
        major.get_or_insert(number);
        parts = parts.saturating_add(1);
    }
    major.filter(|_| parts == 4)
}

/// The member that `ucode_lib` names: an array of libraries.
#[derive(Debug)]
pub(crate) struct UcodeReader {
    pub(crate) def: DefRecord,
    reader: LibraryReader,
}

impl UcodeReader {
    pub(crate) fn new(graph: u16, def: &DefRecord) -> Self {
        Self { def: *def, reader: LibraryReader::new(graph, 1) }
    }
}

impl Document for UcodeReader {
    fn root(&self) -> Kind {
        Kind::Array
    }

    fn value(
        &mut self,
        build: &mut Build<'_, '_>,
        path: &Path<'_>,
        kind: Kind,
        _: u64,
    ) -> Result<Want, Error> {
        Ok(self.reader.value(build, &self.def.functions, path, kind))
    }

    fn taken(&mut self, build: &mut Build<'_, '_>, _: &Path<'_>, value: Element<'_>) -> Result<(), Error> {
        self.reader.taken(build, &mut self.def.functions, value)
    }

    fn leave(&mut self, build: &mut Build<'_, '_>, path: &Path<'_>, _: u32) -> Result<(), Error> {
        if path.depth() == 0 { Ok(()) } else { self.reader.leave(build, &mut self.def, path) }
    }
}
