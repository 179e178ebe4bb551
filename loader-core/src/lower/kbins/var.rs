//! Variables of a kbin: by id, by name, with their lists.

use super::{KbinView, behind};
use crate::arena::ArenaRef;
use crate::lower::record::{Extra, ListArm, MemRef, MemRefSetHdr};
use zerocopy::little_endian::U32;

/// A variable with its name.
#[derive(Clone, Copy, Debug)]
pub struct VarView<'m> {
    /// Its record.
    pub record: &'m MemRef,
    /// Its name.
    pub name: &'m [u8],
}

impl<'m> KbinView<'m> {
    /// All variables; index and `var_id` are equal.
    #[must_use]
    pub fn mem_refs(&self) -> &'m [MemRef] {
        self.array(self.mem_array())
    }

    pub(crate) fn mem_array(&self) -> ArenaRef {
        let count = self.mem_ref_set().map_or(0, |set| set.nmem.get());
        behind::<MemRefSetHdr>(self.kbin.mem_ref_set, count)
    }

    /// Ids in the order of their names' bytes.
    fn by_name(&self) -> &'m [U32] {
        self.array(self.by_name_ref())
    }

    /// The index by name lies right behind the variables.
    pub(in crate::lower) fn by_name_ref(&self) -> ArenaRef {
        let mem = self.mem_array();
        let size = u32::try_from(size_of::<MemRef>()).unwrap_or(0);
        let end = mem.len.get().checked_mul(size).and_then(|bytes| mem.off.get().checked_add(bytes));
        let off = end.filter(|_| !mem.is_null()).unwrap_or(0);
        ArenaRef { off: U32::new(off), len: mem.len }
    }

    /// The variable with that id.
    #[must_use]
    pub fn mem_ref(&self, var_id: u32) -> Option<&'m MemRef> {
        self.mem_refs().get(usize::try_from(var_id).ok()?)
    }

    /// The variable with that id and its name.
    #[must_use]
    pub fn var(&self, var_id: u32) -> Option<VarView<'m>> {
        let record = self.mem_ref(var_id)?;
        Some(VarView { record, name: self.name(record) })
    }

    /// All variables with their names, by id.
    pub fn vars(&self) -> impl Iterator<Item = VarView<'m>> + use<'m> {
        let this = *self;
        self.mem_refs().iter().map(move |record| VarView { record, name: this.name(record) })
    }

    /// Name of a variable.
    #[must_use]
    pub fn name(&self, var: &MemRef) -> &'m [u8] {
        self.text(var.name)
    }

    /// The variable with that name; one binary search.
    #[must_use]
    pub fn var_by_name(&self, name: &[u8]) -> Option<VarView<'m>> {
        let ids = self.by_name();
        let found =
            ids.binary_search_by(|id| self.mem_ref(id.get()).map_or(&[][..], |var| self.name(var)).cmp(name));
        self.var(ids.get(found.ok()?)?.get())
    }

    /// Elements of a list or `dge-table`; empty for every other class.
    #[must_use]
    pub fn list(&self, var: &MemRef) -> &'m [U32] {
        match var.extra() {
            Extra::List(ListArm { items, .. }) | Extra::PtrTable(ListArm { items, .. }) => self.array(items),
            _ => &[],
        }
    }
}
