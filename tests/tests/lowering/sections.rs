//! lowering.md §14.5: carve-outs, collectives, streams, fp8, libraries, target.

use loader_core::arch::Arch;
use loader_core::error::Error;
use loader_core::lower::input::{BlobIn, CarveoutIn, DveIn};
use loader_core::lower::record::CarveoutType;
use loader_core::policy::{DefaultFunction, DefaultLibrary, Policy};
use neffload_tests::lowering::handmade::{Library, Set, Working, blob, evtaccel};
use neffload_tests::lowering::package::Package;
use neffload_tests::lowering::{Lowered, lower_input};
use serde_json::{Value, json};

fn by_hand(set: Set, policy: &Policy) -> Result<Lowered, Error> {
    let mut input = Working::new(vec![set]);
    lower_input(&input.clone(), &mut input, policy)
}

fn code(set: Set) -> String {
    by_hand(set, &Policy::DEFAULT).unwrap_err().id().to_string()
}

#[test]
fn lowering_t80() {
    let mut package = Package::base();
    package.target = "cayman";
    assert_eq!(package.code(), "E350");
    package.policy.allow_legacy = true;
    assert!(package.lowered().kbins.kbin(0).unwrap().carveouts().is_none());
    let set = Set { target: 3, ..Set::base() };
    assert_eq!(code(set.clone()), "L501");
    let legacy = Policy { allow_legacy: true, ..Policy::DEFAULT };
    let lowered = by_hand(set, &legacy).unwrap();
    assert!(lowered.kbins.kbin(0).unwrap().record().sb_carveouts.is_null());
}

#[test]
fn lowering_t81() {
    assert!(Package::base().lowered().kbins.kbin(0).unwrap().carveouts().is_none());
    assert!(Package::base().target("mariana").lower().is_ok());
}

#[test]
fn lowering_t82() {
    let entry =
        json!({"type": "evtaccel", "offset": 0x37FF8, "size": 8, "base_partition": 0, "partitions": 128});
    let lowered =
        Package::base().target("cayman").key("runtime_statebuffer_reservation", json!([entry])).lowered();
    let carveouts = lowered.kbins.kbin(0).unwrap().carveouts().unwrap();
    assert_eq!(carveouts.len(), 1);
    let one = &carveouts[0];
    let fields = [one.offset, one.size, one.start_partition, one.num_partitions].map(|field| field.get());
    assert_eq!((one.kind.get(), fields), (1, [0x37FF8, 8, 0, 128]));
}

#[test]
fn lowering_t83() {
    let entry = json!({"type": "other", "offset": 0, "size": 8, "base_partition": 0, "partitions": 128});
    let package = Package::base().key("runtime_statebuffer_reservation", json!([entry]));
    let error = package.refused();
    assert_eq!(error.id().to_string(), "E351");
    assert_eq!(error.log().to_string(), "Invalid runtime_statebuffer_reservation type other");
    let odd = CarveoutIn { kind: CarveoutType::new(2), ..evtaccel() };
    assert_eq!(code(Set { carveouts: Some(vec![odd]), ..Set::base() }), "L502");
}

#[test]
fn lowering_t84() {
    let groups = json!([[[0, 1], [2, 3]], [[0, 2]]]);
    let lowered = Package::base().key("replica_groups", groups).lowered();
    let found: Vec<Vec<Vec<u32>>> = lowered
        .kbins
        .kbin(0)
        .unwrap()
        .replica_groups()
        .map(|group| group.subgroups().map(|ranks| ranks.iter().map(|rank| rank.get()).collect()).collect())
        .collect();
    assert_eq!(found, [vec![vec![0, 1], vec![2, 3]], vec![vec![0, 2]]]);
    let pairs = json!([[[0, 1], [1, 0]], [[2, 3]]]);
    let lowered = Package::base().key("src_target_pairs", pairs).lowered();
    let found: Vec<Vec<_>> = lowered
        .kbins
        .kbin(0)
        .unwrap()
        .src_target_pairs()
        .map(|set| set.iter().map(|pair| (pair.source.get(), pair.target.get())).collect())
        .collect();
    assert_eq!(found, [vec![(0, 1), (1, 0)], vec![(2, 3)]]);
}

#[test]
fn lowering_t85() {
    let streams = |package: Package| package.lowered().kbins.kbin(0).unwrap().num_streams();
    assert_eq!(streams(Package::base().key("num_streams", json!(3))), 3);
    assert_eq!(streams(Package::base()), 1);
    assert_eq!(streams(Package::base().key("cc_streams", json!({"num_streams": 0}))), 0, "R13");
}

