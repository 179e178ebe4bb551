//! lowering.md §14.3: variables.

use loader_core::error::Error;
use loader_core::lower::input::DetailIn;
use loader_core::lower::record::{Backing, Extra, MrType};
use loader_core::manifest::VarClass;
use loader_core::policy::Policy;
use loader_core::source::MemberId;
use neffload_tests::lowering::handmade::{Set, Var, Working};
use neffload_tests::lowering::package::Package;
use neffload_tests::lowering::{Lowered, lower_input};
use serde_json::{Value, json};
use zerocopy::little_endian::U64;

fn by_hand(set: Set, policy: &Policy) -> Result<Lowered, Error> {
    let mut input = Working::new(vec![set]);
    lower_input(&input.clone(), &mut input, policy)
}

/// The code of lowering itself for a base package with one more variable.
fn refused(var: Var) -> Error {
    by_hand(Set::base().var(var), &Policy::DEFAULT).unwrap_err()
}

fn code(error: &Error) -> String {
    error.id().to_string()
}

/// The base package with variable `x`, id 2.
fn with(keys: Value) -> Package {
    let mut keys = keys;
    keys["var_id"] = json!(2);
    Package::base().var("x", keys)
}

#[test]
fn lowering_t20() {
    let mut package = Package::base();
    package.defs[0].as_object_mut().unwrap().remove("var");
    assert_eq!(package.code(), "E302");
    let mut set = Set::base();
    set.vars.clear();
    assert_eq!(code(&by_hand(set, &Policy::DEFAULT).unwrap_err()), "L201");
}

#[test]
fn lowering_t21() {
    let package = Package::base().key("var", json!({"SB": {"type": "state-buffer", "var_id": 0}}));
    assert_eq!(package.code(), "E302");
    let mut set = Set::base();
    set.vars.truncate(1);
    let error = by_hand(set, &Policy::DEFAULT).unwrap_err();
    assert_eq!((code(&error).as_str(), error.status().number()), ("L201", 2));
    assert!(error.log().to_string().ends_with("no Outputs"));
}

#[test]
fn lowering_t22() {
    let package = Package::base().var("x", json!({"type": "tmp-buf", "size": 4, "var_id": 3}));
    let error = package.refused();
    assert_eq!((code(&error).as_str(), error.at().a, error.at().b), ("E303", 3, 3));
    let error = refused(Var::new(3, "x", VarClass::TmpBuf, 4));
    assert_eq!(code(&error), "L202");
    assert_eq!(error.log().to_string(), "Unexpected var_ids set! max=3, size=3");
}

#[test]
fn lowering_t23() {
    let package = Package::base().var("x", json!({"type": "tmp-buf", "size": 4, "var_id": 1}));
    assert!(["E321", "E303"].contains(&package.code().as_str()));
    assert_eq!(code(&refused(Var::new(1, "x", VarClass::TmpBuf, 4))), "L202");
    let set =
        Set::base().var(Var::new(1, "x", VarClass::TmpBuf, 4)).var(Var::new(3, "y", VarClass::TmpBuf, 4));
    let error = by_hand(set, &Policy::DEFAULT).unwrap_err();
    assert_eq!((code(&error).as_str(), error.at().element), ("L203", Some(1)));
    let set = Set::base().var(Var::new(2, "out", VarClass::TmpBuf, 4));
    assert_eq!(code(&by_hand(set, &Policy::DEFAULT).unwrap_err()), "L203");
}

#[test]
fn lowering_t24() {
    let vars: serde_json::Map<_, _> = (0..40u32)
        .rev()
        .map(|id| {
            let class = if id == 7 { "output" } else { "tmp-buf" };
            (format!("v{:02}", (id * 7) % 40), json!({"type": class, "size": id + 1, "var_id": id}))
        })
        .collect();
    let lowered = Package::base().key("var", vars.into()).lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let sizes: Vec<_> = kbin.mem_refs().iter().map(|var| (var.var_id.get(), var.size.get())).collect();
    assert_eq!(sizes, (0..40).map(|id| (id, u64::from(id) + 1)).collect::<Vec<_>>());
    for id in 0..40 {
        let name = format!("v{:02}", (id * 7) % 40);
        assert_eq!(kbin.var_by_name(name.as_bytes()).unwrap().record.var_id.get(), id);
    }
    assert!(kbin.var_by_name(b"v40").is_none() && kbin.var_by_name(b"").is_none());
}

