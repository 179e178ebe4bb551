//! Handing the transfers of a finished manifest to a sink: the second reading of the block files.

use super::super::Manifest;
use super::super::definition::Definition;
use super::walk::{BlockUse, BlockWalk};
use super::{BlockAt, BlockSink, BlockSource, SOURCES, SOURCES_MARIANA, Transfer};
use crate::error::{Error, Stage};
use crate::json::{self, Cutter, Element, Kind, Path, Want};
use crate::layout::SMALL;
use crate::source::{MemberId, Visitor};

/// One file with blocks: a definition or an engine file of a subgraph.
#[derive(Clone, Copy, Debug)]
struct Place<'m> {
    definition: Definition<'m>,
    subgraph: u8,
    source: BlockSource,
}

/// Visits block files in archive order and feeds what they hold to the sink.
pub(crate) struct BlockVisitor<'v, 'b, 'm, S> {
    manifest: Manifest<'m>,
    cutter: &'v mut Cutter<'b>,
    sink: &'v mut S,
    /// The file being read.
    place: Option<Place<'m>>,
    walk: BlockWalk,
    has_dma: bool,
    ordinal: u32,
    /// A file that several places name is read once in each round.
    round: u32,
    again: bool,
}

impl<'v, 'b, 'm, S: BlockSink> BlockVisitor<'v, 'b, 'm, S> {
    pub(crate) const fn new(manifest: Manifest<'m>, cutter: &'v mut Cutter<'b>, sink: &'v mut S) -> Self {
        let walk = BlockWalk::new();
        Self { manifest, cutter, sink, place: None, walk, has_dma: false, ordinal: 0, round: 0, again: false }
    }

    /// Goes to the next round; false if every place was read.
    pub(crate) fn next_round(&mut self) -> bool {
        self.round = self.round.saturating_add(1);
        core::mem::take(&mut self.again)
    }

    fn with<R>(&mut self, run: impl FnOnce(&mut Cutter<'b>, &mut Delivery<'_, 'm, S>) -> R) -> Option<R> {
        let Self { cutter, sink, place, walk, has_dma, ordinal, .. } = self;
        let place = place.as_ref()?;
        Some(run(cutter, &mut Delivery { walk, has_dma, used: Deliver { place, sink, ordinal } }))
    }
}

/// The place that names this member and has blocks, so many others before it; and whether another follows. They are
/// in the order of subgraphs and of dispatch.
#[inline(never)]
fn find<'m>(manifest: &Manifest<'m>, id: MemberId, mut before: u32) -> (Option<Place<'m>>, bool) {
    let mut found = None;
    for at in 0..manifest.graph_count() {
        let (Some(definition), Ok(subgraph)) = (manifest.definition(at), u8::try_from(at)) else { continue };
        for source in BlockSource::ALL {
            if definition.block_count(source) == 0 || definition.source_member(source) != Some(id) {
                continue;
            }
            if found.is_some() {
                return (found, true);
            }
            if before == 0 {
                found = Some(Place { definition, subgraph, source });
            }
            before = before.saturating_sub(1);
        }
    }
    (found, false)
}

impl<S: BlockSink> Visitor for BlockVisitor<'_, '_, '_, S> {
    fn wants(&mut self, id: MemberId) -> bool {
        let (place, again) = find(&self.manifest, id, self.round);
        self.place = place;
        self.again |= again;
        self.has_dma = false;
        self.cutter.restart(Some(id));
        self.walk.restart();
        self.place.is_some()
    }

    fn data(&mut self, _: MemberId, _: u64, bytes: &[u8]) -> Result<(), Error> {
        self.with(|cutter, reader| cutter.feed(bytes, reader)).unwrap_or(Ok(()))
    }

    fn end(&mut self, _: MemberId) -> Result<(), Error> {
        self.with(|cutter, reader| cutter.finish(reader).map(drop)).unwrap_or(Ok(()))
    }
}

/// One file's reader.
struct Delivery<'x, 'm, S> {
    walk: &'x mut BlockWalk,
    has_dma: &'x mut bool,
    used: Deliver<'x, 'm, S>,
}

impl<S: BlockSink> json::Reader for Delivery<'_, '_, S> {
    fn value(&mut self, path: &Path<'_>, kind: Kind, offset: u64) -> Result<Want, Error> {
        match path.depth() {
            0 => Ok(Want::Enter),
            1 if path.key(0) == b"dma" && !*self.has_dma => {
                *self.has_dma = true;
                Ok(Want::Enter)
            }
            1 => Ok(Want::Skip),
            _ if SMALL => self.walk.value::<dyn BlockUse>(&mut self.used, path, kind, offset),
            _ => self.walk.value(&mut self.used, path, kind, offset),
        }
    }

    fn taken(&mut self, path: &Path<'_>, value: Element<'_>) -> Result<(), Error> {
        match SMALL {
            true => self.walk.taken::<dyn BlockUse>(&mut self.used, path, value),
            false => self.walk.taken(&mut self.used, path, value),
        }
    }

    fn leave(&mut self, path: &Path<'_>, _: u32, _: u64) -> Result<(), Error> {
        match SMALL {
            true => self.walk.leave::<dyn BlockUse>(&mut self.used, path),
            false => self.walk.leave(&mut self.used, path),
        }
    }
}

/// The use of a walk that delivers.
struct Deliver<'x, 'm, S> {
    place: &'x Place<'m>,
    sink: &'x mut S,
    ordinal: &'x mut u32,
}

impl<S: BlockSink> Deliver<'_, '_, S> {
    fn at(&self, index: u32) -> BlockAt {
        let Place { subgraph, source, .. } = *self.place;
        BlockAt { subgraph, source, block: *self.ordinal, index }
    }
}

impl<S: BlockSink> BlockUse for Deliver<'_, '_, S> {
    fn var(&self, name: &[u8]) -> Option<u32> {
        self.place.definition.var_id(name)
    }

    fn sources_max(&self) -> usize {
        SOURCES_MARIANA.min(SOURCES)
    }

    fn begin(&mut self, ordinal: u32) {
        *self.ordinal = ordinal;
    }

    fn wants(&self, _: &[u8]) -> bool {
        false
    }

    fn field(&mut self, _: &[u8], _: Element<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn has_transfers(&mut self) {}

    fn transfer(&mut self, index: u32, transfer: &Transfer<'_>) -> Result<(), Error> {
        self.sink.transfer(self.at(index), transfer)
    }

    fn fault(&mut self, _: u32, error: Error) -> Result<(), Error> {
        Err(error)
    }

    fn end(&mut self, transfers: u32) -> Result<(), Error> {
        let block = self.place.definition.block(self.place.source, *self.ordinal);
        let block = block.ok_or_else(|| Error::internal(Stage::Manifest, "a block that was not indexed"))?;
        self.sink.block_end(self.at(transfers), &block)
    }
}
