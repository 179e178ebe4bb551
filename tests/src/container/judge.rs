//! Reads a file resident, streamed, in small pieces and as a pipe, and holds the answers together.

use loader_core::arena::Arena;
use loader_core::container::{Container, Digesting, Entry, Events, Reader, Resident, Streamed, scan, unpack};
use loader_core::error::{Error, NoteList, Status};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::source::{MemberId, Payload, Source, Visitor};
use loader_std::container::VecStore;
use loader_std::file::Buffers;

/// Names and contents, in the table's order.
pub(super) type Listing = Vec<(Vec<u8>, Vec<u8>)>;

/// What S0 and S1 say about a file.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Members in the table's order, with their content; or the refusal.
    pub result: Result<Listing, Error>,
    /// Codes of the remarks, in order.
    pub notes: Vec<String>,
    /// How the header holds the digest.
    pub order: Option<loader_core::container::Order>,
}

impl Judged {
    /// The members of an accepted file.
    ///
    /// # Panics
    /// If it was refused.
    #[must_use]
    pub fn members(&self) -> &[(Vec<u8>, Vec<u8>)] {
        match &self.result {
            Ok(members) => members,
            Err(error) => panic!("refused: {error}"),
        }
    }

    /// The names of an accepted file.
    ///
    /// # Panics
    /// If it was refused.
    #[must_use]
    pub fn names(&self) -> Vec<&[u8]> {
        self.members().iter().map(|(name, _)| name.as_slice()).collect()
    }

    /// Content of one member.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn content(&self, name: &[u8]) -> &[u8] {
        let member = self.members().iter().find(|(other, _)| other == name);
        &member.unwrap_or_else(|| panic!("no member {}", name.escape_ascii())).1
    }

    /// The refusal.
    ///
    /// # Panics
    /// If the file was accepted.
    #[must_use]
    pub fn error(&self) -> &Error {
        match &self.result {
            Ok(members) => panic!("accepted with {} members", members.len()),
            Err(error) => error,
        }
    }

    /// Asserts a refusal with that status and a log text that begins so.
    ///
    /// # Panics
    /// If it is another.
    pub fn refused(&self, status: u32, log: &str) {
        let error = self.error();
        assert_eq!(error.status().number(), status, "{error}");
        let text = error.log().to_string();
        assert!(text.starts_with(log), "`{text}` does not begin with `{log}`");
    }

    /// Asserts R16: the payload cannot be opened.
    pub fn not_opened(&self) {
        self.refused(Status::Invalid.number(), "Failed to open NEFF ");
    }

    /// Asserts R17 to R20: the payload cannot be read to its end.
    pub fn not_read(&self) {
        self.refused(Status::Invalid.number(), "failure while reading NEFF metadata ");
    }
}

/// The policy of the conformance cases: nothing is verified.
const LENIENT: Policy = Policy { verify_digest: false, ..Policy::DEFAULT };

/// Judges a file without verification.
#[must_use]
pub fn judge(file: &[u8]) -> Judged {
    judge_with(file, &LENIENT, &Limits::DEFAULT)
}

/// Judges a file in every way the loader can read it; all ways must agree.
///
/// # Panics
/// If they do not.
#[must_use]
pub fn judge_with(mut file: &[u8], policy: &Policy, limits: &Limits) -> Judged {
    let mut buffers = Buffers::new();
    let mut memory = vec![0; arena_bytes(file)];
    let (mut store, mut notes) = (VecStore::new(), NoteList::<64>::new());
    let mut arena = Arena::new(&mut memory).unwrap_or_else(|full| panic!("{full}"));
    let mark = arena.mark();
    let unpacked = unpack(&mut file, buffers.workspace(), &mut store, &mut arena, limits, policy, &mut notes);
    let bytes = store.into_bytes();
    let result = unpacked.map(|container| resident(container, &bytes));
    if result.is_err() {
        assert_eq!(arena.mark(), mark, "a refused file gives its memory back");
    }
    let judged = Judged {
        result,
        notes: notes.kept().iter().map(|note| note.id().to_string()).collect(),
        order: unpacked.ok().and_then(|container| container.digest.order),
    };
    for piece in [1, 511, 1000, file.len().max(1)] {
        for size in [Some(file.len() as u64), None] {
            pieces(file, size, piece, policy, limits, &judged);
        }
    }
    for keep in [0, 16, 4096] {
        streamed(file, keep, policy, limits, &judged);
    }
    judged
}

fn arena_bytes(file: &[u8]) -> usize {
    (4 << 20) + 64 * file.len()
}

fn resident(container: Container<'_>, store: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let payload = Resident::new(container, store);
    let content = |id| payload.bytes(id).expect("a member has bytes").to_vec();
    container.table.iter_sorted().map(|member| (member.name.to_vec(), content(member.id))).collect()
}