fn fp8() -> Value {
    json!({"fp8_range_extension": 1, "emax_fp8_e4m3": 8, "emax_fp8_e5m2": 15, "ocp_sat": 1, "fp8_sis": 0, "fp8_sns": 1})
}

fn fp8_bytes(package: &Package) -> Vec<u8> {
    let lowered = package.lowered();
    zerocopy::IntoBytes::as_bytes(lowered.kbins.kbin(0).unwrap().record())[400..416].to_vec()
}

#[test]
fn lowering_t86() {
    let bytes = fp8_bytes(&Package::base().key("fp8_conversion_config", fp8()));
    assert_eq!(bytes, [1, 0, 0, 0, 8, 0, 0, 0, 15, 0, 0, 0, 1, 0, 1, 0]);
}

#[test]
fn lowering_t87() {
    let mut package = Package::base();
    package.policy.fp8.emax_fp8_e4m3 = Some(7);
    let mut expected = [0; 16];
    expected[4] = 7;
    assert_eq!(fp8_bytes(&package), expected);
    package.policy.fp8.fp8_sns = Some(false);
    let over = fp8_bytes(&package.key("fp8_conversion_config", fp8()));
    assert_eq!((over[4], over[14], over[12]), (7, 0, 1));
}

fn library(keys: Value) -> Value {
    let mut library = json!({"library": "lib.so", "ulib_to_ucode_version": "1.21.1.0", "opcode": 0x40});
    for (key, value) in keys.as_object().unwrap() {
        if value.is_null() {
            library.as_object_mut().unwrap().remove(key);
        } else {
            library[key] = value.clone();
        }
    }
    library
}

fn libraries(libraries: Value) -> Package {
    let package = Package::base().member("sg00/lib.so", &[1; 40]).member("sg00/b.so", &[2; 50]);
    package.key("ucode_lib", libraries)
}

#[test]
fn lowering_t88() {
    for (opcode, flags) in [(0x85, 0), (0x40, 6)] {
        let functions = json!([{"name": "f", "opcode": 1, "sub_opcode": 2}]);
        let package = libraries(json!([library(json!({"opcode": opcode, "functions": functions}))]));
        let lowered = package.lowered();
        let libs: Vec<_> = lowered.kbins.kbin(0).unwrap().ucode_libs().collect();
        assert_eq!(
            (libs.len(), libs[0].record.flags.get(), libs[0].record.content_size.get()),
            (1, flags, 40)
        );
        assert_eq!(libs[0].content.unwrap().len.get(), 40);
        let function = &libs[0].functions[0];
        assert_eq!((function.name.as_bytes(), function.opcode, function.sub_opcode), (&b"f"[..], 1, 2));
    }
}

#[test]
fn lowering_t89() {
    let one = |keys| libraries(json!([library(keys)])).code();
    assert_eq!(one(json!({"ulib_to_ucode_version": null})), "E342");
    assert_eq!(one(json!({"ulib_to_ucode_version": "2.0.0.0"})), "E343");
    assert_eq!(libraries(json!([library(json!({})), library(json!({}))])).code(), "E346");
    assert_eq!(one(json!({"total_cpus": 2})), "E345");
    let hand = |change: &dyn Fn(&mut Library)| {
        let mut library = Library::new("lib", 0x40);
        change(&mut library);
        code(Set { libraries: vec![library], ..Set::base() })
    };
    assert_eq!(hand(&|library| library.version.clear()), "L503");
    assert_eq!(hand(&|library| library.version = b"2.0.0.0".to_vec()), "L506");
    assert_eq!(hand(&|library| library.total_cpus = 2), "L507");
    assert_eq!(hand(&|library| library.cpu_id = 1), "L508");
    assert_eq!(hand(&|library| library.functions = vec![(b"f".to_vec(), 300, 0)]), "L509");
    let twice = vec![Library::new("lib", 0x40), Library::new("lib", 0x85)];
    assert_eq!(code(Set { libraries: twice, ..Set::base() }), "L504");
}

#[test]
fn lowering_t90() {
    let error = by_hand(Set { target: 0, ..Set::base() }, &Policy::DEFAULT).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), ("L601", 2));
    assert_eq!(error.log().to_string(), "Invalid target = 0");
    let host = Policy { host_arch: Some(Arch::Cayman), ..Policy::DEFAULT };
    assert_eq!(by_hand(Set::base(), &host).unwrap_err().id().to_string(), "L602");
    let legacy = Policy { allow_legacy: true, ..host };
    assert!(by_hand(Set::base(), &legacy).is_ok());
}

