//! Addresses of variables (staging.md §8.2, §8.4, §8.5).

use super::Draft;
use super::claim::Claim;
use crate::device::{DevAddr, Device};
use crate::error::{Error, Stage};
use crate::lower::record::{Extra, MrType};
use crate::plan::item::{item, item_mut, narrow};
use crate::plan::record::VarPlace;
use crate::plan::record::reference::{ListArm, TableArm};
use crate::plan::vars;
use crate::plan::wants::{locate, scratch_offset};
use zerocopy::transmute;

fn broken() -> Error {
    Error::internal(Stage::Plan, "variables of a plan")
}

impl<D: Device> Claim<'_, '_, '_, D> {
    /// Everything of a core's variables but what comes with their blocks, and with those of other cores.
    #[inline(never)]
    pub(super) fn describe(&mut self, draft: &Draft<'_>, index: u8) -> Result<(), Error> {
        let scratch = &self.scratch;
        for (at, var) in draft.kbin.mem_refs().iter().enumerate() {
            let place = item_mut::<VarPlace>(self.arena, draft.vars.get(), narrow(at)).ok_or_else(broken)?;
            place.name = var.name;
            place.mr_type = var.mr_type;
            place.size = vars::size_of(var).into();
            place.var_id = var.var_id;
            place.remote = u8::from(var.mr_type == MrType::REMOTE);
            (place.dtype, place.shape, place.metadata) = (var.dtype, var.shape, var.dtensor_md);
            place.arm.phys = DevAddr::UNPLACED.0.into();
            match var.extra() {
                Extra::List(arm) => {
                    place.arm = transmute!(ListArm { len: arm.length, ids: arm.items, ..ListArm::default() });
                }
                // The addresses of the elements are in their own records, and none of them needs a translation.
                Extra::PtrTable(arm) => {
                    place.arm =
                        transmute!(TableArm { len: arm.length, ids: arm.items, ..TableArm::default() });
                }
                Extra::Virtual(arm) => {
                    let found = scratch_offset(&arm, &draft.marks, scratch.local(index));
                    let Some((offset, shared)) = found else { continue };
                    place.shared_scratchpad = u8::from(shared);
                    if let Some((page, within)) =
                        locate(&scratch.paging, offset, var.size.get(), scratch.pages)
                        && let Some(page) = self.pages.find(scratch.sharing, page)
                    {
                        place.arm.phys = page.taken.address().wrapping_add(within).into();
                        place.arm.offset = within.into();
                    }
                }
                _ if var.mr_type == MrType::SB => {
                    place.arm.phys = self.device.state_buffer(draft.core).0.0.into();
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Copies the target's place with the reference to its block, which stays the target's (staging.md §8.5).
    #[inline(never)]
    pub(super) fn connect_remotes(&mut self, _: u8, draft: &Draft<'_>) -> Result<(), Error> {
        for (at, var) in draft.kbin.mem_refs().iter().enumerate() {
            let Extra::Remote(arm) = var.extra() else { continue };
            let peer = usize::try_from(arm.remote_vtpb_rel_sg_id.get()).ok();
            let peer = peer.and_then(|rel| self.drafts.get(rel)).ok_or_else(broken)?;
            let target = item::<VarPlace>(self.arena, peer.vars.get(), arm.remote_var_id.get());
            let &VarPlace { arm, size, .. } = target.ok_or_else(broken)?;
            let own = item_mut::<VarPlace>(self.arena, draft.vars.get(), narrow(at)).ok_or_else(broken)?;
            (own.arm, own.size) = (arm, size);
        }
        Ok(())
    }
}
