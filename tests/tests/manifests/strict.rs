//! A key that an object has twice: the first counts, or the file is refused (manifests.md §3).

use crate::small::*;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use neffload_tests::payload::Mode;
use neffload_tests::trees::Tree;

/// The tree with a piece of a member's text replaced.
fn edited(member: &str, from: &str, to: &str) -> Tree {
    let mut tree = base();
    let text = String::from_utf8(tree.members[member.as_bytes()].clone()).unwrap();
    assert!(text.contains(from), "{text}");
    raw(&mut tree, member, text.replacen(from, to, 1).as_bytes());
    tree
}

fn strict(tree: &Tree, mode: Mode) -> Outcome {
    run(tree, &Policy { unique_keys: true, ..Policy::default() }, &Limits::DEFAULT, mode)
}

const MODES: [Mode; 4] = [Mode::Resident, Mode::Streamed, Mode::Chunks(1), Mode::Chunks(9)];

#[test]
fn the_first_of_two_keys_counts() {
    let tree = edited(DEF, "\"size\":32", "\"size\":32,\"size\":\"no\"");
    assert_eq!(load(&tree).unwrap(), load(&base()).unwrap());
}

#[test]
fn strict_json_refuses_a_key_twice_wherever_it_stands() {
    let ignored = "\"name\":\"definition\",\"host\":";
    let deep = format!("{ignored}{}{{\"k\":1,\"k\":2}}{}", "[".repeat(40), "]".repeat(40));
    let inner = format!("{ignored}[{{\"a\":{{}}}},{{\"a\":1,\"b\":2,\"\\u0061\":3}}]");
    let name = "\"name\":\"definition\"";
    let cases = [
        ("an entered object", "neff.json", "\"op\":\"null\"", "\"op\":\"null\",\"op\":\"null\""),
        ("the root", DEF, "\"version\":\"0.6\"", "\"version\":\"0.6\",\"version\":\"0.6\""),
        ("the KELF", "kelf-0.json", "\"version\":\"0.5\"", "\"version\":\"0.5\",\"version\":\"0.5\""),
        ("a variable", DEF, "\"var_id\":3", "\"var_id\":3,\"var_id\":3"),
        ("a block", POOL, "\"semaphore\":4", "\"semaphore\":4,\"semaphore\":4"),
        ("a transfer", POOL, "\"to_off\":0", "\"to_off\":0,\"to_off\":0"),
        ("a taken object", DEF, "\"offset\":8", "\"offset\":8,\"offset\":8"),
        ("an ignored object", DEF, name, &inner),
        ("an ignored object far down", DEF, name, &deep),
    ];
    for (what, member, from, to) in cases {
        let tree = edited(member, from, to);
        assert_eq!(code(&load(&tree)), "accepted", "{what}");
        for mode in MODES {
            let (error, text) = *strict(&tree, mode).unwrap_err();
            assert_eq!(error.id().to_string(), "E122", "{what} {mode:?}: {text}");
            complete(&error, &text);
            assert!(error.at().offset.is_some_and(|offset| offset > 0), "{what}: {text}");
        }
    }
}

#[test]
fn strict_json_takes_what_has_no_key_twice() {
    for tree in [base(), two_graphs()] {
        for mode in MODES {
            assert_eq!(
                strict(&tree, mode).unwrap_or_else(|refused| panic!("{}", refused.1)),
                load(&tree).unwrap()
            );
        }
    }
    let ignored = format!("{{\"name\":\"definition\",\"host\":{}1{}", "{\"k\":[".repeat(30), "]}".repeat(30));
    let tree = edited(DEF, "{\"name\":\"definition\"", &ignored);
    for mode in MODES {
        assert_eq!(code(&strict(&tree, mode)), "accepted", "{mode:?}");
    }
}
