//! lowering.md §14.6: two cores, scratchpad, arena.

use loader_core::arena::Arena;
use loader_core::device::{DevAddr, Usage};
use loader_core::error::{Error, Ignored};
use loader_core::limits::Limits;
use loader_core::lower::patch::{Section, file_position};
use loader_core::lower::record::{Extra, MemRef, MrType, PatchEntry, PatchSection, PatchType};
use loader_core::lower::scratchpad::{Marks, Paging, Sizes, layout, place};
use loader_core::lower::{Own, Placed, Placement, lower_from, measure, resolve};
use loader_core::manifest::{Backing, VarClass};
use loader_core::policy::Policy;
use neffload_tests::lowering::handmade::{Set, Var, Working};
use neffload_tests::lowering::package::Package;
use neffload_tests::lowering::{Lowered, lower_input, memory};
use serde_json::json;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn by_hand(sets: Vec<Set>, policy: &Policy) -> Result<Lowered, Error> {
    let mut input = Working::new(sets);
    lower_input(&input.clone(), &mut input, policy)
}

fn code(sets: Vec<Set>) -> String {
    by_hand(sets, &Policy::DEFAULT).unwrap_err().id().to_string()
}

/// Two subgraphs like the base package.
fn two() -> Package {
    Package::base().target("cayman").twice()
}

fn remote(lowered: &Lowered, kbin: usize, id: u32) -> (u32, u32, u64) {
    let var = lowered.kbins.kbin(kbin).unwrap().mem_ref(id).unwrap();
    let Extra::Remote(arm) = var.extra() else { panic!("remote") };
    (arm.remote_vtpb_rel_sg_id.get(), arm.remote_var_id.get(), var.size.get())
}

#[test]
fn lowering_t100() {
    let mut package = two()
        .var("pad", json!({"type": "tmp-buf", "size": 4, "var_id": 2}))
        .var("x", json!({"type": "tmp-buf", "size": 256, "var_id": 3}));
    for id in 2..5 {
        package = package.var_of(1, &format!("pad{id}"), json!({"type": "tmp-buf", "size": 4, "var_id": id}));
    }
    let lowered = package.var_of(1, "x_remote_0", json!({"type": "remote", "var_id": 5})).lowered();
    assert_eq!(remote(&lowered, 1, 5), (0, 3, 256));
}

#[test]
fn lowering_t101() {
    let package = two().var_of(1, "x_remote_0", json!({"type": "remote", "var_id": 2}));
    let error = package.refused();
    assert_eq!(error.id().to_string(), "E380");
    assert!(error.log().to_string().starts_with("Failed to resolve remote variables for subgraphs 0 to 1"));
    let sets = vec![Set::base(), Set::base().at(1).var(Var::remote(2, "x", 0, 9))];
    let error = by_hand(sets, &Policy::DEFAULT).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().a, error.at().b), ("L701", 0, 1));
    assert_eq!((error.at().subgraph, error.at().element), (Some(1), Some(2)));
}

#[test]
fn lowering_t102() {
    let own = two().var_of(1, "out_remote_1", json!({"type": "remote", "var_id": 2}));
    let far = two().var_of(1, "out_remote_2", json!({"type": "remote", "var_id": 2}));
    let chain = two().var_of(0, "out_remote_1", json!({"type": "remote", "var_id": 2})).var_of(
        1,
        "out_remote_1_remote_0",
        json!({"type": "remote", "var_id": 2}),
    );
    let alone = Package::base().var("out_remote_0", json!({"type": "remote", "var_id": 2}));
    for (package, code) in [(own, "E383"), (far, "E385"), (chain, "E384"), (alone, "E383")] {
        assert_eq!(package.code(), code);
    }
    let pair = |first: Set, second: Set| vec![first, second.at(1)];
    let with = |subgraph, var_id| Set::base().var(Var::remote(2, "x", subgraph, var_id));
    assert_eq!(code(pair(Set::base(), with(1, 1))), "L705");
    assert_eq!(code(pair(with(1, 1), with(0, 2))), "L706");
    assert_eq!(code(pair(with(1, 2), with(0, 2))), "L706", "a cycle");
    assert_eq!(code(pair(Set::base(), with(2, 1))), "L704");
    assert_eq!(code(vec![with(0, 1)]), "L704");
    let pointer = Set::base().var(Var::pointer(2, "p", 1));
    assert_eq!(code(pair(pointer, with(0, 2))), "L707");
}

