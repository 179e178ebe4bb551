//! The members that one hop reads, in archive order, and the reading itself.
//!
//! A member that the payload can lend is read from there; only if one is left does a pass over the
//! file follow. A member that several subgraphs name is read once for each.

use super::block::BlockSource;
use super::build::{Build, Document, With, broken, full, id, is_json_fault};
use super::definition::reader::DefReader;
use super::definition::ucode::UcodeReader;
use super::engine::act_info::ActInfoReader;
use super::engine::reader::EngineReader;
use super::npy::NpyHead;
use super::record::{DefRecord, VarRecord};
use super::verdict::{Rank, Section};
use crate::arena::ArenaRef;
use crate::error::Error;
use crate::json::{self, Cutter};
use crate::sort::heap_sort;
use crate::source::{MemberId, Payload, Visitor};
use zerocopy::big_endian::{U16, U32};
use zerocopy::little_endian::U64;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// What a member is read as. The numbers stand in [`Want::kind`].
pub(super) mod kind {
    pub(in crate::manifest) const DEFINITION: u8 = 0;
    pub(in crate::manifest) const UCODE: u8 = 1;
    /// Blocks of the source at position `item` of `BlockSource::ALL`.
    pub(in crate::manifest) const BLOCKS: u8 = 2;
    pub(in crate::manifest) const ACT_INFO: u8 = 3;
    /// The `.npy` of the variable at position `item`.
    pub(in crate::manifest) const NPY: u8 = 4;
}

/// One reading that is due.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct Want {
    // The order of wants is that of these bytes, so the highest comes first.
    member: U32,
    graph: U16,
    kind: u8,
    pad: u8,
    item: U32,
    done: U32,
}

impl Want {
    fn source(&self) -> BlockSource {
        let at = usize::try_from(self.item.get()).unwrap_or(usize::MAX);
        BlockSource::ALL.get(at).copied().unwrap_or(BlockSource::Definition)
    }

    /// Where this reading stands in the reference's order.
    fn rank(&self) -> Rank {
        let graph = self.graph.get();
        match (self.kind, self.source()) {
            (kind::DEFINITION, _) => Rank::new(graph, Section::Document),
            (kind::UCODE, _) => Rank::new(graph, Section::Ucode),
            (kind::NPY, _) => Rank::new(graph, Section::Variables).item(self.item.get(), 11),
            (_, BlockSource::Definition) => Rank::new(graph, Section::Dma),
            (_, BlockSource::Engine(engine)) => Rank::new(graph, Section::Engine(engine)),
        }
    }
}

/// A list of wants at the end of the arena's head.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wants {
    place: ArenaRef,
}

// Records of 16 bytes follow each other without gaps, so a list grows one by one.
const _: () = assert!(size_of::<Want>() == 16);

impl Wants {
    /// Enters a member to read as `kind` says, for `item` of subgraph `graph`.
    #[cfg_attr(small, inline(never))]
    pub(super) fn push(
        &mut self,
        build: &mut Build<'_, '_>,
        graph: u16,
        kind: u8,
        member: u32,
        item: u32,
    ) -> Result<(), Error> {
        let place = build.arena.alloc::<Want>(1).map_err(full)?;
        if let Some(slot) = build.arena.get_mut::<Want>(place) {
            (slot.member, slot.graph, slot.kind) = (U32::new(member), U16::new(graph), kind);
            (slot.item, slot.done) = (U32::new(item), U32::ZERO);
        }
        if self.place.is_null() {
            self.place.off = place.off;
        }
        self.place.len.set(self.place.len.get().saturating_add(1));
        Ok(())
    }

    /// Puts the list in archive order.
    pub(super) fn sort(&self, build: &mut Build<'_, '_>) {
        if let Some(all) = build.arena.slice_mut::<Want>(self.place) {
            heap_sort(all, |a, b| a.as_bytes().cmp(b.as_bytes()));
        }
    }

