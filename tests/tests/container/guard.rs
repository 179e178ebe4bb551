//! S0 and the parse cache: container.md §18, C-108 to C-120, and the order of the checks of §6.

use loader_core::arena::Arena;
use loader_core::container::guard::RuntimeState;
use loader_core::container::{Extent, Features, Header, HeaderView, Layer, SliceStore, Workspace, unpack};
use loader_core::error::{Error, Ignored, Stage};
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::cache::{Entry, Key, KeyPolicy, ParseCache, Role, Snapshot, State};
use loader_std::pack::{Compression, Options, pack};
use loader_std::runtime::Runtime;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

/// Base file B of container.md §18.
fn base(uuid: [u8; 16]) -> Vec<u8> {
    let mut options = Options { compression: Some(Compression::Gzip(6)), ..Options::default() };
    options.header.name = b"base".to_vec();
    options.header.uuid = Some(uuid);
    let members =
        [("kelf-0.json", "{}"), ("neff.json", "{}"), ("sg00/def.json", "{}"), ("sg00/pe.bin", "code")];
    pack(members, &options).unwrap()
}

fn header(file: &[u8]) -> Header {
    Header::parse(HeaderView::of(file).unwrap())
}

/// B compiled for logical cores of two.
fn lnc_2() -> Vec<u8> {
    let mut file = base([1; 16]);
    let features: u64 = Features::VNC.bits();
    file[0x220..0x228].copy_from_slice(&features.to_le_bytes());
    file[0x228] = 2;
    file
}

/// S1: the number of members.
fn members(file: &[u8]) -> Result<u32, Error> {
    let (mut memory, mut bytes) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut arena = Arena::new(&mut memory).unwrap();
    let (mut input, mut names) = (vec![0; 4096], vec![0; 3072]);
    let mut layers = [Layer::new()];
    let mut extents = [Extent::default(); 4];
    let work = Workspace { input: &mut input, layers: &mut layers, names: &mut names, extents: &mut extents };
    let mut store = SliceStore::new(&mut bytes);
    let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
    let mut source = file;
    let container = unpack(&mut source, work, &mut store, &mut arena, &limits, &policy, &mut Ignored)?;
    Ok(container.table.len())
}

fn running(cores: u8) -> Arc<Runtime> {
    let runtime = Runtime::new(cores);
    runtime.init().unwrap();
    runtime
}

/// S0 for a load on any core: status and log text.
fn verdict(runtime: &Arc<Runtime>, vnc_count: i32, file: Option<&[u8]>, policy: &Policy) -> (u32, String) {
    match runtime.admit_buffer(-1, vnc_count, file, policy) {
        Ok(_) => (0, String::new()),
        Err(error) => (error.status().number(), error.log().to_string()),
    }
}

fn admit(runtime: &Arc<Runtime>, vnc_count: i32, file: Option<&[u8]>) -> (u32, String) {
    verdict(runtime, vnc_count, file, &Policy::DEFAULT)
}

fn refusal(status: u32, text: &str) -> (u32, String) {
    (status, text.to_owned())
}

const VNC_COUNT: &str = "vnc_count is deprecated. only use -1.";
const FREE: Snapshot = Snapshot { state: State::Uninit, users: 0, waiters: 0 };

#[test]
fn container_c108() {
    let (runtime, file) = (running(2), base([1; 16]));
    for count in [-1, 2] {
        assert_eq!(admit(&runtime, count, Some(&file)), refusal(0, ""), "{count}");
    }
}

#[test]
fn container_c109() {
    let (runtime, file) = (running(2), base([1; 16]));
    for count in [3, -2, 100, 0, 1, i32::MIN, i32::MAX] {
        assert_eq!(admit(&runtime, count, Some(&file)), refusal(2, VNC_COUNT), "{count}");
    }
}

#[test]
fn container_c110() {
    let file = base([1; 16]);
    assert_eq!(admit(&Runtime::new(2), -1, Some(&file)), refusal(13, "NRT uninitialized"));
}

#[test]
fn container_c111() {
    let (runtime, file) = (running(2), base([1; 16]));
    let mut during = None;
    runtime.close(|| during = Some(admit(&runtime, -1, Some(&file)))).unwrap();
    assert_eq!(during, Some(refusal(14, "NRT already closed")));
    assert_eq!(admit(&runtime, -1, Some(&file)), refusal(13, "NRT uninitialized"));
}

