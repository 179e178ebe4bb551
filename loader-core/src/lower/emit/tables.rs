//! Activation sets, DVE tables, carve-outs (lowering.md §5.6, §5.7, §5.10).

use super::Emit;
use crate::lower::input::{BlobIn, DveIn, Input};
use crate::lower::record::{ActSet, BlobKind, Carveout, CarveoutSetHdr, DveCfg};
use zerocopy::little_endian::{U32, U64};

impl<I: Input> Emit<'_, '_, I> {
    /// Without sets the whole group stays zero, the semaphore too (lowering.md §5.6).
    #[inline(never)]
    pub(super) fn act_sets(&mut self, semaphore: u32) {
        let (subject, count) = (self.subject, self.counts.act_sets);
        if count == 0 {
            return;
        }
        let sets = self.alloc::<ActSet>(count);
        for (index, set) in (0..).zip(subject.input.act_sets(subject.sg)) {
            let bytes = |blob: BlobIn| U32::new(u32::try_from(blob.len).unwrap_or(u32::MAX));
            let bkt = self.blob(BlobKind::ACT_BKT, Some(set.bkt), 0);
            let ctl = self.blob(BlobKind::ACT_CTL, Some(set.ctl), 0);
            if let Some(record) = self.nth_mut::<ActSet>(sets, index) {
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
    pub(super) fn dve(&mut self, dve: Option<&DveIn>) {
        let Some(dve) = dve else { return };
        let place = self.alloc::<DveCfg>(1);
        self.kbin.dve_config = place;
        let tables = dve.tables();
        let ids = tables.map(|table| self.blob(BlobKind::DVE, table, 0));
        let bytes = tables.map(|table| U64::new(table.map_or(0, |table| table.len)));
        let ([opcode_table, control_fast_table, control_slow_table, datapath_table], sizes) = (ids, bytes);
        let [opcode_size, control_fast_size, control_slow_size, datapath_size] = sizes;
        let record = DveCfg {
            opcode_table,
            opcode_size,
            control_fast_table,
            control_fast_size,
            control_slow_table,
            control_slow_size,
            datapath_table,
            datapath_size,
        };
        self.put(place, &record);
    }

    /// Null only if the definition lacks the key; `[]` gives a record with count 0 (lowering.md §2.1).
    #[inline(never)]
    pub(super) fn carveouts(&mut self, present: bool) {
        if !present {
            return;
        }
        let (subject, count) = (self.subject, self.counts.carveouts);
        let header = self.alloc::<CarveoutSetHdr>(1);
        let entries = self.alloc::<Carveout>(count);
        self.kbin.sb_carveouts = header;
        self.put(header, &CarveoutSetHdr { count: U64::new(count) });
        for (index, carveout) in (0..).zip(subject.input.carveouts(subject.sg)) {
            if let Some(record) = self.nth_mut::<Carveout>(entries, index) {
                record.kind = carveout.kind;
                record.offset = U64::new(carveout.offset);
                record.size = U64::new(carveout.size);
                record.start_partition = U64::new(carveout.start_partition);
                record.num_partitions = U64::new(carveout.num_partitions);
            }
        }
    }
}
