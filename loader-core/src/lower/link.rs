//! After all kbins exist: pointers, remote variables, the core count (lowering.md §6.5, §9).

use super::input::{FileIn, Input};
use super::kbins::{Kbins, behind};
use super::measure::Subject;
use super::record::{Kbin, MemRef, MemRefSetHdr, MrType, Pad, PtrArm, RemoteArm, SubgraphEntry};
use crate::arena::{Arena, ArenaRef};
use crate::error::{Error, LowerCode, Notes, remark};
use crate::layout::SMALL;
use zerocopy::little_endian::U64;
use zerocopy::{FromBytes, transmute};

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
        if !SMALL && sg > 0 {
            linker.compare_io(arena, notes);
        }
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
    /// Where a variable of a subgraph is; null if there is none.
    #[inline(never)]
    fn place(&self, arena: &Arena<'_>, sg: u32, id: u32) -> ArenaRef {
        let entry = arena.get::<SubgraphEntry>(self.entries.at::<SubgraphEntry>(sg));
        let set = entry.and_then(|entry| arena.get::<Kbin>(entry.kbin)).map(|kbin| kbin.mem_ref_set);
        let set = set.unwrap_or(ArenaRef::NULL);
        let count = arena.get::<MemRefSetHdr>(set).map_or(0, |header| header.nmem.get());
        behind::<MemRefSetHdr>(set, count).at::<MemRef>(id)
    }

    fn get<'v>(&self, arena: &'v Arena<'_>, sg: u32, id: u32) -> Option<&'v MemRef> {
        arena.get(self.place(arena, sg, id))
    }

    /// Pointers and remote variables: what their records say of another variable.
    fn link(&self, arena: &mut Arena<'_>, id: u32) -> Result<(), Error> {
        let broken = || self.subject.broken("a variable has no record");
        let place = self.place(arena, self.subject.sg, id);
        let record = arena.get::<MemRef>(place).ok_or_else(broken)?;
        match record.mr_type {
            MrType::PTR => {
                let PtrArm { referenced_var_id, .. } = transmute!(record.arm);
                let io_ref = self.pointer(arena, record, referenced_var_id.get())?;
                let Pad(arm) = &mut arena.get_mut::<MemRef>(place).ok_or_else(broken)?.arm;
                PtrArm::mut_from_bytes(arm).map_err(|_| broken())?.io_ref = io_ref;
            }
            MrType::REMOTE => {
                let size = self.remote(arena, record, transmute!(record.arm))?;
                arena.get_mut::<MemRef>(place).ok_or_else(broken)?.size = size;
            }
            MrType::INVALID if !I::CHECKED => return Err(broken()),
            _ => {}
        }
        Ok(())
    }

    fn fault(&self, arena: &Arena<'_>, code: LowerCode, record: &MemRef) -> Error {
        let name = arena.octets(record.name).unwrap_or(&[]);
        self.subject.fail(code).name(name).element(record.var_id.get())
    }

    /// A pointer holds the address of a variable that is no pointer: 1 if the caller owns that one.
    fn pointer(&self, arena: &Arena<'_>, record: &MemRef, id: u32) -> Result<u8, Error> {
        let target = self.get(arena, self.subject.sg, id);
        let target = target.ok_or_else(|| self.subject.broken("a pointer leads nowhere"))?;
        if !I::CHECKED && target.var_id == record.var_id {
            return Err(self.fault(arena, LowerCode::PointerSelf, record));
        }
        if !I::CHECKED && target.mr_type == MrType::PTR {
            let name = arena.octets(target.name).unwrap_or(&[]);
            return Err(self.fault(arena, LowerCode::PointerChain, record).name2(name));
        }
        Ok(u8::from(target.mr_type.is_io()))
    }

    /// The algorithm of lowering.md §9.3, for the one group that the kbins are: bytes of the owner's variable.
    fn remote(&self, arena: &Arena<'_>, record: &MemRef, arm: RemoteArm) -> Result<U64, Error> {
        let (sg, count) = (self.subject.sg, self.subject.input.subgraphs());
        let (owner, var_id) = (arm.remote_vtpb_rel_sg_id.get(), arm.remote_var_id.get());
        let fault = |code, detail: u32| {
            let error = self.fault(arena, code, record);
            error.numbers(0, u64::from(count.saturating_sub(1))).third(u64::from(detail))
        };
        // One kbin has no peer (lowering.md §9.4), not even itself.
        if !I::CHECKED && (owner >= count || count < 2) {
            return Err(fault(LowerCode::RemoteGroupIndex, owner));
        }
        if !I::CHECKED && owner == sg {
            return Err(fault(LowerCode::RemoteSelfReference, sg));
        }
        let target = self.get(arena, owner, var_id);
        let target = target.ok_or_else(|| fault(LowerCode::RemoteNotFound, var_id))?;
        match target.mr_type {
            MrType::REMOTE if !I::CHECKED => Err(fault(LowerCode::RemoteChain, var_id)),
            MrType::PTR | MrType::LIST | MrType::PTR_TABLE => {
                Err(fault(LowerCode::RemoteBadClass, target.mr_type.get()))
            }
            _ => Ok(target.size),
        }
    }

    /// Inputs and outputs of the same name are one tensor for the caller; a different size is worth a remark.
    fn compare_io(&self, arena: &Arena<'_>, notes: &mut dyn Notes) -> Option<()> {
        let kbins = Kbins::new(arena.head(), self.entries)?;
        let (first, own) = (kbins.kbin(0)?, kbins.kbin(usize::try_from(self.subject.sg).ok()?)?);
        for var in own.vars().filter(|var| var.record.mr_type.is_io()) {
            let other = first.var_by_name(var.name).map(|other| other.record);
            let Some(other) = other.filter(|other| other.mr_type.is_io()) else { continue };
            let (bytes, others) = (var.record.size.get(), other.size.get());
            if bytes != others {
                let note = || self.fault(arena, LowerCode::IoSizesDiffer, var.record);
                remark(notes, || note().numbers(others, bytes));
            }
        }
        Some(())
    }
}
