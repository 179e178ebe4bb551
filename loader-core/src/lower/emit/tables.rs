//! Activation sets, DVE tables, carve-outs (lowering.md §5.6, §5.7, §5.10).

use super::Emit;
use super::pools::Pool;
use crate::arch::Engine;
use crate::error::{Error, LowerCode};
use crate::lower::input::{ActSetIn, BlobIn, FileIn, Input, Subgraph};
use crate::lower::measure::{ACT_SETS_MOST, CARVEOUTS_MOST};
use crate::lower::record::{ActSet, BlobKind, Carveout, CarveoutSetHdr, CarveoutType, DveCfg};
use crate::manifest::BlockSource;
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
    pub(super) fn act_sets(&mut self, subgraph: &Subgraph<'_>) -> Result<(), Error> {
        let subject = self.subject;
        let sets = self.open(Pool::ActSets);
        let act = FileIn::Part(BlockSource::Engine(Engine::Act));
        for (index, set) in (0..).zip(subject.input.act_sets(subject.sg)) {
            self.act_set(&set).map_err(|error| subject.within(error, act, index))?;
        }
        if sets.count() > 0 {
            let group = &mut self.kbin.act_function_sets;
            (group.sets, group.num_function_sets) = (sets, U64::new(u64::from(sets.count())));
            group.act_tbl_semaphore = U32::new(subgraph.act_semaphore);
        }
        Ok(())
    }

    fn act_set(&mut self, set: &ActSetIn<'_>) -> Result<(), Error> {
        let subject = self.subject;
        subject.short_name(set.name)?;
        let limit = |len| subject.limit("bytes of an activation table", len, u64::from(u32::MAX));
        limit(set.bkt.len).and_then(|()| limit(set.ctl.len))?;
        let bytes = |blob: BlobIn| U32::new(u32::try_from(blob.len).unwrap_or(u32::MAX));
        let bkt = self.blob(BlobKind::ACT_BKT, set.bkt, 0);
        let ctl = self.blob(BlobKind::ACT_CTL, set.ctl, 0);
        if let Some(record) = self.next::<ActSet>(Pool::ActSets) {
            record.name.set(set.name);
            (record.bkt_tbl, record.bkt_sz) = (bkt, bytes(set.bkt));
            (record.ctl_tbl, record.ctl_sz) = (ctl, bytes(set.ctl));
        }
        let sets = self.found.used(Pool::ActSets);
        subject.limit("activation function sets", u64::from(sets), ACT_SETS_MOST)
    }

    #[inline(never)]
    pub(super) fn dve(&mut self) -> Result<(), Error> {
        let subject = self.subject;
        let Some(dve) = subject.input.dve(subject.sg) else { return Ok(()) };
        if dve.unplaced_control {
            let dve = FileIn::Part(BlockSource::Engine(Engine::Dve));
            return Err(subject.fail_in(LowerCode::DveControlTable, dve));
        }
        let place = self.alloc::<DveCfg>(1);
        self.kbin.dve_config = place;
        let mut rest = place.off.get();
        for table in dve.tables {
            let id = self.blob(BlobKind::DVE, table, 0);
            self.fill(rest, id.as_bytes());
            self.fill(rest.saturating_add(DVE_SIZE), U64::new(table.len).as_bytes());
            rest = rest.saturating_add(DVE_SLOT);
        }
        Ok(())
    }

    /// Null only if the definition lacks the key; `[]` gives a record with count 0 (lowering.md §2.1).
    #[inline(never)]
    pub(super) fn carveouts(&mut self, subgraph: &Subgraph<'_>) -> Result<(), Error> {
        let subject = self.subject;
        if !I::CHECKED {
            subject.check_carveouts(subgraph)?;
        }
        if !subgraph.has_carveouts {
            return Ok(());
        }
        let header = self.alloc::<CarveoutSetHdr>(1);
        self.open(Pool::Carveouts);
        self.kbin.sb_carveouts = header;
        for carveout in subject.input.carveouts(subject.sg) {
            let index = self.found.used(Pool::Carveouts);
            if !I::CHECKED && carveout.kind != CarveoutType::EVTACCEL {
                let fault = subject.fail(LowerCode::CarveoutType).element(index);
                return Err(fault.numbers(u64::from(carveout.kind.get()), 1));
            }
            if let Some(record) = self.next::<Carveout>(Pool::Carveouts) {
                record.kind = carveout.kind;
                record.offset = U64::new(carveout.offset);
                record.size = U64::new(carveout.size);
                record.start_partition = U64::new(carveout.start_partition);
                record.num_partitions = U64::new(carveout.num_partitions);
            }
        }
        let count = u64::from(self.found.used(Pool::Carveouts));
        self.put(header, &CarveoutSetHdr { count: U64::new(count) });
        subject.limit("carve-outs", count, CARVEOUTS_MOST)
    }
}