#[test]
fn lowering_t103() {
    let lowered = two()
        .var_of(0, "SB{1}", json!({"type": "remote", "var_id": 2}))
        .var_of(1, "SB{0}", json!({"type": "remote", "var_id": 2}))
        .lowered();
    assert_eq!((remote(&lowered, 0, 2), remote(&lowered, 1, 2)), ((1, 0, 0), (0, 0, 0)));
}

#[test]
fn lowering_t104() {
    let lowered = two()
        .var_of(0, "a_remote_1", json!({"type": "tmp-buf", "size": 12, "var_id": 2}))
        .var_of(1, "a_remote_1_remote_0", json!({"type": "remote", "var_id": 2}))
        .lowered();
    assert_eq!(remote(&lowered, 1, 2), (0, 2, 12));
}

#[test]
fn lowering_t105() {
    let one_core = Policy { lnc: Some(1), ..Policy::DEFAULT };
    let error = by_hand(vec![Set::base(), Set::base().at(1)], &one_core).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().a, error.at().b), ("L702", 2, 1));
    assert_eq!(error.log().to_string(), "Insufficient number of pncs, required 2, available 1");
    assert_eq!(code(vec![Set::base(), Set::base().at(1), Set::base().at(2)]), "L702");
    assert_eq!(code(vec![Set::base(), Set::base()]), "L703");
    let mut package = two();
    package.policy.lnc = Some(1);
    let error = package.refused();
    assert!(["E208", "L702"].contains(&error.id().to_string().as_str()), "{error}");
}

#[test]
fn lowering_t106() {
    let sizes = [532_721_668, 19_013_632].map(|local| Sizes { local, shared: 0 });
    let paging = Paging::new(64 * MIB, true).unwrap();
    let apart = layout(&sizes, &paging, false).unwrap();
    assert_eq!(apart.pages, [8, 1]);
    assert_eq!(apart.pages.iter().sum::<u64>() * 64, 576);
    let together = layout(&sizes, &paging, true).unwrap();
    assert_eq!(together.pages.iter().sum::<u64>() * 64, 576);
    let paged = Paging::new(512 * MIB, false).unwrap();
    let pages: u64 = layout(&sizes, &paged, false).unwrap().pages.iter().sum();
    assert_eq!(pages * 512, 1024);
}

/// The packages A and B of T-107, lowered.
fn packages() -> [Lowered; 2] {
    [[(0, 512 * MIB), (512 * MIB, GIB)], [(0, 100 * MIB), (100 * MIB, 3 * GIB / 2)]].map(|vars| {
        let set = Set::base().var(Var::scratch(2, "a", vars[0].0, vars[0].1));
        by_hand(vec![set.var(Var::scratch(3, "b", vars[1].0, vars[1].1))], &Policy::DEFAULT).unwrap()
    })
}

fn placements(lowered: &Lowered, paging: &Paging) -> Vec<Placement<'static>> {
    let kbin = lowered.kbins.kbin(0).unwrap();
    let marks = kbin.marks();
    kbin.mem_refs()[2..].iter().map(|var| kbin.placement(var, &marks, paging).unwrap()).collect()
}

fn own(size: u64) -> Placement<'static> {
    Placement::Own(Own { size, align: 0, usage: Usage::ScratchpadNotShared, content: None })
}

#[test]
fn lowering_t107() {
    let lowered = packages();
    let sizes = lowered.each_ref().map(|one| one.kbins.kbin(0).unwrap().scratchpad().0);
    assert_eq!(sizes, [1_610_612_736, 1_715_470_336]);
    let paging = Paging::new(512 * MIB, false).unwrap();
    assert_eq!(sizes.map(|size| paging.pages(size)).into_iter().max(), Some(4));
    let shared = |size| Placement::Scratchpad { offset: 0, shared: false, size };
    assert_eq!(placements(&lowered[0], &paging), [shared(512 * MIB), own(GIB)]);
    assert_eq!(placements(&lowered[1], &paging), [shared(100 * MIB), own(3 * GIB / 2)]);
}

