//! After all kbins exist: pointers, remote variables, the core count (lowering.md §6.5, §9).

use super::input::{FileIn, Input};
use super::kbins::{KbinView, Kbins, behind};
use super::measure::Subject;
use super::record::{Extra, MemRef, MemRefSetHdr, MrType, PtrArm, RemoteArm, SubgraphEntry};
use crate::arena::{Arena, ArenaRef};
use crate::error::{Error, LowerCode, Notes};
use zerocopy::little_endian::U32;

/// Fills what needs all variables of all kbins, and checks that the number of kbins can run.
#[inline(never)]
pub(crate) fn link<I: Input>(
    arena: &mut Arena<'_>,
    subject: &Subject<'_, I>,
    entries: ArenaRef,
    notes: &mut dyn Notes,
) -> Result<(), Error> {
    let group = group_size(subject)?;
    for sg in 0..subject.input.subgraphs() {
        let linker = Linker { subject: Subject { sg, ..*subject }, entries, group };
        for id in 0..subject.input.var_count(sg) {
            linker.link(arena, id)?;
        }
        linker.compare_io(arena, notes);
    }
    Ok(())
}

/// Kbins of a group: 1 for one kbin, else the size of the logical core, which must be their number (gate N).
fn group_size<I: Input>(subject: &Subject<'_, I>) -> Result<u32, Error> {
    /// Cores of a logical core at most.
    const CORES_MOST: u32 = 2;
    let count = subject.input.subgraphs();
    let cores = subject.policy.lnc.unwrap_or_else(|| count.min(CORES_MOST)).max(1);
    if count == 1 || (count == cores && count <= CORES_MOST) {
        return Ok(count);
    }
    let fault = Subject { sg: 0, ..*subject }.fail_in(LowerCode::KbinCount, FileIn::Graph);
    Err(fault.numbers(u64::from(count), u64::from(cores)))
}

struct Linker<'a, I> {
    subject: Subject<'a, I>,
    entries: ArenaRef,
    group: u32,
}

impl<I: Input> Linker<'_, I> {
    fn view<'v>(&self, arena: &'v Arena<'_>, sg: u32) -> Option<KbinView<'v>> {
        Kbins::new(arena.head(), self.entries)?.kbin(usize::try_from(sg).ok()?)
    }

    fn place(&self, arena: &Arena<'_>, id: u32) -> Option<ArenaRef> {
        let entry = arena.get::<SubgraphEntry>(self.entries.nth::<SubgraphEntry>(self.subject.sg)?)?;
        let set = arena.get::<super::record::Kbin>(entry.kbin)?.mem_ref_set;
        let count = arena.get::<MemRefSetHdr>(set)?.nmem.get();
        behind::<MemRefSetHdr>(set, count).nth::<MemRef>(id)
    }

    fn link(&self, arena: &mut Arena<'_>, id: u32) -> Result<(), Error> {
        let broken = || self.subject.broken("a variable has no record");
        let place = self.place(arena, id).ok_or_else(broken)?;
        let mut record = *arena.get::<MemRef>(place).ok_or_else(broken)?;
        match record.extra() {
            Extra::Ptr(arm) => self.pointer(arena, &mut record, arm)?,
            Extra::Remote(arm) => self.remote(arena, &mut record, arm)?,
            _ if record.mr_type == MrType::INVALID => return Err(broken()),
            _ => return Ok(()),
        }
        *arena.get_mut::<MemRef>(place).ok_or_else(broken)? = record;
        Ok(())
    }

    fn fault(&self, code: LowerCode, view: &KbinView<'_>, record: &MemRef) -> Error {
        self.subject.fail(code).name(view.name(record)).element(record.var_id.get())
    }

    /// A pointer holds the address of a variable that is no pointer; `io_ref` says whether the caller owns it.
    fn pointer(&self, arena: &Arena<'_>, record: &mut MemRef, arm: PtrArm) -> Result<(), Error> {
        let broken = || self.subject.broken("a pointer has no kbin");
        let view = self.view(arena, self.subject.sg).ok_or_else(broken)?;
        let target = arm.referenced_var_id;
        if target == record.var_id {
            return Err(self.fault(LowerCode::PointerSelf, &view, record));
        }
        let target = view.var(target.get()).ok_or_else(broken)?;
        if target.record.mr_type == MrType::PTR {
            return Err(self.fault(LowerCode::PointerChain, &view, record).name2(target.name));
        }
        let io_ref = u8::from(target.record.mr_type.is_io());
        record.set_extra(&Extra::Ptr(PtrArm { io_ref, ..arm }));
        Ok(())
    }

    /// The algorithm of lowering.md §9.3. The arm still holds the owner's number in the whole file.
    fn remote(&self, arena: &Arena<'_>, record: &mut MemRef, arm: RemoteArm) -> Result<(), Error> {
        let sg = self.subject.sg;
        let base = sg.saturating_sub(sg.checked_rem(self.group).unwrap_or(0));
        let last = base.saturating_add(self.group).saturating_sub(1);
        let view =
            self.view(arena, sg).ok_or_else(|| self.subject.broken("a remote variable has no kbin"))?;
        let (owner, var_id) = (arm.remote_vtpb_rel_sg_id.get(), arm.remote_var_id.get());
        let fault = |code, detail: u32| {
            let error = self.fault(code, &view, record);
            error.numbers(u64::from(base), u64::from(last)).third(u64::from(detail))
        };
        // One kbin has no peer (lowering.md §9.4), not even itself.
        if owner < base || owner > last || self.group < 2 {
            return Err(fault(LowerCode::RemoteGroupIndex, owner));
        }
        if owner == sg {
            return Err(fault(LowerCode::RemoteSelfReference, sg));
        }
        let peer = self.view(arena, owner).and_then(|peer| peer.mem_ref(var_id));
        let target = peer.ok_or_else(|| fault(LowerCode::RemoteNotFound, var_id))?;
        match target.mr_type {
            MrType::REMOTE => return Err(fault(LowerCode::RemoteChain, var_id)),
            MrType::PTR | MrType::LIST | MrType::PTR_TABLE => {
                return Err(fault(LowerCode::RemoteBadClass, target.mr_type.get()));
            }
            _ => {}
        }
        record.size = target.size;
        let rel = U32::new(owner.saturating_sub(base));
        record.set_extra(&Extra::Remote(RemoteArm { remote_vtpb_rel_sg_id: rel, ..arm }));
        Ok(())
    }

    /// Inputs and outputs of the same name are one tensor for the caller; a different size is worth a remark.
    fn compare_io(&self, arena: &Arena<'_>, notes: &mut dyn Notes) {
        let sg = self.subject.sg;
        let (Some(first), Some(own)) = (self.view(arena, 0), self.view(arena, sg)) else { return };
        for var in own.vars().filter(|var| sg > 0 && var.record.mr_type.is_io()) {
            let Some(other) = first.var_by_name(var.name).filter(|other| other.record.mr_type.is_io()) else {
                continue;
            };
            if other.record.size != var.record.size {
                let note = self.fault(LowerCode::IoSizesDiffer, &own, var.record);
                notes.note(note.numbers(other.record.size.get(), var.record.size.get()));
            }
        }
    }
}
