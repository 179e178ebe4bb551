use super::{Entry, Key, KeyPolicy, ParseCache, Role, Snapshot, State};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const FREE: Snapshot = Snapshot { state: State::Uninit, users: 0, waiters: 0 };

#[test]
fn roles_have_the_runtimes_texts() {
    let texts = [
        (Role::Creator, "first worker, creating cache"),
        (Role::Reuse { waited: false }, "using cache"),
        (Role::Reuse { waited: true }, "using cache after wait"),
        (Role::Independent { waited: false }, "proceeding independently"),
        (Role::Independent { waited: true }, "cache creation failed, do my own"),
    ];
    for (role, text) in texts {
        assert_eq!(role.text(), text);
    }
}

#[test]
fn states_have_the_runtimes_numbers_and_names() {
    let states = [State::Uninit, State::Pending, State::Ready, State::Failed];
    assert_eq!(states.map(|state| state as u8), [0, 1, 2, 3]);
    assert_eq!(states.map(|state| state.to_string()), ["UNINIT", "PENDING", "READY", "FAILED"]);
}

#[test]
fn the_safe_key_tells_files_with_one_uuid_apart() {
    let key = |policy, hash, size| Key::new(policy, [9; 16], [hash; 32], size);
    let safe = |hash, size| key(KeyPolicy::default(), hash, size);
    assert_eq!(safe(1, 2), safe(1, 2));
    assert_ne!(safe(1, 2), safe(2, 2));
    assert_ne!(safe(1, 2), safe(1, 3));
    assert_eq!(key(KeyPolicy::UuidOnly, 1, 2), key(KeyPolicy::UuidOnly, 2, 3));
    assert_ne!(
        Key::new(KeyPolicy::UuidOnly, [9; 16], [0; 32], 0),
        Key::new(KeyPolicy::UuidOnly, [8; 16], [0; 32], 0)
    );
}

#[test]
fn the_slot_goes_through_its_states() {
    let cache: ParseCache<u8, u8> = ParseCache::new();
    assert_eq!(cache.snapshot(), FREE);
    let Entry::Creator(creator) = cache.enter(1) else { panic!("the slot was free") };
    assert_eq!(cache.snapshot(), Snapshot { state: State::Pending, users: 1, waiters: 0 });
    assert!(matches!(cache.enter(2), Entry::Independent { waited: false }));
    let first = creator.publish(5);
    assert_eq!(cache.snapshot(), Snapshot { state: State::Ready, users: 1, waiters: 0 });
    assert!(matches!(cache.enter(2), Entry::Independent { waited: false }), "no eviction while in use");
    let Entry::Reuse(second) = cache.enter(1) else { panic!("the record is there") };
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(cache.snapshot().users, 2);
    drop(first);
    assert_eq!(cache.snapshot(), Snapshot { state: State::Ready, users: 1, waiters: 0 });
    drop(second);
    assert_eq!(cache.snapshot(), FREE);
    drop(cache.enter(3));
    assert_eq!(cache.snapshot(), FREE, "a creator that is dropped has failed");
}

#[test]
fn a_kept_share_outlives_the_slot() {
    let cache: ParseCache<u8, Vec<u8>> = ParseCache::new();
    let parsed = cache.load(1, || Ok::<_, ()>(vec![4])).unwrap();
    let kept = Arc::clone(&parsed);
    drop(parsed);
    assert_eq!((cache.snapshot(), kept.as_slice()), (FREE, [4].as_slice()));
}

#[test]
fn records_are_dropped_outside_of_the_lock() {
    /// Looks at the cache when it is dropped.
    struct Own(Arc<AtomicUsize>, std::sync::Weak<ParseCache<u8, Own>>);
    impl Drop for Own {
        fn drop(&mut self) {
            let cache = self.1.upgrade().unwrap();
            assert_eq!(cache.snapshot(), FREE);
            self.0.fetch_add(1, SeqCst);
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let cache = Arc::new(ParseCache::new());
    let own = Own(Arc::clone(&drops), Arc::downgrade(&cache));
    drop(cache.load(1, || Ok::<_, ()>(own)).unwrap());
    assert_eq!(drops.load(SeqCst), 1);
}

/// What one load of the stress test is to do, from a fixed pseudo-random sequence.
#[derive(Clone, Copy)]
enum Fate {
    Parse,
    Fail,
    Panic,
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % sides
    }

    fn fate(&mut self) -> Fate {
        match self.roll(10) {
            0..=5 => Fate::Parse,
            6..=8 => Fate::Fail,
            _ => Fate::Panic,
        }
    }
}

#[derive(Default)]
struct Tally {
    alive: AtomicUsize,
    made: AtomicUsize,
    failed: AtomicUsize,
    roles: [AtomicUsize; 5],
}

/// A record of `file`, counted while it lives.
struct Record<'t> {
    file: u64,
    tally: &'t Tally,
}

