//! Members out of a container, with as much of each as a question needs.

use super::Members;
use crate::file::Buffers;
use crate::refusal::Refusal;
use loader_core::container::{Digesting, Entry, Events, Reader, drive};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::Source;
use std::collections::BTreeMap;

/// How much is kept of a member whose content is not wanted: enough for a NumPy header's length.
const START: usize = 16;

#[derive(Clone, Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    size: u64,
}

/// The members of a container. Names and sizes are known of all, contents of the wanted ones.
#[derive(Clone, Debug, Default)]
pub struct Unpacked {
    members: BTreeMap<Vec<u8>, Kept>,
}

impl Unpacked {
    /// Unpacks a file in one pass. Its digest is not verified: a tool also answers for a file that
    /// was changed. Of a name that is there twice, the last member counts.
    ///
    /// # Errors
    /// The container's refusal.
    pub fn read<S: Source>(
        source: &mut S,
        buffers: &mut Buffers,
        limits: &Limits,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<Self, Refusal> {
        let policy = Policy { verify_digest: false, ..Policy::DEFAULT };
        let mut work = buffers.workspace();
        let input = std::mem::take(&mut work.input);
        let mut reader = Reader::new(source.len(), work, limits, &policy, Digesting::of(&policy));
        let mut gather = Gather { wanted, members: BTreeMap::new(), current: None };
        drive(source, input, &mut reader, &mut gather)?;
        reader.finish(&mut gather)?;
        Ok(Self { members: gather.members })
    }
}

impl Members for Unpacked {
    fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.members.keys().map(Vec::as_slice)
    }

    fn content(&self, name: &[u8]) -> Option<&[u8]> {
        let kept = self.members.get(name)?;
        (kept.bytes.len() as u64 == kept.size).then_some(&kept.bytes)
    }

    fn size(&self, name: &[u8]) -> Option<u64> {
        self.members.get(name).map(|kept| kept.size)
    }

    fn start(&self, name: &[u8]) -> Option<&[u8]> {
        self.members.get(name).map(|kept| kept.bytes.as_slice())
    }
}

/// Takes the events of the pass.
struct Gather<F> {
    wanted: F,
    members: BTreeMap<Vec<u8>, Kept>,
    /// Name, most bytes to keep, and what is kept of the present member.
    current: Option<(Vec<u8>, usize, Kept)>,
}

impl<F: Fn(&[u8]) -> bool> Events for Gather<F> {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        self.current = entry.table_name().map(|name| {
            let most = if (self.wanted)(name) { usize::MAX } else { START };
            (name.to_vec(), most, Kept { bytes: Vec::new(), size: entry.size })
        });
        Ok(())
    }

    fn data(&mut self, _: u64, bytes: &[u8]) -> Result<(), Error> {
        if let Some((_, most, kept)) = &mut self.current {
            let room = most.saturating_sub(kept.bytes.len()).min(bytes.len());
            kept.bytes.extend_from_slice(&bytes[..room]);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        if let Some((name, _, kept)) = self.current.take() {
            self.members.insert(name, kept);
        }
        Ok(())
    }
}