#[test]
fn lowering_t25() {
    let error = with(json!({"type": "input", "size": 4, "alignment": 48})).refused();
    assert_eq!((code(&error).as_str(), error.at().a), ("E313", 48));
    let mut var = Var::new(2, "x", VarClass::Input, 4);
    var.alignment = 48;
    let error = refused(var);
    assert_eq!(code(&error), "L204");
    assert_eq!(error.log().to_string(), "alignment provided not power of 2. alignment=48");
}

#[test]
fn lowering_t26() {
    let lowered = with(json!({"type": "input", "size": 4, "alignment": 64})).lowered();
    assert_eq!(lowered.kbins.kbin(0).unwrap().mem_ref(2).unwrap().alignment.get(), 64);
    let lowered = with(json!({"type": "input", "size": 4, "alignment": 0})).lowered();
    assert_eq!(lowered.kbins.kbin(0).unwrap().mem_ref(2).unwrap().alignment.get(), 0);
}

#[test]
fn lowering_t27() {
    let lowered = with(json!({"type": "tmp-buf", "size": 4, "dtype": "float8_e4m3fn"})).lowered();
    assert_eq!(&lowered.kbins.kbin(0).unwrap().mem_ref(2).unwrap().dtype.0, b"float8_e4m3fn\0\0\0");
}

#[test]
fn lowering_t28() {
    let lowered = with(json!({"type": "tmp-buf", "size": 4, "dtype": "abcdefghijklmno"})).lowered();
    assert_eq!(&lowered.kbins.kbin(0).unwrap().mem_ref(2).unwrap().dtype.0, b"abcdefghijklmno\0");
    assert_eq!(with(json!({"type": "tmp-buf", "size": 4, "dtype": "abcdefghijklmnop"})).code(), "E318");
    let mut var = Var::new(2, "x", VarClass::TmpBuf, 4);
    var.dtype = b"abcdefghijklmnop".to_vec();
    let error = refused(var);
    assert_eq!((code(&error).as_str(), error.at().a, error.at().b), ("L205", 16, 15));
}

#[test]
fn lowering_t29() {
    let lowered = with(json!({"type": "tmp-buf", "size": 4, "shape": [1, 2, 3, 4, 5, 6, 7, 8]})).lowered();
    let shape = lowered.kbins.kbin(0).unwrap().mem_ref(2).unwrap().shape.map(U64::get);
    assert_eq!(shape, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        with(json!({"type": "tmp-buf", "size": 4, "shape": [1, 1, 1, 1, 1, 1, 1, 1, 1]})).code(),
        "E319"
    );
    let mut var = Var::new(2, "x", VarClass::TmpBuf, 4);
    var.shape = vec![U64::new(1); 9];
    assert_eq!(code(&refused(var)), "L206");
}

#[test]
fn lowering_t30() {
    assert_eq!(with(json!({"type": "input"})).code(), "E314");
    let mut var = Var::new(2, "x", VarClass::Input, 4);
    var.size = None;
    assert_eq!(code(&refused(var)), "L213");
}

#[test]
fn lowering_t31() {
    let lowered =
        with(json!({"type": "virtual", "size": 131_072, "backing_variable_off": 17_108_992})).lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let var = kbin.mem_ref(2).unwrap();
    assert_eq!((var.mr_type.get(), var.size.get(), var.alignment.get()), (8, 131_072, 0));
    let Extra::Virtual(arm) = var.extra() else { panic!("virtual") };
    assert_eq!((arm.offset.get(), arm.backing_buf), (17_108_992, Backing::MAIN));
    assert_eq!(kbin.scratchpad(), (17_240_064, 0));
}