#[test]
fn lowering_t91() {
    let mut package = Package::base().host(Arch::Mariana);
    package.target = "*";
    assert_eq!(package.lowered().kbins.kbin(0).unwrap().record().target.get(), 4);
}

#[test]
fn lowering_t92() {
    let functions = |count: usize| {
        let all: Vec<_> =
            (0..count).map(|n| json!({"name": format!("f{n}"), "opcode": n, "sub_opcode": 0})).collect();
        Package::base().key("ext_isa_ucode_lib_def", json!({"functions": all, "add_lib": true}))
    };
    assert!(functions(18).lower().is_ok());
    let error = functions(19).refused();
    assert_eq!((error.id().to_string().as_str(), error.at().a, error.at().b), ("L505", 19, 18));
}

/// A host with the extended-ISA library.
static DEFAULT: DefaultLibrary = DefaultLibrary {
    arch: Arch::Sunda,
    name: "all",
    content: &[1, 2, 3],
    functions: &[
        DefaultFunction { name: "iota", opcode: 0x20, sub_opcode: 1 },
        DefaultFunction { name: "sort", opcode: 0x21, sub_opcode: 2 },
    ],
};

#[test]
fn a_default_library_joins_by_name() {
    let policy = Policy { default_library: Some(&DEFAULT), ..Policy::DEFAULT };
    let set = Set { libraries: vec![Library::new("aa", 0x40), Library::new("b", 0x85)], ..Set::base() };
    let lowered = by_hand(set.clone(), &policy).unwrap();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let libs: Vec<_> = kbin.ucode_libs().collect();
    assert_eq!(libs.iter().map(|lib| lib.record.flags.get()).collect::<Vec<_>>(), [6, 6, 0]);
    assert_eq!(libs[1].content.unwrap().member_id(), None);
    assert_eq!((libs[1].functions.len(), libs[1].functions[1].sub_opcode), (2, 2));
    let narrowed = by_hand(Set { ext_isa: Some(vec![b"sort".to_vec()]), ..set.clone() }, &policy).unwrap();
    let kbin = narrowed.kbins.kbin(0).unwrap();
    assert_eq!(kbin.ucode_libs().nth(1).unwrap().functions[0].name.as_bytes(), b"sort");
    let none = by_hand(Set { ext_isa: Some(vec![b"what".to_vec()]), ..set.clone() }, &policy).unwrap();
    assert_eq!(none.noted("W604").len(), 1);
    let other = by_hand(Set { target: 4, ext_isa: Some(Vec::new()), ..set }, &policy).unwrap();
    assert_eq!((other.kbins.kbin(0).unwrap().ucode_libs().count(), other.noted("W607").len()), (2, 1));
    let same = Set { libraries: vec![Library::new("all", 0x40)], ..Set::base() };
    assert_eq!(by_hand(same, &policy).unwrap_err().id().to_string(), "L504");
}

#[test]
fn tables_keep_their_slots() {
    let set = Set {
        act_semaphore: 12,
        act_sets: vec![(b"exp".to_vec(), blob(1, 64), blob(2, 0), 3)],
        dve: Some(DveIn {
            tables: [BlobIn::NONE, blob(3, 8), BlobIn::NONE, BlobIn::NONE],
            ..DveIn::default()
        }),
        ..Set::base()
    };
    let lowered = by_hand(set.clone(), &Policy::DEFAULT).unwrap();
    let kbin = lowered.kbins.kbin(0).unwrap();
    assert_eq!(kbin.record().act_function_sets.act_tbl_semaphore.get(), 12);
    let act: Vec<_> = kbin.act_sets().collect();
    assert_eq!((act[0].record.name.as_bytes(), act[0].record.num_functions), (&b"exp"[..], 3));
    assert_eq!((act[0].bkt.unwrap().len.get(), act[0].ctl.is_none()), (64, true));
    let dve = kbin.dve().unwrap();
    assert!(dve.control_fast.is_some() && dve.control_slow.is_none() && dve.opcode.is_none());
    let mut many = set.clone();
    many.act_sets[0].3 = 26;
    assert_eq!(code(many), "L404");
    let unplaced = DveIn { unplaced_control: true, ..DveIn::default() };
    assert_eq!(code(Set { dve: Some(unplaced), ..set }), "L405");
}
