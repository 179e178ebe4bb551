//! container.md §18, C-108 to C-114: the guard of the runtime interface.

use loader_core::container::guard::{Claims, RuntimeState, enter, vnc_count};
use loader_core::policy::Policy;
use neffload_tests::container::{File, judge};

fn entered(count: i32, state: RuntimeState, bytes: Option<&[u8]>) -> (u32, String) {
    match enter(count, state, bytes, &Policy::DEFAULT) {
        Ok(_) => (0, String::new()),
        Err(error) => (error.status().number(), error.log().to_string()),
    }
}

#[test]
fn container_c108_accepted_counts() {
    assert!(vnc_count(-1).is_ok() && vnc_count(2).is_ok());
    let file = File::base().bytes();
    assert_eq!(entered(-1, RuntimeState::Init, Some(&file)).0, 0);
}

#[test]
fn container_c109_refused_counts() {
    let file = File::base().bytes();
    for count in [3, -2, 100] {
        let (status, text) = entered(count, RuntimeState::Init, Some(&file));
        assert_eq!((status, text.as_str()), (2, "vnc_count is deprecated. only use -1."));
    }
}

#[test]
fn container_c110_before_init() {
    let file = File::base().bytes();
    let want = (13, "NRT uninitialized".to_owned());
    assert_eq!(entered(-1, RuntimeState::Start, Some(&file)), want);
}

#[test]
fn container_c111_after_close() {
    // A close that has returned leaves the first state; one that is under way has its own.
    let file = File::base().bytes();
    assert_eq!(entered(-1, RuntimeState::default(), Some(&file)).0, 13);
    assert_eq!(entered(-1, RuntimeState::Closed, Some(&file)), (14, "NRT already closed".to_owned()));
}

#[test]
fn container_c112_in_a_forked_child() {
    let file = File::base().bytes();
    let want = (1, "Incompatible runtime state: NRT_STATE_CHILD".to_owned());
    assert_eq!(entered(-1, RuntimeState::Child, Some(&file)), want);
}

#[test]
fn container_c113_count_before_state() {
    assert_eq!(entered(3, RuntimeState::Start, None).0, 2);
}

#[test]
fn container_c114_a_failed_load_gives_its_core_back() {
    let mut claims = Claims::new(2);
    let first = claims.claim(-1).unwrap();
    let second = claims.claim(-1).unwrap();
    assert_eq!((first.core(), second.core()), (0, 1));
    assert_eq!(claims.claim(-1).unwrap_err().status().number(), 9);
    assert_eq!(claims.claim(0).unwrap_err().status().number(), 9);
    assert_eq!(claims.claim(2).unwrap_err().status().number(), 2);
    assert!(judge(b"not a NEFF").result.is_err());
    claims.release(first);
    assert_eq!(claims.claim(0).unwrap().core(), 0);
    claims.release(second);
    assert_eq!(claims.in_use(), 1);
}
