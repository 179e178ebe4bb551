//! The model record of a core with everything it refers to, field by field with offsets and arena addresses.

use super::record::reference::{ListArm, PointerArm, TableArm};
use super::record::{
    Bind, BlockRec, DMem, FeatureMap, Feed, Image, InstrAddrs, Model, Opaque, QueueCount, RingRec, Target,
    VarPlace,
};
use super::view::CoreView;
use crate::lower::print::Sheet;
use crate::lower::record::{Lines, MrType, PatchEntry, Path, Walk};
use core::fmt;
use core::mem::offset_of;
use zerocopy::transmute;

/// A variable whose union prints as what its class makes of it (staging.md §5.7).
struct Variable<'m>(&'m VarPlace);

/// Passes the fields of a variable on, with its union in place of the first one of those that a placed one has.
struct Union<'a> {
    place: &'a VarPlace,
    path: &'a Path<'a>,
    lines: &'a mut dyn Lines,
}

impl Walk for Variable<'_> {
    fn walk(&self, at: usize, path: &Path<'_>, lines: &mut dyn Lines) -> fmt::Result {
        match self.0.mr_type {
            MrType::PTR | MrType::LIST | MrType::PTR_TABLE => {
                self.0.walk(at, path, &mut Union { place: self.0, path: &path.field("arm"), lines })
            }
            _ => self.0.walk(at, path, lines),
        }
    }
}

impl Lines for Union<'_> {
    fn line(&mut self, at: usize, path: &Path<'_>, value: &dyn fmt::Display) -> fmt::Result {
        const FIRST: usize = offset_of!(VarPlace, arm);
        const NEXT: usize = offset_of!(VarPlace, dtype);
        let arm = self.place.arm;
        match (at, self.place.mr_type) {
            (FIRST, MrType::PTR) => {
                let arm: PointerArm = transmute!(arm);
                arm.walk(at, self.path, self.lines)
            }
            (FIRST, MrType::LIST) => {
                let arm: ListArm = transmute!(arm);
                arm.walk(at, self.path, self.lines)
            }
            (FIRST, _) => {
                let arm: TableArm = transmute!(arm);
                arm.walk(at, self.path, self.lines)
            }
            (FIRST..NEXT, _) => Ok(()),
            _ => self.lines.line(at, path, value),
        }
    }
}

impl fmt::Display for CoreView<'_> {
    /// Every record of the model under its arena address, one field per line. Names are the kbin's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.kbin.subgraph_name().escape_ascii();
        writeln!(f, "model of core {} \"{name}\"", self.core().0)?;
        let mut sheet = Sheet::new(self.head(), f);
        let (model, feeds) = self.places();
        sheet.each("model", model, |sheet, model: &Model| {
            sheet.all::<DMem>("block", model.allocator)?;
            sheet.all_as("variable", model.variables, Variable)?;
            sheet.all::<RingRec>("ring", model.rings)?;
            sheet.each("dma_block", model.blocks, |sheet, block: &BlockRec| {
                sheet.all::<QueueCount>("count", block.counts)
            })?;
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
