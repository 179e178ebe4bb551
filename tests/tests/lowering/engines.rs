//! lowering.md §14.2: engines.

use loader_core::arch::Engine;
use loader_core::policy::Policy;
use neffload_tests::build::filler;
use neffload_tests::lowering::handmade::{Set, Working, blob};
use neffload_tests::lowering::lower_input;
use neffload_tests::lowering::package::Package;
use serde_json::json;

#[test]
fn lowering_t10() {
    let lowered = Package::base().lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    assert_eq!(kbin.engine_hdrs().map(|hdr| hdr.ninstr.get()).collect::<Vec<_>>(), [0; 5]);
    assert_eq!(lowered.noted("W361").len(), 5);
    assert!(Engine::ALL.iter().all(|&engine| kbin.engine(engine).unwrap().blob.is_none()));
}

#[test]
fn lowering_t11() {
    let bytes = filler(1, 64 * 7);
    let (lowered, parsed) = Package::base().engine("pe", json!({"dma": []}), &bytes).lower().unwrap();
    let pe = lowered.kbins.kbin(0).unwrap().engine(Engine::Pe).unwrap();
    assert_eq!(pe.ninstr, 7);
    assert_eq!(parsed.bytes(pe.blob.unwrap()), bytes);
}

#[test]
fn lowering_t12() {
    let bytes = filler(2, 100);
    let (lowered, parsed) = Package::base().engine("pe", json!({"dma": []}), &bytes).lower().unwrap();
    let pe = lowered.kbins.kbin(0).unwrap().engine(Engine::Pe).unwrap();
    assert_eq!((pe.ninstr, parsed.bytes(pe.blob.unwrap())), (1, &bytes[..]));
    let notes = lowered.noted("W601");
    assert_eq!((notes.len(), notes[0].at().a), (1, 36));
}

#[test]
fn lowering_t13() {
    let bytes = filler(3, 63);
    let (lowered, parsed) = Package::base().engine("act", json!({"dma": []}), &bytes).lower().unwrap();
    let act = lowered.kbins.kbin(0).unwrap().engine(Engine::Act).unwrap();
    assert_eq!((act.ninstr, parsed.bytes(act.blob.unwrap())), (0, &bytes[..]));
    assert_eq!(lowered.noted("W601")[0].at().a, 63);
}

#[test]
fn lowering_t14() {
    let mut set = Set::base();
    set.engines[Engine::Pe.index()] = Some(blob(7, 0x1_0000_0000));
    let mut input = Working::new(vec![set]);
    let error = lower_input(&input.clone(), &mut input, &Policy::DEFAULT).unwrap_err();
    assert_eq!(error.id().to_string(), "L402");
    assert_eq!((error.at().a, error.at().b), (0x1_0000_0000, 0xFFFF_FFFF));
    assert_eq!(
        error.log().to_string(),
        "Instruction size 4294967296 for pe exceeds maximum supported size 4294967295"
    );
}

#[test]
fn lowering_t15() {
    let lowered = Package::base().engine("sp", json!({"dma": []}), &[0; 128]).lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let last = kbin.engine_hdrs().last().unwrap();
    assert_eq!((last.eng_type.get(), last.ninstr.get()), (4, 2));
    assert_eq!(kbin.engine(Engine::Sp).unwrap().ninstr, 2);
}

#[test]
fn lowering_t16() {
    let mut package = Package::base();
    for (key, size) in [("pe", 64), ("act", 128), ("pool", 192), ("dve", 256), ("sp", 320)] {
        package = package.engine(key, json!({"dma": []}), &filler(size, size as usize));
    }
    let forward = package.lowered();
    let def = package.defs[0].as_object().unwrap().clone();
    package.defs[0] = def.into_iter().rev().collect::<serde_json::Map<_, _>>().into();
    let reversed = package.lowered();
    assert_eq!(forward.kbins.head().bytes(), reversed.kbins.head().bytes());
}

#[test]
fn lowering_t17() {
    let bytes = filler(4, 64);
    let package = Package::base().engine("pe", json!({"dma": [], "instr": []}), &[]);
    let package = package.key("pe_instr", json!("PE0.bin")).member("sg00/PE0.bin", &bytes);
    let (lowered, parsed) = package.lower().unwrap();
    let pe = lowered.kbins.kbin(0).unwrap().engine(Engine::Pe).unwrap();
    assert_eq!(parsed.bytes(pe.blob.unwrap()), bytes);
}

#[test]
fn lowering_t18() {
    let package = Package::base().engine("pe", json!({"dma": [], "instr": "a.bin"}), &[]);
    let package = package.member("sg00/a.bin", &[0; 64]).member("sg00/b.bin", &[0; 128]);
    let error = package.clone().key("pe_instr", json!("b.bin")).refused();
    assert_eq!(error.id().to_string(), "L104");
    assert_eq!(error.log().to_string(), "an engine has two programs, a.bin and b.bin");
    assert!(package.key("pe_instr", json!("a.bin")).lower().is_ok());
}
