//! Conformance cases of staging.md §21: placement (T01 to T14).

use loader_core::arch::Arch;
use loader_core::device::{CoreId, Place, Usage};
use loader_core::lower::record::{MemRef, MrType};
use loader_core::manifest::VarClass;
use loader_core::plan::block::check_usage;
use loader_core::plan::record::DMem;
use loader_core::plan::{CoreView, ShowBytes};
use loader_std::report::cores_json;
use neffload_tests::lowering::handmade::Var;
use neffload_tests::staging::model::{Hand, join, pattern};
use neffload_tests::staging::{Loaded, Rig, audit, edited, kbins};
use neuron_drivers::sim::{Config, Profile};

pub(crate) const MIB: u64 = 1 << 20;

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

pub(crate) fn load(rig: &mut Rig, hands: Vec<Hand>) -> Result<Loaded, loader_core::error::Error> {
    let (sets, members) = join(hands);
    rig.load(sets, members)
}

pub(crate) fn address(core: &CoreView<'_>, name: &str) -> u64 {
    let id = core.kbin.var_by_name(name.as_bytes()).expect("variable").record.var_id.get();
    core.resolve(id, 0, 0).expect("placed").0
}

pub(crate) fn core(loaded: &Loaded, index: usize) -> CoreView<'static> {
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
    let shared = rig.with_pages(|pages, _| pages.bytes(CoreId(0)));
    let document = &cores_json(&loaded.plan, |_| shared)[0]["breakdown"];
    assert_eq!(document["shared_scratchpad"], 536_870_912 + 0x40_0000);
    rig.with_pages(|pages, _| assert_eq!(pages.bytes(CoreId(0)), 536_870_912 + 0x40_0000));
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
    let hand = Hand::new(3)
        .var("in", VarClass::Input, 16)
        .var("out", VarClass::Output, 16)
        .table("dge", &[0, 1])
        .var("list", VarClass::TmpBuf, 16)
        .var("staged", VarClass::TmpBuf, 16);
    let (sets, members) = join(vec![hand]);
    // No class of a definition becomes these two.
    let mut kbins = kbins(sets).unwrap();
    for (id, class) in [(3, MrType::LIST), (4, MrType::BUFFER_STAGED)] {
        kbins = edited(&kbins, &kbins.kbin(0).unwrap().mem_refs()[id], |var| var.mr_type = class);
    }
    let mut rig = Rig::new(Arch::Cayman);
    let loaded = rig.load_kbins(&kbins, members).unwrap();
    let core = core(&loaded, 0);
    assert!(core.allocations().iter().all(|block| block.what.get() == DMem::IMAGE));
    for id in 0..5 {
        let error = core.resolve(id, 0, 0).unwrap_err();
        assert_eq!((error.status().number(), error.id().to_string().as_str()), (2, "S204"), "{id}");
    }
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
