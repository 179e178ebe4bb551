//! One `var` entry: its keys as they come, then the checks in the spec's order (manifests.md §7.4).

use super::super::build::{
    Build, Number, beyond, broken, check_of, failed, fault, number, numbers, refused, short,
};
use super::super::class::{Backing, VarClass};
use super::super::fields::Type::{I32, Own, Text as Kept, U32 as Unsigned, U64 as Long, Word};
use super::super::fields::{Fields, Read, Words, fields};
use super::super::record::{DefRecord, VarRecord, var_flag};
use super::super::verdict::{Rank, Section};
use crate::error::{Error, ManifestCode};
use crate::json::{Element, Kind, Want};
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromZeros, IntoBytes};

/// Device-print dimensions at most.
const SHAPE_MAX: usize = 8;
/// Device-print dtype characters at most.
const DTYPE_MAX: usize = 15;
/// Bytes of a name at most (lowering.md §11.7).
const NAME_MAX: usize = 4096;
/// Device-print prefix bytes at most.
const PREFIX_MAX: usize = 511;

fields! {
    /// Keys of a variable (manifests.md §7.1). What belongs to one class is placed when the class is known.
    Key for VarRecord {
        Type = b"type": Word(Words::Class),
        Dtype = b"dtype": Own,
        VarId = b"var_id": Unsigned => var_id,
        Size = b"size": Long => size,
        Alignment = b"alignment": Long,
        FileName = b"file_name": Kept,
        Shape = b"shape": Own,
        Prefix = b"prefix": Kept => prefix,
        Pipe = b"pipe": I32 => pipe,
        BackingVariableOff = b"backing_variable_off": Long,
        FabricPath = b"fabric_path": Word(Words::Fabric) => fabric,
        BackingBuf = b"backing_buf": Word(Words::Backing) => backing,
        ReferencedVarId = b"referenced_var_id": Unsigned,
        RemoteVtpbRelSgId = b"remote_vtpb_rel_sg_id": Unsigned,
        RemoteSgId = b"remote_sg_id": Unsigned,
        RemoteCore = b"remote_core": Unsigned,
        RemoteVarId = b"remote_var_id": Unsigned,
        RemoteName = b"remote_name": Kept,
        List = b"list": Own,
    }
}

/// The entry that is being read.
#[derive(Debug)]
pub(super) struct VarDraft {
    said: Fields<Key>,
    /// The key whose value is being taken.
    key: Key,
    dims: [U64; SHAPE_MAX],
    list_len: u32,
    offset_in_file: u64,
}

/// A check that failed, with its row in §7.4 (see [`failed`]).
type Failed = Error;

impl VarDraft {
    pub(super) const NEW: Self = Self {
        said: Fields::NONE,
        key: Key::NONE_YET,
        dims: [U64::ZERO; SHAPE_MAX],
        list_len: 0,
        offset_in_file: 0,
    };

    pub(super) const fn begin(&mut self, offset: u64) {
        self.said.begin();
        self.list_len = 0;
        self.offset_in_file = offset;
    }

    /// What to do with the value of a key.
    pub(super) fn value(&mut self, def: &DefRecord, key: &[u8], kind: Kind) -> Want {
        self.key = Key::of(key);
        match self.key {
            Key::Other => Want::Skip,
            Key::List => self.said.enter(Key::List, kind, def.lists.len()),
            _ => Want::Take,
        }
    }

    /// An element of `list`.
    pub(super) fn list_item(
        &mut self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        item: Element<'_>,
    ) -> Result<(), Error> {
        let Some(id) = item.as_u32() else {
            self.said.spoil(Key::List);
            return Ok(());
        };
        if self.list_len >= build.limits.list_elements {
            return Err(beyond(b"elements of a list", build.limits.list_elements));
        }
        self.list_len = self.list_len.wrapping_add(1);
        build.push(&mut def.lists, &U32::new(id))
    }

    /// The value of a key of the entry.
    pub(super) fn taken(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
        let key = self.key;
        match key {
            Key::Dtype if self.said.is_absent(key) => {
                self.said.show(key, value);
                let len = value.as_text().and_then(|text| u64::try_from(text.len()).ok());
                self.said.put(key, Read::or_wrong(len));
            }
            Key::Shape if self.said.is_absent(key) => {
                let rank = numbers(value, Number::U64, self.dims.as_mut_bytes());
                self.said.put(key, Read::or_wrong(rank.map(u64::from)));
            }
            // A name may stand in place of the id; a second name must be the same.
            Key::RemoteVarId if value.kind() == Kind::String => self.owner_name(build, value)?,
            Key::RemoteName => self.owner_name(build, value)?,
            _ => return self.said.take(build, key, value),
        }
        Ok(())
    }

    fn owner_name(&mut self, build: &mut Build<'_, '_>, value: Element<'_>) -> Result<(), Error> {
        let before = self.said.get(Key::RemoteName).map(|_| build.bytes(self.said.text(Key::RemoteName)));
        if before.is_some_and(|name| !value.as_text().is_some_and(|text| text.is(name))) {
            self.said.spoil(Key::RemoteName);
        }
        self.said.take(build, Key::RemoteName, value)
    }

