//! Conformance cases of staging.md §21: the scratchpad (T15 to T27), and what is known of a shortage.

use super::memory::{MIB, address, core, load};
use loader_core::arch::Arch;
use loader_core::device::{CoreId, Usage};
use loader_core::manifest::{Backing, VarClass};
use neffload_tests::lowering::handmade::Var;
use neffload_tests::staging::model::{Hand, pattern};
use neffload_tests::staging::{Rig, audit};
use neuron_drivers::sim::{Config, Fault, Faults, Profile};

/// A model of virtual variables only.
fn scratch(vars: &[(u64, u64)]) -> Hand {
    let names = ["var0", "var1", "var2"];
    let start = Hand::cayman().var("out", VarClass::Output, 4);
    vars.iter().zip(names).fold(start, |hand, (&(off, size), name)| hand.scratch(name, off, size))
}

fn vendor_a() -> Hand {
    scratch(&[(0, 512 * MIB), (512 * MIB, 1024 * MIB)])
}

fn vendor_b() -> Hand {
    scratch(&[(0, 100 * MIB), (100 * MIB, 1536 * MIB)])
}

fn pages(rig: &Rig) -> usize {
    rig.pages.iter().flatten().count()
}

fn private(rig: &Rig) -> u64 {
    rig.sim.ledger().core(0).get(Usage::ScratchpadNotShared)
}

#[test]
fn staging_t15() {
    let mut rig = Rig::new(Arch::Cayman);
    let a = load(&mut rig, vec![vendor_a()]).unwrap();
    assert_eq!((pages(&rig), private(&rig)), (3, 1024 * MIB));
    let places = [address(&core(&a, 0), "var0"), address(&core(&a, 0), "var1")];
    let b = load(&mut rig, vec![vendor_b()]).unwrap();
    assert_eq!((pages(&rig), private(&rig)), (4, 2560 * MIB));
    assert_eq!(rig.sim.ledger().core(0).get(Usage::Scratchpad), 2048 * MIB);
    assert_eq!([address(&core(&a, 0), "var0"), address(&core(&a, 0), "var1")], places);
    assert_eq!(places[0], address(&core(&b, 0), "var0"));
    audit::check(&rig, &[&a, &b]);
}

#[test]
fn staging_t16() {
    let mut rig = Rig::new(Arch::Cayman);
    let a = load(&mut rig, vec![vendor_a()]).unwrap();
    let b = load(&mut rig, vec![vendor_b()]).unwrap();
    rig.unload(&b);
    assert_eq!((pages(&rig), private(&rig)), (3, 1024 * MIB));
    assert!(rig.pages.iter().flatten().all(|page| page.refs == 1));
    audit::check(&rig, &[&a]);
}

#[test]
fn staging_t17() {
    let mut rig = Rig::new(Arch::Cayman);
    let a = load(&mut rig, vec![vendor_a()]).unwrap();
    let b = load(&mut rig, vec![vendor_b()]).unwrap();
    rig.unload(&a);
    assert_eq!((pages(&rig), private(&rig)), (4, 1536 * MIB));
    audit::check(&rig, &[&b]);
    rig.unload(&b);
    audit::empty(&rig);
}

#[test]
fn staging_t18() {
    let mut rig = Rig::new(Arch::Cayman);
    rig.policy.page_size = 2048 * MIB;
    let a = load(&mut rig, vec![vendor_a()]).unwrap();
    let b = load(&mut rig, vec![vendor_b()]).unwrap();
    assert_eq!((pages(&rig), private(&rig)), (1, 0));
    audit::check(&rig, &[&a, &b]);
}

fn two_cores() -> Vec<Hand> {
    vec![scratch(&[(0, 532_721_668)]), scratch(&[(0, 19_013_632)])]
}

