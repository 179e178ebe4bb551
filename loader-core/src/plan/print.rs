//! The model record of a core with everything it refers to, field by field with offsets and arena addresses.

use super::record::{
    Bind, BlockRec, DMem, FeatureMap, Feed, Image, InstrAddrs, Model, Opaque, RingRec, Target, VarPlace,
};
use super::view::CoreView;
use crate::lower::print::Sheet;
use crate::lower::record::PatchEntry;
use core::fmt;

impl fmt::Display for CoreView<'_> {
    /// Every record of the model under its arena address, one field per line. Names are the kbin's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.kbin.subgraph_name().escape_ascii();
        writeln!(f, "model of core {} \"{name}\"", self.core().0)?;
        let mut sheet = Sheet::new(self.head(), f);
        let (model, feeds) = self.places();
        sheet.each("model", model, |sheet, model: &Model| {
            sheet.all::<DMem>("block", model.allocator)?;
            sheet.all::<VarPlace>("variable", model.variables)?;
            sheet.all::<RingRec>("ring", model.rings)?;
            sheet.all::<BlockRec>("dma_block", model.blocks)?;
            sheet.each("image", model.images, |sheet, image: &Image| {
                sheet.all::<PatchEntry>("patch", image.patches.entries)
            })?;
            for addrs in model.addrs {
                sheet.all::<InstrAddrs>("addrs", addrs)?;
            }
            sheet.all::<Bind>("bind", model.binds)?;
            sheet.all::<Bind>("resolved", model.resolved)?;
            sheet.all::<Opaque>("opaque", model.opaques)?;
            sheet.each("target", model.targets, |sheet, target: &Target| sheet.text("name", target.name))?;
            sheet.all::<FeatureMap>("input", model.inputs.items)?;
            sheet.all::<FeatureMap>("output", model.outputs.items)
        })?;
        if self.kbin.index() == 0 { sheet.all::<Feed>("feed", feeds) } else { Ok(()) }
    }
}
