//! Addresses of variables (staging.md §8.2, §8.4, §8.5).

use super::Draft;
use super::claim::Claim;
use crate::device::{DevAddr, Device};
use crate::error::{Error, Stage};
use crate::lower::record::{Extra, MemRef, MrType};
use crate::plan::item::{item, item_mut, narrow, nth};
use crate::plan::record::reference::{ListArm, PointerArm, TableArm};
use crate::plan::record::{DMem, PlaceArm, VarPlace};
use crate::plan::vars;
use crate::plan::wants::{locate, scratch_offset};
use zerocopy::transmute;

fn broken() -> Error {
    Error::internal(Stage::Plan, "variables of a plan")
}

/// Where a variable lies.
struct Spot {
    phys: u64,
    /// Bytes from the page's start.
    within: u64,
    /// In the shared region of the scratchpad.
    shared: bool,
}

impl<'m, D: Device> Claim<'_, '_, 'm, D> {
    /// Fills the records of all variables of all cores, remote ones last.
    #[inline(never)]
    pub(super) fn place_variables(&mut self) -> Result<(), Error> {
        for index in 0..self.drafts.len() {
            let draft = self.draft(index)?;
            self.describe(&draft, index)?;
            self.connect_blocks(&draft)?;
        }
        for index in 0..self.drafts.len() {
            let draft = self.draft(index)?;
            self.connect_remotes(&draft)?;
        }
        Ok(())
    }

    /// Everything of a core's variables but the addresses of blocks.
    #[inline(never)]
    fn describe(&mut self, draft: &Draft<'m>, index: usize) -> Result<(), Error> {
        for (at, var) in draft.kbin.mem_refs().iter().enumerate() {
            let spot = self.placement(draft, index, var);
            let place = item_mut::<VarPlace>(self.arena, draft.vars, narrow(at)).ok_or_else(broken)?;
            place.name = var.name;
            place.mr_type = var.mr_type;
            place.size = vars::size_of(var).into();
            place.var_id = var.var_id;
            place.remote = u8::from(var.mr_type == MrType::REMOTE);
            place.shared_scratchpad = u8::from(spot.shared);
            (place.arm.phys, place.arm.offset) = (spot.phys.into(), spot.within.into());
            (place.dtype, place.shape, place.metadata) = (var.dtype, var.shape, var.dtensor_md);
            match var.extra() {
                Extra::List(arm) => {
                    place.arm = transmute!(ListArm { len: arm.length, ids: arm.items, ..ListArm::default() });
                }
                // The addresses of the elements are in their own records, and none of them needs a translation.
                Extra::PtrTable(arm) => {
                    place.arm =
                        transmute!(TableArm { len: arm.length, ids: arm.items, ..TableArm::default() });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Placement of a variable without a block of its own.
    #[inline(never)]
    fn placement(&self, draft: &Draft<'m>, index: usize, var: &MemRef) -> Spot {
        let mut spot = Spot { phys: DevAddr::UNPLACED.0, within: 0, shared: false };
        match (var.mr_type, var.extra()) {
            (MrType::SB, _) => spot.phys = self.device.state_buffer(draft.core).0.0,
            (MrType::VIRTUAL_TMP_BUF, Extra::Virtual(arm)) => {
                let scratch = &self.scratch;
                let local = scratch.laid.local_offset.get(index).copied().unwrap_or(0);
                let Some((offset, shared)) = scratch_offset(&arm, &draft.marks, local) else { return spot };
                spot.shared = shared;
                if let Some((page, within)) = locate(&scratch.paging, offset, var.size.get(), scratch.pages)
                    && let Some(page) = self.pages.get(scratch.sharing, page)
                {
                    (spot.phys, spot.within) = (page.taken.address().wrapping_add(within), within);
                }
            }
            _ => {}
        }
        spot
    }

    /// Variables and pointer cells that have a block of their own.
    #[inline(never)]
    fn connect_blocks(&mut self, draft: &Draft<'m>) -> Result<(), Error> {
        for at in 0..draft.blocks.count() {
            let place = nth::<DMem>(draft.blocks, at).ok_or_else(broken)?;
            let block = item::<DMem>(self.arena, place, 0).ok_or_else(broken)?;
            if !matches!(block.what.get(), DMem::VARIABLE | DMem::POINTER) {
                continue;
            }
            let (index, address) = (block.index.get(), block.address().0);
            let var = item_mut::<VarPlace>(self.arena, draft.vars, index).ok_or_else(broken)?;
            var.arm = match draft.kbin.mem_ref(index).map(MemRef::extra) {
                Some(Extra::Ptr(arm)) => transmute!(PointerArm {
                    slot: address.into(),
                    var_id: arm.referenced_var_id,
                    is_io: arm.io_ref,
                    ..PointerArm::default()
                }),
                _ => PlaceArm { phys: address.into(), block: place, ..PlaceArm::default() },
            };
        }
        Ok(())
    }

    /// Copies the target's place with the reference to its block, which stays the target's (staging.md §8.5).
    #[inline(never)]
    fn connect_remotes(&mut self, draft: &Draft<'m>) -> Result<(), Error> {
        for (at, var) in draft.kbin.mem_refs().iter().enumerate() {
            let Extra::Remote(arm) = var.extra() else { continue };
            let rel = usize::try_from(arm.remote_vtpb_rel_sg_id.get()).map_err(|_| broken())?;
            let peer = self.draft(rel)?;
            let id = arm.remote_var_id.get();
            let target = item::<VarPlace>(self.arena, peer.vars, id).ok_or_else(broken)?;
            let (arm, size) = (target.arm, target.size);
            let own = item_mut::<VarPlace>(self.arena, draft.vars, narrow(at)).ok_or_else(broken)?;
            own.arm = arm;
            own.size = size;
        }
        Ok(())
    }
}