    /// The entry is complete: checks it and keeps it. `ordinal` is its position in the file.
    pub(super) fn end(
        &mut self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        graph: u16,
        ordinal: u32,
        name: &[u8],
    ) -> Result<(), Error> {
        let mut record = VarRecord::new_zeroed();
        match self.check(build, def, name, &mut record) {
            Ok(class) => self.keep(build, def, name, class, &mut record),
            Err(error) => {
                let row = check_of(&error);
                let rank = Rank::new(graph, Section::Variables).item(ordinal, row);
                build.offer(rank, error.offset(self.offset_in_file).element(ordinal));
                Ok(())
            }
        }
    }

    /// Rows 1 to 10 and 13 of §7.4; row 11 waits for the payload, row 12 for the whole table.
    fn check(
        &self,
        build: &Build<'_, '_>,
        def: &DefRecord,
        name: &[u8],
        record: &mut VarRecord,
    ) -> Result<VarClass, Failed> {
        let said = &self.said;
        if said.is_absent(Key::Type) || said.is_wrong(Key::Type) {
            return Err(refused(1, ManifestCode::VarType, name));
        }
        if !said.has(Key::VarId) {
            return Err(refused(2, ManifestCode::VarId, name));
        }
        said.place(record);
        let class = self.class(build, name, record)?;
        record.class = u8::try_from(class.record_type()).unwrap_or(0);
        self.alignment(name, record)?;
        if class.needs_size() && !said.has(Key::Size) {
            return Err(refused(5, ManifestCode::VarSize, name));
        }
        self.typed(5, Key::Size, name)?;
        if class == VarClass::Pointer && record.size.get() != 8 {
            return Err(refused(6, ManifestCode::PointerSize, name).numbers(record.size.get(), 8));
        }
        if is_list(class) && !said.has(Key::List) {
            return Err(refused(7, ManifestCode::VarList, name));
        }
        self.words(build, def, class, name, record)?;
        self.print(name, record)?;
        self.extent(class, name, record)?;
        if class == VarClass::Pointer && !said.has(Key::ReferencedVarId) {
            return Err(malformed(14, Key::ReferencedVarId, name));
        }
        if name.contains(&0) {
            return Err(refused(14, ManifestCode::VarMalformed, name).name2(b"name"));
        }
        self.flags(record);
        Ok(class)
    }

    /// The value of that key must be of its type, and known.
    fn typed(&self, row: u8, key: Key, name: &[u8]) -> Result<(), Failed> {
        let good = self.said.is_absent(key) || self.said.has(key);
        if good { Ok(()) } else { Err(malformed(row, key, name)) }
    }

    fn class(&self, build: &Build<'_, '_>, name: &[u8], record: &mut VarRecord) -> Result<VarClass, Failed> {
        let word = self.said.get(Key::Type).and_then(|word| usize::try_from(word).ok());
        if let Some(class) = word.and_then(|word| VarClass::ALL.get(word)) {
            return Ok(*class);
        }
        let area = word.and_then(|word| Backing::ALL.get(word.checked_sub(VarClass::ALL.len())?));
        match area {
            Some(area) if build.policy.accept_area_classes() => {
                record.backing = u8::try_from(area.number()).unwrap_or(0);
                record.flags = var_flag::BACKING;
                Ok(VarClass::Virtual)
            }
            area => {
                let shown = area.map_or(self.said.shown(Key::Type), |area| area.name().as_bytes());
                Err(refused(3, ManifestCode::VarClassUnknown, name).name2(short(shown)))
            }
        }
    }

    fn alignment(&self, name: &[u8], record: &mut VarRecord) -> Result<(), Failed> {
        self.typed(4, Key::Alignment, name)?;
        let alignment = self.said.get(Key::Alignment).unwrap_or(0);
        if alignment & alignment.wrapping_sub(1) != 0 {
            return Err(refused(4, ManifestCode::VarAlignment, name).numbers(alignment, 0));
        }
        let narrow = u32::try_from(alignment).map_err(|_| malformed(4, Key::Alignment, name))?;
        record.alignment = U32::new(narrow);
        Ok(())
    }

    /// The two words that each class uses in its own way; E320 for a constant without a member.
    fn words(
        &self,
        build: &Build<'_, '_>,
        def: &DefRecord,
        class: VarClass,
        name: &[u8],
        record: &mut VarRecord,
    ) -> Result<(), Failed> {
        let said = &self.said;
        let (c, d) = match class {
            VarClass::File => {
                let name = said.text(Key::FileName);
                let member = build.find(def.dir(), name);
                if member.is_none() {
                    return Err(failed(8, build.missing(ManifestCode::ConstantMissing, def.dir(), name)));
                }
                (number(member), 0)
            }
            VarClass::Pointer => (said.u32(Key::ReferencedVarId), 0),
            VarClass::Remote => (self.owner(name, record)?, said.u32(Key::RemoteVarId)),
            VarClass::List | VarClass::DgeTable => (self.list_len, said.u32(Key::List)),
            _ => return Ok(()),
        };
        (record.c, record.d) = (U32::new(c), U32::new(d));
        Ok(())
    }