#[test]
fn lowering_t32() {
    let lowered = with(json!({"type": "virtual", "size": 50}))
        .var("y", json!({"type": "virtual", "size": 75, "backing_variable_off": 25, "var_id": 3}))
        .lowered();
    assert_eq!(lowered.kbins.kbin(0).unwrap().scratchpad(), (100, 0));
}

#[test]
fn lowering_t33() {
    assert_eq!(with(json!({"type": "virtual", "size": 1, "backing_variable_off": u64::MAX})).code(), "E322");
    let error = refused(Var::scratch(2, "x", u64::MAX, 1));
    assert_eq!((code(&error).as_str(), error.at().a, error.at().b), ("L209", u64::MAX, 1));
    let half = (1 << 63) - 8;
    let mut other = Var::scratch(3, "y", half, 8);
    other.backing = Some(loader_core::manifest::Backing::Local);
    let set = Set::base().var(Var::scratch(2, "x", half, 8)).var(other);
    assert_eq!(code(&by_hand(set, &Policy::DEFAULT).unwrap_err()), "L209", "areas together");
    assert!(by_hand(Set::base().var(Var::scratch(2, "x", half, 8)), &Policy::DEFAULT).is_ok());
}

#[test]
fn lowering_t34() {
    let lowered = with(json!({"type": "virtual", "size": 4096, "backing_buf": "shared"}))
        .var("y", json!({"type": "virtual", "size": 100, "var_id": 3}))
        .lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    assert_eq!(kbin.scratchpad(), (100, 4096));
    let Extra::Virtual(arm) = kbin.mem_ref(2).unwrap().extra() else { panic!("virtual") };
    assert_eq!(arm.backing_buf.get(), 1);
}

#[test]
fn lowering_t35() {
    let error = with(json!({"type": "virtual", "size": 4, "backing_buf": "bogus"})).refused();
    assert!(error.id().letter == 'E' && error.status().number() == 2, "{error}");
    assert_eq!(error.at().element, Some(2));
}

#[test]
fn lowering_t36() {
    let package = with(json!({"type": "virtual", "size": 100, "fabric_path": "alt"}))
        .var("y", json!({"type": "virtual", "size": 100, "var_id": 3}));
    assert_eq!(package.code(), "L210");
    let mut appended = package.clone();
    appended.policy.append_alt_area = true;
    let lowered = appended.lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let Extra::Virtual(arm) = kbin.mem_ref(2).unwrap().extra() else { panic!("virtual") };
    assert_eq!(arm.offset.get(), Policy::CONTIGUOUS_PAGE);
    assert_eq!(kbin.scratchpad(), (Policy::CONTIGUOUS_PAGE + 100, 0));
    // R14: the fabric of a constant does not matter.
    let constant = json!({"type": "file", "file_name": "w.bin", "fabric_path": "repl"});
    assert!(with(constant).member("sg00/w.bin", &[1, 2]).lower().is_ok());
}

#[test]
fn lowering_t37() {
    let bytes = neffload_tests::build::filler(5, 1536);
    let package = with(json!({"type": "file", "file_name": "w.bin"})).member("sg00/w.bin", &bytes);
    let (lowered, parsed) = package.lower().unwrap();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let var = kbin.mem_ref(2).unwrap();
    assert_eq!((var.mr_type, var.size.get()), (MrType::BUFFER, 1536));
    assert_eq!(parsed.bytes(kbin.blob(var.buffer).unwrap()), bytes);
}

fn npy(header: u16, total: usize) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(header.to_le_bytes());
    bytes.extend((bytes.len()..total).map(|n| n as u8));
    bytes
}

#[test]
fn lowering_t38() {
    let bytes = npy(118, 160);
    let package = with(json!({"type": "file", "file_name": "w.npy"})).member("sg00/w.npy", &bytes);
    let (lowered, parsed) = package.lower().unwrap();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let var = kbin.mem_ref(2).unwrap();
    let blob = kbin.blob(var.buffer).unwrap();
    assert_eq!((var.size.get(), blob.off.get()), (32, 128));
    assert_eq!(parsed.bytes(blob), &bytes[128..]);
}

