//! Every refusal of lowering says where: code, member, element, subgraph, what was found and expected, status.
//!
//! `lower_input` checks each refusal that any test makes; here every code of the table is made once.

use loader_core::arch::{Arch, Engine};
use loader_core::arena::Arena;
use loader_core::error::{Error, Ignored, LowerCode};
use loader_core::limits::Limits;
use loader_core::lower::input::{DetailIn, DveIn, FileIn};
use loader_core::lower::lower_from;
use loader_core::lower::record::{CarveoutType, EngType, RingType};
use loader_core::manifest::{Access, BlockSource, DmaOp, Fabric, VarClass};
use loader_core::policy::Policy;
use neffload_tests::lowering::handmade::{
    DmaBlock, Library, Move, Queue, Set, Var, Working, blob, evtaccel, member_of,
};
use neffload_tests::lowering::{lower_input, memory};
use neffload_tests::places::assert_placed;
use std::collections::BTreeMap;
use zerocopy::little_endian::{U32, U64};

/// Codes that no input of one file gives: the resolver's, the scratchpad's and the position map's own functions, which
/// have no file, and the broken promise.
const ELSEWHERE: [u16; 9] = [901, 902, 903, 904, 905, 906, 907, 908, 909];

const DEFINITION: FileIn = FileIn::DEFINITION;
const fn engine(engine: Engine) -> FileIn {
    FileIn::Part(BlockSource::Engine(engine))
}

/// A code, the sets that give it, the manifest and the element that it must name.
type Case = (u16, Vec<Set>, FileIn, Option<u32>);

fn one(code: u16, set: Set, element: Option<u32>) -> Case {
    (code, vec![set], DEFINITION, element)
}

/// A second variable with id 1.
fn sized_one() -> Var {
    Var::new(1, "v", VarClass::TmpBuf, 4)
}

fn variables() -> Vec<Case> {
    let var = |code, var: Var| one(code, Set::base().var(var), Some(2));
    let sized = |class, size| Var::new(2, "v", class, size);
    let mut no_size = sized(VarClass::TmpBuf, 0);
    no_size.size = None;
    let alignment = Var { alignment: 48, ..sized(VarClass::TmpBuf, 4) };
    let dtype = Var { dtype: vec![b'd'; 16], ..sized(VarClass::TmpBuf, 4) };
    let shape = Var { shape: vec![U64::new(1); 9], ..sized(VarClass::TmpBuf, 4) };
    let pointer = Var { size: Some(4), ..Var::pointer(2, "v", 1) };
    let alt = Var { fabric: Some(Fabric::Alt), ..Var::scratch(2, "v", 0, 4) };
    let print = Var { print: Some((vec![b'x'; 512], 1)), ..sized(VarClass::TmpBuf, 4) };
    let file = |member, payload_offset| {
        sized(VarClass::File, 8).with(DetailIn::File { member, payload_offset, payload_len: 8 })
    };
    let nowhere = loader_core::source::MemberId(u32::MAX);
    let chain = Set::base().var(Var::pointer(2, "p", 3)).var(Var::pointer(3, "q", 1));
    let mut gap = Set::base();
    gap.vars[1].id = 5;
    let twice = Set::base().var(sized_one()).var(Var::scratch(3, "w", 0, 1));
    let mut no_output = Set::base();
    no_output.vars[1].class = VarClass::Input;
    vec![
        var(105, print),
        one(201, no_output, None),
        one(202, gap, Some(5)),
        one(203, twice, Some(1)),
        var(204, alignment),
        var(205, dtype),
        var(206, shape),
        var(207, pointer),
        var(208, Var::pointer(2, "v", 9)),
        var(209, Var::scratch(2, "v", u64::MAX, 1)),
        var(210, alt),
        one(211, chain, Some(2)),
        var(212, Var::pointer(2, "v", 2)),
        var(213, no_size),
        var(214, sized(VarClass::TmpBuf, 1 << 63)),
        var(214, sized(VarClass::Input, 1 << 63)),
        var(214, sized(VarClass::Output, (1 << 56) + 1)),
        var(214, Var::scratch(2, "v", 0, 1 << 63)),
        (401, vec![Set::base().var(file(nowhere, 0))], DEFINITION, Some(2)),
        (403, vec![Set::base().var(file(blob(3, 0).member, u64::MAX))], DEFINITION, Some(2)),
    ]
}

