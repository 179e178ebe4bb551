//! One `var` entry: its keys as they come, then the checks in the spec's order (manifests.md §7.4).

use super::super::build::{Build, Slot, broken, check_of, failed, fault, full, number, shown, word};
use super::super::class::{Backing, Fabric, VarClass};
use super::super::record::{DefRecord, Text, VarRecord, var_flag};
use super::super::verdict::{Rank, Section};
use crate::error::{Error, ManifestCode, Name};
use crate::json::{Element, Kind, Want};
use crate::words::words;
use zerocopy::little_endian::{I32, U16, U32, U64};

/// Device-print dimensions at most.
const SHAPE_MAX: usize = 8;
/// Device-print dtype characters at most.
const DTYPE_MAX: usize = 15;
/// Device-print prefix bytes at most.
const PREFIX_MAX: usize = 511;

/// What `type` says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Known(VarClass),
    /// `local` or `shared` as a class (manifests.md §7.10).
    Area(Backing),
    Unknown(Name<16>),
}

/// The entry that is being read.
#[derive(Debug, Default)]
pub(super) struct VarDraft {
    class: Slot<Class>,
    var_id: Slot<u32>,
    size: Slot<u64>,
    alignment: Slot<u64>,
    fabric: Slot<Option<Fabric>>,
    backing: Slot<Option<Backing>>,
    file_name: Slot<Text>,
    offset: Slot<u64>,
    referenced: Slot<u32>,
    dtype: Slot<([u8; 16], u32)>,
    dtype_name: Name<32>,
    shape: Slot<([u64; SHAPE_MAX], u32)>,
    prefix: Slot<Text>,
    prefix_long: bool,
    pipe: Slot<i32>,
    list: Slot<u32>,
    list_len: u32,
    remote_graph: Slot<u32>,
    remote_id: Slot<u32>,
    offset_in_file: u64,
}

impl Default for Name<32> {
    fn default() -> Self {
        Self::EMPTY
    }
}

fn class_of(text: crate::json::Text<'_>) -> Class {
    if let Some(class) = word(text, VarClass::ALL, VarClass::name) {
        return Class::Known(class);
    }
    let area = word(text, [Backing::Local, Backing::Shared], Backing::name);
    area.map_or_else(|| Class::Unknown(shown(text)), Class::Area)
}

words! {
    /// Keys of a variable.
    Key {
        Type = b"type",
        VarId = b"var_id",
        Size = b"size",
        Alignment = b"alignment",
        FabricPath = b"fabric_path",
        BackingBuf = b"backing_buf",
        FileName = b"file_name",
        BackingVariableOff = b"backing_variable_off",
        ReferencedVarId = b"referenced_var_id",
        Dtype = b"dtype",
        Shape = b"shape",
        Prefix = b"prefix",
        Pipe = b"pipe",
        RemoteVtpbRelSgId = b"remote_vtpb_rel_sg_id",
        RemoteVarId = b"remote_var_id",
        List = b"list",
    }
}

/// A check that failed, with its row in §7.4 (see [`failed`]).
type Failed = Error;

impl VarDraft {
    pub(super) fn begin(&mut self, offset: u64) {
        *self = Self { offset_in_file: offset, ..Self::default() };
    }

    /// What to do with the value of a key.
    pub(super) fn value(&mut self, def: &DefRecord, key: &[u8], kind: Kind) -> Want {
        match Key::of(key) {
            Key::Type
            | Key::VarId
            | Key::Size
            | Key::Alignment
            | Key::FabricPath
            | Key::BackingBuf
            | Key::FileName
            | Key::BackingVariableOff
            | Key::ReferencedVarId
            | Key::Dtype
            | Key::Shape
            | Key::Prefix
            | Key::Pipe
            | Key::RemoteVtpbRelSgId
            | Key::RemoteVarId => Want::Take,
            Key::List => self.list.enter(kind, def.lists.len()),
            _ => Want::Skip,
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
            self.list = Slot::Wrong;
            return Ok(());
        };
        if self.list_len >= build.limits.list_elements {
            let most = u64::from(build.limits.list_elements);
            return Err(fault(ManifestCode::LimitExceeded).numbers(0, most).name(b"elements of a list"));
        }
        self.list_len = self.list_len.saturating_add(1);
        def.lists.push(build.arena, U32::new(id)).map(drop).map_err(full)
    }

