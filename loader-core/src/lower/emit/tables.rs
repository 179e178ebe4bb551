//! Activation sets, DVE tables, carve-outs (lowering.md §5.6, §5.7, §5.10).

use super::Emit;
use crate::arena::ArenaRef;
use crate::error::Error;
use crate::lower::input::{ActSetIn, BlobIn, DveIn, Input};
use crate::lower::record::{ActSet, ActSets, BlobKind, Carveout, CarveoutSetHdr, DveCfg, Kbin, Text};
use zerocopy::little_endian::{U32, U64};

impl<I: Input> Emit<'_, '_, I> {
    /// Without sets the whole group stays zero, the semaphore too (lowering.md §5.6).
    #[inline(never)]
    pub(super) fn act_sets(&mut self, kbin: &mut Kbin, semaphore: u32) -> Result<(), Error> {
        let count = self.counts.act_sets;
        if count == 0 {
            return Ok(());
        }
        let sets = self.alloc::<ActSet>(count)?;
        let subject = self.subject;
        for (index, set) in (0..).zip(subject.input.act_sets(subject.sg)) {
            let place = sets.nth::<ActSet>(index).ok_or_else(|| subject.broken("an array is full"))?;
            self.act_set(place, &set)?;
        }
        kbin.act_function_sets = ActSets {
            sets,
            num_function_sets: U64::new(count),
            act_tbl_semaphore: U32::new(semaphore),
            ..ActSets::default()
        };
        Ok(())
    }

    /// Fills a zeroed record where it lies: it has 2 KiB.
    fn act_set(&mut self, place: ArenaRef, set: &ActSetIn<'_>) -> Result<(), Error> {
        let bytes = |blob: BlobIn| U32::new(u32::try_from(blob.len).unwrap_or(u32::MAX));
        let subject = self.subject;
        let (bkt, ctl) = (
            self.blob(BlobKind::ACT_BKT, Some(set.bkt), 0)?,
            self.blob(BlobKind::ACT_CTL, Some(set.ctl), 0)?,
        );
        let record = self.arena.get_mut::<ActSet>(place);
        let record = record.ok_or_else(|| subject.broken("a record has no place"))?;
        record.name = Text::new(set.name).map_err(|_| subject.broken("a set name is too long"))?;
        (record.bkt_tbl, record.bkt_sz) = (bkt, bytes(set.bkt));
        (record.ctl_tbl, record.ctl_sz) = (ctl, bytes(set.ctl));
        Ok(())
    }

    #[inline(never)]
    pub(super) fn dve(&mut self, kbin: &mut Kbin, dve: Option<DveIn>) -> Result<(), Error> {
        let Some(dve) = dve else { return Ok(()) };
        let bytes = |blob: Option<BlobIn>| U64::new(blob.map_or(0, |blob| blob.len));
        let place = self.alloc::<DveCfg>(1)?;
        let record = DveCfg {
            opcode_table: self.blob(BlobKind::DVE, dve.opcode, 0)?,
            opcode_size: bytes(dve.opcode),
            control_fast_table: self.blob(BlobKind::DVE, dve.control_fast, 0)?,
            control_fast_size: bytes(dve.control_fast),
            control_slow_table: self.blob(BlobKind::DVE, dve.control_slow, 0)?,
            control_slow_size: bytes(dve.control_slow),
            datapath_table: self.blob(BlobKind::DVE, dve.datapath, 0)?,
            datapath_size: bytes(dve.datapath),
        };
        kbin.dve_config = place;
        self.put(place, record)
    }

    /// Null only if the definition lacks the key; `[]` gives a record with count 0 (lowering.md §2.1).
    #[inline(never)]
    pub(super) fn carveouts(&mut self, kbin: &mut Kbin, present: bool) -> Result<(), Error> {
        if !present {
            return Ok(());
        }
        let place = self.alloc::<CarveoutSetHdr>(1)?;
        let entries = self.alloc::<Carveout>(self.counts.carveouts)?;
        let subject = self.subject;
        for (index, carveout) in (0..).zip(subject.input.carveouts(subject.sg)) {
            let record = Carveout {
                kind: carveout.kind,
                offset: U64::new(carveout.offset),
                size: U64::new(carveout.size),
                start_partition: U64::new(carveout.start_partition),
                num_partitions: U64::new(carveout.num_partitions),
                ..Carveout::default()
            };
            self.put_nth(entries, index, record)?;
        }
        kbin.sb_carveouts = place;
        self.put(place, CarveoutSetHdr { count: U64::new(self.counts.carveouts) })
    }
}
