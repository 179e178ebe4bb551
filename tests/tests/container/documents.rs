//! One pass that keeps documents and no blobs gives the same answers as all members in memory.

use loader_core::arena::Arena;
use loader_core::container::{Resident, unpack};
use loader_core::error::{Error, Ignored};
use loader_core::limits::Limits;
use loader_core::manifest;
use loader_core::policy::Policy;
use loader_core::source::{Payload, Source};
use loader_std::container::{Ask, VecStore, survey_with};
use loader_std::file::Buffers;
use loader_std::inspect::manifest_json;
use loader_std::members::{Unpacked, Unpacking};
use loader_std::pack::{Compression, Options};
use neffload_tests::build::{Tree, filler, to_neff};
use neffload_tests::{fixture_files, fixtures, real_files};
use serde_json::{Map, Value};

const ARENA: usize = 32 << 20;
const POLICY: Policy = Policy { verify_digest: false, tooling: true, ..Policy::DEFAULT };

/// What S2 says, or its refusal with names.
type Answer = Result<Map<String, Value>, String>;

fn parse<'m>(mut payload: impl Payload<'m>, arena: &mut Arena<'m>) -> Answer {
    let table = payload.table();
    match manifest::parse(&mut payload, arena, &Limits::DEFAULT, &POLICY, &mut Ignored) {
        Ok(manifest) => Ok(manifest_json(&manifest, &table)),
        Err(error) => Err(error.with_names(&table).to_string()),
    }
}

fn resident(file: &[u8]) -> Answer {
    let (mut memory, mut buffers, mut store) = (vec![0; ARENA], Buffers::new(), VecStore::new());
    let mut arena = Arena::new(&mut memory).unwrap();
    let (mut source, limits) = (file, Limits::DEFAULT);
    let work = buffers.workspace();
    let container =
        unpack(&mut source, work, &mut store, &mut arena, &limits, &POLICY, &mut Ignored).unwrap();
    let bytes = store.into_bytes();
    parse(Resident::new(container, &bytes), &mut arena)
}

/// A source that is read once, in order, and says how much of it was.
struct Once<'f> {
    file: &'f [u8],
    read: u64,
    /// A pipe does not know its length.
    pipe: bool,
}

impl Source for Once<'_> {
    fn len(&self) -> Option<u64> {
        (!self.pipe).then_some(self.file.len() as u64)
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        assert_eq!(offset, self.read, "one pass");
        let count = self.file.read_at_from(offset, out);
        self.read += count as u64;
        Ok(count)
    }
}

trait ReadAt {
    fn read_at_from(&self, offset: u64, out: &mut [u8]) -> usize;
}

impl ReadAt for &[u8] {
    fn read_at_from(&self, offset: u64, out: &mut [u8]) -> usize {
        let mut whole = *self;
        whole.read_at(offset, out).unwrap()
    }
}

fn read_once(file: &[u8], pipe: bool) -> Unpacked {
    let mut source = Once { file, read: 0, pipe };
    let mut unpacking = Unpacking::new(|_: &[u8]| false);
    let (limits, ask) = (Limits::DEFAULT, Ask { file_digest: true, ..Ask::default() });
    let policy = Policy { report_digest: true, ..POLICY };
    let buffers = &mut Buffers::new();
    let seen = survey_with(&mut source, buffers, &policy, &limits, ask, &mut unpacking, |_| {}).unwrap();
    assert!(seen.accepted());
    assert_eq!(source.read, file.len() as u64);
    unpacking.unpacked()
}

fn documents(file: &[u8]) -> Answer {
    let mut memory = vec![0; ARENA];
    let mut arena = Arena::new(&mut memory).unwrap();
    let unpacked = read_once(file, false);
    let payload = unpacked.payload(&mut arena).unwrap();
    parse(payload, &mut arena)
}

#[test]
fn documents_alone_give_the_same_answer() {
    for path in fixture_files().into_iter().chain(real_files()) {
        let file = std::fs::read(&path).unwrap();
        assert_eq!(documents(&file), resident(&file), "{}", path.display());
    }
}

/// Documents with bytes that no document has, anywhere in them: the same refusal, at the same place.
#[test]
fn spoiled_documents_are_refused_at_the_same_byte() {
    let made = fixtures::named("sunda-1core");
    let options = Options { compression: Some(Compression::None), ..Options::default() };
    let pack = |tree: &Tree| to_neff(tree, &[], &["neff.json"], &options).unwrap();
    let names: Vec<&String> = made.tree.keys().filter(|name| name.ends_with(".json")).collect();
    let (mut refused, mut tried) = (0, 0);
    for name in names {
        let size = made.tree[name].len();
        for at in (0..size).step_by(size / 9 + 1) {
            for byte in [0, 0x1F, 0x7F, 0xC0, 0xFF, b'x', b'['] {
                let mut tree = made.tree.clone();
                tree.get_mut(name).unwrap()[at] = byte;
                let file = pack(&tree);
                let answer = resident(&file);
                refused += usize::from(answer.is_err());
                tried += 1;
                assert_eq!(documents(&file), answer, "{name} {at} {byte:#x}");
            }
        }
    }
    assert!(refused > tried / 3, "{refused} of {tried}");
}

#[test]
fn blobs_are_not_kept() {
    let made = fixtures::named("cayman-2core");
    let mut tree = made.tree.clone();
    let documents = read_once(&made.bytes(), false).kept_bytes();
    tree.insert("sg00/weights.npy".to_owned(), filler(5, 4 << 20));
    let options = Options { compression: Some(Compression::Gzip(1)), ..Options::default() };
    let file = to_neff(&tree, &[], &["kelf-0.json", "neff.json", "sg00/def.json"], &options).unwrap();
    for pipe in [false, true] {
        assert!(read_once(&file, pipe).kept_bytes() <= documents + 16);
    }
}