/// In the child: refused, with the runtime's text, and neither init nor a claim of the parent's helps.
#[cfg(unix)]
fn child_is_refused(runtime: &Arc<Runtime>, file: &[u8]) -> bool {
    let expected = refusal(1, "Incompatible runtime state: NRT_STATE_CHILD");
    admit(runtime, -1, Some(file)) == expected
        && runtime.state() == RuntimeState::Child
        && runtime.init().is_err()
        && runtime.close(|| ()).is_err()
        && admit(runtime, 7, Some(file)) == refusal(2, VNC_COUNT)
}

#[cfg(unix)]
#[test]
fn container_c112() {
    let (runtime, file) = (running(2), base([1; 16]));
    let core = runtime.claim(-1).unwrap();
    match fork::fork().unwrap() {
        fork::Fork::Child => {
            let refused = child_is_refused(&runtime, &file);
            drop(core);
            // Not a panic and not a return: this process has a test harness that is not its own.
            std::process::exit(if refused { 42 } else { 1 });
        }
        fork::Fork::Parent(child) => {
            let status = fork::waitpid(child).unwrap();
            assert_eq!(status >> 8, 42, "the child's exit status {status:#x}");
            assert_eq!((runtime.state(), runtime.cores_in_use()), (RuntimeState::Init, 1));
            assert_eq!(admit(&runtime, -1, Some(&file)), refusal(0, ""));
        }
    }
}

#[test]
fn container_c113() {
    assert_eq!(admit(&Runtime::new(2), 7, None), refusal(2, VNC_COUNT));
}

#[test]
fn container_c114() {
    let (runtime, file) = (running(1), base([1; 16]));
    let load = |file: &[u8]| {
        let admission = runtime.admit_buffer(-1, -1, Some(file), &Policy::DEFAULT)?;
        assert_eq!(runtime.cores_in_use(), 1);
        members(file).map(|count| (admission.core.index(), count))
    };
    let mut damaged = file.clone();
    damaged[1100] ^= 1;
    let error = load(&damaged).unwrap_err();
    assert_eq!((error.stage(), error.status().number()), (Stage::Unpack, 2));
    assert_eq!(runtime.cores_in_use(), 0);
    assert_eq!(load(&file).unwrap(), (0, 4));
}

/// Loads files through one cache and counts how often S1 ran.
#[derive(Default)]
struct Host {
    cache: ParseCache<Key, u32>,
    parses: AtomicUsize,
}

impl Host {
    fn key(file: &[u8]) -> Key {
        Key::of(KeyPolicy::default(), &header(file))
    }

    fn parse(&self, file: &[u8]) -> Result<u32, Error> {
        self.parses.fetch_add(1, SeqCst);
        members(file)
    }

    fn load(&self, file: &[u8]) -> (Role, u32) {
        let parsed = self.cache.load(Self::key(file), || self.parse(file)).unwrap();
        (parsed.role(), **parsed)
    }

    fn wait_for_creator(&self) {
        while self.cache.snapshot().state != State::Pending {
            thread::yield_now();
        }
    }

    fn wait_for(&self, waiters: usize) {
        while self.cache.snapshot().waiters != waiters {
            thread::yield_now();
        }
    }

    /// How often S1 ran; nobody holds the slot any longer.
    fn parses(&self) -> usize {
        assert_eq!(self.cache.snapshot(), FREE);
        self.parses.load(SeqCst)
    }
}

/// Two loads of `file`, the second while the first still parses.
fn concurrent_loads_share(file: &[u8]) {
    let host = Host::default();
    thread::scope(|scope| {
        let creator = scope.spawn(|| {
            let slow = || {
                host.wait_for(1);
                host.parse(file)
            };
            let parsed = host.cache.load(Host::key(file), slow).unwrap();
            (parsed.role(), **parsed)
        });
        host.wait_for_creator();
        assert_eq!(host.load(file), (Role::Reuse { waited: true }, 4));
        assert_eq!(creator.join().unwrap(), (Role::Creator, 4));
    });
    assert_eq!(host.parses(), 1);
}

#[test]
fn container_c115() {
    concurrent_loads_share(&base([0x5A; 16]));
}

