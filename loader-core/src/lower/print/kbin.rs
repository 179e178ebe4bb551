//! A kbin with everything it refers to.

use super::{Sheet, record};
use crate::arena::ArenaRef;
use crate::lower::kbins::{KbinView, behind};
use crate::lower::record::{
    ActSet, Ap, Blob, BlockTail, Carveout, CarveoutSetHdr, DebugMd, Desc, DescFlags, Dim, DveCfg, EngineHdr,
    ExportDesc, Extra, FmaExtra, Group, Kbin, MemRef, MemRefSetHdr, MinMaxExtra, Op, Pair, QueueHdr,
    RingInstHdr, SrcTgtSet, SubgraphEntry, Subgroup, TransposeExtra, UcodeFn, UcodeLib,
};
use core::fmt;
use zerocopy::little_endian::U32;

impl fmt::Display for KbinView<'_> {
    /// Every record of the kbin under its arena address, one field per line. Descriptors print in their compact form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kbin {} \"{}\"", self.index(), self.subgraph_name().escape_ascii())?;
        let mut sheet = Sheet::new(self.head(), f);
        let kbin = *self.record();
        sheet.each("entry", self.entry_ref(), |sheet, entry: &SubgraphEntry| {
            sheet.text("name", entry.name)?;
            sheet.text("dir", entry.dir)?;
            sheet.all::<Kbin>("kbin", entry.kbin)
        })?;
        self.engines(&kbin, &mut sheet)?;
        for place in kbin.dma {
            sheet.each("queue", place, |sheet, queue: &QueueHdr| queue_of(place, queue, sheet))?;
        }
        self.variables(&kbin, &mut sheet)?;
        tables(&kbin, &mut sheet)?;
        collectives(&kbin, &mut sheet)?;
        sheet.each("ucode", kbin.ucode_lib_set.items, |sheet, library: &UcodeLib| {
            sheet.all::<UcodeFn>("function", library.function_set.functions)
        })
    }
}

fn one(off: U32) -> ArenaRef {
    ArenaRef { off, len: 1.into() }
}

/// Instances of a queue with their descriptors.
fn queue_of(place: ArenaRef, queue: &QueueHdr, sheet: &mut Sheet<'_, '_, '_>) -> fmt::Result {
    let instances = behind::<QueueHdr>(place, queue.ring_instance_count.get());
    sheet.each("instance", instances, |sheet, &instance: &ArenaRef| {
        sheet.each("ring", instance, |sheet, ring: &RingInstHdr| sheet.each("desc", ring.desc_ref(), desc))
    })
}

fn desc(sheet: &mut Sheet<'_, '_, '_>, desc: &Desc) -> fmt::Result {
    for (name, access) in [("to", desc.to), ("from", desc.from)] {
        sheet.each(name, access, |sheet, ap: &Ap| sheet.all::<Dim>("dim", ap.dims))?;
    }
    sheet.text("function", desc.fname)?;
    if !desc.extra.is_null() {
        extra(sheet, desc)?;
    }
    if !desc.flags.has(DescFlags::TAIL) {
        return Ok(());
    }
    let place = one(desc.semaphore);
    sheet.each("tail", place, |sheet, tail: &BlockTail| {
        sheet.numbers("remote_semaphores", behind::<BlockTail>(place, tail.count.get()))
    })
}

fn extra(sheet: &mut Sheet<'_, '_, '_>, desc: &Desc) -> fmt::Result {
    let place = one(desc.extra.off);
    match desc.operation() {
        Op::FMA => sheet.each("fma", place, |sheet, fma: &FmaExtra| {
            sheet.numbers("factors", behind::<FmaExtra>(place, fma.count.get()))
        }),
        Op::MIN | Op::MAX => sheet.all::<MinMaxExtra>("min_max", place),
        _ => sheet.all::<TransposeExtra>("transpose", place),
    }
}

fn tables(kbin: &Kbin, sheet: &mut Sheet<'_, '_, '_>) -> fmt::Result {
    sheet.all::<ActSet>("act_set", kbin.act_function_sets.sets)?;
    sheet.all::<DveCfg>("dve", kbin.dve_config)?;
    let place = kbin.sb_carveouts;
    sheet.each("carveouts", place, |sheet, set: &CarveoutSetHdr| {
        let count = u32::try_from(set.count.get()).unwrap_or(0);
        sheet.all::<Carveout>("carveout", behind::<CarveoutSetHdr>(place, count))
    })
}

fn collectives(kbin: &Kbin, sheet: &mut Sheet<'_, '_, '_>) -> fmt::Result {
    sheet.each("group", kbin.replica_groups.items, |sheet, group: &Group| {
        sheet.each("subgroup", group.subgroups.items, |sheet, ranks: &Subgroup| {
            sheet.numbers("participants", ranks.participants.items)
        })
    })?;
    sheet.each("pair_set", kbin.src_target_pairs.items, |sheet, set: &SrcTgtSet| {
        sheet.all::<Pair>("pair", set.pairs)
    })
}

impl KbinView<'_> {
    fn engines(&self, kbin: &Kbin, sheet: &mut Sheet<'_, '_, '_>) -> fmt::Result {
        for place in kbin.engine {
            sheet.all::<EngineHdr>("engine", place)?;
        }
        self.engine_hdrs().next().map_or(Ok(()), |first| sheet.all::<Blob>("blob", first.blobs))
    }

    fn variables(&self, kbin: &Kbin, sheet: &mut Sheet<'_, '_, '_>) -> fmt::Result {
        sheet.all::<MemRefSetHdr>("mem_ref_set", kbin.mem_ref_set)?;
        sheet.each("mem_ref", self.mem_array(), |sheet, var: &MemRef| {
            match var.extra() {
                Extra::None => {}
                Extra::Ptr(arm) => sheet.part("ptr", 136, &arm)?,
                Extra::Virtual(arm) => sheet.part("virtual", 136, &arm)?,
                Extra::List(arm) | Extra::PtrTable(arm) => {
                    sheet.part("list", 136, &arm)?;
                    sheet.numbers("items", arm.items)?;
                }
                Extra::Remote(arm) => sheet.part("remote", 136, &arm)?,
            }
            sheet.text("name", var.name)?;
            sheet.all::<DebugMd>("print", var.dtensor_md)
        })?;
        sheet.numbers("by_name", self.by_name_ref())
    }

    /// Prints a descriptor in the reference's 5456-byte layout.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_export(&self, desc: &Desc, out: &mut dyn fmt::Write) -> fmt::Result {
        let mut export = ExportDesc::default();
        self.export_desc(desc, &mut export);
        write!(out, "{}", record("desc", &export))
    }
}
