//! DMA blocks, each as a digest of what it does, with names in the place of ids.

use crate::container::{hex, text};
use loader_core::error::Error;
use loader_core::manifest::{Access, Block, BlockAt, BlockSink, BlockSource, Manifest, Transfer};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// Where a block stands: engine (or `def`), queue, id, function.
pub(super) type BlockKey = (&'static str, String, u32, String);

/// What a block does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockFacts {
    pub(super) transfers: u32,
    pub(super) digest: String,
}

/// Collects the blocks of all subgraphs.
pub(super) struct Blocks<'a> {
    manifest: &'a Manifest<'a>,
    /// Of the block whose transfers are coming.
    hash: Sha256,
    /// The function that the blocks of a subgraph's file and queue are in.
    functions: BTreeMap<(u8, &'static str, u16), String>,
    done: Vec<BTreeMap<BlockKey, BlockFacts>>,
}

/// Text into a digest.
struct Into<'h>(&'h mut Sha256);

impl Write for Into<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text);
        Ok(())
    }
}

impl<'a> Blocks<'a> {
    pub(super) fn new(manifest: &'a Manifest<'_>) -> Self {
        let done = manifest.definitions().map(|_| BTreeMap::new()).collect();
        Self { manifest, hash: Sha256::new(), functions: BTreeMap::new(), done }
    }

    pub(super) fn finish(self) -> Vec<BTreeMap<BlockKey, BlockFacts>> {
        self.done
    }

    /// A walk, and the name of its variable instead of the id.
    fn access(&mut self, at: BlockAt, access: &Access) {
        let definition = self.manifest.definition(at.subgraph.into());
        let name = definition.and_then(|definition| definition.var(access.var)).map(|variable| variable.name);
        // Writing into a digest cannot fail.
        let _ = write!(Into(&mut self.hash), "{name:?} {:?};", anonymous(access));
    }
}

/// The walk alone, whatever variable it goes through.
const fn anonymous(access: &Access) -> Access {
    let mut walk = *access;
    walk.var = 0;
    walk
}

fn source(source: BlockSource) -> &'static str {
    match source {
        BlockSource::Definition => "def",
        BlockSource::Engine(engine) => engine.key(),
    }
}

impl BlockSink for Blocks<'_> {
    fn transfer(&mut self, at: BlockAt, transfer: &Transfer<'_>) -> Result<(), Error> {
        self.access(at, &transfer.to);
        for from in transfer.from {
            self.access(at, from);
        }
        let rest = Transfer { to: anonymous(&transfer.to), from: &[], ..*transfer };
        let _ = write!(Into(&mut self.hash), "{rest:?}");
        Ok(())
    }

    fn block_end(&mut self, at: BlockAt, block: &Block<'_>) -> Result<(), Error> {
        let definition = self.manifest.definition(at.subgraph.into());
        let queue = definition.and_then(|definition| definition.queue(block.queue.into()));
        let queue = queue.map_or_else(String::new, |queue| text(queue.name));
        let own = Block { id: 0, queue: 0, ..*block };
        let _ = write!(Into(&mut self.hash), "{own:?}");
        let digest = hex(&std::mem::take(&mut self.hash).finalize());
        let facts = BlockFacts { transfers: block.transfers, digest };
        let source = source(at.source);
        let function = self.functions.entry((at.subgraph, source, block.queue)).or_default();
        if !block.function_start.is_empty() {
            *function = text(block.function_start);
        }
        let function = function.clone();
        if let Some(blocks) = self.done.get_mut(usize::from(at.subgraph)) {
            blocks.insert((source, queue, block.id, function), facts);
        }
        Ok(())
    }
}