    /// What the keys of a `remote` variable say of its owner: the subgraph, which has three spellings that are guesses
    /// (lowering.md §9.3, Open), and the name.
    fn owner(&self, name: &[u8], record: &mut VarRecord) -> Result<u32, Failed> {
        let said = &self.said;
        if let Some(key) = said.first_bad(Key::RemoteVtpbRelSgId, Key::RemoteName) {
            return Err(refused(14, ManifestCode::VarMalformed, name).name2(key));
        }
        let mut graph = None;
        for key in [Key::RemoteVtpbRelSgId, Key::RemoteSgId, Key::RemoteCore] {
            if said.has(key) && *graph.get_or_insert(said.u32(key)) != said.u32(key) {
                return Err(malformed(14, key, name));
            }
        }
        record.flags |= if graph.is_some() { var_flag::REMOTE_GRAPH } else { 0 };
        record.a = U64::new(said.get(Key::RemoteName).unwrap_or(0));
        Ok(graph.unwrap_or(0))
    }

    /// What a device print wants.
    fn print(&self, name: &[u8], record: &mut VarRecord) -> Result<(), Failed> {
        let said = &self.said;
        self.typed(9, Key::Dtype, name)?;
        let (len, shown) = (said.get(Key::Dtype).unwrap_or(0), said.shown(Key::Dtype));
        if len > wide(DTYPE_MAX) {
            return Err(failed(9, fault(ManifestCode::PrintDtype).name(shown).numbers(len, wide(DTYPE_MAX))));
        }
        if said.has(Key::Dtype) {
            record.dtype_len = small(len);
            crate::bytes::copy(&mut record.dtype, shown);
        }
        self.typed(10, Key::Shape, name)?;
        let rank = said.get(Key::Shape).unwrap_or(0);
        if rank > wide(SHAPE_MAX) {
            return Err(refused(10, ManifestCode::PrintShape, name).numbers(rank, wide(SHAPE_MAX)));
        }
        record.shape_len = small(rank);
        self.typed(10, Key::Prefix, name)?;
        if super::super::record::wide(record.prefix.len) > PREFIX_MAX {
            return Err(malformed(10, Key::Prefix, name));
        }
        self.typed(10, Key::Pipe, name)
    }

    /// The area of a `virtual` variable must be one of the known words, its extent must fit. The path of a `file` is one
    /// of the same words (R14).
    fn extent(&self, class: VarClass, name: &[u8], record: &mut VarRecord) -> Result<(), Failed> {
        match class {
            VarClass::Virtual => {}
            VarClass::File => return self.typed(13, Key::FabricPath, name),
            _ => return Ok(()),
        }
        self.typed(13, Key::BackingVariableOff, name)?;
        self.typed(13, Key::FabricPath, name)?;
        self.typed(13, Key::BackingBuf, name)?;
        let (offset, size) = (self.said.get(Key::BackingVariableOff).unwrap_or(0), record.size.get());
        record.a = U64::new(offset);
        match offset.checked_add(size) {
            Some(_) => Ok(()),
            None => Err(refused(13, ManifestCode::VarExtent, name).numbers(offset, size)),
        }
    }

    fn flags(&self, record: &mut VarRecord) {
        let said = &self.said;
        let flag = |key, bit: u8| if said.has(key) { bit } else { 0 };
        record.flags |= flag(Key::Size, var_flag::SIZE)
            | flag(Key::Prefix, var_flag::PRINT)
            | flag(Key::FabricPath, var_flag::FABRIC)
            | flag(Key::BackingBuf, var_flag::BACKING)
            | flag(Key::RemoteVarId, var_flag::REMOTE_ID);
    }

    fn keep(
        &self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        name: &[u8],
        class: VarClass,
        record: &mut VarRecord,
    ) -> Result<(), Error> {
        if def.vars.len() >= build.limits.variables {
            return Err(beyond(b"variables", build.limits.variables));
        }
        if name.len() > NAME_MAX {
            return Err(beyond(b"bytes of a variable's name", 4096));
        }
        build.keep(name, &mut record.name)?;
        if record.shape_len > 0 {
            let rank = usize::from(record.shape_len);
            build.room::<U64>(rank, &mut record.shape)?;
            let slots = build.arena.tail_slice_mut::<U64>(record.shape, rank);
            crate::bytes::copy(slots.ok_or_else(|| broken("a shape"))?, &self.dims);
        }
        let count = match class {
            VarClass::Input => Some(&mut def.num_inputs),
            VarClass::Output => Some(&mut def.num_outputs),
            _ => None,
        };
        if let Some(count) = count {
            count.set(count.get().wrapping_add(1));
        }
        build.push(&mut def.vars, record)
    }
}

fn malformed(row: u8, key: Key, name: &[u8]) -> Failed {
    refused(row, ManifestCode::VarMalformed, name).name2(key.word())
}

fn is_list(class: VarClass) -> bool {
    matches!(class, VarClass::List | VarClass::DgeTable)
}

fn small(n: u64) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
