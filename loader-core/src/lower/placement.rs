//! What loading does with each class of variable (lowering.md §6.1, §8.2): the static memory plan as data.

use super::kbins::KbinView;
use super::record::{Blob, Extra, MemRef, MrType};
use super::scratchpad::{Area, Marks, Paging};
use crate::device::Usage;

/// Bytes of a core's state-buffer window (Confirmed).
pub const STATE_BUFFER_WINDOW: u64 = 0x200_0000;
/// Bytes and alignment of a pointer's cell (R17).
pub const POINTER_CELL: u64 = 8;

/// Where a variable will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement<'m> {
    /// In the core's state-buffer window, from its start on; [`STATE_BUFFER_WINDOW`] bytes.
    StateBuffer,
    /// In memory of its own.
    Own(Own<'m>),
    /// In scratchpad pages.
    Scratchpad {
        /// Bytes from the start of the scratchpad.
        offset: u64,
        /// In the one that the cores share.
        shared: bool,
        /// Bytes.
        size: u64,
    },
    /// In the caller's tensor, named at execution (R2).
    Bound,
    /// An index list that needs no memory of its own.
    Table,
    /// Where a variable of another kbin is.
    Remote {
        /// That kbin within the group.
        kbin: u32,
        /// The variable there.
        var_id: u32,
    },
}

/// An allocation for one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own<'m> {
    /// Bytes.
    pub size: u64,
    /// The file's alignment, 0 if it gives none.
    pub align: u64,
    /// What it is for.
    pub usage: Usage,
    /// Bytes to copy in.
    pub content: Option<&'m Blob>,
}

impl<'m> KbinView<'m> {
    /// Where a variable of this kbin will be; `None` for a class that no file can name.
    #[must_use]
    pub fn placement(&self, var: &MemRef, marks: &Marks, paging: &Paging) -> Option<Placement<'m>> {
        let own = |usage, content| {
            Placement::Own(Own { size: var.size.get(), align: var.alignment.get(), usage, content })
        };
        Some(match (var.mr_type, var.extra()) {
            (MrType::SB, _) => Placement::StateBuffer,
            (MrType::BUFFER, _) => own(Usage::Weight, self.blob(var.buffer)),
            (MrType::TMP_BUF, _) => own(Usage::ScratchpadNotShared, None),
            (MrType::INPUT | MrType::OUTPUT, _) => Placement::Bound,
            (MrType::PTR, _) => Placement::Own(Own {
                size: POINTER_CELL,
                align: POINTER_CELL,
                usage: Usage::Generic,
                content: None,
            }),
            (_, Extra::Virtual(arm)) => {
                let area = Area::of_backing(arm.backing_buf);
                let offset = marks.base(area).checked_add(arm.offset.get())?;
                // What does not fit one page gets memory of its own (lowering.md §7.4).
                if !paging.fits(offset, var.size.get()) {
                    return Some(own(Usage::ScratchpadNotShared, None));
                }
                Placement::Scratchpad { offset, shared: area.is_shared(), size: var.size.get() }
            }
            (_, Extra::List(_) | Extra::PtrTable(_)) => Placement::Table,
            (_, Extra::Remote(arm)) => {
                Placement::Remote { kbin: arm.remote_vtpb_rel_sg_id.get(), var_id: arm.remote_var_id.get() }
            }
            _ => return None,
        })
    }

    /// Marks of this kbin's areas, for [`KbinView::placement`].
    #[must_use]
    pub fn marks(&self) -> Marks {
        Marks::of(self.mem_refs())
    }
}