#[test]
fn staging_t19() {
    let mut rig = Rig::new(Arch::Cayman);
    (rig.policy.page_size, rig.policy.contiguous_scratchpad) = (64 * MIB, false);
    let loaded = load(&mut rig, two_cores()).unwrap();
    assert_eq!(pages(&rig), 9);
    let ledger = rig.sim.ledger();
    assert_eq!(ledger.core(0).get(Usage::Scratchpad), 576 * MIB);
    assert_eq!(ledger.core(1).get(Usage::Scratchpad), 0);
    // The second region begins at 536870912, page 8; the first variable does not fit one page.
    let page = rig.pages.iter().flatten().find(|page| page.index == 8).unwrap();
    assert_eq!(address(&core(&loaded, 1), "var0"), page.taken.address());
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t20() {
    let mut rig = Rig::new(Arch::Cayman);
    (rig.policy.page_size, rig.policy.contiguous_scratchpad) = (64 * MIB, true);
    let loaded = load(&mut rig, two_cores()).unwrap();
    assert_eq!((pages(&rig), private(&rig)), (9, 0));
    let page = rig.pages.iter().flatten().find(|page| page.index == 8).unwrap();
    assert_eq!(address(&core(&loaded, 0), "var0"), page.taken.address());
    assert_eq!(address(&core(&loaded, 1), "var0"), page.taken.address() + 532_721_668);
    audit::check(&rig, &[&loaded]);
}

/// A core with a shared and a local region.
fn shared_and_local(shared: u64, local: u64) -> Hand {
    let mut hand = scratch(&[(0, local)]);
    let mut var = Var::scratch(hand.next(), "shared", 0, shared);
    var.backing = Some(Backing::Shared);
    hand.set.vars.push(var);
    hand
}

/// Shared regions of 600 and 500 MiB and two local ones: where these begin, in MiB, and how many pages it takes.
fn regions(locals: [u64; 2], begins: [u64; 2], count: usize) {
    let mut rig = Rig::new(Arch::Cayman);
    let [first, second] = locals.map(|local| local * MIB);
    let hands = vec![shared_and_local(600 * MIB, first), shared_and_local(500 * MIB, second)];
    let loaded = load(&mut rig, hands).unwrap();
    assert_eq!((pages(&rig), rig.sim.ledger().core(1).get(Usage::Scratchpad)), (count, 0));
    let page = |offset: u64| {
        let index = (offset / (512 * MIB)) as u32;
        let page = rig.pages.iter().flatten().find(|page| page.index == index).unwrap();
        page.taken.address() + offset % (512 * MIB)
    };
    for (index, (begin, local)) in begins.into_iter().zip(locals).enumerate() {
        // A region that crosses a page has a block of its own; only where it begins in the pages is planned.
        if (begin * MIB) % (512 * MIB) + local * MIB <= 512 * MIB {
            assert_eq!(address(&core(&loaded, index), "var0"), page(begin * MIB));
        }
    }
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t21() {
    regions([100, 50], [600, 700], 2);
}

#[test]
fn staging_t22() {
    regions([450, 50], [1024, 1474], 3);
}

#[test]
fn staging_t23() {
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = load(&mut rig, vec![scratch(&[(500 * MIB, 100 * MIB)])]).unwrap();
    assert_eq!((pages(&rig), private(&rig)), (2, 100 * MIB));
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t24() {
    let mut rig = Rig::new(Arch::Cayman);
    rig.policy.page_size = MIB;
    let error = load(&mut rig, vec![scratch(&[(0, 1025 * MIB)])]).unwrap_err();
    assert_eq!(error.status().number(), 4, "{error}");
    assert!(rig.log().is_empty());
}

fn tiny() -> Rig {
    let profile = Profile::Tiny(2 * 64 * MIB + MIB);
    let mut rig = Rig::with(Config { profile, ..Config::flat(Arch::Cayman) });
    rig.policy.page_size = 64 * MIB;
    rig
}

#[test]
fn staging_t25() {
    let mut rig = tiny();
    let error = load(&mut rig, vec![scratch(&[(0, 192 * MIB)])]).unwrap_err();
    assert_eq!((error.status().number(), error.id().to_string().as_str()), (4, "D101"));
    let frees: Vec<String> = rig.log().into_iter().filter(|line| line.starts_with("free")).collect();
    assert_eq!(frees, ["free 0x5000000", "free 0x1000000"], "newest first");
    audit::empty(&rig);
    // What the usage table is made of: the page that was refused, and the two that were held by then.
    let shortage = rig.shortage.expect("one shortage");
    assert_eq!((shortage.size, shortage.align, shortage.usage), (64 * MIB, 4 * MIB, Usage::Scratchpad));
    assert_eq!(shortage.pages, Some((CoreId(0), 128 * MIB)));
}

#[test]
fn pages_of_one_range_are_adjacent_on_every_profile() {
    for profile in [Profile::Flat, Profile::NoAlign, Profile::Driver, Profile::Tiny(1024 * MIB)] {
        let mut rig = Rig::with(Config { profile, ..Config::flat(Arch::Cayman) });
        (rig.policy.page_size, rig.policy.contiguous_scratchpad) = (64 * MIB, true);
        let loaded = load(&mut rig, vec![scratch(&[(0, 10 * MIB), (130 * MIB, 10 * MIB)])]).unwrap();
        assert_eq!((pages(&rig), private(&rig)), (3, 0), "{profile:?}");
        let core = core(&loaded, 0);
        assert_eq!(address(&core, "var1") - address(&core, "var0"), 130 * MIB, "{profile:?}");
        let mut found: Vec<_> = rig.pages.iter().flatten().map(|page| page.taken.address()).collect();
        found.sort_unstable();
        assert!(found.windows(2).all(|pair| pair[1] - pair[0] == 64 * MIB), "{profile:?}: {found:x?}");
        audit::check(&rig, &[&loaded]);
        rig.unload(&loaded);
        audit::empty(&rig);
    }
}

#[test]
fn a_shortage_says_what_was_held() {
    let profile = Profile::Tiny(MIB);
    let mut rig = Rig::with(Config { profile, ..Config::flat(Arch::Cayman) });
    let hand = Hand::cayman().constant("w", &pattern(5000, 1), 64).var("t", VarClass::TmpBuf, 2 * MIB).var(
        "out",
        VarClass::Output,
        4,
    );
    let error = load(&mut rig, vec![hand]).unwrap_err();
    assert_eq!(error.status().number(), 4);
    let shortage = rig.shortage.expect("a shortage");
    assert_eq!((shortage.size, shortage.usage), (2 * MIB, Usage::ScratchpadNotShared));
    let (core, held) = shortage.held[0].expect("the load's core");
    assert_eq!((core.0, held.get(Usage::Weight), held.total()), (0, 5000, 5000));
    // A refusal for another reason is no shortage.
    rig.sim.set_faults(Faults::one(Fault::Operation(1)));
    load(&mut rig, vec![scratch(&[(0, 4)])]).unwrap_err();
    assert_eq!(rig.shortage, None);
}

#[test]
fn staging_t26() {
    // The input of T25: its one variable does not fit the two pages and fails as a private allocation.
    let mut rig = tiny();
    rig.policy.contiguous_scratchpad = true;
    let error = load(&mut rig, vec![scratch(&[(0, 192 * MIB)])]).unwrap_err();
    assert_eq!((error.status().number(), rig.shortage.unwrap().usage), (4, Usage::ScratchpadNotShared));
    audit::empty(&rig);
    let profile = Profile::Tiny(2 * 64 * MIB + 8 * MIB);
    let mut rig = Rig::with(Config { profile, ..Config::flat(Arch::Cayman) });
    (rig.policy.page_size, rig.policy.contiguous_scratchpad) = (64 * MIB, true);
    // Three pages are needed, two fit: what lies beyond them gets blocks of its own.
    let loaded =
        load(&mut rig, vec![scratch(&[(0, 64 * MIB), (128 * MIB, 4096), (191 * MIB, MIB)])]).unwrap();
    assert_eq!((pages(&rig), private(&rig)), (2, MIB + 4096));
    let second = rig.pages.iter().flatten().find(|page| page.index == 1).unwrap();
    assert_eq!(address(&core(&loaded, 0), "var0"), second.taken.address());
    audit::check(&rig, &[&loaded]);
    rig.unload(&loaded);
    audit::empty(&rig);
    // A private block that does not fit fails as one.
    let error = load(&mut rig, vec![scratch(&[(0, 64 * MIB), (130 * MIB, 62 * MIB)])]).unwrap_err();
    assert_eq!(error.status().number(), 4);
    audit::empty(&rig);
}

#[test]
fn staging_t27() {
    let mut rig = Rig::new(Arch::Cayman);
    rig.owned = (0, 1);
    let error = load(&mut rig, vec![scratch(&[(0, MIB)])]).unwrap_err();
    assert_eq!((error.status().number(), error.id().to_string().as_str()), (2, "S107"));
    audit::empty(&rig);
}