#[test]
fn lowering_t39() {
    let mut bytes = npy(118, 160);
    bytes.swap(0, 1);
    let package = with(json!({"type": "file", "file_name": "w.npy"})).member("sg00/w.npy", &bytes);
    assert_eq!(package.code(), "E320");
}

#[test]
fn lowering_t40() {
    let package = with(json!({"type": "file", "file_name": "w.npy"})).member("sg00/w.npy", &npy(1000, 160));
    assert_eq!(package.code(), "E320");
    let detail = DetailIn::File { member: MemberId(1), payload_offset: u64::MAX, payload_len: 2 };
    assert_eq!(code(&refused(Var::new(2, "x", VarClass::File, 2).with(detail))), "L403");
}

#[test]
fn lowering_t41() {
    assert_eq!(with(json!({"type": "file", "file_name": "w.bin"})).code(), "E317");
    let detail = DetailIn::File { member: MemberId(u32::MAX), payload_offset: 0, payload_len: 2 };
    let error = refused(Var::new(2, "x", VarClass::File, 2).with(detail));
    assert_eq!(code(&error), "L401");
    assert_eq!(error.log().to_string(), "Failed to get neff weight content for x");
}

#[test]
fn lowering_t42() {
    let package = with(json!({"type": "file", "file_name": "w.bin"}))
        .var("y", json!({"type": "file", "file_name": "w.bin", "var_id": 3}))
        .member("sg00/w.bin", &[9; 40]);
    let (lowered, parsed) = package.lower().unwrap();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let blobs = [2, 3].map(|id| kbin.blob(kbin.mem_ref(id).unwrap().buffer).unwrap());
    assert_eq!((blobs[0], blobs[0].copied.get()), (blobs[1], 0));
    assert_eq!(parsed.bytes(blobs[1]), [9; 40]);
}

#[test]
fn lowering_t43() {
    let package = with(json!({"type": "pointer", "size": 8, "referenced_var_id": 3}))
        .var("y", json!({"type": "input", "size": 16, "var_id": 3}));
    let lowered = package.lowered();
    let var = lowered.kbins.kbin(0).unwrap().mem_ref(2).unwrap();
    let Extra::Ptr(arm) = var.extra() else { panic!("pointer") };
    assert_eq!((var.mr_type.get(), arm.referenced_var_id.get(), arm.io_ref, var.size.get()), (7, 3, 1, 8));
}

#[test]
fn lowering_t44() {
    let package = with(json!({"type": "pointer", "size": 8, "referenced_var_id": 3}))
        .var("y", json!({"type": "tmp-buf", "size": 16, "var_id": 3}));
    let lowered = package.lowered();
    let Extra::Ptr(arm) = lowered.kbins.kbin(0).unwrap().mem_ref(2).unwrap().extra() else {
        panic!("pointer")
    };
    assert_eq!(arm.io_ref, 0);
}

#[test]
fn lowering_t45() {
    assert_eq!(with(json!({"type": "pointer", "size": 4, "referenced_var_id": 1})).code(), "E315");
    let mut var = Var::pointer(2, "x", 1);
    var.size = Some(4);
    let error = refused(var);
    assert_eq!((code(&error).as_str(), error.at().a), ("L207", 4));
}

#[test]
fn lowering_t46() {
    assert_eq!(with(json!({"type": "pointer", "size": 8, "referenced_var_id": 3})).code(), "E323");
    let error = refused(Var::pointer(2, "x", 3));
    assert_eq!((code(&error).as_str(), error.at().a, error.at().element), ("L208", 3, Some(2)));
    let mut list = Var::new(2, "x", VarClass::List, 0).with(DetailIn::List { len: 2 });
    list.list = vec![1, 9];
    assert_eq!(code(&refused(list)), "L208");
}

#[test]
fn lowering_t47() {
    let package = with(json!({"type": "list", "list": [3, 1, 2]}))
        .var("y", json!({"type": "dge-table", "list": [0, 1], "var_id": 3}));
    let lowered = package.lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let lists = [2, 3].map(|id| {
        let var = kbin.mem_ref(id).unwrap();
        (var.mr_type.get(), var.size.get(), kbin.list(var).iter().map(|one| one.get()).collect::<Vec<_>>())
    });
    assert_eq!(lists, [(9, 12, vec![3, 1, 2]), (10, 8, vec![0, 1])]);
}

