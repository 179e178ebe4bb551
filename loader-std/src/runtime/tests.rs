use super::{Busy, Runtime};
use loader_core::container::Header;
use loader_core::container::guard::RuntimeState;
use loader_core::error::{Error, Status};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

fn running(cores: u8, busy: Busy) -> Arc<Runtime> {
    let runtime = Runtime::with_policy(cores, busy);
    runtime.init().unwrap();
    runtime
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> (String, Status) {
    let error = result.unwrap_err();
    (error.id().to_string(), error.status())
}

fn code(id: &str, status: Status) -> (String, Status) {
    (id.to_owned(), status)
}

#[test]
fn minus_one_takes_the_lowest_core_that_nobody_holds() {
    let runtime = running(3, Busy::default());
    let first = runtime.claim(-1).unwrap();
    let named = runtime.claim(1).unwrap();
    let last = runtime.claim(-1).unwrap();
    assert_eq!([first.index(), named.index(), last.index()], [0, 1, 2]);
    assert_eq!(refused(runtime.claim(-1)), code("C109", Status::LoadNotEnoughNc));
    drop(named);
    assert_eq!(runtime.claim(-1).unwrap().index(), 1);
    assert_eq!(runtime.cores_in_use(), 2);
}

#[test]
fn an_index_must_exist() {
    let runtime = running(3, Busy::default());
    for vnc in [3, 255, 256, i32::MAX, -2, i32::MIN] {
        assert_eq!(refused(runtime.claim(vnc)), code("C110", Status::Invalid), "{vnc}");
    }
    assert_eq!(refused(running(0, Busy::default()).claim(-1)), code("C109", Status::LoadNotEnoughNc));
}

#[test]
fn a_named_core_is_shared_or_refused() {
    let runtime = running(2, Busy::Share);
    let (first, second) = (runtime.claim(0).unwrap(), runtime.claim(0).unwrap());
    drop(first);
    assert_eq!(runtime.claim(-1).unwrap().index(), 1, "core 0 is still held");
    drop(second);
    assert_eq!(runtime.cores_in_use(), 0);

    let runtime = running(2, Busy::Refuse);
    let first = runtime.claim(0).unwrap();
    assert_eq!(refused(runtime.claim(0)), code("C111", Status::LoadNotEnoughNc));
    drop(first);
    assert_eq!(runtime.claim(0).unwrap().index(), 0);
}

#[test]
fn the_state_decides_before_the_core() {
    let runtime = Runtime::new(1);
    assert_eq!(refused(runtime.claim(9)), code("C102", Status::Uninitialized));
    assert_eq!(refused(runtime.close(|| unreachable!())), code("C102", Status::Uninitialized));
    runtime.init().unwrap();
    runtime.init().unwrap();
    let held = runtime.claim(0).unwrap();
    runtime
        .close(|| {
            assert_eq!(runtime.state(), RuntimeState::Closed);
            assert_eq!(refused(runtime.claim(-1)), code("C103", Status::Closed));
            assert_eq!(refused(runtime.init()), code("C103", Status::Closed));
            assert_eq!(refused(runtime.close(|| unreachable!())), code("C103", Status::Closed));
        })
        .unwrap();
    assert_eq!(runtime.state(), RuntimeState::Start);
    assert_eq!(runtime.cores_in_use(), 1, "a claim outlives a close");
    drop(held);
    runtime.init().unwrap();
    assert_eq!(runtime.claim(-1).unwrap().index(), 0);
}

#[test]
fn a_panic_in_teardown_ends_the_close() {
    let runtime = running(1, Busy::default());
    let close = || runtime.close(|| resume_unwind(Box::new("injected")));
    assert!(catch_unwind(AssertUnwindSafe(close)).is_err());
    assert_eq!(runtime.state(), RuntimeState::Start);
}

#[test]
fn nothing_is_claimed_for_a_refused_file() {
    let runtime = running(1, Busy::Refuse);
    let error = Error::internal(loader_core::error::Stage::Guard, "preflight");
    assert_eq!(runtime.admit(0, -1, || Err(error)).unwrap_err(), error);
    assert_eq!(runtime.cores_in_use(), 0);
    let admission = runtime.admit(0, -1, || Ok(Header::new(b"x"))).unwrap();
    assert_eq!((admission.core.index(), admission.header.name.as_bytes()), (0, b"x".as_slice()));
}

#[test]
fn later_checks_do_not_run_after_a_refusal() {
    let runtime = Runtime::new(1);
    let never = || -> Result<Header, Error> { unreachable!() };
    assert_eq!(refused(runtime.admit(9, 7, never)), code("C101", Status::Invalid));
    assert_eq!(refused(runtime.admit(9, -1, never)), code("C102", Status::Uninitialized));
}

#[test]
fn thirty_two_threads_never_hold_a_core_twice() {
    let runtime = running(8, Busy::Refuse);
    let holders: [std::sync::atomic::AtomicU32; 8] = Default::default();
    thread::scope(|scope| {
        for thread in 0..32 {
            let (runtime, holders) = (&runtime, &holders);
            scope.spawn(move || {
                for round in 0..500 {
                    let vnc = if (thread + round) % 3 == 0 { round % 8 } else { -1 };
                    let Ok(claim) = runtime.claim(vnc) else { continue };
                    let holder = &holders[usize::from(claim.index())];
                    assert_eq!(holder.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    thread::yield_now();
                    holder.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(runtime.cores_in_use(), 0);
}
