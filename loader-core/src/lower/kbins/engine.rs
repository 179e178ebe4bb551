//! Engines, activation sets and DVE tables of a kbin.

use super::KbinView;
use crate::arch::Engine;
use crate::lower::record::{ActSet, Blob, DveCfg, EngineHdr};

/// One engine's program.
#[derive(Clone, Copy, Debug)]
pub struct EngineView<'m> {
    /// Its header.
    pub header: &'m EngineHdr,
    /// Its bytes; `None` if it has none.
    pub blob: Option<&'m Blob>,
    /// Whole 64-byte slots.
    pub ninstr: u32,
}

/// One activation function set.
#[derive(Clone, Copy, Debug)]
pub struct ActSetView<'m> {
    /// Its record.
    pub record: &'m ActSet,
    /// Bucket table.
    pub bkt: Option<&'m Blob>,
    /// Control table.
    pub ctl: Option<&'m Blob>,
}

/// The DVE tables; an absent one is `None`.
#[derive(Clone, Copy, Debug)]
pub struct DveTables<'m> {
    /// Opcode table.
    pub opcode: Option<&'m Blob>,
    /// Fast control table.
    pub control_fast: Option<&'m Blob>,
    /// Slow control table.
    pub control_slow: Option<&'m Blob>,
    /// Datapath table.
    pub datapath: Option<&'m Blob>,
}

impl<'m> KbinView<'m> {
    /// The program of an engine.
    #[must_use]
    pub fn engine(&self, engine: Engine) -> Option<EngineView<'m>> {
        let header = self.engine_hdr(engine)?;
        Some(EngineView { header, blob: self.blob(header.blob), ninstr: header.ninstr.get() })
    }

    /// The bytes of an engine's program; `None` if it has none.
    #[must_use]
    #[cfg_attr(small, inline(never))]
    pub fn program(&self, engine: Engine) -> Option<&'m Blob> {
        self.blob(self.engine_hdr(engine)?.blob)
    }

    /// Activation function sets in list order.
    pub fn act_sets(&self) -> impl Iterator<Item = ActSetView<'m>> + use<'m> {
        let this = *self;
        let sets: &'m [ActSet] = self.array(self.kbin.act_function_sets.sets);
        sets.iter().map(move |record| ActSetView {
            record,
            bkt: this.blob(record.bkt_tbl),
            ctl: this.blob(record.ctl_tbl),
        })
    }

    /// The DVE record; `None` if the engine file has no tables.
    #[must_use]
    pub fn dve_record(&self) -> Option<&'m DveCfg> {
        self.head.get(self.kbin.dve_config)
    }

    /// DVE tables; `None` if the engine file has none.
    #[must_use]
    pub fn dve(&self) -> Option<DveTables<'m>> {
        let cfg = self.dve_record()?;
        Some(DveTables {
            opcode: self.blob(cfg.opcode_table),
            control_fast: self.blob(cfg.control_fast_table),
            control_slow: self.blob(cfg.control_slow_table),
            datapath: self.blob(cfg.datapath_table),
        })
    }
}