#[test]
fn lowering_t108() {
    let paging = Paging::new(2 * GIB, false).unwrap();
    for lowered in packages() {
        assert_eq!(paging.pages(lowered.kbins.kbin(0).unwrap().scratchpad().0), 1);
        let all = placements(&lowered, &paging);
        assert!(all.iter().all(|one| matches!(one, Placement::Scratchpad { .. })));
    }
}

#[test]
fn lowering_t109() {
    let paged = Paging::new(64, false).unwrap();
    let contiguous = Paging::new(64, true).unwrap();
    assert_eq!(place(10, 60, &paged).unwrap(), (64, 124));
    assert_eq!(place(10, 60, &contiguous).unwrap(), (10, 70));
}

#[test]
fn lowering_t110() {
    assert_eq!(place(10, 54, &Paging::new(64, false).unwrap()).unwrap(), (10, 64));
}

fn placed(size: u64, mr_type: MrType, address: u64) -> Placed<'static> {
    Placed { name: b"v", mr_type, size, address: DevAddr(address) }
}

#[test]
fn lowering_t111() {
    let error = resolve(&placed(12288, MrType::TMP_BUF, 0), 16896, 768).unwrap_err();
    assert_eq!(error.status().number(), 2);
    assert_eq!(error.log().to_string(), "invalid offset in v, 12288 < (16896 + 768)");
}

#[test]
fn lowering_t112() {
    assert_eq!(resolve(&placed(100, MrType::TMP_BUF, 1000), 60, 40).unwrap(), DevAddr(1060));
    assert!(resolve(&placed(100, MrType::TMP_BUF, 1000), 60, 41).is_err());
}

#[test]
fn lowering_t113() {
    assert_eq!(
        resolve(&placed(u64::MAX, MrType::TMP_BUF, 0), u64::MAX, 2).unwrap_err().id().to_string(),
        "L902"
    );
}

#[test]
fn lowering_t114() {
    let error = resolve(&placed(8, MrType::TMP_BUF, u64::MAX), 0, 8).unwrap_err();
    assert_eq!(error.log().to_string(), "Variable v is not staged in HBM");
    assert_eq!(DevAddr::UNPLACED.0, u64::MAX);
}

#[test]
fn lowering_t115() {
    let error = resolve(&placed(16, MrType::PTR, 4096), 8, 8).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), ("L904", 1));
    assert_eq!(resolve(&placed(8, MrType::PTR, 4096), 0, 8).unwrap(), DevAddr(4096));
}

#[test]
fn lowering_t116() {
    let input = Working::new(vec![Set::base().var(Var::scratch(2, "x", 0, 4))]);
    let (limits, policy) = (Limits::DEFAULT, Policy::DEFAULT);
    let dims = measure(&input, &limits, &policy).unwrap();
    let room = usize::try_from(dims.needed()).unwrap() + 16;
    let run = |room: usize| {
        let memory = memory(room);
        let mut arena = Arena::new(memory).unwrap();
        let mark = arena.mark();
        let result = lower_from(&input, &mut input.clone(), &mut arena, &limits, &policy, &mut Ignored);
        let untouched = arena.mark() == mark && arena.high_water() == 16;
        (result.map(|kbins| kbins.len()), untouched)
    };
    assert_eq!(run(room).0.unwrap(), 1);
    let (result, untouched) = run(room - 1);
    let error = result.unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), ("L801", 4));
    assert_eq!((error.at().a, error.at().b), (dims.needed(), dims.needed() - 8), "arenas count in eights");
    assert!(untouched);
    for room in (16..room).step_by(8) {
        let (result, untouched) = run(room);
        assert_eq!((result.unwrap_err().at().a, untouched), (dims.needed(), true));
    }
}

#[test]
fn lowering_t118() {
    let package = two().var_of(0, "x", json!({"type": "list", "list": [0, 1], "var_id": 2}));
    let (one, two) = (package.lowered(), package.lowered());
    assert_eq!(one.kbins.head().bytes(), two.kbins.head().bytes());
}

