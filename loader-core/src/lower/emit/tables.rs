//! Activation sets, DVE tables, carve-outs (lowering.md §5.6, §5.7, §5.10).

use super::Emit;
use crate::lower::input::{BlobIn, Input};
use crate::lower::record::{ActSet, BlobKind, Carveout, CarveoutSetHdr, DveCfg};
use core::mem::offset_of;
use zerocopy::IntoBytes;
use zerocopy::little_endian::{U32, U64};

/// Bytes of a slot of the DVE record, and where in it the size of the table stands.
const DVE_SLOT: u32 = 16;
const DVE_SIZE: u32 = 8;
const _: () = assert!(offset_of!(DveCfg, control_fast_table) == 16 && offset_of!(DveCfg, opcode_size) == 8);

impl<I: Input> Emit<'_, '_, I> {
    /// Without sets the whole group stays zero, the semaphore too (lowering.md §5.6).
    #[inline(never)]
    pub(super) fn act_sets(&mut self, semaphore: u32) {
        let (subject, count) = (self.subject, self.counts.act_sets);
        if count == 0 {
            return;
        }
        let sets = self.alloc::<ActSet>(count);
        let mut rest = sets;
        for set in subject.input.act_sets(subject.sg) {
            let bytes = |blob: BlobIn| U32::new(u32::try_from(blob.len).unwrap_or(u32::MAX));
            let bkt = self.blob(BlobKind::ACT_BKT, Some(set.bkt), 0);
            let ctl = self.blob(BlobKind::ACT_CTL, Some(set.ctl), 0);
            let place = self.next::<ActSet>(&mut rest);
            if let Some(record) = self.get_mut::<ActSet>(place) {
                record.name.set(set.name);
                (record.bkt_tbl, record.bkt_sz) = (bkt, bytes(set.bkt));
                (record.ctl_tbl, record.ctl_sz) = (ctl, bytes(set.ctl));
            }
        }
        let group = &mut self.kbin.act_function_sets;
        (group.sets, group.num_function_sets) = (sets, U64::new(count));
        group.act_tbl_semaphore = U32::new(semaphore);
    }

    #[inline(never)]
    pub(super) fn dve(&mut self) {
        let Some(dve) = self.subject.input.dve(self.subject.sg) else { return };
        let place = self.alloc::<DveCfg>(1);
        self.kbin.dve_config = place;
        let mut rest = place.off.get();
        for table in dve.tables {
            let (id, size) = (self.blob(BlobKind::DVE, table, 0), table.map_or(0, |table| table.len));
            self.fill(rest, id.as_bytes());
            self.fill(rest.saturating_add(DVE_SIZE), U64::new(size).as_bytes());
            rest = rest.saturating_add(DVE_SLOT);
        }
    }

    /// Null only if the definition lacks the key; `[]` gives a record with count 0 (lowering.md §2.1).
    #[inline(never)]
    pub(super) fn carveouts(&mut self, present: bool) {
        if !present {
            return;
        }
        let (subject, count) = (self.subject, self.counts.carveouts);
        let header = self.alloc::<CarveoutSetHdr>(1);
        let mut entries = self.alloc::<Carveout>(count);
        self.kbin.sb_carveouts = header;
        self.put(header, &CarveoutSetHdr { count: U64::new(count) });
        for carveout in subject.input.carveouts(subject.sg) {
            let place = self.next::<Carveout>(&mut entries);
            if let Some(record) = self.get_mut::<Carveout>(place) {
                record.kind = carveout.kind;
                record.offset = U64::new(carveout.offset);
                record.size = U64::new(carveout.size);
                record.start_partition = U64::new(carveout.start_partition);
                record.num_partitions = U64::new(carveout.num_partitions);
            }
        }
    }
}
