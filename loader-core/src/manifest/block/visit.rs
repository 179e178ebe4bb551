//! Handing the transfers of a finished manifest to a sink: the second reading of the block files.

use super::super::Manifest;
use super::super::definition::Definition;
use super::walk::{BlockUse, BlockWalk};
use super::{BlockAt, BlockSink, BlockSource, SOURCES, SOURCES_MARIANA, Transfer};
use crate::error::{Error, Stage};
use crate::json::{self, Cutter, Element, Kind, Path, Want};
use crate::layout::SMALL;
use crate::source::{MemberId, Visitor};

/// Visits block files in archive order and feeds what they hold to the sink.
pub(crate) struct BlockVisitor<'v, 'b, 'm, S> {
    manifest: Manifest<'m>,
    cutter: &'v mut Cutter<'b>,
    file: Delivery<'v, 'm, S>,
    /// A file that several places name is read once in each round.
    round: u32,
    again: bool,
}

impl<'v, 'b, 'm, S: BlockSink> BlockVisitor<'v, 'b, 'm, S> {
    pub(crate) const fn new(manifest: Manifest<'m>, cutter: &'v mut Cutter<'b>, sink: &'v mut S) -> Self {
        let at = BlockAt { subgraph: 0, source: BlockSource::Definition, block: 0, index: 0 };
        let used = Deliver { definition: None, at, sink };
        let file = Delivery { walk: BlockWalk::new(), has_dma: false, used };
        Self { manifest, cutter, file, round: 0, again: false }
    }

    /// Goes to the next round; false if every place was read.
    pub(crate) fn next_round(&mut self) -> bool {
        self.round = self.round.saturating_add(1);
        core::mem::take(&mut self.again)
    }
}

impl<S: BlockSink> Visitor for BlockVisitor<'_, '_, '_, S> {
    /// Finds the place that names this member and has blocks, one in each round: they are in the order of subgraphs
    /// and of dispatch.
    fn wants(&mut self, id: MemberId) -> bool {
        self.cutter.restart(Some(id));
        let Self { file: Delivery { walk, has_dma, used }, .. } = self;
        walk.restart();
        (*has_dma, used.definition) = (false, None);
        let mut before = self.round;
        for at in 0..self.manifest.graph_count() {
            let (Some(definition), Ok(subgraph)) = (self.manifest.definition(at), u8::try_from(at)) else {
                continue;
            };
            for source in BlockSource::ALL {
                if definition.block_count(source) == 0 || definition.source_member(source) != Some(id) {
                    continue;
                }
                if used.definition.is_some() {
                    self.again = true;
                    return true;
                }
                if before == 0 {
                    used.definition = Some(definition);
                    (used.at.subgraph, used.at.source) = (subgraph, source);
                }
                before = before.saturating_sub(1);
            }
        }
        used.definition.is_some()
    }

    fn data(&mut self, _: MemberId, _: u64, bytes: &[u8]) -> Result<(), Error> {
        self.cutter.feed(bytes, &mut self.file)
    }

    fn end(&mut self, _: MemberId) -> Result<(), Error> {
        self.cutter.finish(&mut self.file).map(drop)
    }
}

/// The reader of the file that is being read.
struct Delivery<'x, 'm, S> {
    walk: BlockWalk,
    has_dma: bool,
    used: Deliver<'x, 'm, S>,
}

impl<S: BlockSink> json::Reader for Delivery<'_, '_, S> {
    fn value(&mut self, path: &Path<'_>, kind: Kind, offset: u64) -> Result<Want, Error> {
        match path.depth() {
            0 => Ok(Want::Enter),
            1 if path.key(0) == b"dma" && !self.has_dma => {
                self.has_dma = true;
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
    /// The definition that the file belongs to.
    definition: Option<Definition<'m>>,
    /// The file, and the block that is being read.
    at: BlockAt,
    sink: &'x mut S,
}

impl<S: BlockSink> BlockUse for Deliver<'_, '_, S> {
    fn var(&self, name: &[u8]) -> Option<u32> {
        self.definition?.var_id(name)
    }

    fn sources_max(&self) -> usize {
        SOURCES_MARIANA.min(SOURCES)
    }

    fn begin(&mut self, ordinal: u32) {
        self.at.block = ordinal;
    }

    fn wants(&self, _: &[u8]) -> bool {
        false
    }

    fn field(&mut self, _: &[u8], _: Element<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn has_transfers(&mut self) {}

    fn transfer(&mut self, index: u32, transfer: &Transfer<'_>) -> Result<(), Error> {
        self.at.index = index;
        self.sink.transfer(self.at, transfer)
    }

    fn fault(&mut self, _: u32, error: Error) -> Result<(), Error> {
        Err(error)
    }

    fn end(&mut self, transfers: u32) -> Result<(), Error> {
        self.at.index = transfers;
        let block = self.definition.and_then(|definition| definition.block(self.at.source, self.at.block));
        let block = block.ok_or_else(|| Error::internal(Stage::Manifest, "a block that was not indexed"))?;
        self.sink.block_end(self.at, &block)
    }
}