fn queues() -> Vec<Case> {
    let with =
        |queues: Vec<Queue>| Set { target: 3, carveouts: Some(vec![evtaccel()]), queues, ..Set::base() };
    let data = |name: &str| Queue::new(name, RingType::DATA);
    let many = |count: usize| (0..count).map(|n| data(&format!("q{n:02}"))).collect::<Vec<_>>();
    let second = |odd: Queue| with(vec![data("a"), odd]);
    let semaphores = Queue { semaphores: vec![U32::new(1); 33], ..data("q") };
    let owner = Queue { owner: Some(EngType::new(7)), ..data("q") };
    let named = Queue { named: true, ..Queue::new("q", RingType::IN) };
    let load = Queue { num_queues: 2, ..Queue::new("q", RingType::DYNAMIC_ACT_TBL) };
    let dge = many(3).into_iter().map(|queue| Queue { dge: true, ..queue }).collect();
    let dynamic = Queue { needs_scratch: true, ..data("q") };
    let mut hardware = many(12);
    hardware.iter_mut().take(11).for_each(|queue| queue.num_queues = 16);
    vec![
        one(301, with(many(33)), None),
        one(302, second(semaphores), Some(1)),
        one(303, second(owner), Some(1)),
        one(304, second(named), Some(1)),
        one(305, second(load), Some(1)),
        one(306, with(dge), None),
        one(307, second(dynamic), Some(1)),
        one(313, with(hardware), None),
    ]
}

fn blocks() -> Vec<Case> {
    let with = |blocks: Vec<DmaBlock>| Set {
        target: 3,
        carveouts: Some(vec![evtaccel()]),
        queues: vec![Queue::new("q", RingType::DATA)],
        blocks,
        ..Set::base()
    };
    let copy = || vec![Move::copy(0, 1, 64)];
    let case = |code, odd: DmaBlock| {
        let set = with(vec![DmaBlock::new(0, 0, copy()), odd]);
        (code, vec![set], engine(Engine::Pool), Some(1))
    };
    let odd = |moves| DmaBlock::new(1, 0, moves);
    let mut shape = Move::copy(0, 1, 64);
    shape.to = Access::new(1, 0, None, &[0], &[1]).unwrap();
    let mut untyped = Move::compute(DmaOp::Add, 2);
    untyped.to.dtype_given = false;
    let instance = DmaBlock { instance: 3, ..odd(copy()) };
    vec![
        case(208, odd(vec![Move::copy(9, 1, 64)])),
        case(308, DmaBlock::new(1, 4, copy())),
        case(309, odd(vec![shape])),
        case(310, odd(vec![Move::compute(DmaOp::Fma, 17)])),
        case(311, odd(vec![untyped])),
        case(312, instance),
        case(315, odd(Vec::new())),
    ]
}

fn sections() -> Vec<Case> {
    let library = |odd: Library| {
        let libraries = vec![Library::new("a", 1), odd];
        Set { libraries, ..Set::base() }
    };
    let base = || Library::new("b", 1);
    let function = Library { functions: vec![(b"f".to_vec(), 400, 0)], ..base() };
    let odd = loader_core::lower::input::CarveoutIn { kind: CarveoutType::new(9), ..evtaccel() };
    let mut too_large = Set::base();
    too_large.engines[Engine::Pe.index()] = Some(blob(7, 1 << 32));
    let profiles = Set { act_sets: vec![(b"s".to_vec(), blob(1, 8), blob(2, 8), 26)], ..Set::base() };
    let dve = Set { dve: Some(DveIn { unplaced_control: true, ..DveIn::default() }), ..Set::base() };
    let ext_isa = Some(vec![b"f".to_vec(); 19]);
    vec![
        (402, vec![too_large], DEFINITION, None),
        (404, vec![profiles], engine(Engine::Act), Some(0)),
        (405, vec![dve], engine(Engine::Dve), None),
        one(501, Set { target: 3, ..Set::base() }, None),
        one(502, Set { carveouts: Some(vec![evtaccel(), odd]), ..Set::base() }, Some(1)),
        one(503, library(Library { version: Vec::new(), ..base() }), Some(1)),
        one(504, library(Library::new("a", 1)), Some(1)),
        one(505, Set { ext_isa, ..Set::base() }, None),
        one(506, library(Library { version: b"2.0".to_vec(), ..base() }), Some(1)),
        one(507, library(Library { total_cpus: 2, ..base() }), Some(1)),
        one(508, library(Library { cpu_id: 1, ..base() }), Some(1)),
        one(509, library(function), Some(1)),
        (601, vec![Set { target: 0, ..Set::base() }], FileIn::Graph, None),
    ]
}

