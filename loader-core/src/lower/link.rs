//! After all kbins exist: pointers, remote variables, the core count (lowering.md §6.5, §9).

use super::input::{FileIn, Input};
use super::kbins::{KbinView, Kbins};
use super::measure::Subject;
use super::record::{Extra, MemRef, MrType, PtrArm, RemoteArm};
use crate::arena::{Arena, ArenaRef};
use crate::error::{Error, LowerCode, Notes};
use zerocopy::little_endian::U64;

/// Fills what needs all variables of all kbins, and checks that the number of kbins can run.
#[inline(never)]
pub(crate) fn link<I: Input>(
    arena: &mut Arena<'_>,
    subject: &Subject<'_, I>,
    entries: ArenaRef,
    notes: &mut dyn Notes,
) -> Result<(), Error> {
    check_count(subject)?;
    for sg in 0..subject.input.subgraphs() {
        let linker = Linker { subject: Subject { sg, ..*subject }, entries };
        for id in 0..subject.input.var_count(sg) {
            linker.link(arena, id)?;
        }
        linker.compare_io(arena, notes);
    }
    Ok(())
}

/// Kbins must be one, or as many as the logical core has cores: then all of them are one group (gate N).
fn check_count<I: Input>(subject: &Subject<'_, I>) -> Result<(), Error> {
    /// Cores of a logical core at most.
    const CORES_MOST: u32 = 2;
    let count = subject.input.subgraphs();
    let cores = subject.policy.lnc.unwrap_or_else(|| count.min(CORES_MOST)).max(1);
    if count == 1 || (count == cores && count <= CORES_MOST) {
        return Ok(());
    }
    let fault = Subject { sg: 0, ..*subject }.fail_in(LowerCode::KbinCount, FileIn::Graph);
    Err(fault.numbers(u64::from(count), u64::from(cores)))
}

struct Linker<'a, I> {
    subject: Subject<'a, I>,
    entries: ArenaRef,
}

impl<I: Input> Linker<'_, I> {
    fn view<'v>(&self, arena: &'v Arena<'_>, sg: u32) -> Option<KbinView<'v>> {
        Kbins::new(arena.head(), self.entries)?.kbin(usize::try_from(sg).ok()?)
    }

    /// Pointers and remote variables: what their records say of another variable.
    fn link(&self, arena: &mut Arena<'_>, id: u32) -> Result<(), Error> {
        let broken = || self.subject.broken("a variable has no record");
        let view = self.view(arena, self.subject.sg).ok_or_else(broken)?;
        let place = view.mem_array().nth::<MemRef>(id).ok_or_else(broken)?;
        let record = view.mem_ref(id).ok_or_else(broken)?;
        match record.extra() {
            Extra::Ptr(arm) => {
                let io_ref = self.pointer(&view, record, arm)?;
                let record = arena.get_mut::<MemRef>(place).ok_or_else(broken)?;
                record.set_extra(&Extra::Ptr(PtrArm { io_ref, ..arm }));
            }
            Extra::Remote(arm) => {
                let size = self.remote(arena, &view, record, arm)?;
                arena.get_mut::<MemRef>(place).ok_or_else(broken)?.size = size;
            }
            _ if record.mr_type == MrType::INVALID => return Err(broken()),
            _ => {}
        }
        Ok(())
    }

    fn fault(&self, code: LowerCode, view: &KbinView<'_>, record: &MemRef) -> Error {
        self.subject.fail(code).name(view.name(record)).element(record.var_id.get())
    }

    /// A pointer holds the address of a variable that is no pointer: 1 if the caller owns that one.
    fn pointer(&self, view: &KbinView<'_>, record: &MemRef, arm: PtrArm) -> Result<u8, Error> {
        let target = view.mem_ref(arm.referenced_var_id.get());
        let target = target.ok_or_else(|| self.subject.broken("a pointer leads nowhere"))?;
        if !I::CHECKED && target.var_id == record.var_id {
            return Err(self.fault(LowerCode::PointerSelf, view, record));
        }
        if !I::CHECKED && target.mr_type == MrType::PTR {
            return Err(self.fault(LowerCode::PointerChain, view, record).name2(view.name(target)));
        }
        Ok(u8::from(target.mr_type.is_io()))
    }

    /// The algorithm of lowering.md §9.3, for the one group that the kbins are: bytes of the owner's variable.
    fn remote(
        &self,
        arena: &Arena<'_>,
        view: &KbinView<'_>,
        record: &MemRef,
        arm: RemoteArm,
    ) -> Result<U64, Error> {
        let (sg, count) = (self.subject.sg, self.subject.input.subgraphs());
        let (owner, var_id) = (arm.remote_vtpb_rel_sg_id.get(), arm.remote_var_id.get());
        let fault = |code, detail: u32| {
            let error = self.fault(code, view, record);
            error.numbers(0, u64::from(count.saturating_sub(1))).third(u64::from(detail))
        };
        // One kbin has no peer (lowering.md §9.4), not even itself.
        if !I::CHECKED && (owner >= count || count < 2) {
            return Err(fault(LowerCode::RemoteGroupIndex, owner));
        }
        if !I::CHECKED && owner == sg {
            return Err(fault(LowerCode::RemoteSelfReference, sg));
        }
        let peer = self.view(arena, owner).and_then(|peer| peer.mem_ref(var_id));
        let target = peer.ok_or_else(|| fault(LowerCode::RemoteNotFound, var_id))?;
        match target.mr_type {
            MrType::REMOTE if !I::CHECKED => Err(fault(LowerCode::RemoteChain, var_id)),
            MrType::PTR | MrType::LIST | MrType::PTR_TABLE => {
                Err(fault(LowerCode::RemoteBadClass, target.mr_type.get()))
            }
            _ => Ok(target.size),
        }
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
