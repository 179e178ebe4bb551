//! Variables: records by id, the index by name, lists, print metadata (lowering.md §5.5, §6).

use super::Emit;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode, remark};
use crate::lower::input::{BlobIn, DetailIn, Input, VarIn};
use crate::lower::kbins::behind;
use crate::lower::record::{
    BlobId, BlobKind, DebugMd, ListArm, MemRef, MemRefSetHdr, MrType, PtrArm, RemoteArm, Text, VirtualArm,
};
use crate::lower::scratchpad::Area;
use core::mem::offset_of;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

/// Where the union is in the record.
const ARM: u32 = 136;
const _: () = assert!(offset_of!(MemRef, arm) == 136);
/// Bytes of a device-print prefix.
const PREFIX_MOST: usize = Text::<512>::MOST;

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn vars(&mut self) -> Result<(), Error> {
        let subject = self.subject;
        let count = self.counts.vars;
        let set = self.alloc::<MemRefSetHdr>(1);
        let records = self.alloc::<MemRef>(count);
        let mut by_name = self.alloc::<U32>(count);
        self.names = self.alloc::<u8>(self.counts.names);
        self.kbin.mem_ref_set = set;
        debug_assert!(behind::<MemRefSetHdr>(set, records.len.get()) == records);
        for var in subject.input.vars(subject.sg) {
            let place = records.at::<MemRef>(var.id());
            let taken = |record: &MemRef| record.mr_type != MrType::INVALID;
            if !I::CHECKED && self.arena.get::<MemRef>(place).is_some_and(taken) {
                let fault = subject.var_fault(LowerCode::DuplicateVar, &var);
                return Err(fault.numbers(u64::from(var.id()), 0));
            }
            self.var(place, &var)?;
            let place = self.next::<U32>(&mut by_name);
            self.put(place, &U32::new(var.id()));
        }
        let (local, shared) = (self.counts.local_scratchpad, self.counts.shared_scratchpad);
        if let Some(header) = self.get_mut::<MemRefSetHdr>(set) {
            header.local_scratchpad_size = U64::new(local);
            header.shared_scratchpad_size = U64::new(shared);
            header.nmem = records.len;
        }
        Ok(())
    }

    #[inline(never)]
    fn var(&mut self, place: ArenaRef, var: &I::Var<'_>) -> Result<(), Error> {
        let detail = var.detail();
        let buffer = self.constant(var, detail);
        self.arm(place, var, detail);
        let name = self.name(var.name());
        let print = self.print(var)?;
        let Some(record) = self.get_mut::<MemRef>(place) else { return Ok(()) };
        record.mr_type = MrType::new(var.class().record_type());
        record.name = name;
        record.size = U64::new(size(var, detail));
        record.alignment = U64::new(alignment(var));
        record.var_id = U32::new(var.id());
        record.dtype.set(var.dtype());
        crate::bytes::copy(&mut record.shape, var.shape());
        record.dtensor_md = print;
        record.buffer = buffer;
        Ok(())
    }

    fn constant(&mut self, var: &I::Var<'_>, detail: DetailIn) -> BlobId {
        let DetailIn::File { member, payload_offset, payload_len } = detail else {
            return BlobId::default();
        };
        if let Some(said) = var.size().filter(|&said| said != payload_len) {
            let note = || self.subject.var_fault(LowerCode::SizeMismatch, var).member(member);
            remark(self.notes, || note().numbers(payload_len, said));
        }
        let len = var.constant_bytes(payload_len);
        self.blob(BlobKind::CONSTANT, Some(BlobIn { member, len }), payload_offset)
    }

    /// Writes the union of the record.
    fn arm(&mut self, record: ArenaRef, var: &I::Var<'_>, detail: DetailIn) {
        let at = record.off.get().saturating_add(ARM);
        match detail {
            DetailIn::Virtual { offset } => {
                let arm = self.place(var, offset);
                self.fill(at, arm.as_bytes());
            }
            // `io_ref` and the bytes of a remote variable need all variables: the linking step fills them.
            DetailIn::Pointer { referenced } => {
                let arm = PtrArm { referenced_var_id: U32::new(referenced), ..PtrArm::default() };
                self.fill(at, arm.as_bytes());
            }
            DetailIn::List { len } | DetailIn::DgeTable { len } => {
                let arm = self.list(var, len);
                self.fill(at, arm.as_bytes());
            }
            DetailIn::Remote { subgraph, var_id } => {
                let [remote_vtpb_rel_sg_id, remote_var_id] = [subgraph, var_id].map(U32::new);
                let arm = RemoteArm { remote_vtpb_rel_sg_id, remote_var_id, ..RemoteArm::default() };
                self.fill(at, arm.as_bytes());
            }
            DetailIn::File { .. } | DetailIn::None => {}
        }
    }

    fn place(&self, var: &I::Var<'_>, offset: u64) -> VirtualArm {
        let area = Area::of(var).unwrap_or(Area::Main);
        let base = if area == Area::Alt { self.counts.alt_base } else { 0 };
        let offset = U64::new(offset.saturating_add(base));
        VirtualArm { offset, backing_buf: area.backing(), ..VirtualArm::default() }
    }

    fn list(&mut self, var: &I::Var<'_>, len: u32) -> ListArm {
        let items = self.alloc::<U32>(u64::from(len));
        let slots = self.arena.slice_mut::<U32>(items).unwrap_or(&mut []);
        for (slot, at) in slots.iter_mut().zip(0..) {
            *slot = U32::new(var.element(at).unwrap_or(0));
        }
        ListArm { length: items.len, items, ..ListArm::default() }
    }

    fn print(&mut self, var: &I::Var<'_>) -> Result<ArenaRef, Error> {
        let Some(print) = var.print() else { return Ok(ArenaRef::NULL) };
        if !I::CHECKED && print.prefix.len() > PREFIX_MOST {
            return Err(self.subject.var_fault(LowerCode::NameTooLong, var));
        }
        let place = self.alloc::<DebugMd>(1);
        if let Some(record) = self.get_mut::<DebugMd>(place) {
            record.prefix_str.set(print.prefix);
            record.pipe_id = U32::new(print.pipe.cast_unsigned());
        }
        Ok(place)
    }
}

/// Bytes of a variable (lowering.md §6.1): a constant's payload, 4 per list element (O-14), 0 where the stage decides. Of a
/// constant whose payload is short, what its entry says: placing it is then refused (staging.md T06).
fn size<'a>(var: &impl VarIn<'a>, detail: DetailIn) -> u64 {
    match detail {
        DetailIn::List { len } | DetailIn::DgeTable { len } => u64::from(len).saturating_mul(4),
        DetailIn::File { payload_len, .. } => var.constant_bytes(payload_len),
        DetailIn::Remote { .. } => 0,
        DetailIn::None if !var.class().needs_size() => 0,
        _ => var.size().unwrap_or(0),
    }
}

/// Alignment of the classes whose record has one (lowering.md §6.1, X-20).
fn alignment<'a>(var: &impl VarIn<'a>) -> u64 {
    use crate::manifest::VarClass as Class;
    match var.class() {
        Class::Input | Class::Output | Class::TmpBuf | Class::File => u64::from(var.alignment()),
        _ => 0,
    }
}
