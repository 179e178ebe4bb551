//! Large manifests: linear time, bounded memory, clean ends where memory or a limit runs out.

use loader_core::limits::Limits;
use loader_core::manifest::BlockSource;
use loader_core::policy::Policy;
use neffload_tests::payload::{Mode, packed, with_manifest_in};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

const NEFF: &str = r#"{"nodes":[{"op":"null","name":"x"},{"op":"tvm_op","name":"sg_coreV10","output_names":["y"],
"attrs":{"func_name":"__kelf","kelf":"kelf-0.json"}}],"arg_nodes":[0],"heads":[[1,0,0]],"node_row_ptr":[0,1,2],
"attrs":{"dltype":["list_str",["float32","float32"]],"shape":["list_shape",[[8],[8]]]}}"#;
const KELF: &str =
    r#"{"version":"0.5","target":"sunda","graphs":[{"name":"sg00","definition":"sg00/def.json"}]}"#;

type Members = BTreeMap<&'static str, String>;

/// A file with so many virtual variables, and blocks of so many transfers. `desc` precedes its
/// block's `id` and `queue`.
fn file(variables: usize, blocks: usize, transfers: usize) -> Vec<u8> {
    let mut def = String::from(r#"{"pool":"Pool0.json","dma_queue":{"q":{"type":"data"}},"var":{"#);
    for n in 0..variables {
        write!(def, r#""variable_{n}":{{"size":32,"type":"virtual","var_id":{n},"ops":[],"backing_variable_off":{n}}},"#)
            .unwrap();
    }
    write!(def, r#""y":{{"type":"output","size":32,"var_id":{variables}}}}}}}"#).unwrap();
    let mut pool = String::from(r#"{"instr":"Pool0.bin","dma":["#);
    for n in 0..blocks {
        pool.push_str(if n == 0 { r#"{"desc":["# } else { r#",{"desc":["# });
        for t in 0..transfers {
            let (from, to) = ((n * 7 + t) % variables, (n * 13 + t) % variables);
            let comma = if t == 0 { "" } else { "," };
            write!(
                pool,
                r#"{comma}{{"from":"variable_{from}","from_off":0,"from_sizes":[16,2],"from_steps":[1,16],"from_dtype":"uint8","op":"copy","to":"variable_{to}","to_off":0,"to_sizes":[16,2],"to_steps":[1,16],"to_dtype":"uint8"}}"#
            )
            .unwrap();
        }
        write!(pool, r#"],"id":{n},"queue":"q","semaphore":4}}"#).unwrap();
    }
    pool.push_str("]}");
    let mut members = Members::new();
    members.insert("neff.json", NEFF.to_owned());
    members.insert("kelf-0.json", KELF.to_owned());
    members.insert("sg00/def.json", def);
    members.insert("sg00/Pool0.json", pool);
    members.insert("sg00/Pool0.bin", String::new());
    packed(&members)
}

fn timed(file: &[u8], arena: usize, mode: Mode) -> (Duration, [u32; 3]) {
    let start = Instant::now();
    let counts =
        with_manifest_in(arena, file, &Policy::default(), &Limits::DEFAULT, mode, |manifest, _, _| {
            let definition = manifest.definition(0).unwrap();
            let source = BlockSource::Engine(loader_core::arch::Engine::Pool);
            [definition.var_count(), definition.block_count(source), definition.transfer_count(source)]
        });
    (start.elapsed(), counts.unwrap_or_else(|refused| panic!("{}", refused.1)))
}

#[test]
fn time_grows_with_the_size() {
    let small = timed(&file(15_000, 12_500, 10), 64 << 20, Mode::Streamed);
    let big = timed(&file(60_000, 50_000, 10), 64 << 20, Mode::Streamed);
    assert_eq!(small.1, [15_001, 12_500, 125_000]);
    assert_eq!(big.1, [60_001, 50_000, 500_000]);
    println!("15,000 variables and 125,000 transfers in {:?}; four times that in {:?}", small.0, big.0);
    assert!(big.0 < small.0 * 12, "{:?} against {:?}", small.0, big.0);
}

/// A file with so many constants, half of them `.npy`, each with a member of its own.
fn constants(count: usize) -> Vec<u8> {
    let mut members: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut def = String::from(r#"{"var":{"#);
    for n in 0..count {
        let name = if n % 2 == 0 { format!("w{n}.npy") } else { format!("w{n}.bin") };
        write!(def, r#""w{n}":{{"file_name":"{name}","size":4,"type":"file","var_id":{n}}},"#).unwrap();
        let content = if n % 2 == 0 { b"\x93NUMPY\x01\0\x02\0{}abcd".to_vec() } else { b"abcd".to_vec() };
        members.insert(format!("sg00/{name}"), content);
    }
    write!(def, r#""y":{{"type":"output","size":32,"var_id":{count}}}}}}}"#).unwrap();
    members.insert("neff.json".to_owned(), NEFF.into());
    members.insert("kelf-0.json".to_owned(), KELF.into());
    members.insert("sg00/def.json".to_owned(), def.into_bytes());
    packed(&members)
}

#[test]
fn time_grows_with_the_number_of_constants() {
    for mode in [Mode::Resident, Mode::Streamed] {
        let small = timed(&constants(5_000), 64 << 20, mode);
        let big = timed(&constants(20_000), 64 << 20, mode);
        assert_eq!((small.1, big.1), ([5_001, 0, 0], [20_001, 0, 0]));
        println!("{mode:?}: 5,000 constants in {:?}, 20,000 in {:?}", small.0, big.0);
        assert!(big.0 < small.0 * 10 + Duration::from_millis(200), "{:?} against {:?}", small.0, big.0);
    }
}

#[test]
fn a_million_variables() {
    let (time, counts) = timed(&file(1_000_000, 1, 1), 512 << 20, Mode::Resident);
    assert_eq!(counts, [1_000_001, 1, 1]);
    println!("1,000,001 variables in {time:?}");
}

#[test]
fn a_limit_ends_the_reading() {
    let file = file(100, 20, 10);
    let limits = [
        Limits { variables: 99, ..Limits::DEFAULT },
        Limits { blocks: 19, ..Limits::DEFAULT },
        Limits { descriptors: 199, ..Limits::DEFAULT },
        Limits { subgraphs: 0, ..Limits::DEFAULT },
    ];
    for limits in limits {
        let outcome =
            with_manifest_in(1 << 20, &file, &Policy::default(), &limits, Mode::Resident, |_, _, _| ());
        let (error, text) = *outcome.unwrap_err();
        assert_eq!(error.id().to_string(), "E810", "{text}");
        assert_eq!(error.status().number(), 4, "{text}");
    }
    let short = Limits { element_bytes: 8, ..Limits::DEFAULT };
    let outcome = with_manifest_in(1 << 20, &file, &Policy::default(), &short, Mode::Resident, |_, _, _| ());
    assert_eq!(outcome.unwrap_err().0.id().to_string(), "E123");
}

/// Memory is raised until the file is taken; every failure before that is the arena's, and the stage
/// gives back what it took (which `with_manifest_in` checks).
#[test]
fn every_arena_is_either_enough_or_cleanly_too_small() {
    let file = file(40, 6, 3);
    let mut enough = None;
    for bytes in (4096..1 << 18).step_by(1016) {
        let outcome = with_manifest_in(
            bytes,
            &file,
            &Policy::default(),
            &Limits::DEFAULT,
            Mode::Streamed,
            |_, _, _| (),
        );
        match outcome {
            Ok(()) => {
                enough = enough.or(Some(bytes));
            }
            Err(refused) => {
                let (error, text) = *refused;
                assert!(matches!(error.id().to_string().as_str(), "E801" | "C801"), "{text}");
                assert_eq!(enough, None, "a larger arena is enough too");
                let (needed, available) = (error.at().a, error.at().b);
                assert!(needed > available, "{text}");
            }
        }
    }
    println!("40 variables and 6 blocks need an arena of at most {} bytes", enough.unwrap());
}
