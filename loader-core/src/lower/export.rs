//! The reference's 5456-byte descriptor from a compact one (lowering.md §2.5).

use super::kbins::KbinView;
use super::record::{
    Ap, CceFma, CceInfo, CceMinMax, Desc, DescFlags, Dtype, ExportAp, ExportDesc, FmaExtra, MinMaxExtra, Op,
};
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

impl KbinView<'_> {
    /// Writes a descriptor in the reference's layout. References keep their arena offsets.
    pub fn export_desc(&self, desc: &Desc, out: &mut ExportDesc) {
        out.zero();
        out.desc_type = desc.form();
        out.op = desc.operation();
        if let Some(to) = self.to(desc) {
            self.export_ap(to, &mut out.to);
        }
        for (slot, ap) in out.from.0.iter_mut().zip(self.from(desc)) {
            self.export_ap(ap, slot);
        }
        out.num_tiling_dims = U32::new(u32::from(desc.n_tile));
        self.export_info(desc, &mut out.info);
        out.block_id = desc.block_id;
        out.block_end_desc = u8::from(desc.ends_block());
        out.reset_engine_round_robin = u8::from(desc.flags.has(DescFlags::ROUND_ROBIN));
        out.function_name = desc.fname;
        out.priority_class = desc.priority;
    }

    fn export_ap(&self, ap: &Ap, out: &mut ExportAp) {
        out.idx = ap.var_id;
        out.off = ap.off;
        out.num_dims = U32::new(u32::from(ap.ndims));
        out.dtype = Dtype::new(u32::from(ap.dtype));
        for ((size, step), dim) in out.sizes.iter_mut().zip(&mut out.steps).zip(self.dims(ap)) {
            (*size, *step) = (dim.size, dim.step);
        }
    }

    fn export_info(&self, desc: &Desc, out: &mut CceInfo) {
        let bytes = self.extra(desc);
        if desc.operation() == Op::TRANSPOSE {
            // The kept record has the area's length and layout.
            for (to, &from) in out.as_mut_bytes().iter_mut().zip(bytes) {
                *to = from;
            }
            return;
        }
        if !matches!(desc.operation(), Op::FMA | Op::ADD | Op::MIN | Op::MAX) {
            return;
        }
        out.num_sources = U32::new(u32::from(desc.n_from.get()));
        out.num_dests = U32::new(1);
        match desc.operation() {
            Op::FMA => export_fma(bytes, &mut out.arm),
            Op::MIN | Op::MAX => export_min_max(bytes, &mut out.arm),
            _ => {}
        }
    }
}

fn export_fma(bytes: &[u8], out: &mut CceFma) {
    let Ok((header, factors)) = FmaExtra::read_from_prefix(bytes) else { return };
    out.scale_dtype = header.scale_dtype;
    for (slot, factor) in out.scale.iter_mut().zip(factors.chunks_exact(4)) {
        *slot = U32::read_from_bytes(factor).unwrap_or(U32::ZERO);
    }
}

fn export_min_max(bytes: &[u8], out: &mut CceFma) {
    let Ok((kept, _)) = MinMaxExtra::read_from_prefix(bytes) else { return };
    let arm = CceMinMax {
        use_constant: kept.use_constant,
        constant_dtype: kept.constant_dtype,
        constant: kept.constant,
        ..CceMinMax::default()
    };
    for (to, &from) in out.as_mut_bytes().iter_mut().zip(arm.as_bytes()) {
        *to = from;
    }
}