fn cores() -> Vec<Case> {
    let remote = |subgraph, var| Set::base().at(1).var(Var::remote(2, "x", subgraph, var));
    let first = |var: Var| Set::base().var(var);
    let pair = |code, first: Set, second: Set| (code, vec![first, second], DEFINITION, Some(2));
    vec![
        pair(701, Set::base(), remote(0, 9)),
        (702, vec![Set::base(), Set::base().at(1), Set::base().at(2)], FileIn::Graph, None),
        (703, vec![Set::base(), Set::base()], FileIn::Graph, Some(1)),
        pair(704, Set::base(), remote(2, 1)),
        pair(705, Set::base(), remote(1, 1)),
        pair(706, first(Var::remote(2, "y", 1, 1)), remote(0, 2)),
        pair(707, first(Var::pointer(2, "y", 1)), remote(0, 2)),
        (802, Vec::new(), FileIn::Graph, None),
    ]
}

fn refuse(sets: Vec<Set>, policy: &Policy) -> Error {
    let mut input = Working::new(sets);
    lower_input(&input.clone(), &mut input, policy).unwrap_err()
}

#[test]
fn every_refusal_of_lowering_has_its_place() {
    let mut seen = BTreeMap::<u16, usize>::new();
    for (code, sets, file, element) in
        [variables(), queues(), blocks(), sections(), cores()].into_iter().flatten()
    {
        let last = sets.len().saturating_sub(1) as u32;
        let error = refuse(sets, &Policy::DEFAULT);
        assert_eq!((error.id().letter, error.id().number), ('L', code), "{error}");
        // A cut constant and a program are named by their own members.
        let sg = u32::from(error.at().subgraph.unwrap());
        if ![402, 403].contains(&code) {
            assert_eq!(error.at().member, Some(member_of(sg, file)), "{error}");
        }
        assert!(sg <= last, "{error}");
        if element.is_some() {
            assert_eq!(error.at().element, element, "{error}");
        }
        *seen.entry(code).or_default() += 1;
    }
    let host = Policy { host_arch: Some(Arch::Mariana), ..Policy::DEFAULT };
    let error = refuse(vec![Set::base()], &host);
    assert_eq!((error.id().number, error.at().member), (602, Some(member_of(0, FileIn::Graph))));
    seen.insert(602, 1);
    seen.insert(two_programs(), 1);
    seen.insert(full(), 1);
    let table = LowerCode::ALL.iter().map(|code| code.info().id);
    let all: Vec<u16> = table.filter(|id| id.letter == 'L').map(|id| id.number).collect();
    let missing: Vec<_> =
        all.iter().filter(|code| !seen.contains_key(code) && !ELSEWHERE.contains(code)).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

fn two_programs() -> u16 {
    use neffload_tests::lowering::package::Package;
    use serde_json::json;
    let package = Package::base()
        .key("pe_instr", json!("b.bin"))
        .engine("pe", json!({"instr": "a.bin"}), &[])
        .member("sg00/a.bin", &[0; 64])
        .member("sg00/b.bin", &[0; 64]);
    let error = package.refused();
    assert_placed(&error);
    error.id().number
}

fn full() -> u16 {
    let mut arena = Arena::new(memory(64)).unwrap();
    let mut input = Working::new(vec![Set::base()]);
    let mark = arena.mark();
    let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
    let result = lower_from(&input.clone(), &mut input, &mut arena, &limits, &policy, &mut Ignored);
    assert_eq!(arena.mark(), mark);
    result.unwrap_err().id().number
}
