//! The later stages see the same members through a streamed payload as through a resident one.

use loader_core::arena::Arena;
use loader_core::container::{KEEP_BYTES, Resident, Streamed, scan, unpack};
use loader_core::error::{Error, Ignored};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_core::{lower, manifest};
use loader_std::container::VecStore;
use loader_std::file::{Buffers, FileSource};
use neffload_tests::{fixture_files, real_files};

const ARENA: usize = 32 << 20;

/// The records that a resident payload is lowered to.
fn resident(file: &[u8]) -> Result<Vec<u8>, Error> {
    let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
    let (mut memory, mut buffers, mut store) = (vec![0; ARENA], Buffers::new(), VecStore::new());
    let mut arena = Arena::new(&mut memory).unwrap();
    let mut source = file;
    let container =
        unpack(&mut source, buffers.workspace(), &mut store, &mut arena, &limits, &policy, &mut Ignored)?;
    let bytes = store.into_bytes();
    let mut payload = Resident::new(container, &bytes);
    let manifest = manifest::parse(&mut payload, &mut arena, &limits, &policy, &mut Ignored)?;
    let kbins = lower::lower(&mut payload, &manifest, &mut arena, &limits, &policy, &mut Ignored)?;
    Ok(kbins.head().bytes().to_vec())
}

/// The same through a file that is read again and again, with small members kept or not.
fn streamed(path: &std::path::Path, keep: u64) -> Result<(Vec<u8>, u32), Error> {
    use loader_core::source::Payload;
    let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
    let (mut memory, mut first, mut again) = (vec![0; ARENA], Buffers::new(), Buffers::new());
    let mut arena = Arena::new(&mut memory).unwrap();
    let mut source = FileSource::new(std::fs::File::open(path).unwrap(), 0).unwrap();
    let container = scan(&mut source, first.workspace(), keep, &mut arena, &limits, &policy, &mut Ignored)?;
    let mut payload = Streamed::new(&mut source, again.workspace(), container, &limits)?;
    let manifest = manifest::parse(&mut payload, &mut arena, &limits, &policy, &mut Ignored)?;
    let kbins = lower::lower(&mut payload, &manifest, &mut arena, &limits, &policy, &mut Ignored)?;
    Ok((kbins.head().bytes().to_vec(), payload.passes()))
}

#[test]
fn records_do_not_depend_on_the_payload() {
    let files = fixture_files().into_iter().chain(real_files());
    for path in files {
        let want = resident(&std::fs::read(&path).unwrap());
        for keep in [0, KEEP_BYTES] {
            match (&want, streamed(&path, keep)) {
                (Ok(want), Ok((got, passes))) => {
                    assert_eq!(&got, want, "{}", path.display());
                    assert!(passes <= 6, "{}: {passes} passes", path.display());
                }
                (Err(want), Err(got)) => assert_eq!(&got, want, "{}", path.display()),
                (want, got) => panic!("{}: {want:?} / {:?}", path.display(), got.map(|(_, passes)| passes)),
            }
        }
    }
}
