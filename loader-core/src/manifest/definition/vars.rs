//! One `var` entry: its keys as they come, then the checks in the spec's order (manifests.md §7.4).

use super::super::build::{Build, Number, beyond, broken, failed, fault, number, numbers, short};
use super::super::class::{Backing, VarClass};
use super::super::fields::Type::{I32, Own, Text as Kept, U32 as Unsigned, U64 as Long, Word};
use super::super::fields::{Fields, Read, Words, fields};
use super::super::record::{DefRecord, VarRecord, var_flag};
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
}

/// Row of §7.4 where the refusal names a member.
pub(super) const MEMBER: u8 = 8;

/// A check that failed, with its row in §7.4 (see [`failed`]); it says nothing of the entry's name.
pub(super) type Failed = Error;

impl VarDraft {
    pub(super) const NEW: Self =
        Self { said: Fields::NONE, key: Key::NONE_YET, dims: [U64::ZERO; SHAPE_MAX], list_len: 0 };

    pub(super) const fn begin(&mut self) {
        self.said.begin();
        self.list_len = 0;
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
            Key::Prefix if self.said.is_absent(key) => {
                self.said.take(build, key, value)?;
                if super::super::record::wide(self.said.text(key).len) > PREFIX_MAX {
                    self.said.spoil(key);
                }
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

    /// The entry is complete: checks it and keeps it, or says what is wrong with it.
    pub(super) fn end(
        &mut self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        name: &[u8],
    ) -> Result<Option<Failed>, Error> {
        let mut record = VarRecord::new_zeroed();
        match self.check(build, def, name, &mut record) {
            Ok(class) => self.keep(build, def, name, class, &mut record).map(|()| None),
            Err(error) => Ok(Some(error)),
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
            return Err(failed(1, fault(ManifestCode::VarType)));
        }
        if !said.has(Key::VarId) {
            return Err(failed(2, fault(ManifestCode::VarId)));
        }
        said.place(record);
        let class = self.class(build, record)?;
        record.class = u8::try_from(class.record_type()).unwrap_or(0);
        self.alignment(record)?;
        if class.needs_size() && !said.has(Key::Size) {
            return Err(failed(5, fault(ManifestCode::VarSize)));
        }
        self.typed(5, Key::Size, Key::Size)?;
        if class == VarClass::Pointer && record.size.get() != 8 {
            return Err(failed(6, fault(ManifestCode::PointerSize)).numbers(record.size.get(), 8));
        }
        if is_list(class) && !said.has(Key::List) {
            return Err(failed(7, fault(ManifestCode::VarList)));
        }
        self.words(build, def, class, record)?;
        self.print(record)?;
        self.extent(class, record)?;
        if class == VarClass::Pointer && !said.has(Key::ReferencedVarId) {
            return Err(malformed(14, Key::ReferencedVarId));
        }
        if name.contains(&0) {
            return Err(failed(14, fault(ManifestCode::VarMalformed)).name2(b"name"));
        }
        self.flags(record);
        Ok(class)
    }

    /// The values of these keys, which follow each other, must be of their types, and known.
    fn typed(&self, row: u8, from: Key, to: Key) -> Result<(), Failed> {
        match self.said.first_bad(from, to) {
            Some(key) => Err(failed(row, fault(ManifestCode::VarMalformed)).name2(key)),
            None => Ok(()),
        }
    }

    fn class(&self, build: &Build<'_, '_>, record: &mut VarRecord) -> Result<VarClass, Failed> {
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
                Err(failed(3, fault(ManifestCode::VarClassUnknown)).name2(short(shown)))
            }
        }
    }

    fn alignment(&self, record: &mut VarRecord) -> Result<(), Failed> {
        self.typed(4, Key::Alignment, Key::Alignment)?;
        let alignment = self.said.number(Key::Alignment);
        if alignment & alignment.wrapping_sub(1) != 0 {
            return Err(failed(4, fault(ManifestCode::VarAlignment)).numbers(alignment, 0));
        }
        let narrow = u32::try_from(alignment).map_err(|_| malformed(4, Key::Alignment))?;
        record.alignment = U32::new(narrow);
        Ok(())
    }