impl<'t> Record<'t> {
    fn new(file: u64, tally: &'t Tally) -> Self {
        tally.alive.fetch_add(1, SeqCst);
        tally.made.fetch_add(1, SeqCst);
        Self { file, tally }
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        self.tally.alive.fetch_sub(1, SeqCst);
    }
}

fn number(role: Role) -> usize {
    match role {
        Role::Creator => 0,
        Role::Reuse { waited } => 1 + usize::from(waited),
        Role::Independent { waited } => 3 + usize::from(waited),
    }
}

fn pause(dice: &mut Dice) {
    for _ in 0..dice.roll(4) {
        thread::yield_now();
    }
}

fn one_load<'t>(cache: &ParseCache<u64, Record<'t>>, dice: &mut Dice, tally: &'t Tally) {
    let (file, fate, micros) = (dice.roll(3), dice.fate(), dice.roll(50));
    let parse = || {
        thread::sleep(Duration::from_micros(micros));
        match fate {
            Fate::Parse => Ok(Record::new(file, tally)),
            Fate::Fail => Err(()),
            Fate::Panic => resume_unwind(Box::new("injected")),
        }
    };
    let Ok(Ok(parsed)) = catch_unwind(AssertUnwindSafe(|| cache.load(file, parse))) else {
        assert!(!matches!(fate, Fate::Parse), "a load got the failure of another");
        tally.failed.fetch_add(1, SeqCst);
        return;
    };
    tally.roles[number(parsed.role())].fetch_add(1, SeqCst);
    pause(dice);
    assert_eq!(parsed.file, file);
    assert!(tally.alive.load(SeqCst) > 0);
}

#[test]
fn thirty_two_threads_with_failures() {
    const THREADS: u64 = 32;
    const ROUNDS: usize = 300;
    let tally = Tally::default();
    let cache = ParseCache::new();
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for thread in 1..=THREADS {
            let (cache, tally, start) = (&cache, &tally, &start);
            scope.spawn(move || {
                let mut dice = Dice(thread.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                for _ in 0..ROUNDS {
                    // Together, so that the slot is free at the start of each round.
                    start.wait();
                    one_load(cache, &mut dice, tally);
                }
            });
        }
    });
    assert_eq!(cache.snapshot(), FREE);
    assert_eq!(tally.alive.load(SeqCst), 0, "a record is left");
    let roles = tally.roles.each_ref().map(|count| count.load(SeqCst));
    let (made, failed) = (tally.made.load(SeqCst), tally.failed.load(SeqCst));
    assert_eq!(roles.iter().sum::<usize>() + failed, THREADS as usize * ROUNDS);
    assert_eq!(made, roles[0] + roles[3] + roles[4], "one record for each load that parsed");
    assert!(
        roles[2] > 0 && roles[4] > 0,
        "waiters met a creator that succeeded and one that failed: {roles:?}"
    );
    println!(
        "create {} reuse {} wait+reuse {} alone {} wait+alone {} failed {failed}",
        roles[0], roles[1], roles[2], roles[3], roles[4]
    );
}

/// All 32 meet on one creation: one creator, 31 waiters, woken at once.
fn crowd(outcome: Result<u8, ()>) -> (Vec<Role>, usize) {
    let (cache, parses) = (ParseCache::<u8, u8>::new(), AtomicUsize::new(0));
    let Entry::Creator(creator) = cache.enter(1) else { panic!("the slot was free") };
    let roles = thread::scope(|scope| {
        let load = || {
            let parse = || Ok::<_, ()>(parses.fetch_add(1, SeqCst) as u8);
            cache.load(1, parse).unwrap().role()
        };
        let waiters: Vec<_> = (0..31).map(|_| scope.spawn(load)).collect();
        while cache.snapshot().waiters < 31 {
            thread::yield_now();
        }
        match outcome {
            Ok(record) => drop(creator.publish(record)),
            Err(()) => drop(creator),
        }
        waiters.into_iter().map(|waiter| waiter.join().unwrap()).collect()
    });
    assert_eq!(cache.snapshot(), FREE);
    (roles, parses.into_inner())
}

#[test]
fn thirty_one_waiters_share_or_go_alone() {
    assert_eq!(crowd(Ok(1)), (vec![Role::Reuse { waited: true }; 31], 0));
    let (roles, parses) = crowd(Err(()));
    assert_eq!(parses, 31, "each parses for itself");
    let went_alone = roles.iter().filter(|role| **role == Role::Independent { waited: true }).count();
    assert_eq!(went_alone, 31);
}
