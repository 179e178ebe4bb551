//! Conformance cases of staging.md §21: placement, scratchpad and copy-in (T01 to T31).

use loader_core::arch::Arch;
use loader_core::device::{CoreId, Place, Usage};
use loader_core::lower::record::MemRef;
use loader_core::manifest::{Backing, VarClass};
use loader_core::plan::block::check_usage;
use loader_core::plan::record::DMem;
use loader_core::plan::{CoreView, ShowBytes};
use neffload_tests::lowering::handmade::Var;
use neffload_tests::staging::model::{Hand, join, pattern};
use neffload_tests::staging::{Loaded, Rig, audit, edited, kbins};
use neuron_drivers::sim::{Config, Fault, Faults, Profile};

const MIB: u64 = 1 << 20;

/// The model of T01.
fn first() -> Hand {
    let mut hand = Hand::new(3);
    let filler = Var::new(0, "in", VarClass::Input, 4);
    hand.set.vars.push(filler);
    hand.state_buffer()
        .constant("w0", &pattern(1536, 1), 64)
        .constant("w1", &pattern(32768, 2), 4096)
        .var("t", VarClass::TmpBuf, 100)
        .scratch("v", 0, MIB)
        .var("out", VarClass::Output, 4)
}

fn load(rig: &mut Rig, hands: Vec<Hand>) -> Result<Loaded, loader_core::error::Error> {
    let (sets, members) = join(hands);
    rig.load(sets, members)
}

fn address(core: &CoreView<'_>, name: &str) -> u64 {
    let id = core.kbin.var_by_name(name.as_bytes()).expect("variable").record.var_id.get();
    core.resolve(id, 0, 0).expect("placed").0
}

fn core(loaded: &Loaded, index: usize) -> CoreView<'static> {
    loaded.plan.core(index).expect("core")
}