    /// The value of a key of the entry.
    pub(super) fn taken(
        &mut self,
        build: &mut Build<'_, '_>,
        key: &[u8],
        value: Element<'_>,
    ) -> Result<(), Error> {
        match Key::of(key) {
            Key::Type => self.class.set(value.as_text().map(class_of)),
            Key::VarId => self.var_id.set(value.as_u32()),
            Key::Size => self.size.set(value.as_u64()),
            Key::Alignment => self.alignment.set(value.as_u64()),
            Key::FabricPath => {
                self.fabric.set(value.as_text().map(|text| word(text, Fabric::ALL, Fabric::name)))
            }
            Key::BackingBuf => {
                self.backing.set(value.as_text().map(|text| word(text, Backing::ALL, Backing::name)));
            }
            Key::BackingVariableOff => self.offset.set(value.as_u64()),
            Key::ReferencedVarId => self.referenced.set(value.as_u32()),
            Key::Dtype => self.dtype(value),
            Key::Shape => self.shape.set(shape(value)),
            Key::Pipe => self.pipe.set(value.as_i32()),
            Key::RemoteVtpbRelSgId => self.remote_graph.set(value.as_u32()),
            Key::RemoteVarId => self.remote_id.set(value.as_u32()),
            Key::FileName if self.file_name.is_absent() => {
                self.file_name.set(build.keep_string(value)?);
            }
            Key::Prefix if self.prefix.is_absent() => {
                self.prefix_long = value.as_text().is_some_and(|text| text.len() > PREFIX_MAX);
                self.prefix.set(build.keep_string(value)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn dtype(&mut self, value: Element<'_>) {
        if !self.dtype.is_absent() {
            return;
        }
        let Some(text) = value.as_text() else {
            self.dtype = Slot::Wrong;
            return;
        };
        let mut bytes = [0u8; 16];
        for (slot, byte) in bytes.iter_mut().zip(text.bytes()) {
            *slot = byte;
        }
        self.dtype_name = shown(text);
        self.dtype = Slot::Got((bytes, u32::try_from(text.len()).unwrap_or(u32::MAX)));
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
        match self.check(build, def, name) {
            Ok((class, record)) => self.keep(build, def, name, class, record),
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
    ) -> Result<(VarClass, VarRecord), Failed> {
        let wrong = |row: u8, code: ManifestCode| failed(row, fault(code).name(name));
        let malformed = |row: u8, key: &str| {
            failed(row, fault(ManifestCode::VarMalformed).name(name).name2(key.as_bytes()))
        };
        let class = self.class.get().ok_or_else(|| wrong(1, ManifestCode::VarType))?;
        let var_id = self.var_id.get().ok_or_else(|| wrong(2, ManifestCode::VarId))?;
        let (class, area) = self.class(build, class, name)?;
        let alignment = self.alignment(name)?;
        if class.needs_size() && self.size.get().is_none() {
            return Err(wrong(5, ManifestCode::VarSize));
        }
        if self.size.is_wrong() {
            return Err(malformed(5, "size"));
        }
        let size = self.size.get();
        if class == VarClass::Pointer && size != Some(8) {
            let error = fault(ManifestCode::PointerSize).name(name);
            return Err(failed(6, error.numbers(size.unwrap_or(0), 8)));
        }
        let is_list = matches!(class, VarClass::List | VarClass::DgeTable);
        if is_list && self.list.get().is_none() {
            return Err(wrong(7, ManifestCode::VarList));
        }
        let member = self.member(build, def, class)?;
        let (dtype, dtype_len) = self.print_dtype(name)?;
        self.print_shape(name)?;
        if self.prefix.is_wrong() || self.prefix_long {
            return Err(malformed(10, "prefix"));
        }
        if self.pipe.is_wrong() {
            return Err(malformed(10, "pipe"));
        }
        let offset = self.extent(class, size, name)?;
        if class == VarClass::Pointer && self.referenced.get().is_none() {
            return Err(malformed(14, "referenced_var_id"));
        }
        let backing = area.or(self.backing.get().flatten());
        let fabric = self.fabric.get().flatten();
        let record = VarRecord {
            name: Text::EMPTY,
            var_id: U32::new(var_id),
            class: u8::try_from(class.record_type()).unwrap_or(0),
            flags: self.flags(size, fabric, backing),
            shape_len: 0,
            dtype_len,
            size: U64::new(size.unwrap_or(0)),
            alignment: U32::new(alignment),
            c: U32::new(self.word_c(class, member)),
            d: U32::new(self.word_d(class)),
            pipe: I32::new(self.pipe.get().unwrap_or(0)),
            a: U64::new(offset),
            b: U64::ZERO,
            dtype,
            shape: crate::arena::TailRef::NULL,
            prefix: self.prefix.get().unwrap_or(Text::EMPTY),
            backing: backing.map_or(0, |backing| u8::try_from(backing.number()).unwrap_or(0)),
            fabric: fabric
                .and_then(|fabric| Fabric::ALL.iter().position(|&one| one == fabric))
                .map_or(0, small),
            pad: U16::ZERO,
        };
        Ok((class, record))
    }

    fn class(
        &self,
        build: &Build<'_, '_>,
        class: Class,
        name: &[u8],
    ) -> Result<(VarClass, Option<Backing>), Failed> {
        let shown: &[u8] = match &class {
            Class::Known(class) => return Ok((*class, None)),
            Class::Area(area) if build.policy.accept_area_classes() => {
                return Ok((VarClass::Virtual, Some(*area)));
            }
            Class::Area(area) => area.name().as_bytes(),
            Class::Unknown(shown) => shown.as_bytes(),
        };
        Err(failed(3, fault(ManifestCode::VarClassUnknown).name(name).name2(shown)))
    }

    fn alignment(&self, name: &[u8]) -> Result<u32, Failed> {
        let malformed = || fault(ManifestCode::VarMalformed).name(name).name2(b"alignment");
        if self.alignment.is_wrong() {
            return Err(failed(4, malformed()));
        }
        let alignment = self.alignment.get().unwrap_or(0);
        if alignment != 0 && !alignment.is_power_of_two() {
            return Err(failed(4, fault(ManifestCode::VarAlignment).name(name).numbers(alignment, 0)));
        }
        u32::try_from(alignment).map_err(|_| failed(4, malformed()))
    }

    fn member(&self, build: &Build<'_, '_>, def: &DefRecord, class: VarClass) -> Result<u32, Failed> {
        if class != VarClass::File {
            return Ok(0);
        }
        let dir = Text { place: def.definition.place, len: def.dir_len };
        let name = self.file_name.get().unwrap_or(Text::EMPTY);
        match build.find(dir, name) {
            Some(member) => Ok(number(Some(member))),
            None => Err(failed(8, build.missing(ManifestCode::ConstantMissing, dir, name))),
        }
    }

    fn print_dtype(&self, name: &[u8]) -> Result<([u8; 16], u8), Failed> {
        match self.dtype {
            Slot::Absent => Ok(([0; 16], 0)),
            Slot::Wrong => Err(failed(9, fault(ManifestCode::VarMalformed).name(name).name2(b"dtype"))),
            Slot::Got((bytes, len)) => match usize::try_from(len).ok().filter(|&len| len <= DTYPE_MAX) {
                Some(len) => Ok((bytes, small(len))),
                None => {
                    let error = fault(ManifestCode::PrintDtype).name(self.dtype_name.as_bytes());
                    Err(failed(9, error.numbers(u64::from(len), 15)))
                }
            },
        }
    }

    fn print_shape(&self, name: &[u8]) -> Result<(), Failed> {
        match self.shape {
            Slot::Wrong => Err(failed(10, fault(ManifestCode::VarMalformed).name(name).name2(b"shape"))),
            Slot::Got((_, rank)) if rank > 8 => {
                Err(failed(10, fault(ManifestCode::PrintShape).name(name).numbers(u64::from(rank), 8)))
            }
            _ => Ok(()),
        }
    }

    /// The area of a `virtual` variable must be one of the known words, its extent must fit.
    fn extent(&self, class: VarClass, size: Option<u64>, name: &[u8]) -> Result<u64, Failed> {
        let malformed =
            |key: &str| failed(13, fault(ManifestCode::VarMalformed).name(name).name2(key.as_bytes()));
        if class != VarClass::Virtual {
            return Ok(0);
        }
        if self.offset.is_wrong() {
            return Err(malformed("backing_variable_off"));
        }
        if self.fabric.is_wrong() || self.fabric.get() == Some(None) {
            return Err(malformed("fabric_path"));
        }
        if self.backing.is_wrong() || self.backing.get() == Some(None) {
            return Err(malformed("backing_buf"));
        }
        let (offset, size) = (self.offset.get().unwrap_or(0), size.unwrap_or(0));
        match offset.checked_add(size) {
            Some(_) => Ok(offset),
            None => Err(failed(13, fault(ManifestCode::VarExtent).name(name).numbers(offset, size))),
        }
    }

    fn flags(&self, size: Option<u64>, fabric: Option<Fabric>, backing: Option<Backing>) -> u8 {
        let remote = self.remote_graph.get().and(self.remote_id.get());
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        flag(size.is_some(), var_flag::SIZE)
            | flag(self.prefix.get().is_some(), var_flag::PRINT)
            | flag(fabric.is_some(), var_flag::FABRIC)
            | flag(backing.is_some(), var_flag::BACKING)
            | flag(remote.is_some(), var_flag::REMOTE_KEYS)
    }

    fn word_c(&self, class: VarClass, member: u32) -> u32 {
        match class {
            VarClass::File => member,
            VarClass::Pointer => self.referenced.get().unwrap_or(0),
            VarClass::Remote => self.remote_graph.get().unwrap_or(0),
            VarClass::List | VarClass::DgeTable => self.list_len,
            _ => 0,
        }
    }

    fn word_d(&self, class: VarClass) -> u32 {
        match class {
            VarClass::Remote => self.remote_id.get().unwrap_or(0),
            VarClass::List | VarClass::DgeTable => self.list.get().unwrap_or(0),
            _ => 0,
        }
    }

    fn keep(
        &self,
        build: &mut Build<'_, '_>,
        def: &mut DefRecord,
        name: &[u8],
        class: VarClass,
        mut record: VarRecord,
    ) -> Result<(), Error> {
        if def.vars.len() >= build.limits.variables {
            let most = u64::from(build.limits.variables);
            return Err(fault(ManifestCode::LimitExceeded).numbers(0, most).name(b"variables"));
        }
        record.name = build.keep(name)?;
        if let Some((dims, rank)) = self.shape.get().filter(|(_, rank)| *rank > 0) {
            let rank = usize::try_from(rank).unwrap_or(SHAPE_MAX).min(SHAPE_MAX);
            record.shape = build.arena.alloc_tail::<U64>(rank).map_err(full)?;
            record.shape_len = small(rank);
            let slots =
                build.arena.tail_slice_mut::<U64>(record.shape, rank).ok_or_else(|| broken("a shape"))?;
            for (slot, dim) in slots.iter_mut().zip(dims) {
                slot.set(dim);
            }
        }
        match class {
            VarClass::Input => def.num_inputs.set(def.num_inputs.get().saturating_add(1)),
            VarClass::Output => def.num_outputs.set(def.num_outputs.get().saturating_add(1)),
            _ => {}
        }
        def.vars.push(build.arena, record).map(drop).map_err(full)
    }
}

fn small(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

/// The first dimensions of a `shape`, and how many there are.
fn shape(value: Element<'_>) -> Option<([u64; SHAPE_MAX], u32)> {
    let mut dims = [0u64; SHAPE_MAX];
    let mut rank = 0u32;
    for item in value.as_items()? {
        let dim = item.as_u64()?;
        if let Some(slot) = usize::try_from(rank).ok().and_then(|at| dims.get_mut(at)) {
            *slot = dim;
        }
        rank = rank.saturating_add(1);
    }
    Some((dims, rank))
}