#[test]
fn container_c116() {
    let (host, one, two) = (Host::default(), base([1; 16]), base([2; 16]));
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let creator = scope.spawn(|| {
            let slow = || {
                while !over.load(SeqCst) {
                    thread::yield_now();
                }
                host.parse(&one)
            };
            host.cache.load(Host::key(&one), slow).unwrap().role()
        });
        host.wait_for_creator();
        // Ends while the creator is held up: there was no waiting.
        assert_eq!(host.load(&two), (Role::Independent { waited: false }, 4));
        over.store(true, SeqCst);
        assert_eq!(creator.join().unwrap(), Role::Creator);
    });
    assert_eq!(host.parses(), 2);
}

#[test]
fn container_c117() {
    let (host, file) = (Host::default(), base([1; 16]));
    let mut damaged = file.clone();
    damaged[1100] ^= 1;
    thread::scope(|scope| {
        let creator = scope.spawn(|| {
            let failing = || {
                host.wait_for(1);
                host.parse(&damaged)
            };
            host.cache.load(Host::key(&file), failing).unwrap_err()
        });
        host.wait_for_creator();
        assert_eq!(host.load(&file), (Role::Independent { waited: true }, 4));
        assert_eq!(creator.join().unwrap().stage(), Stage::Unpack);
    });
    assert_eq!(host.parses(), 2);
}

#[test]
fn container_c118() {
    // FAILED lasts from the creator's failure until its last waiter has gone on. To come in between, the
    // third load repeats the scene until it meets the state; each round ends in a free slot.
    let file = base([1; 16]);
    let met = (0..100_000).any(|_| {
        let host = Host::default();
        let Entry::Creator(creator) = host.cache.enter(Host::key(&file)) else { panic!("the slot was free") };
        let met = thread::scope(|scope| {
            let waiters = [(); 4].map(|()| scope.spawn(|| drop(host.cache.enter(Host::key(&file)))));
            host.wait_for(4);
            drop(creator);
            let third = host.cache.enter(Host::key(&file));
            let met = matches!(third, Entry::Independent { waited: false });
            drop(third);
            waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
            met
        });
        assert_eq!(host.cache.snapshot(), FREE);
        met
    });
    assert!(met, "no load met the state FAILED");
}

#[test]
fn container_c119() {
    let (host, file) = (Host::default(), base([1; 16]));
    assert_eq!(host.load(&file), (Role::Creator, 4));
    assert_eq!(host.load(&file), (Role::Creator, 4));
    assert_eq!(host.parses(), 2);
}

#[test]
fn container_c120() {
    concurrent_loads_share(&base([0; 16]));
}

#[test]
fn one_uuid_with_two_contents_is_shared_only_by_choice() {
    let (one, mut two) = (base([1; 16]), base([1; 16]));
    two[0xAC] ^= 1;
    let meet = |policy: KeyPolicy| {
        let cache: ParseCache<Key, u8> = ParseCache::new();
        let key = |file: &[u8]| Key::of(policy, &header(file));
        let _first = cache.load(key(&one), || Ok::<_, ()>(1)).unwrap();
        **cache.load(key(&two), || Ok::<_, ()>(2)).unwrap()
    };
    assert_eq!(meet(KeyPolicy::UuidAndContent), 2);
    assert_eq!(meet(KeyPolicy::UuidOnly), 1, "the reference's hazard");
}

#[test]
fn the_checks_run_in_the_order_of_section_6() {
    let lnc_2 = lnc_2();
    let policy = Policy { lnc: Some(1), ..Policy::DEFAULT };
    let runtime = Runtime::new(1);
    let ask = |count, file| verdict(&runtime, count, file, &policy);
    assert_eq!(ask(7, None), refusal(2, VNC_COUNT));
    assert_eq!(ask(-1, None), refusal(13, "NRT uninitialized"));
    runtime.init().unwrap();
    let core = runtime.claim(0).unwrap();
    assert_eq!(ask(-1, None), refusal(2, "Invalid NEFF buffer"));
    assert_eq!(ask(-1, Some(&lnc_2[..1023])), refusal(2, "Invalid number of NEFF bytes received 3ff"));
    assert_eq!(
        ask(-1, Some(&lnc_2[..1024])),
        refusal(2, "Invalid NEFF file size hdr sz: 400, file sz: 400:")
    );
    let (status, text) = ask(-1, Some(&lnc_2));
    assert_eq!(status, 2);
    assert!(text.starts_with("Mismatch detected between Runtime configuration and NEFF."), "{text}");
    assert_eq!(admit(&runtime, -1, Some(&lnc_2)).0, 9, "no core is left");
    drop(core);
    assert_eq!(admit(&runtime, -1, Some(&lnc_2)), refusal(0, ""));
}