#[test]
fn lowering_t48() {
    let error = with(json!({"type": "list", "list": "x"})).refused();
    assert_eq!(
        (code(&error).as_str(), error.log().to_string().as_str()),
        ("E316", "Failed to parse, key: list")
    );
}

#[test]
fn lowering_t49() {
    let package = with(json!({"type": "tmp-buf", "size": 4, "prefix": "dbg", "pipe": 7}))
        .var("y", json!({"type": "input", "size": 4, "prefix": "dbg", "pipe": 7, "var_id": 3}));
    let lowered = package.lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let print = kbin.print(kbin.mem_ref(2).unwrap()).unwrap();
    assert_eq!((print.prefix_str.as_bytes(), print.pipe_id.get()), (&b"dbg"[..], 7));
    assert!(print.prefix_str.0[3..].iter().all(|&byte| byte == 0));
    assert!(kbin.mem_ref(3).unwrap().dtensor_md.is_null());
}

/// lowering.md §2.6, §11.5: the records of device prints are one array of 516 bytes each.
#[test]
fn device_prints_are_one_array() {
    let lowered = |prints: u32, others: u32| {
        let keys = |id: u32, print: bool| {
            let mut keys = json!({"type": "tmp-buf", "size": 4, "var_id": id});
            if print {
                (keys["prefix"], keys["pipe"]) = (json!(format!("p{id}")), json!(id));
            }
            keys
        };
        let add = |package: Package, id| package.var(&format!("t{id:02}"), keys(id, id - 2 < prints));
        (2..2 + prints + others).fold(Package::base(), add).lowered()
    };
    for prints in 0..=17 {
        let (with, without) = (lowered(prints, 1), lowered(0, prints + 1));
        let bytes = |lowered: &Lowered| lowered.kbins.head().bytes().len() as u32;
        assert_eq!(bytes(&with) - bytes(&without), (516 * prints).next_multiple_of(8), "{prints}");
        let kbin = with.kbins.kbin(0).unwrap();
        for id in 2..2 + prints {
            let var = kbin.mem_ref(id).unwrap();
            let print = kbin.print(var).unwrap();
            assert_eq!((print.prefix_str.as_bytes(), print.pipe_id.get()), (format!("p{id}").as_bytes(), id));
            let first = kbin.mem_ref(2).unwrap().dtensor_md.off.get();
            assert_eq!(var.dtensor_md.off.get(), first + 516 * (id - 2));
        }
        assert!(kbin.print(kbin.mem_ref(2 + prints).unwrap()).is_none());
    }
}

#[test]
fn lowering_t50() {
    let package = with(json!({"type": "shared", "size": 64}));
    assert_eq!(package.code(), "E312");
    let mut accepting = package.clone();
    accepting.policy.accept_area_classes = true;
    let lowered = accepting.lowered();
    let var = lowered.kbins.kbin(0).unwrap().mem_ref(2).unwrap();
    let Extra::Virtual(arm) = var.extra() else { panic!("virtual") };
    assert_eq!((var.mr_type, arm.backing_buf.get()), (MrType::VIRTUAL_TMP_BUF, 1));
}

#[test]
fn lowering_t51() {
    let keys = json!({"type": "output", "size": 4, "ops": [{"a": 1}], "#file-name": "x.npy", "zz": null});
    assert!(with(keys).lower().is_ok());
}

#[test]
fn pointers_do_not_form_chains() {
    let error = refused(Var::pointer(2, "x", 2));
    assert_eq!((code(&error).as_str(), error.at().element), ("L212", Some(2)));
    let set = Set::base().var(Var::pointer(2, "x", 3)).var(Var::pointer(3, "y", 2));
    let error = by_hand(set, &Policy::DEFAULT).unwrap_err();
    assert_eq!((code(&error).as_str(), error.at().element), ("L211", Some(2)));
}
