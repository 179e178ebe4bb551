//! Variables: records by id, the index by name, lists, print metadata (lowering.md §5.5, §6).

use super::Emit;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode};
use crate::lower::input::{BlobIn, DetailIn, Input, VarIn};
use crate::lower::kbins::behind;
use crate::lower::measure::marks;
use crate::lower::record::{
    BlobId, BlobKind, DebugMd, Extra, Kbin, ListArm, MemRef, MemRefSetHdr, MrType, PtrArm, RemoteArm, Text,
    VirtualArm,
};
use crate::lower::scratchpad::{Area, Marks};
use zerocopy::little_endian::{U32, U64};

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn vars(&mut self, kbin: &mut Kbin) -> Result<(), Error> {
        let subject = self.subject;
        let count = self.counts.vars;
        let set = self.alloc::<MemRefSetHdr>(1)?;
        let records = self.alloc::<MemRef>(count)?;
        let by_name = self.alloc::<U32>(count)?;
        self.names = self.alloc::<u8>(self.counts.names)?;
        kbin.mem_ref_set = set;
        debug_assert!(behind::<MemRefSetHdr>(set, records.len.get()) == records);
        for (position, var) in (0..).zip(subject.input.vars(subject.sg)) {
            let place =
                records.nth::<MemRef>(var.id).ok_or_else(|| subject.broken("a var_id is out of range"))?;
            if self.arena.get::<MemRef>(place).is_some_and(|other| other.mr_type != MrType::INVALID) {
                let fault = subject.var_fault(LowerCode::DuplicateVar, &var);
                return Err(fault.numbers(u64::from(var.id), 0));
            }
            let record = self.var(&var)?;
            self.put(place, record)?;
            self.put_nth(by_name, position, U32::new(var.id))?;
        }
        let sizes = self.moved_marks(&marks(&subject));
        let header = MemRefSetHdr {
            local_scratchpad_size: U64::new(sizes.local_size().unwrap_or(u64::MAX)),
            shared_scratchpad_size: U64::new(sizes.shared_size().unwrap_or(u64::MAX)),
            nmem: records.len,
            ..MemRefSetHdr::default()
        };
        self.put(set, header)
    }

    /// Marks with the area `alt` behind main.
    fn moved_marks(&self, marks: &Marks) -> Marks {
        let mut moved = *marks;
        let alt = marks.mark(Area::Alt);
        if alt > 0 {
            moved.reach(Area::Main, self.counts.alt_base.saturating_add(alt));
        }
        moved
    }

    #[inline(never)]
    fn var(&mut self, var: &VarIn<'_>) -> Result<MemRef, Error> {
        let buffer = self.constant(var)?;
        let extra = self.extra(var)?;
        let mut record = MemRef {
            mr_type: MrType::new(var.class.record_type()),
            name: self.pool(var.name)?,
            size: U64::new(size(var)),
            alignment: U64::new(alignment(var)),
            var_id: U32::new(var.id),
            dtype: Text::new(var.dtype).unwrap_or_default(),
            dtensor_md: self.print(var)?,
            buffer,
            ..MemRef::default()
        };
        for (slot, dim) in record.shape.iter_mut().zip(var.shape) {
            *slot = *dim;
        }
        record.set_extra(&extra);
        Ok(record)
    }

    fn constant(&mut self, var: &VarIn<'_>) -> Result<BlobId, Error> {
        let DetailIn::File { member, payload_offset, payload_len } = var.detail else {
            return Ok(BlobId::default());
        };
        if let Some(said) = var.size.filter(|&said| said != payload_len) {
            let note = self.subject.var_fault(LowerCode::SizeMismatch, var).member(member);
            self.notes.note(note.numbers(payload_len, said));
        }
        let len = var.constant_bytes(payload_len);
        self.blob(BlobKind::CONSTANT, Some(BlobIn { member, len }), payload_offset)
    }

    #[inline(never)]
    fn extra(&mut self, var: &VarIn<'_>) -> Result<Extra, Error> {
        Ok(match var.detail {
            DetailIn::Virtual { offset } => Extra::Virtual(self.place(var, offset)),
            // `io_ref` and the remote fields need all variables: the linking step fills them.
            DetailIn::Pointer { referenced } => {
                Extra::Ptr(PtrArm { referenced_var_id: U32::new(referenced), ..PtrArm::default() })
            }
            DetailIn::List { len } => Extra::List(self.list(var.id, len)?),
            DetailIn::DgeTable { len } => Extra::PtrTable(self.list(var.id, len)?),
            DetailIn::Remote { subgraph, var_id } => Extra::Remote(RemoteArm {
                remote_vtpb_rel_sg_id: U32::new(subgraph),
                remote_var_id: U32::new(var_id),
                ..RemoteArm::default()
            }),
            DetailIn::File { .. } | DetailIn::None => Extra::None,
        })
    }

    fn place(&self, var: &VarIn<'_>, offset: u64) -> VirtualArm {
        let area = Area::of(var).unwrap_or(Area::Main);
        let base = if area == Area::Alt { self.counts.alt_base } else { 0 };
        let offset = U64::new(offset.saturating_add(base));
        VirtualArm { offset, backing_buf: area.backing(), ..VirtualArm::default() }
    }

    fn list(&mut self, var_id: u32, len: u32) -> Result<ListArm, Error> {
        let items = self.alloc::<U32>(u64::from(len))?;
        let subject = self.subject;
        let slots =
            self.arena.slice_mut::<U32>(items).ok_or_else(|| subject.broken("a list has no place"))?;
        for (slot, id) in slots.iter_mut().zip(subject.input.list(subject.sg, var_id)) {
            *slot = U32::new(id);
        }
        Ok(ListArm { length: items.len, items, ..ListArm::default() })
    }

    fn print(&mut self, var: &VarIn<'_>) -> Result<ArenaRef, Error> {
        let Some(print) = var.print else { return Ok(ArenaRef::NULL) };
        let fault = |_| self.subject.var_fault(LowerCode::NameTooLong, var);
        let prefix_str = Text::new(print.prefix).map_err(fault)?;
        let place = self.alloc::<DebugMd>(1)?;
        self.put(place, DebugMd { prefix_str, pipe_id: U32::new(print.pipe.cast_unsigned()) })?;
        Ok(place)
    }
}

/// Bytes of a variable (lowering.md §6.1): a constant's payload, 4 per list element (O-14), 0 where the stage decides. Of a
/// constant whose payload is short, what its entry says: placing it is then refused (staging.md T06).
fn size(var: &VarIn<'_>) -> u64 {
    match var.detail {
        DetailIn::List { len } | DetailIn::DgeTable { len } => u64::from(len).saturating_mul(4),
        DetailIn::File { payload_len, .. } => var.constant_bytes(payload_len),
        DetailIn::Remote { .. } => 0,
        DetailIn::None if !var.class.needs_size() => 0,
        _ => var.size.unwrap_or(0),
    }
}

/// Alignment of the classes whose record has one (lowering.md §6.1, X-20).
fn alignment(var: &VarIn<'_>) -> u64 {
    use crate::manifest::VarClass as Class;
    match var.class {
        Class::Input | Class::Output | Class::TmpBuf | Class::File => u64::from(var.alignment),
        _ => 0,
    }
}
