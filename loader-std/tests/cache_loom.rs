//! The parse cache under every interleaving that loom finds.
//!
//! The two files that hold the cache's whole logic are compiled here a second time, on loom's primitives
//! instead of the standard library's, so that these models run with an ordinary `cargo test`.
#![allow(dead_code, unreachable_pub, reason = "the included files are parts of a library")]

mod sync {
    pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
}

#[path = "../src/cache/shared.rs"]
mod shared;
#[path = "../src/cache/slot.rs"]
mod slot;

use loom::model::Builder;
use loom::thread;
use shared::{Entry, ParseCache, Parsed};
use slot::{Role, Snapshot, State};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc as StdArc, Mutex as StdMutex};
use sync::Arc;

const FREE: Snapshot = Snapshot { state: State::Uninit, users: 0, waiters: 0 };

/// Number of a file and of the load that parsed it; says when it is dropped.
struct Record {
    file: u8,
    counts: StdArc<Counts>,
}

/// Outside of loom's view: these count, they synchronise nothing.
#[derive(Default)]
struct Counts {
    parsed: AtomicUsize,
    failed: AtomicUsize,
    dropped: AtomicUsize,
}

impl Drop for Record {
    fn drop(&mut self) {
        self.counts.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// One execution of a model: the cache and what happened to its records.
#[derive(Clone)]
struct World {
    cache: Arc<ParseCache<u8, Record>>,
    counts: StdArc<Counts>,
}

impl World {
    fn new() -> Self {
        Self { cache: Arc::new(ParseCache::new()), counts: StdArc::default() }
    }

    fn parse(&self, file: u8) -> Result<Record, ()> {
        self.counts.parsed.fetch_add(1, Ordering::Relaxed);
        Ok(Record { file, counts: StdArc::clone(&self.counts) })
    }

    fn refuse(&self) -> Result<Record, ()> {
        self.counts.failed.fetch_add(1, Ordering::Relaxed);
        Err(())
    }

    /// A load from start to end: the record is of the right file and lives until it is given back.
    fn load(&self, file: u8) -> Role {
        let parsed = self.cache.load(file, || self.parse(file)).unwrap();
        self.check(&parsed, file)
    }

    fn check(&self, parsed: &Parsed<'_, u8, Record>, file: u8) -> Role {
        assert_eq!(parsed.file, file);
        let (made, gone) = (self.parsed(), self.counts.dropped.load(Ordering::Relaxed));
        assert!(gone < made, "the record in use is not dropped");
        parsed.role()
    }

    fn parsed(&self) -> usize {
        self.counts.parsed.load(Ordering::Relaxed)
    }

    /// Nobody is left: the slot is free and every record is gone.
    fn assert_over(&self) {
        assert_eq!(self.cache.snapshot(), FREE);
        assert_eq!(self.counts.dropped.load(Ordering::Relaxed), self.parsed());
    }
}

/// What the executions of one model ended in; a model must reach what it was written for.
#[derive(Clone)]
struct Seen(StdArc<StdMutex<BTreeSet<String>>>);

impl Seen {
    /// Runs `model` under at most `preemptions` forced switches; `None` tries all.
    fn explore(preemptions: Option<usize>, model: impl Fn() -> String + Send + Sync + 'static) -> Self {
        let seen = Self(StdArc::default());
        let into = seen.clone();
        let mut builder = Builder::new();
        builder.preemption_bound = preemptions;
        builder.check(move || {
            let ending = model();
            into.0.lock().unwrap().insert(ending);
        });
        seen
    }

    #[track_caller]
    fn expect(&self, endings: &[&str]) {
        let seen = self.0.lock().unwrap();
        let seen: Vec<&str> = seen.iter().map(String::as_str).collect();
        assert_eq!(seen, endings);
    }
}

fn short(role: Role) -> &'static str {
    match role {
        Role::Creator => "create",
        Role::Reuse { waited: false } => "reuse",
        Role::Reuse { waited: true } => "wait+reuse",
        Role::Independent { waited: false } => "alone",
        Role::Independent { waited: true } => "wait+alone",
    }
}

/// The roles of all loads, in no order.
fn roles(mut roles: Vec<&str>) -> String {
    roles.sort_unstable();
    roles.join(", ")
}

/// Runs `work` on a thread of its own.
fn spawn<T: 'static>(world: &World, work: impl FnOnce(&World) -> T + 'static) -> thread::JoinHandle<T> {
    let world = world.clone();
    thread::spawn(move || work(&world))
}