    fn all<'x>(&self, build: &'x Build<'_, '_>) -> &'x [Want] {
        build.arena.slice::<Want>(self.place).unwrap_or(&[])
    }

    fn get<'x>(&self, build: &'x Build<'_, '_>, at: usize) -> Option<&'x Want> {
        self.all(build).get(at)
    }

    /// The first reading of that member that is due.
    fn due(&self, build: &Build<'_, '_>, member: MemberId) -> Option<usize> {
        let all = self.all(build);
        let from = all.partition_point(|want| want.member.get() < member.0);
        let rest = all.get(from..)?;
        let at = rest.iter().position(|want| want.done.get() == 0 || want.member.get() != member.0)?;
        rest.get(at).filter(|want| want.member.get() == member.0)?;
        from.checked_add(at)
    }

    fn done(&self, build: &mut Build<'_, '_>, at: usize) {
        let all = build.arena.slice_mut::<Want>(self.place);
        if let Some(want) = all.and_then(|all| all.get_mut(at)) {
            want.done = U32::new(1);
        }
    }

    /// How many readings are due.
    fn left(&self, build: &Build<'_, '_>) -> usize {
        self.all(build).iter().filter(|want| want.done.get() == 0).count()
    }
}

/// The reader of the document that streams by.
#[allow(clippy::large_enum_variant, reason = "one of these exists, on the stack, and there is no heap")]
enum Doc {
    /// Nothing, or a document that is of no use after a fault.
    None,
    Definition(DefReader),
    Ucode(UcodeReader),
    Blocks(EngineReader),
    ActInfo(ActInfoReader),
    Npy(NpyHead),
}

/// Each reader is made in a frame of its own, because all are large.
impl Doc {
    fn begin(&mut self, want: Want, def: &DefRecord) {
        match want.kind {
            kind::DEFINITION => self.definition(want.graph.get(), def),
            kind::UCODE => self.ucode(want.graph.get(), def),
            kind::ACT_INFO => self.act_info(),
            kind::NPY => *self = Self::Npy(NpyHead::new()),
            _ => self.blocks(want, def),
        }
    }

    #[inline(never)]
    fn clear(&mut self) {
        *self = Self::None;
    }

    fn document(&mut self) -> Option<&mut dyn Document> {
        match self {
            Self::None | Self::Npy(_) => None,
            Self::Definition(reader) => Some(reader),
            Self::Ucode(reader) => Some(reader),
            Self::Blocks(reader) => Some(reader),
            Self::ActInfo(reader) => Some(reader),
        }
    }

    #[inline(never)]
    fn definition(&mut self, graph: u16, def: &DefRecord) {
        *self = Self::Definition(DefReader::new(graph, def));
    }

    #[inline(never)]
    fn ucode(&mut self, graph: u16, def: &DefRecord) {
        *self = Self::Ucode(UcodeReader::new(graph, def));
    }

    #[inline(never)]
    fn act_info(&mut self) {
        *self = Self::ActInfo(ActInfoReader::new());
    }

    #[inline(never)]
    fn blocks(&mut self, want: Want, def: &DefRecord) {
        *self = Self::Blocks(EngineReader::new(want.graph.get(), want.source(), def));
    }
}

/// One hop while it lasts.
pub(super) struct Hop<'x, 'b, 'a, 'm> {
    build: &'x mut Build<'a, 'm>,
    cutter: &'x mut Cutter<'b>,
    wants: Wants,
    doc: &'x mut Doc,
    /// The reading that lasts, and its position in the list.
    want: Want,
    at: usize,
}

/// Reads all members of the list.
#[inline(never)]
pub(super) fn read<'m, P: Payload<'m>>(
    payload: &mut P,
    build: &mut Build<'_, 'm>,
    cutter: &mut Cutter<'_>,
    wants: Wants,
) -> Result<(), Error> {
    let mut doc = Doc::None;
    let mut hop = Hop { build, cutter, wants, doc: &mut doc, want: Want::new_zeroed(), at: 0 };
    let count = usize::try_from(wants.place.count()).unwrap_or(usize::MAX);
    for at in 0..count {
        let Some(want) = wants.get(hop.build, at).filter(|want| want.done.get() == 0) else { continue };
        let member = id(want.member.get());
        let Some(bytes) = payload.borrow(member) else { continue };
        hop.open(at)?;
        hop.data(member, 0, bytes)?;
        hop.end(member)?;
    }
    let mut left = wants.left(hop.build);
    while left > 0 {
        payload.visit_any(&mut hop)?;
        let before = core::mem::replace(&mut left, wants.left(hop.build));
        if left == before {
            return Err(broken("a member was not visited"));
        }
    }
    Ok(())
}