    /// The two words that each class uses in its own way; E320 for a constant without a member.
    fn words(
        &self,
        build: &Build<'_, '_>,
        def: &DefRecord,
        class: VarClass,
        record: &mut VarRecord,
    ) -> Result<(), Failed> {
        let said = &self.said;
        let (c, d) = match class {
            VarClass::File => {
                let name = said.text(Key::FileName);
                let member = build.find(def.dir(), name);
                if member.is_none() {
                    return Err(failed(
                        MEMBER,
                        build.missing(ManifestCode::ConstantMissing, def.dir(), name),
                    ));
                }
                (number(member), 0)
            }
            VarClass::Pointer => (said.u32(Key::ReferencedVarId), 0),
            VarClass::Remote => (self.owner(record)?, said.u32(Key::RemoteVarId)),
            VarClass::List | VarClass::DgeTable => (self.list_len, said.u32(Key::List)),
            _ => return Ok(()),
        };
        (record.c, record.d) = (U32::new(c), U32::new(d));
        Ok(())
    }

    /// What the keys of a `remote` variable say of its owner: the subgraph, which has three spellings that are guesses
    /// (lowering.md §9.3, Open), and the name.
    fn owner(&self, record: &mut VarRecord) -> Result<u32, Failed> {
        let said = &self.said;
        self.typed(14, Key::RemoteVtpbRelSgId, Key::RemoteName)?;
        let mut graph = None;
        for key in [Key::RemoteVtpbRelSgId, Key::RemoteSgId, Key::RemoteCore] {
            if said.has(key) && *graph.get_or_insert(said.u32(key)) != said.u32(key) {
                return Err(malformed(14, key));
            }
        }
        record.flags |= if graph.is_some() { var_flag::REMOTE_GRAPH } else { 0 };
        record.a = U64::new(said.number(Key::RemoteName));
        Ok(graph.unwrap_or(0))
    }

    /// What a device print wants.
    fn print(&self, record: &mut VarRecord) -> Result<(), Failed> {
        let said = &self.said;
        self.typed(9, Key::Dtype, Key::Dtype)?;
        let (len, shown) = (said.number(Key::Dtype), said.shown(Key::Dtype));
        if len > wide(DTYPE_MAX) {
            return Err(failed(9, fault(ManifestCode::PrintDtype).name(shown).numbers(len, wide(DTYPE_MAX))));
        }
        if said.has(Key::Dtype) {
            record.dtype_len = small(len);
            crate::bytes::copy(&mut record.dtype, shown);
        }
        self.typed(10, Key::Shape, Key::Shape)?;
        let rank = said.number(Key::Shape);
        if rank > wide(SHAPE_MAX) {
            return Err(failed(10, fault(ManifestCode::PrintShape)).numbers(rank, wide(SHAPE_MAX)));
        }
        record.shape_len = small(rank);
        self.typed(10, Key::Prefix, Key::Pipe)
    }

    /// The area of a `virtual` variable must be one of the known words, its extent must fit. The path of a `file` is one
    /// of the same words (R14).
    fn extent(&self, class: VarClass, record: &mut VarRecord) -> Result<(), Failed> {
        match class {
            VarClass::Virtual => {}
            VarClass::File => return self.typed(13, Key::FabricPath, Key::FabricPath),
            _ => return Ok(()),
        }
        self.typed(13, Key::BackingVariableOff, Key::BackingBuf)?;
        let (offset, size) = (self.said.number(Key::BackingVariableOff), record.size.get());
        record.a = U64::new(offset);
        match offset.checked_add(size) {
            Some(_) => Ok(()),
            None => Err(failed(13, fault(ManifestCode::VarExtent)).numbers(offset, size)),
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

fn malformed(row: u8, key: Key) -> Failed {
    failed(row, fault(ManifestCode::VarMalformed)).name2(key.word())
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