/// The push parser, fed in pieces, against the judgement.
fn pieces(file: &[u8], size: Option<u64>, piece: usize, policy: &Policy, limits: &Limits, want: &Judged) {
    if piece == 1 && file.len() > 200_000 {
        return;
    }
    let mut buffers = Buffers::new();
    let mut reader = Reader::new(size, buffers.workspace(), limits, policy, Digesting::of(policy));
    let mut members = Members::default();
    for bytes in file.chunks(piece) {
        reader.feed(bytes, &mut members);
    }
    match (reader.finish(&mut members), &want.result) {
        (Ok(_), Ok(table)) => assert_eq!(&members.table(), table, "pieces of {piece}, size {size:?}"),
        (Err(error), Err(other)) => assert_eq!(&error, other, "pieces of {piece}, size {size:?}"),
        (got, _) => panic!("pieces of {piece}, size {size:?}: {got:?} instead of {:?}", want.result),
    }
}

/// Everything the push parser reports, in a map.
#[derive(Default)]
struct Members {
    all: Vec<(Option<Vec<u8>>, u64, Vec<u8>)>,
}

impl Members {
    fn table(self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut table = std::collections::BTreeMap::new();
        for (name, size, content) in self.all {
            let Some(name) = name else { continue };
            assert_eq!(content.len() as u64, size);
            table.insert(name, content);
        }
        table.into_iter().collect()
    }
}

impl Events for Members {
    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), Error> {
        assert_eq!(entry.index as usize, self.all.len());
        self.all.push((entry.table_name().map(<[u8]>::to_vec), entry.size, Vec::new()));
        Ok(())
    }

    fn data(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let (_, _, content) = self.all.last_mut().expect("data follows an entry");
        assert_eq!(content.len() as u64, offset);
        content.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// A source that is read in pieces, as a file is.
struct Seekable<'a>(&'a [u8]);

impl Source for Seekable<'_> {
    fn len(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        self.0.read_at(offset, out)
    }
}

/// The streamed payload against the judgement: every member, and every second one.
fn streamed(file: &[u8], keep: u64, policy: &Policy, limits: &Limits, want: &Judged) {
    let (mut first, mut again) = (Buffers::new(), Buffers::new());
    let mut memory = vec![0; arena_bytes(file)];
    let mut arena = Arena::new(&mut memory).unwrap_or_else(|full| panic!("{full}"));
    let (mut source, mut notes) = (Seekable(file), NoteList::<64>::new());
    let scanned = scan(&mut source, first.workspace(), keep, &mut arena, limits, policy, &mut notes);
    let (container, table) = match (scanned, &want.result) {
        (Ok(container), Ok(table)) => (container, table),
        (Err(error), Err(other)) => return assert_eq!(&error, other),
        (got, _) => panic!("scan: {got:?} instead of {:?}", want.result),
    };
    let mut payload = Streamed::new(&mut source, again.workspace(), container, limits)
        .unwrap_or_else(|error| panic!("{error}"));
    for step in [1, 2] {
        let mut take = Take { step, got: Vec::new(), open: None };
        payload.visit(&mut take).unwrap_or_else(|error| panic!("visit: {error}"));
        assert_eq!(take.open, None);
        let wanted = container.table.iter().filter(|member| member.id.0 % step == 0);
        let content = |name: &[u8]| {
            let at = table.binary_search_by(|(other, _)| other.as_slice().cmp(name)).expect("same names");
            table[at].1.clone()
        };
        let expected: Vec<_> = wanted.map(|member| (member.id, content(member.name))).collect();
        assert_eq!(take.got, expected, "keep {keep}, every {step}");
    }
    let resident = table.iter().all(|(_, content)| content.len() as u64 <= keep);
    assert_eq!(payload.passes(), if resident { 1 } else { payload.passes() });
}

/// Takes every `step`-th member.
struct Take {
    step: u32,
    got: Vec<(MemberId, Vec<u8>)>,
    open: Option<MemberId>,
}

impl Visitor for Take {
    fn wants(&mut self, id: MemberId) -> bool {
        assert_eq!(self.open, None);
        let wanted = id.0.is_multiple_of(self.step);
        if wanted {
            self.got.push((id, Vec::new()));
            self.open = Some(id);
        }
        wanted
    }

    fn data(&mut self, id: MemberId, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let (last, content) = self.got.last_mut().expect("data follows a wish");
        assert_eq!((*last, content.len() as u64), (id, offset));
        content.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self, id: MemberId) -> Result<(), Error> {
        assert_eq!(self.open.take(), Some(id));
        Ok(())
    }
}
