//! Replica groups, pairs and ucode libraries of a kbin.

use super::KbinView;
use crate::arena::Head;
use crate::lower::record::{Blob, Counted, Group, Pair, SrcTgtSet, Subgroup, UcodeFn, UcodeLib};
use zerocopy::little_endian::U32;

/// One replica group.
#[derive(Clone, Copy, Debug)]
pub struct GroupView<'m> {
    head: Head<'m>,
    subgroups: &'m [Subgroup],
}

/// One ucode library.
#[derive(Clone, Copy, Debug)]
pub struct UcodeLibView<'m> {
    /// Its record.
    pub record: &'m UcodeLib,
    /// Its bytes.
    pub content: Option<&'m Blob>,
    /// Its functions.
    pub functions: &'m [UcodeFn],
}

impl<'m> KbinView<'m> {
    /// Replica groups, the outermost level.
    pub fn replica_groups(&self) -> impl Iterator<Item = GroupView<'m>> + use<'m> {
        let this = *self;
        let groups: &'m [Group] = self.array(self.kbin.replica_groups.items);
        groups
            .iter()
            .map(move |group| GroupView { head: this.head, subgroups: this.array(group.subgroups.items) })
    }

    /// Sets of source-target pairs.
    pub fn src_target_pairs(&self) -> impl Iterator<Item = &'m [Pair]> + use<'m> {
        let this = *self;
        let sets: &'m [SrcTgtSet] = self.array(self.kbin.src_target_pairs.items);
        sets.iter().map(move |set| this.array(set.pairs))
    }

    /// Ucode libraries by name, the default one included.
    pub fn ucode_libs(&self) -> impl Iterator<Item = UcodeLibView<'m>> + use<'m> {
        let this = *self;
        let Counted { items, .. } = self.kbin.ucode_lib_set;
        let libs: &'m [UcodeLib] = self.array(items);
        libs.iter().map(move |record| UcodeLibView {
            record,
            content: this.blob(record.content),
            functions: this.array(record.function_set.functions),
        })
    }
}

impl<'m> GroupView<'m> {
    /// Subgroups: the ranks of each.
    pub fn subgroups(&self) -> impl Iterator<Item = &'m [U32]> + use<'m> {
        let head = self.head;
        self.subgroups.iter().map(move |subgroup| head.slice(subgroup.participants.items).unwrap_or(&[]))
    }
}
