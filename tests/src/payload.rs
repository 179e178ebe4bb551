//! Members in memory as a payload of the core: packed, then unpacked by the container stage.

use loader_core::arena::Arena;
use loader_core::container::{self, MemberTable, Resident, Streamed};
use loader_core::error::Error;
use loader_core::limits::Limits;
use loader_core::manifest::{self, Manifest};
use loader_core::policy::Policy;
use loader_core::source::{MemberId, Payload, Visitor};
use loader_std::container::VecStore;
use loader_std::file::Buffers;
use loader_std::inspect::Remarks;
use loader_std::pack::{Compression, Options, pack};
use std::cell::RefCell;

/// A refusal and its whole message.
pub type Refused = Box<(Error, String)>;

/// Bytes of arena that every test file fits.
pub const ARENA: usize = 64 << 20;

/// Runs with this thread's buffers, as their last use left them: making them takes longer than reading a small file.
pub fn with_buffers<R>(run: impl FnOnce(&mut Buffers) -> R) -> R {
    thread_local! {
        static BUFFERS: RefCell<Buffers> = RefCell::new(Buffers::new());
    }
    BUFFERS.with_borrow_mut(run)
}

/// How the members reach the readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Lent whole.
    Resident,
    /// In passes over the file.
    Streamed,
    /// In passes, in pieces of so many bytes.
    Chunks(usize),
}

/// A payload that lends nothing and hands out pieces of a fixed length.
#[derive(Debug)]
pub struct Chunked<'a, 'm> {
    /// The members.
    pub inner: Resident<'a, 'm>,
    /// Bytes of a piece.
    pub bytes: usize,
}

impl<'m> Payload<'m> for Chunked<'_, 'm> {
    fn table(&self) -> MemberTable<'m> {
        self.inner.table()
    }

    fn borrow(&self, _: MemberId) -> Option<&[u8]> {
        None
    }

    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Error> {
        for member in self.inner.table().iter() {
            if !visitor.wants(member.id) {
                continue;
            }
            let mut offset = 0;
            for piece in self.inner.bytes(member.id).unwrap_or_default().chunks(self.bytes) {
                visitor.data(member.id, offset, piece)?;
                offset += piece.len() as u64;
            }
            visitor.end(member.id)?;
        }
        Ok(())
    }

    fn passes(&self) -> u32 {
        1
    }
}

/// A plain archive of the members with a header before it.
///
/// # Panics
/// If they cannot be packed.
#[must_use]
pub fn packed<N: AsRef<[u8]>, B: AsRef<[u8]>>(members: impl IntoIterator<Item = (N, B)>) -> Vec<u8> {
    let options = Options { compression: Some(Compression::None), ..Options::default() };
    pack(members, &options).expect("a packable tree")
}

/// Unpacks a file, reads its manifests, and hands both to `look`: in the given mode.
///
/// # Errors
/// The container's or the manifests'.
pub fn with_manifest<R>(
    file: &[u8],
    policy: &Policy,
    limits: &Limits,
    mode: Mode,
    look: impl FnOnce(&Manifest<'_>, &MemberTable<'_>, &[Error]) -> R,
) -> Result<R, Refused> {
    with_manifest_in(ARENA, file, policy, limits, mode, look)
}

/// The same in an arena of the given size.
///
/// # Errors
/// The container's or the manifests'.
pub fn with_manifest_in<R>(
    bytes: usize,
    file: &[u8],
    policy: &Policy,
    limits: &Limits,
    mode: Mode,
    look: impl FnOnce(&Manifest<'_>, &MemberTable<'_>, &[Error]) -> R,
) -> Result<R, Refused> {
    let mut memory = vec![0u8; bytes];
    let mut arena = Arena::new(&mut memory).expect("an arena");
    let mut buffers = Buffers::new();
    let mut remarks = Remarks::default();
    let mut source = file;
    let policy = &Policy { verify_digest: false, ..*policy };
    let named =
        |table: &MemberTable<'_>, error: Error| Box::new((error, error.with_names(table).to_string()));
    let plain = |error: Error| Box::new((error, error.to_string()));
    if matches!(mode, Mode::Streamed) {
        let work = buffers.workspace();
        let container = container::scan(&mut source, work, 0, &mut arena, limits, policy, &mut remarks);
        let container = container.map_err(plain)?;
        let streamed = Streamed::new(&mut source, buffers.workspace(), container, limits);
        let mut payload = streamed.map_err(plain)?;
        let table = payload.table();
        let manifest = manifest::parse(&mut payload, &mut arena, limits, policy, &mut remarks);
        let manifest = manifest.map_err(|error| named(&table, error))?;
        return Ok(look(&manifest, &table, &remarks.0));
    }
    let mut store = VecStore::new();
    let work = buffers.workspace();
    let container =
        container::unpack(&mut source, work, &mut store, &mut arena, limits, policy, &mut remarks);
    let bytes = store.into_bytes();
    let mut payload = Resident::new(container.map_err(plain)?, &bytes);
    let table = payload.table();
    let before = (arena.head_used(), arena.tail_used());
    let manifest = match mode {
        Mode::Chunks(bytes) => {
            let mut chunked = Chunked { inner: payload, bytes };
            manifest::parse(&mut chunked, &mut arena, limits, policy, &mut remarks)
        }
        _ => manifest::parse(&mut payload, &mut arena, limits, policy, &mut remarks),
    };
    let manifest = manifest.map_err(|error| {
        assert_eq!((arena.head_used(), arena.tail_used()), before, "a failed stage gives back what it took");
        named(&table, error)
    })?;
    assert_eq!(arena.head_used(), before.0, "the head is the product's alone");
    Ok(look(&manifest, &table, &remarks.0))
}

/// As [`with_manifest`], resident, with the payload for a further reading.
///
/// # Errors
/// The container's or the manifests'.
pub fn with_payload<R>(
    file: &[u8],
    policy: &Policy,
    look: impl for<'m> FnOnce(&mut Resident<'_, 'm>, &Manifest<'m>, &Limits) -> R,
) -> Result<R, Refused> {
    let mut memory = vec![0u8; ARENA];
    let mut arena = Arena::new(&mut memory).expect("an arena");
    let mut buffers = Buffers::new();
    let mut remarks = Remarks::default();
    let (mut source, mut store, limits) = (file, VecStore::new(), Limits::DEFAULT);
    let plain = |error: Error| Box::new((error, error.to_string()));
    let work = buffers.workspace();
    let container =
        container::unpack(&mut source, work, &mut store, &mut arena, &limits, policy, &mut remarks);
    let bytes = store.into_bytes();
    let mut payload = Resident::new(container.map_err(plain)?, &bytes);
    let manifest = manifest::parse(&mut payload, &mut arena, &limits, policy, &mut remarks).map_err(plain)?;
    Ok(look(&mut payload, &manifest, &limits))
}