#[test]
fn lowering_t120() {
    assert_eq!(PatchEntry::of(640, 0, PatchType::INSERT, PatchSection::MAIN), None);
    let entry = PatchEntry::of(640, 192, PatchType::INSERT, PatchSection::MAIN).unwrap();
    assert_eq!(
        [entry.offset.get(), entry.count.get(), entry.kind.get(), entry.section.get()],
        [640, 3, 0, 2]
    );
    let grown = PatchEntry::expansion(64, 5, PatchSection::MAIN).unwrap();
    assert_eq!((grown.kind, grown.count.get()), (PatchType::INSERT, 4));
    let gone = PatchEntry::expansion(64, 0, PatchSection::MAIN).unwrap();
    assert_eq!((gone.kind, gone.count.get()), (PatchType::DELETE, 1));
    assert_eq!(PatchEntry::expansion(64, 1, PatchSection::MAIN), None);
}

#[test]
fn lowering_t121() {
    let entries = [PatchEntry::of(0, 128, PatchType::INSERT, PatchSection::MAIN).unwrap()];
    let main = Section { section: PatchSection::MAIN, base: 0x1000, size: 0x1000 };
    assert_eq!(file_position(&entries, &[main], 0x1000 + 5 * 64).unwrap(), 4);
    let modified = [PatchEntry::of(0, 64, PatchType::MODIFY, PatchSection::MAIN).unwrap()];
    assert_eq!(file_position(&modified, &[main], 0x1000 + 5 * 64).unwrap(), 6);
    assert_eq!(file_position(&entries, &[main], 0x2000).unwrap_err().id().to_string(), "L909");
    let preamble = Section { section: PatchSection::PREAMBLE, ..main };
    assert_eq!(file_position(&entries, &[preamble], 0x1040).unwrap_err().id().to_string(), "L908");
}

#[test]
fn lowering_t122() {
    let two_cores = Policy { lnc: Some(2), ..Policy::DEFAULT };
    assert_eq!(by_hand(vec![Set::base()], &two_cores).unwrap().kbins.len(), 1);
    let mut package = Package::base();
    package.policy.lnc = Some(2);
    assert_eq!(package.lowered().kbins.len(), 1);
}

#[test]
fn graphs_out_of_order_and_io_of_two_sizes_are_remarks() {
    let mut second = Set::base().at(1);
    second.vars[1].size = Some(32);
    let mut first = Set::base();
    first.name = b"sg02".to_vec();
    let lowered = by_hand(vec![first, second], &Policy::DEFAULT).unwrap();
    assert_eq!(lowered.noted("W602").len(), 1);
    let sizes: Vec<_> = lowered.noted("W605").iter().map(|note| (note.at().a, note.at().b)).collect();
    assert_eq!(sizes, [(64, 32)]);
    let kbin = lowered.kbins.kbin(0).unwrap();
    assert_eq!((kbin.subgraph_name(), kbin.dir()), (&b"sg02"[..], &b"sg00"[..]));
}

#[test]
fn areas_stand_behind_each_other() {
    let area = |id, name, size, backing| {
        let mut var = Var::scratch(id, name, 0, size);
        var.backing = Some(backing);
        var
    };
    let set = Set::base()
        .var(Var::scratch(2, "a", 0, 100))
        .var(area(3, "b", 7, Backing::Local))
        .var(area(4, "c", 50, Backing::Shared))
        .var(area(5, "d", 5, Backing::Sharded))
        .var(Var::new(6, "e", VarClass::TmpBuf, 9));
    let lowered = by_hand(vec![set], &Policy::DEFAULT).unwrap();
    let kbin = lowered.kbins.kbin(0).unwrap();
    assert_eq!(kbin.scratchpad(), (107, 55));
    let marks = Marks::of(kbin.mem_refs());
    assert_eq!((marks.local_size(), marks.shared_size()), (Some(107), Some(55)));
    let paging = Paging::new(Policy::CONTIGUOUS_PAGE, true).unwrap();
    let found: Vec<_> =
        kbin.mem_refs().iter().map(|var: &MemRef| kbin.placement(var, &marks, &paging).unwrap()).collect();
    let at = |offset, shared, size| Placement::Scratchpad { offset, shared, size };
    let expected = [
        Placement::StateBuffer,
        Placement::Bound,
        at(0, false, 100),
        at(100, false, 7),
        at(0, true, 50),
        at(50, true, 5),
        own(9),
    ];
    assert_eq!(found, expected);
}