#[test]
fn two_loads_race_for_the_slot() {
    Seen::explore(None, || {
        let world = World::new();
        let other = spawn(&world, |world| world.load(1));
        let mine = world.load(1);
        let ending = roles(vec![short(mine), short(other.join().unwrap())]);
        assert_eq!(world.parsed(), if ending == "create, create" { 2 } else { 1 });
        world.assert_over();
        ending
    })
    .expect(&["create, create", "create, reuse", "create, wait+reuse"]);
}

#[test]
fn a_waiter_gets_the_very_record_of_its_creator() {
    Seen::explore(None, || {
        let world = World::new();
        let Entry::Creator(creator) = world.cache.enter(1) else { panic!("the slot was free") };
        let other = spawn(&world, |world| {
            let parsed = world.cache.load(1, || -> Result<Record, ()> { panic!("must not parse") }).unwrap();
            world.check(&parsed, 1);
            (Arc::as_ptr(&parsed) as usize, short(parsed.role()))
        });
        let parsed = creator.publish(world.parse(1).unwrap());
        let (record, role) = other.join().unwrap();
        assert_eq!(record, Arc::as_ptr(&parsed) as usize);
        assert_eq!(world.cache.snapshot(), Snapshot { state: State::Ready, users: 1, waiters: 0 });
        drop(parsed);
        assert_eq!(world.parsed(), 1);
        world.assert_over();
        role.into()
    })
    .expect(&["reuse", "wait+reuse"]);
}

#[test]
fn a_waiter_goes_on_alone_when_its_creator_fails() {
    Seen::explore(None, || {
        let world = World::new();
        let Entry::Creator(creator) = world.cache.enter(1) else { panic!("the slot was free") };
        let other = spawn(&world, |world| world.load(1));
        drop(creator);
        let role = other.join().unwrap();
        assert_eq!(world.parsed(), 1, "the waiter parsed for itself");
        world.assert_over();
        short(role).into()
    })
    .expect(&["create", "wait+alone"]);
}

#[test]
fn loads_that_all_fail_leave_a_free_slot() {
    Seen::explore(Some(3), || {
        let world = World::new();
        let refused = |world: &World| world.cache.load(1, || world.refuse()).is_err();
        let others = [spawn(&world, refused), spawn(&world, refused)];
        assert!(refused(&world));
        others.into_iter().for_each(|other| assert!(other.join().unwrap()));
        assert_eq!(world.counts.failed.load(Ordering::Relaxed), 3, "no load takes over another's error");
        world.assert_over();
        String::new()
    })
    .expect(&[""]);
}

#[test]
fn a_panic_of_the_creator_is_a_failure() {
    Seen::explore(None, || {
        let world = World::new();
        let other = spawn(&world, |world| world.load(1));
        let mine = catch_unwind(AssertUnwindSafe(|| {
            let parse = || -> Result<Record, ()> { std::panic::resume_unwind(Box::new("parser")) };
            short(world.cache.load(1, parse).unwrap().role())
        }));
        let ending = roles(vec![mine.unwrap_or("panic"), short(other.join().unwrap())]);
        assert_eq!(world.parsed(), 1);
        world.assert_over();
        ending
    })
    .expect(&["create, panic", "create, reuse", "create, wait+reuse", "panic, wait+alone"]);
}