#[test]
fn staging_t01() {
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = load(&mut rig, vec![first()]).unwrap();
    let core = core(&loaded, 0);
    assert_eq!(core.allocations()[0].address().0, 0x100_0000);
    assert_eq!(address(&core, "w0"), 0x2100_0000);
    assert_eq!(address(&core, "w1"), 0x2100_1000);
    assert_eq!(address(&core, "t"), 0x2100_9000);
    assert_eq!(address(&core, "v"), 0x100_0000);
    assert_eq!(address(&core, "SB"), 0x8000_0000_0000);
    assert_eq!(core.variables()[1].size.get(), 0x200_0000);
    assert!(core.variables()[1].arm.block.is_null());
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t02() {
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = load(&mut rig, vec![first()]).unwrap();
    let row = rig.sim.ledger().core(0);
    assert_eq!(row.get(Usage::Scratchpad), 536_870_912);
    assert_eq!(row.get(Usage::Weight), 34304);
    assert_eq!(row.get(Usage::ScratchpadNotShared), 100);
    let breakdown = core(&loaded, 0).breakdown();
    assert_eq!(ShowBytes(breakdown.model_constants).to_string(), "33.500KB");
    assert_eq!(ShowBytes(breakdown.scratchpad).to_string(), "100.000B");
    assert_eq!(ShowBytes(row.get(Usage::Scratchpad)).to_string(), "512.000MB");
}

#[test]
fn staging_t03() {
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = load(&mut rig, vec![first()]).unwrap();
    let core = core(&loaded, 0);
    let block = core.allocations().iter().find(|block| block.address().0 == 0x2100_0000).unwrap();
    let page = rig.read_at(block.handle(), 0, 4096);
    assert_eq!(page[..1536], pattern(1536, 1));
    assert!(page[1536..].iter().all(|&byte| byte == 0xCD));
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t04() {
    let mut rig = Rig::with(Config { profile: Profile::NoAlign, ..Config::flat(Arch::Cayman) });
    let loaded = load(&mut rig, vec![first()]).unwrap();
    let core = core(&loaded, 0);
    assert_eq!(core.allocations()[0].address().0, 0x140_0000);
    let row = rig.sim.ledger().core(0);
    assert_eq!(row.get(Usage::Scratchpad), 536_870_912 + 0x40_0000);
    assert_eq!(row.get(Usage::Weight), 34304 + 64 + 4096);
    assert_eq!(core.bytes_of(Usage::Weight), 34304 + 64 + 4096);
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t05() {
    use loader_core::plan::block::{Want, take};
    let rig = Rig::with(Config { profile: Profile::NoAlign, ..Config::flat(Arch::Cayman) });
    let want = Want { size: 100, align: 0, usage: Usage::Generic, tag: "a", contiguous: false };
    take(&rig.sim, CoreId(0), &want).unwrap();
    let image = Want { size: 0x9000, align: 0x8000, usage: Usage::InstrPe, ..want };
    let taken = take(&rig.sim, CoreId(0), &image).unwrap();
    assert_eq!((taken.base, taken.address(), taken.skip), (0x100_1000, 0x100_8000, 0x7000));
}

/// A load that is refused before the device is asked anything.
fn refused_at_once(hand: Hand, code: &str) {
    let mut rig = Rig::new(Arch::Cayman);
    let error = load(&mut rig, vec![hand]).unwrap_err();
    assert_eq!(error.id().to_string(), code, "{error}");
    assert!(rig.log().is_empty());
}

#[test]
fn staging_t06() {
    // Lowering takes a constant's size from its payload, so the short one is made in the record.
    let mut hand = Hand::cayman().constant("w", &pattern(60, 1), 0).var("out", VarClass::Output, 4);
    if let loader_core::lower::input::DetailIn::File { payload_len, .. } = &mut hand.set.vars[1].detail {
        *payload_len = 64;
    }
    refused_at_once(hand, "S214");
    // A variable of 64 bytes whose payload is known to be 60.
    refused_edit(|var| var.size = 64.into(), "S201");
}

/// A constant of 60 bytes whose record is changed before staging.
fn refused_edit(change: impl FnOnce(&mut MemRef), code: &str) {
    let hand = Hand::cayman().constant("w", &pattern(60, 1), 0).var("out", VarClass::Output, 4);
    let (sets, members) = join(vec![hand]);
    let kbins = kbins(sets).unwrap();
    let wrong = edited(&kbins, &kbins.kbin(0).unwrap().mem_refs()[1], change);
    let mut rig = Rig::new(Arch::Cayman);
    let error = rig.load_kbins(&wrong, members).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), (code, 2), "{error}");
    assert!(rig.log().is_empty());
}

#[test]
fn staging_t07() {
    refused_edit(|var| var.var_id = 0.into(), "S202");
    // No file gets so far: lowering refuses it.
    let mut hand = Hand::cayman().var("a", VarClass::TmpBuf, 4).var("out", VarClass::Output, 4);
    hand.set.vars[1].id = 0;
    assert!(kbins(vec![hand.set]).is_err());
}

#[test]
fn staging_t08() {
    refused_edit(|var| var.alignment = 3.into(), "S203");
    let mut hand = Hand::cayman().var("a", VarClass::TmpBuf, 4).var("out", VarClass::Output, 4);
    hand.set.vars[1].alignment = 3;
    assert!(kbins(vec![hand.set]).is_err());
}

#[test]
fn staging_t09() {
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = load(&mut rig, vec![Hand::cayman().var("out", VarClass::Output, 4)]).unwrap();
    let core = core(&loaded, 0);
    assert_eq!(core.allocations().len(), 5);
    assert!(
        core.allocations().iter().all(|block| block.what.get() == DMem::IMAGE && block.size.get() == 128)
    );
    audit::check(&rig, &[&loaded]);
    rig.unload(&loaded);
    audit::empty(&rig);
}

#[test]
fn staging_t10() {
    let mut rig = Rig::new(Arch::Cayman);
    let hand =
        Hand::new(3).var("in", VarClass::Input, 16).var("out", VarClass::Output, 16).table("dge", &[0, 1]);
    let loaded = load(&mut rig, vec![hand]).unwrap();
    let core = core(&loaded, 0);
    assert!(core.allocations().iter().all(|block| block.what.get() == DMem::IMAGE));
    let error = core.resolve(0, 0, 1).unwrap_err();
    assert_eq!((error.status().number(), error.id().to_string().as_str()), (2, "S204"));
    assert_eq!(core.resolve(2, 0, 0).unwrap_err().id().to_string(), "S204");
}

#[test]
fn staging_t11() {
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = load(&mut rig, vec![first()]).unwrap();
    let core = core(&loaded, 0);
    assert_eq!(core.resolve(3, 32767, 1).unwrap().0, 0x2100_1000 + 32767);
    assert_eq!(core.resolve(3, 32768, 0).unwrap().0, 0x2100_1000 + 32768);
    for (off, len) in [(32768, 1), (u64::MAX, 2)] {
        assert_eq!(core.resolve(3, off, len).unwrap_err().status().number(), 2);
    }
}

#[test]
fn staging_t12() {
    let mut rig = Rig::new(Arch::Cayman);
    let hand =
        Hand::cayman().constant("w", &pattern(64, 1), 0).pointer("w-ADDR", 1).var("out", VarClass::Output, 4);
    let loaded = load(&mut rig, vec![hand]).unwrap();
    let core = core(&loaded, 0);
    assert_eq!(core.resolve(2, 4, 4).unwrap_err().id().to_string(), "S206");
    let cell = core.allocations().iter().find(|block| block.what.get() == DMem::POINTER).unwrap();
    assert_eq!(core.resolve(2, 0, 8).unwrap(), cell.address());
    assert_eq!(rig.read(cell), address(&core, "w").to_le_bytes());
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t13() {
    let mut rig = Rig::with(Config { reserve: 0, ..Config::flat(Arch::Cayman) });
    let hand = Hand::cayman().constant("w", &pattern(64, 1), 0).var("out", VarClass::Output, 4);
    let loaded = load(&mut rig, vec![hand]).unwrap();
    assert_eq!(core(&loaded, 0).resolve(1, 0, 64).unwrap().0, 0);
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t14() {
    for usage in [Usage::Scratchpad, Usage::Cc, Usage::ScratchpadNotShared] {
        assert_eq!(check_usage(usage, Place::Host).unwrap_err().status().number(), 2);
    }
    assert!(check_usage(Usage::DmaRing, Place::Host).is_ok());
    assert!(check_usage(Usage::Scratchpad, Place::Hbm(0)).is_ok());
}

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

fn writes_of(len: usize) -> Vec<u64> {
    let mut rig = Rig::new(Arch::Cayman);
    let hand = Hand::cayman().constant("w", &pattern(len, 1), 0).var("out", VarClass::Output, 4);
    let loaded = load(&mut rig, vec![hand]).unwrap();
    let start = address(&core(&loaded, 0), "w");
    let line = |line: String| -> Option<u64> {
        let rest = line.strip_prefix("write 0x")?;
        let (at, rest) = rest.split_once(" len=")?;
        let at = u64::from_str_radix(at, 16).ok()?;
        let inside = (start..start + len as u64).contains(&at);
        inside.then(|| rest.split(' ').next()?.parse().ok()).flatten()
    };
    rig.log().into_iter().filter_map(line).collect()
}

#[test]
fn staging_t28() {
    assert_eq!(writes_of(1), [1]);
    assert_eq!(writes_of(0x3FFF), [0x3FFF]);
    assert_eq!(writes_of(0x4000), [0x2000, 0x2000]);
    assert_eq!(writes_of(0x4001), [0x2000, 0x2000, 1]);
    assert_eq!(writes_of(0x10_0000), [0x8_0000, 0x8_0000]);
    assert_eq!(writes_of(0x10_0001), [0x10_0000, 1]);
    assert_eq!(writes_of(0x28_0000), [0x10_0000, 0x10_0000, 0x8_0000]);
}

#[test]
fn staging_t29() {
    let mut rig = Rig::new(Arch::Cayman);
    let hand = Hand::cayman().var("t", VarClass::TmpBuf, 0).var("out", VarClass::Output, 4);
    let loaded = load(&mut rig, vec![hand]).unwrap();
    assert!(core(&loaded, 0).allocations().iter().all(|block| block.what.get() == DMem::IMAGE));
    assert!(rig.log().iter().all(|line| !line.contains("len=0 ")));
    assert_eq!(loader_core::plan::copy::pieces(0).count(), 0);
    audit::check(&rig, &[&loaded]);
}

#[test]
fn staging_t30() {
    let mut rig = Rig::new(Arch::Cayman);
    let hand = || Hand::cayman().constant("w", &pattern(0x28_0000, 1), 0).var("out", VarClass::Output, 4);
    let before = rig.state();
    // Preambles and postambles of five empty images are written before the constant.
    rig.sim.set_faults(Faults::one(Fault::Write(12)));
    let error = load(&mut rig, vec![hand()]).unwrap_err();
    assert_eq!((error.status().number(), error.id().to_string().as_str()), (1, "D106"));
    assert_eq!(rig.state(), before);
    rig.sim.set_faults(Faults::NONE);
    let loaded = load(&mut rig, vec![hand()]).unwrap();
    audit::check(&rig, &[&loaded]);
}
