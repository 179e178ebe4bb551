//! lowering.md T-117: whatever S2 lets through is lowered or refused, with measure and emit equal to the byte.

use loader_core::arch::Arch;
use loader_core::limits::Limits;
use loader_core::lower::input::DetailIn;
use loader_core::lower::record::RingType;
use loader_core::manifest::{Backing, BlockSource, DmaOp, VarClass};
use loader_core::policy::Policy;
use loader_std::pack::{Compression, Options};
use neffload_tests::build::{Tree, to_neff};
use neffload_tests::lowering::handmade::{DmaBlock, Move, Queue, Set, Var, Working, evtaccel};
use neffload_tests::lowering::lower_input;
use neffload_tests::lowering::modes::product;
use neffload_tests::lowering::package::rich;
use neffload_tests::payload::Mode;
use proptest::prelude::*;

fn run(tree: &Tree, policy: &Policy) -> Option<u16> {
    let options = Options { compression: Some(Compression::None), ..Options::default() };
    let neff = to_neff(tree, &[], &[], &options).unwrap();
    match product(&neff, policy, Mode::Resident, 1 << 20) {
        Ok(_) => None,
        Err(error) => {
            assert!(!error.log().to_string().contains("internal invariant"), "{error}");
            Some(error.id().number)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lowering_t117(
        member in 0usize..5,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0usize..16), 1..3),
    ) {
        const BYTES: &[u8; 16] = b"0123456789-\"[]{,";
        let mut tree = rich();
        let names: Vec<_> = tree.keys().filter(|name| name.ends_with(".json") && name.starts_with("sg")).cloned().collect();
        let bytes = tree.get_mut(&names[member % names.len()]).unwrap();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = BYTES[byte];
        }
        let legacy = Policy { allow_legacy: true, host_arch: Some(Arch::Cayman), ..Policy::DEFAULT };
        run(&tree, &legacy);
    }

    #[test]
    fn hand_made_sets_never_panic(
        ids in prop::collection::vec(0u32..6, 0..6),
        numbers in prop::collection::vec(prop_oneof![0u64..64, Just(u64::MAX), Just(1 << 63)], 24),
        kinds in prop::collection::vec(0usize..12, 8),
        target in 0u32..6,
        blocks in prop::collection::vec((0u32..4, 0u16..3, 0u32..3, 0usize..4, 0usize..6), 0..8),
    ) {
        let mut set = Set { target, carveouts: Some(vec![evtaccel()]), ..Set::base() };
        for (n, id) in ids.iter().enumerate() {
            let (size, number) = (numbers[2 * n], numbers[2 * n + 1]);
            let name = format!("v{n}");
            let small = number as u32;
            set.vars.push(match kinds[n] {
                0 | 1 => Var { backing: Some(Backing::ALL[n % 4]), ..Var::scratch(*id, &name, number, size) },
                2 => Var::pointer(*id, &name, small),
                3 => Var::remote(*id, &name, small, 1),
                4 => Var { list: vec![small; 3], ..Var::new(*id, &name, VarClass::List, 0).with(DetailIn::List { len: 3 }) },
                5 => Var { alignment: small, ..Var::new(*id, &name, VarClass::TmpBuf, size) },
                _ => Var::new(*id, &name, VarClass::Input, size),
            });
        }
        set.queues = vec![Queue::new("a", RingType::DATA), Queue::new("b", RingType::OUT)];
        set.queues[0].instances = vec![b"a0".to_vec(), b"a1".to_vec()];
        for (n, (id, queue, instance, source, moves)) in blocks.into_iter().enumerate() {
            let op = [DmaOp::Copy, DmaOp::Fma, DmaOp::Add][n % 3];
            let one = if op == DmaOp::Copy { Move::copy(0, numbers[20] as u32, 8) } else { Move::compute(op, n) };
            let mut block = DmaBlock::new(id, queue, vec![one; moves]);
            (block.instance, block.source) = (instance, BlockSource::ALL[source]);
            set.blocks.push(block);
        }
        let mut sets = vec![set.clone()];
        if numbers[23] < 32 {
            sets.push(set.at(1));
        }
        let mut input = Working::new(sets);
        if let Err(error) = lower_input(&input.clone(), &mut input, &Policy::DEFAULT) {
            prop_assert!(error.id().number != 901, "{error}");
        }
        prop_assert!(Limits::DEFAULT.subgraphs > 0);
    }
}

#[test]
fn the_rich_package_itself_is_lowered() {
    assert_eq!(run(&rich(), &Policy::DEFAULT), None);
}