#[test]
fn another_file_neither_waits_nor_disturbs() {
    Seen::explore(None, || {
        let world = World::new();
        let Entry::Creator(creator) = world.cache.enter(1) else { panic!("the slot was free") };
        let other = spawn(&world, |world| world.load(2));
        // Joined before the slot is settled: a load that waited here would be a deadlock.
        let role = other.join().unwrap();
        assert_eq!(world.cache.snapshot(), Snapshot { state: State::Pending, users: 1, waiters: 0 });
        drop(creator.publish(world.parse(1).unwrap()));
        assert_eq!(world.parsed(), 2);
        world.assert_over();
        short(role).into()
    })
    .expect(&["alone"]);
}

#[test]
fn two_files_race_for_the_slot() {
    Seen::explore(None, || {
        let world = World::new();
        let other = spawn(&world, |world| world.load(2));
        let mine = world.load(1);
        let ending = roles(vec![short(mine), short(other.join().unwrap())]);
        assert_eq!(world.parsed(), 2);
        world.assert_over();
        ending
    })
    .expect(&["alone, create", "create, create"]);
}

#[test]
fn the_last_release_frees_the_record_in_any_order() {
    Seen::explore(None, || {
        let world = World::new();
        let creator = world.cache.load(1, || world.parse(1)).unwrap();
        let other = spawn(&world, |world| {
            let parsed = world.cache.load(1, || world.parse(1)).unwrap();
            let role = world.check(&parsed, 1);
            drop(parsed);
            role
        });
        drop(creator);
        let role = other.join().unwrap();
        let fresh = role == Role::Creator;
        assert_eq!(world.parsed(), if fresh { 2 } else { 1 });
        world.assert_over();
        short(role).into()
    })
    .expect(&["create", "reuse"]);
}

#[test]
fn a_late_failure_leaves_the_record_to_the_others() {
    Seen::explore(None, || {
        let world = World::new();
        let creator = world.cache.load(1, || world.parse(1)).unwrap();
        let sharer = world.cache.load(1, || world.parse(1)).unwrap();
        let other = spawn(&world, |world| world.load(1));
        // The creator's staging fails: it only lets go.
        drop(creator);
        let state = world.cache.snapshot().state;
        assert_eq!((state, sharer.file), (State::Ready, 1));
        let role = other.join().unwrap();
        drop(sharer);
        assert_eq!(world.parsed(), 1);
        world.assert_over();
        short(role).into()
    })
    .expect(&["reuse"]);
}

#[test]
fn three_loads_of_one_file() {
    let seen = Seen::explore(Some(3), || {
        let world = World::new();
        let others = [spawn(&world, |world| world.load(1)), spawn(&world, |world| world.load(1))];
        let mut ending = vec![short(world.load(1))];
        ending.extend(others.into_iter().map(|other| short(other.join().unwrap())));
        let created = ending.iter().filter(|role| **role == "create").count();
        assert_eq!(world.parsed(), created, "without a failure nobody parses alone");
        world.assert_over();
        roles(ending)
    });
    assert!(seen.0.lock().unwrap().contains("create, wait+reuse, wait+reuse"));
}

#[test]
fn a_third_load_does_not_wait_for_a_failed_slot() {
    let seen = Seen::explore(Some(3), || {
        let world = World::new();
        let Entry::Creator(creator) = world.cache.enter(1) else { panic!("the slot was free") };
        let others = [spawn(&world, |world| world.load(1)), spawn(&world, |world| world.load(1))];
        drop(creator);
        let ending = others.map(|other| short(other.join().unwrap()));
        world.assert_over();
        roles(ending.to_vec())
    });
    let seen = seen.0.lock().unwrap();
    assert!(seen.contains("wait+alone, wait+alone"), "{seen:?}");
    assert!(seen.contains("alone, wait+alone"), "one came while the slot was FAILED: {seen:?}");
    assert!(!seen.contains("alone, alone"), "{seen:?}");
}
