//! Files in memory, and the stages over them: in pieces as the inflater hands them out, or streamed.

use anyhow::{Context, Result, anyhow};
use loader_core::arena::Arena;
use loader_core::container::{Layer, Resident, Streamed, Workspace, scan, unpack};
use loader_core::error::{Error, Ignored};
use loader_core::limits::Limits;
use loader_core::lower::lower;
use loader_core::manifest::{BUFFER_BYTES, BlockSource, Manifest, parse};
use loader_core::policy::Policy;
use loader_core::source::Payload;
use loader_std::container::VecStore;
use loader_std::file::Buffers;
use neffload_tests::payload::Chunked;
use std::fs;
use std::path::Path;

use super::run::{Cost, closure};

/// Bytes of a piece: what one turn of the inflater gives at most.
const PIECE: usize = 32 << 10;
/// Room for the largest of these files.
const ARENA: usize = 256 << 20;
/// Bytes of a file that a stream reads at a time.
const INPUT: usize = 2048;
/// Bytes for long member names.
const NAMES: usize = 768;

/// Everything but the arena that a streamed S2 works with, in bytes.
pub(super) const STREAM_BUFFERS: usize = INPUT + NAMES + size_of::<Layer>() + BUFFER_BYTES;

/// What the manifests hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) variables: u64,
    pub(super) blocks: u64,
    pub(super) transfers: u64,
}

impl Counts {
    pub(super) const fn elements(&self) -> u64 {
        self.variables + self.blocks + self.transfers
    }

    fn of(manifest: &Manifest<'_>) -> Self {
        let mut counts = Self::default();
        for definition in manifest.definitions() {
            counts.variables += u64::from(definition.var_count());
            for source in BlockSource::ALL {
                counts.blocks += u64::from(definition.block_count(source));
                counts.transfers += u64::from(definition.transfer_count(source));
            }
        }
        counts
    }
}

/// A file in memory, and memory to work in that is made once, so that its pages are no part of a measurement.
pub(super) struct Bench {
    file: Vec<u8>,
    room: Vec<u8>,
}

fn plain(error: Error) -> anyhow::Error {
    anyhow!("{error}")
}

impl Bench {
    pub(super) fn new(path: &Path) -> Result<Self> {
        let file = fs::read(path).with_context(|| path.display().to_string())?;
        Ok(Self { file, room: vec![0x5A; ARENA] })
    }

    /// The JSON members, by name.
    pub(super) fn manifests(&mut self) -> Result<Vec<(String, Vec<u8>)>> {
        self.resident(|payload, _| {
            let members = payload.table().iter();
            let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
            let json = members.filter(|member| member.name.ends_with(b".json"));
            Ok(json.map(|one| (text(one.name), payload.bytes(one.id).unwrap_or_default().to_vec())).collect())
        })
    }

    fn resident<R>(
        &mut self,
        look: impl for<'m> FnOnce(Resident<'_, 'm>, &mut Arena<'m>) -> Result<R>,
    ) -> Result<R> {
        let mut arena = Arena::new(&mut self.room).map_err(|_| anyhow!("no arena"))?;
        let (mut buffers, mut store) = (Buffers::new(), VecStore::new());
        let (mut source, work) = (self.file.as_slice(), buffers.workspace());
        let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
        let unpacked = unpack(&mut source, work, &mut store, &mut arena, &limits, &policy, &mut Ignored);
        let (container, bytes) = (unpacked.map_err(plain)?, store.into_bytes());
        look(Resident::new(container, &bytes), &mut arena)
    }

    /// S2 over the inflated members in pieces: what it costs beside a parser that has them whole.
    pub(super) fn manifest(&mut self) -> Result<(Counts, Cost)> {
        self.resident(|inner, arena| {
            let mut payload = Chunked { inner, bytes: PIECE };
            let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
            let (parsed, cost) = closure(|| {
                parse(&mut payload, arena, &limits, &policy, &mut Ignored).map(|m| Counts::of(&m))
            })?;
            Ok((parsed.map_err(plain)?, cost))
        })
    }

    /// S1 and S2 streamed from the file in [`STREAM_BUFFERS`]; returns passes, and heap allocations.
    pub(super) fn streamed(&mut self) -> Result<(Cost, u32, u64)> {
        let mut arena = Arena::new(&mut self.room).map_err(|_| anyhow!("no arena"))?;
        let mut source = self.file.as_slice();
        let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
        let (mut input, mut names, mut layers) = ([0u8; INPUT], [0u8; NAMES], [Layer::new()]);
        let mut run = || -> Result<u32, Error> {
            let mut work =
                Workspace { input: &mut input, layers: &mut layers, names: &mut names, extents: &mut [] };
            let container =
                scan(&mut source, work.reborrow(), 0, &mut arena, &limits, &policy, &mut Ignored)?;
            let mut payload = Streamed::new(&mut source, work, container, &limits)?;
            parse(&mut payload, &mut arena, &limits, &policy, &mut Ignored)?;
            Ok(payload.passes())
        };
        let mut outcome = Ok(0);
        let mut cost = Cost::default();
        let heap = allocation_counter::measure(|| {
            if let Ok((passes, took)) = closure(&mut run) {
                (outcome, cost) = (passes, took);
            }
        });
        Ok((cost, outcome.map_err(plain)?, heap.count_total))
    }

    /// S2 and S3 over the inflated members in pieces; the time is S3's.
    pub(super) fn lower(&mut self) -> Result<(Counts, Cost)> {
        self.resident(|inner, arena| {
            let mut payload = Chunked { inner, bytes: PIECE };
            let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
            let manifest = parse(&mut payload, arena, &limits, &policy, &mut Ignored).map_err(plain)?;
            let work = || lower(&mut payload, &manifest, arena, &limits, &policy, &mut Ignored).map(drop);
            let (lowered, cost) = closure(work)?;
            lowered.map_err(plain)?;
            Ok((Counts::of(&manifest), cost))
        })
    }
}