impl Hop<'_, '_, '_, '_> {
    /// A reading begins. What can no longer change the verdict is not read.
    #[inline(never)]
    fn open(&mut self, at: usize) -> Result<(), Error> {
        let want = *self.wants.get(self.build, at).ok_or_else(|| broken("a want"))?;
        let graph = want.graph.get();
        (self.want, self.at) = (want, at);
        self.doc.clear();
        self.build.member = Some(id(want.member.get()));
        self.build.subgraph = u8::try_from(graph).ok();
        self.cutter.restart(self.build.member);
        if self.build.verdict.settled_before(want.rank()) {
            return Ok(());
        }
        if want.kind != kind::NPY && !self.fits() {
            return Ok(());
        }
        let def = self.build.def(graph.into()).ok_or_else(|| broken("a definition"))?;
        self.doc.begin(want, def);
        Ok(())
    }

    /// E120: whether the document is small enough to be read.
    fn fits(&mut self) -> bool {
        let Some(member) = self.build.table.get(id(self.want.member.get())) else { return false };
        match json::check_size(member.name, member.size, &self.build.limits) {
            Ok(()) => true,
            Err(error) => {
                self.build.offer(self.want.rank(), error);
                false
            }
        }
    }

    /// Sorts out what a reader returned: a fault of the document ends the document, all else ends S2.
    fn outcome(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        match result {
            Err(error) if is_json_fault(&error) => {
                if self.want.kind != kind::ACT_INFO {
                    self.build.offer(self.want.rank(), error);
                }
                self.doc.clear();
                Ok(())
            }
            Err(error) => Err(self.build.placed(error)),
            Ok(()) => Ok(()),
        }
    }

    #[inline(never)]
    fn finish(&mut self) -> Result<(), Error> {
        if let Doc::Npy(head) = self.doc {
            let head = *head;
            self.doc.clear();
            return self.finish_npy(head);
        }
        let Self { build, cutter, doc, .. } = self;
        let Some(document) = doc.document() else { return Ok(()) };
        let result = With { document, build }.finish(cutter);
        if result.is_ok() {
            self.keep()?;
        }
        self.outcome(result)?;
        self.doc.clear();
        Ok(())
    }

    /// Enters what the document said into the definition's record. The documents stay where they are: they
    /// are large.
    fn keep(&mut self) -> Result<(), Error> {
        let def = self.build.def_mut(self.want.graph.get().into()).ok_or_else(|| broken("a definition"))?;
        match self.doc {
            Doc::Definition(reader) => *def = reader.def,
            Doc::Ucode(reader) => *def = reader.def,
            Doc::ActInfo(reader) => def.act_infos = reader.sets,
            _ => {}
        }
        Ok(())
    }

    /// Gives the payload window to every variable that names this member.
    #[inline(never)]
    fn finish_npy(&mut self, head: NpyHead) -> Result<(), Error> {
        let want = self.want;
        let member = self.build.table.get(id(want.member.get())).ok_or_else(|| broken("a member"))?;
        let window = head.payload(member.size, member.name);
        let mut at = self.at;
        while let Some(&next) = self.wants.get(self.build, at) {
            if next.member != want.member || next.kind != kind::NPY {
                break;
            }
            match window {
                Ok(offset) => self.window(next, offset, member.size)?,
                Err(error) => self.build.offer(next.rank(), error.element(next.item.get())),
            }
            self.wants.done(self.build, at);
            at = at.saturating_add(1);
        }
        Ok(())
    }

    #[inline(never)]
    fn window(&mut self, want: Want, offset: u64, size: u64) -> Result<(), Error> {
        let vars = self.build.def(want.graph.get().into()).ok_or_else(|| broken("a definition"))?.vars;
        let record = vars.get_mut::<VarRecord>(self.build.arena, want.item.get());
        let record = record.ok_or_else(|| broken("a constant"))?;
        record.a = U64::new(offset);
        record.b = U64::new(size.saturating_sub(offset));
        Ok(())
    }
}

impl Visitor for Hop<'_, '_, '_, '_> {
    fn wants(&mut self, member: MemberId) -> bool {
        // An error of `open` would be one of this library; the reading then simply stays due.
        self.wants.due(self.build, member).is_some_and(|at| self.open(at).is_ok())
    }

    fn data(&mut self, _: MemberId, _: u64, bytes: &[u8]) -> Result<(), Error> {
        let Self { build, cutter, doc, .. } = self;
        if let Doc::Npy(head) = doc {
            head.feed(bytes);
            return Ok(());
        }
        let Some(document) = doc.document() else { return Ok(()) };
        let result = cutter.feed(bytes, &mut With { document, build });
        self.outcome(result)
    }

    fn end(&mut self, _: MemberId) -> Result<(), Error> {
        self.finish()?;
        self.wants.done(self.build, self.at);
        Ok(())
    }
}
