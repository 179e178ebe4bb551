//! Variables: records by id, the index by name, lists, print metadata (lowering.md §5.5, §6).

use super::Emit;
use super::pools::Pool;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode, remark};
use crate::lower::input::{BlobIn, DetailIn, Input, Subgraph, VarIn};
use crate::lower::kbins::behind;
use crate::lower::record::{
    BlobId, BlobKind, DebugMd, ListArm, MemRef, MemRefSetHdr, MrType, PtrArm, RemoteArm, Text, VirtualArm,
};
use crate::lower::scratchpad::{Area, Marks, extent};
use zerocopy::little_endian::{U32, U64};
use zerocopy::transmute;

/// Bytes of a device-print prefix.
const PREFIX_MOST: usize = Text::<512>::MOST;

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn vars(&mut self, subgraph: &Subgraph<'_>) -> Result<(), Error> {
        let subject = self.subject;
        let count = subject.var_count()?;
        let set = self.alloc::<MemRefSetHdr>(1);
        let records = self.alloc::<MemRef>(count);
        let by_name = self.alloc::<U32>(count);
        self.open(Pool::Names);
        self.open(Pool::Prints);
        self.kbin.mem_ref_set = set;
        debug_assert!(behind::<MemRefSetHdr>(set, records.len.get()) == records);
        let (mut table, mut marks) = (Default::default(), Marks::default());
        for order in 0.. {
            let var = subject.input.var(subject.sg, order);
            let Some(var) = var.as_ref() else { break };
            subject.check_var(var, &mut table)?;
            if let Some((area, end)) = extent(var) {
                marks.reach(area, end);
            }
            let place = records.at::<MemRef>(var.id());
            let taken = |record: &MemRef| record.mr_type != MrType::INVALID;
            if !I::CHECKED && self.arena.get::<MemRef>(place).is_some_and(taken) {
                let fault = subject.var_fault(LowerCode::DuplicateVar, var);
                return Err(fault.numbers(u64::from(var.id()), 0));
            }
            self.var(place, var)?;
            self.put_nth(by_name, order, &U32::new(var.id()));
        }
        subject.check_var_table(&table, subgraph.name)?;
        let (alt_base, local, shared) = subject.place_areas(marks)?;
        self.found.alt_base = alt_base;
        if let Some(header) = self.get_mut::<MemRefSetHdr>(set) {
            header.local_scratchpad_size = U64::new(local);
            header.shared_scratchpad_size = U64::new(shared);
            header.nmem = records.len;
        }
        Ok(())
    }

    #[inline(never)]
    fn var(&mut self, place: ArenaRef, var: &I::Var<'_>) -> Result<(), Error> {
        let (size, buffer, arm) = self.detail(var);
        let name = self.name(Pool::Names, var.name());
        let print = self.print(var)?;
        let Some(record) = self.get_mut::<MemRef>(place) else { return Ok(()) };
        record.mr_type = MrType::new(var.class().record_type());
        record.name = name;
        record.size = U64::new(size);
        record.alignment = U64::new(alignment(var));
        record.var_id = U32::new(var.id());
        record.dtype.set(var.dtype());
        crate::bytes::copy(&mut record.shape, var.shape());
        record.dtensor_md = print;
        record.buffer = buffer;
        record.arm = transmute!([arm.0, arm.1].map(U64::new));
        Ok(())
    }

    /// What the class adds. The bytes of a variable (lowering.md §6.1): a constant's payload, 4 per list element (O-14),
    /// 0 where the stage decides; of a constant whose payload is short, what its entry says: placing it is then
    /// refused (staging.md T06). Its bytes as a blob, and the union of the record.
    fn detail(&mut self, var: &I::Var<'_>) -> (u64, BlobId, Arm) {
        let (mut size, mut buffer, mut arm) = (var.size().unwrap_or(0), BlobId::default(), (0, 0));
        match var.detail() {
            DetailIn::Virtual { offset } => arm = words(transmute!(self.place(var, offset))),
            // `io_ref` and the bytes of a remote variable need all variables: the linking step fills them.
            DetailIn::Pointer { referenced } => {
                let referenced_var_id = U32::new(referenced);
                arm = words(transmute!(PtrArm { referenced_var_id, ..PtrArm::default() }));
            }
            DetailIn::List { len } | DetailIn::DgeTable { len } => {
                size = u64::from(len).saturating_mul(4);
                arm = words(transmute!(self.list(var, len)));
            }
            DetailIn::Remote { subgraph, var_id } => {
                size = 0;
                let [remote_vtpb_rel_sg_id, remote_var_id] = [subgraph, var_id].map(U32::new);
                let remote = RemoteArm { remote_vtpb_rel_sg_id, remote_var_id, ..RemoteArm::default() };
                arm = words(transmute!(remote));
            }
            DetailIn::File { member, payload_offset, payload_len } => {
                if size != payload_len && var.size().is_some() {
                    let note = || self.subject.var_fault(LowerCode::SizeMismatch, var).member(member);
                    remark(self.notes, || note().numbers(payload_len, size));
                }
                size = size.max(payload_len);
                buffer = self.blob(BlobKind::CONSTANT, BlobIn { member, len: size }, payload_offset);
            }
            DetailIn::None if !var.class().needs_size() => size = 0,
            DetailIn::None => {}
        }
        (size, buffer, arm)
    }

    fn place(&self, var: &I::Var<'_>, offset: u64) -> VirtualArm {
        let area = Area::of(var).unwrap_or(Area::Main);
        let base = if area == Area::Alt { self.known.alt_base } else { 0 };
        let offset = U64::new(offset.saturating_add(base));
        VirtualArm { offset, backing_buf: area.backing(), ..VirtualArm::default() }
    }

    fn list(&mut self, var: &I::Var<'_>, len: u32) -> ListArm {
        let items = self.alloc::<U32>(len);
        let slots = self.arena.slice_mut::<U32>(items).unwrap_or(&mut []);
        for (slot, at) in slots.iter_mut().zip(0..) {
            *slot = U32::new(var.element(at).unwrap_or(0));
        }
        ListArm { length: items.len, items, ..ListArm::default() }
    }

    fn print(&mut self, var: &I::Var<'_>) -> Result<ArenaRef, Error> {
        let Some(print) = var.print() else { return Ok(ArenaRef::NULL) };
        let place = self.part(Pool::Prints, 1);
        // The measuring pass has no place, and leaves this to the end.
        if !I::CHECKED && !place.is_null() && print.prefix.len() > PREFIX_MOST {
            return Err(self.subject.var_fault(LowerCode::NameTooLong, var));
        }
        if let Some(record) = self.get_mut::<DebugMd>(place) {
            record.prefix_str.set(print.prefix);
            record.pipe_id = U32::new(print.pipe.cast_unsigned());
        }
        Ok(place)
    }
}

/// The union of a record, in registers.
type Arm = (u64, u64);

fn words([low, high]: [U64; 2]) -> Arm {
    (low.get(), high.get())
}

/// Alignment of the classes whose record has one (lowering.md §6.1, X-20).
fn alignment<'a>(var: &impl VarIn<'a>) -> u64 {
    use crate::manifest::VarClass as Class;
    match var.class() {
        Class::Input | Class::Output | Class::TmpBuf | Class::File => u64::from(var.alignment()),
        _ => 0,
    }
}
