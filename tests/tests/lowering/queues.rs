//! lowering.md §14.4: queues and descriptors.

use loader_core::arch::Engine;
use loader_core::error::Error;
use loader_core::lower::record::{DescFlags, EngType, ExportDesc, Op, RingType};
use loader_core::manifest::{Access, BlockSource, Constant, DmaOp, VarClass};
use loader_core::policy::Policy;
use neffload_tests::lowering::handmade::{DmaBlock, Move, Queue, Set, Var, Working, evtaccel, row};
use neffload_tests::lowering::package::Package;
use neffload_tests::lowering::{Lowered, lower_input};
use serde_json::{Value, json};
use zerocopy::little_endian::U32;

fn by_hand(set: Set) -> Result<Lowered, Error> {
    let mut input = Working::new(vec![set]);
    lower_input(&input.clone(), &mut input, &Policy::DEFAULT)
}

fn code(result: Result<Lowered, Error>) -> String {
    result.unwrap_err().id().to_string()
}

/// A subgraph with queues.
fn queues(target: u32, queues: Vec<Queue>) -> Set {
    let carveouts = Some(vec![evtaccel()]);
    Set { target, queues, carveouts, ..Set::base() }
}

/// A subgraph with one data queue and one block of these transfers.
fn moves(target: u32, moves: Vec<Move>) -> Set {
    let mut set = queues(target, vec![Queue::new("q", RingType::DATA)]);
    set.blocks = vec![DmaBlock::new(0, 0, moves)];
    set
}

/// A package with queue `q` and one block of these descriptors on it.
fn descs(target: &'static str, descs: Value) -> Package {
    Package::base()
        .target(target)
        .queue("q", json!({"type": "data", "owner": "pool"}))
        .blocks(json!([{"id": 0, "queue": "q", "desc": descs}]))
}

/// A descriptor between the base package's variables, with other keys over it.
fn desc(keys: Value) -> Value {
    let mut desc = json!({
        "from": "SB", "from_off": 0, "from_sizes": [64, 1], "from_steps": [1, 64],
        "to": "out", "to_off": 0, "to_sizes": [64, 1], "to_steps": [1, 64],
    });
    for (key, value) in keys.as_object().unwrap() {
        if value.is_null() {
            desc.as_object_mut().unwrap().remove(key);
        } else {
            desc[key] = value.clone();
        }
    }
    desc
}

fn sources(count: usize) -> Value {
    let one = json!({"from": "SB", "from_off": 0, "from_sizes": [64, 1], "from_steps": [1, 64], "from_dtype": "float32"});
    json!(vec![one; count])
}

fn fma(count: usize) -> Value {
    let gather = json!({
        "op": "fma", "from": null, "from_off": null, "from_sizes": null, "from_steps": null, "to_dtype": "float32",
        "from_arr": sources(count), "scale": 0.25, "scale_dtype": "float32",
    });
    json!([desc(gather)])
}

#[test]
fn lowering_t60() {
    assert_eq!(Package::base().queue("q", json!({"owner": "pool"})).code(), "E330");
}

#[test]
fn lowering_t61() {
    let error = Package::base().queue("q", json!({"owner": "gpu", "type": "in"})).refused();
    assert_eq!(error.id().to_string(), "E332");
    assert_eq!(error.log().to_string(), "Invalid owner 'gpu' for DMA queue q");
    let mut queue = Queue::new("q", RingType::IN);
    queue.owner = Some(EngType::new(7));
    assert_eq!(code(by_hand(queues(2, vec![queue.clone()]))), "L303");
    queue.owner = None;
    assert_eq!(code(by_hand(queues(2, vec![queue.clone()]))), "L303");
    let legacy = Policy { allow_legacy: true, ..Policy::DEFAULT };
    let mut input = Working::new(vec![queues(2, vec![queue])]);
    let lowered = lower_input(&input.clone(), &mut input, &legacy).unwrap();
    assert_eq!(lowered.noted("W606").len(), 1);
    assert_eq!(lowered.kbins.kbin(0).unwrap().queues().next().unwrap().record.owner, EngType::POOL);
}

#[test]
fn lowering_t62() {
    let lowered = Package::base()
        .queue("a", json!({"type": "data", "owner": "pool"}))
        .queue("b", json!({"type": "data", "owner": "sp", "indirect_memcpy": true}))
        .lowered();
    let kinds: Vec<_> =
        lowered.kbins.kbin(0).unwrap().queues().map(|queue| queue.record.ring_type.get()).collect();
    assert_eq!(kinds, [6, 9]);
}

#[test]
fn lowering_t63() {
    let keys = json!({"type": "in", "owner": "pool", "queue_instances": ["a"]});
    assert_eq!(Package::base().queue("q", keys).code(), "E334");
    let mut queue = Queue::new("q", RingType::IN);
    queue.named = true;
    let error = by_hand(queues(2, vec![queue])).unwrap_err();
    assert_eq!(error.id().to_string(), "L304");
    assert_eq!(
        error.log().to_string(),
        "Invalid Neff: Queue set instances are not supported for input queues (q)"
    );
}

#[test]
fn lowering_t64() {
    let set = |count: u32| json!({"type": "data", "owner": "pool", "semaphore_set": (0..count).collect::<Vec<_>>()});
    let lowered = Package::base().queue("q", set(32)).lowered();
    let queue = lowered.kbins.kbin(0).unwrap().queues().next().unwrap();
    assert_eq!(
        queue.semaphores().iter().map(|one| one.get()).collect::<Vec<_>>(),
        (0..32).collect::<Vec<_>>()
    );
    assert_eq!(Package::base().queue("q", set(33)).code(), "E335");
    let mut queue = Queue::new("q", RingType::DATA);
    queue.semaphores = vec![U32::new(1); 33];
    let error = by_hand(queues(2, vec![queue])).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().a, error.at().b), ("L302", 33, 32));
}

#[test]
fn lowering_t65() {
    let many = |count: usize| (0..count).map(|n| Queue::new(&format!("q{n:02}"), RingType::DATA)).collect();
    assert!(by_hand(queues(2, many(32))).is_ok());
    let error = by_hand(queues(2, many(33))).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().a, error.at().b), ("L301", 33, 32));
    let package = (0..33).fold(Package::base(), |package, n| {
        package.queue(&format!("q{n:02}"), json!({"type": "data", "owner": "pool"}))
    });
    assert_eq!(package.code(), "E337");
}

#[test]
fn lowering_t66() {
    let load = json!({"type": "act_load", "owner": "act", "num_queues": 1});
    assert_eq!(Package::base().queue("a", load.clone()).queue("b", load).code(), "E336");
    let load = |name| Queue::new(name, RingType::DYNAMIC_ACT_TBL);
    assert!(by_hand(queues(2, vec![load("a")])).is_ok());
    assert_eq!(code(by_hand(queues(2, vec![load("a"), load("b")]))), "L305");
    let mut wide = load("a");
    wide.num_queues = 2;
    assert_eq!(code(by_hand(queues(2, vec![wide]))), "L305");
}

#[test]
fn lowering_t67() {
    let with = |target, count: usize| {
        (0..count).fold(Package::base().target(target), |package, n| {
            package.queue(&format!("q{n}"), json!({"type": "data", "owner": "pool", "dge": true}))
        })
    };
    assert_eq!(with("sunda", 1).code(), "E338");
    assert!(with("cayman", 2).lower().is_ok());
    assert_eq!(with("cayman", 3).code(), "E338");
    let hand = |target, count: usize| {
        let queue = |n| Queue { dge: true, ..Queue::new(&format!("q{n}"), RingType::DATA) };
        by_hand(queues(target, (0..count).map(queue).collect()))
    };
    assert_eq!(code(hand(2, 1)), "L306");
    assert!(hand(3, 2).is_ok());
    assert_eq!(code(hand(3, 3)), "L306");
}

#[test]
fn lowering_t68() {
    let keys = json!({"type": "data", "owner": "pool"});
    let lowered = Package::base().queue("b", keys.clone()).queue("a", keys).lowered();
    let names: Vec<_> = lowered.kbins.kbin(0).unwrap().queues().map(|queue| queue.name()).collect();
    assert_eq!(names, [b"a", b"b"]);
}

#[test]
fn lowering_t69() {
    assert_eq!(descs("sunda", json!([desc(json!({"from": "nope"}))])).code(), "E373");
    let error = by_hand(moves(2, vec![Move::copy(0, 2, 64)])).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().a, error.at().element), ("L208", 2, Some(0)));
    assert_eq!(code(by_hand(moves(2, vec![Move::copy(9, 1, 64)]))), "L208");
}

#[test]
fn lowering_t70() {
    assert_eq!(descs("sunda", json!([desc(json!({"from_steps": [1]}))])).code(), "E375");
}

#[test]
fn lowering_t71() {
    let error = descs("sunda", json!([desc(json!({"to_sizes": [0, 1]}))])).refused();
    assert_eq!(
        (error.id().to_string().as_str(), error.log().to_string().as_str()),
        ("E374", "Size cannot be 0")
    );
    let mut one = Move::copy(0, 1, 64);
    one.to = Access::new(1, 0, None, &[0], &[1]).unwrap();
    let error = by_hand(moves(2, vec![one])).unwrap_err();
    assert_eq!(
        (error.id().to_string().as_str(), error.log().to_string().as_str()),
        ("L309", "Size cannot be 0")
    );
}

#[test]
fn lowering_t72() {
    let lowered = descs("cayman", fma(16)).lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let one = &kbin.queues().next().unwrap().instances().next().unwrap().descs()[0];
    let mut export = ExportDesc::default();
    kbin.export_desc(one, &mut export);
    assert_eq!((one.operation(), one.n_from.get()), (Op::FMA, 16));
    assert_eq!((export.info.num_sources.get(), export.info.num_dests.get()), (16, 1));
    assert_eq!(export.info.arm.scale_dtype.get(), 5);
    let scales = export.info.arm.scale.map(|bits| f32::from_bits(bits.get()));
    assert_eq!((&scales[..16], &scales[16..]), (&[0.25; 16][..], &[0.0; 16][..]));
    assert_eq!(descs("cayman", fma(17)).code(), "E378");
    assert_eq!(descs("mariana", fma(17)).lowered().kbins.len(), 1);
    assert_eq!(code(by_hand(moves(3, vec![Move::compute(DmaOp::Fma, 17)]))), "L310");
    assert!(by_hand(moves(4, vec![Move::compute(DmaOp::Fma, 32)])).is_ok());
    assert_eq!(code(by_hand(moves(4, vec![Move::compute(DmaOp::Fma, 33)]))), "L310");
    assert_eq!(code(by_hand(moves(4, vec![Move::compute(DmaOp::Fma, 0)]))), "L310");
}

#[test]
fn lowering_t73() {
    let mut one = fma(2);
    one[0]["scale_dtype"] = json!("bfloat16");
    assert_eq!(descs("cayman", one).code(), "E379");
    let mut bare = Move::compute(DmaOp::Add, 2);
    bare.from[1] = row(0, 64, None);
    let error = by_hand(moves(3, vec![bare])).unwrap_err();
    assert_eq!(error.id().to_string(), "L311");
    assert_eq!(error.log().to_string(), "Invalid cce desc ap without dtype");
}

#[test]
fn lowering_t74() {
    let keys = json!({"op": "max", "constant": 0, "constant_dtype": "float32", "from_dtype": "float32", "to_dtype": "float32"});
    let lowered = descs("cayman", json!([desc(keys)])).lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let one = &kbin.queues().next().unwrap().instances().next().unwrap().descs()[0];
    let mut export = ExportDesc::default();
    kbin.export_desc(one, &mut export);
    assert_eq!(export.op.get(), 4);
    let arm = zerocopy::IntoBytes::as_bytes(&export.info.arm);
    assert_eq!((arm[0], &arm[4..8], &arm[8..12]), (1, &5u32.to_le_bytes()[..], &[0; 4][..]));
    let mut constant = Move::compute(DmaOp::Min, 1);
    constant.constant = Some(Constant { dtype: 14, bits: 7 });
    let lowered = by_hand(moves(3, vec![constant, Move::compute(DmaOp::Max, 2)])).unwrap();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let descs = kbin.queues().next().unwrap().instances().next().unwrap().descs();
    assert_eq!(descs.iter().map(|one| kbin.extra(one).len()).collect::<Vec<_>>(), [12, 0]);
}

#[test]
fn lowering_t75() {
    let error = descs("sunda", json!([desc(json!({"op": "xor"}))])).refused();
    assert_eq!(error.id().to_string(), "E372");
    assert_eq!(error.log().to_string(), "Unknown dma operation: xor");
}

#[test]
fn lowering_t76() {
    let three = json!([desc(json!({})), desc(json!({})), desc(json!({}))]);
    let package = descs("sunda", three.clone()).blocks(json!([
        {"id": 0, "queue": "q", "desc": [desc(json!({}))]},
        {"id": 1, "queue": "q", "semaphore": 9, "priority_class": 2, "desc": three},
    ]));
    let lowered = package.lowered();
    let kbin = lowered.kbins.kbin(0).unwrap();
    let instance = kbin.queues().next().unwrap().instances().next().unwrap();
    let descs = instance.descs();
    assert_eq!(descs.iter().map(|one| one.block_id.get()).collect::<Vec<_>>(), [0, 1, 1, 1]);
    assert_eq!(descs.iter().map(|one| one.ends_block()).collect::<Vec<_>>(), [true, false, false, true]);
    assert_eq!(descs.iter().map(|one| one.priority).collect::<Vec<_>>(), [0, 2, 2, 2]);
    assert_eq!(kbin.block_end(&descs[3]).unwrap().semaphore, Some(9));
    assert_eq!(kbin.block_end(&descs[0]).unwrap().semaphore, None);
    assert!(kbin.block_end(&descs[1]).is_none());
    assert_eq!(instance.blocks().map(<[_]>::len).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn lowering_t77() {
    for (target, expected) in [("sunda", 0), ("cayman", 1)] {
        let keys = json!({"op": "transpose", "transpose_shape": [1, 2, 3, 4], "transpose_element_size": 2});
        let lowered = descs(target, json!([desc(keys)])).lowered();
        let kbin = lowered.kbins.kbin(0).unwrap();
        let one = &kbin.queues().next().unwrap().instances().next().unwrap().descs()[0];
        let mut export = ExportDesc::default();
        kbin.export_desc(one, &mut export);
        assert_eq!((export.op.get(), export.reset_engine_round_robin), (5, expected));
        let area = zerocopy::IntoBytes::as_bytes(&export.info);
        assert_eq!(area, kbin.extra(one));
        assert_eq!((area[0], area[4], area[16], area[40]), (0, 2, 1, 4));
    }
}

#[test]
fn lowering_t78() {
    let package = descs("sunda", json!([desc(json!({}))]))
        .blocks(json!([{"id": 0, "queue": "nope", "desc": [desc(json!({}))]}]));
    let error = package.refused();
    assert!(error.id().letter == 'E' && error.log().to_string().contains("dma block"), "{error}");
    let mut set = moves(2, vec![Move::copy(0, 1, 64)]);
    set.blocks[0].queue = 1;
    assert_eq!(code(by_hand(set.clone())), "L308");
    (set.blocks[0].queue, set.blocks[0].instance) = (0, 1);
    assert_eq!(code(by_hand(set)), "L312");
}

/// Blocks of all sources on two instances, with everything a block can say.
fn busy() -> Set {
    let mut set = queues(3, vec![Queue::new("q", RingType::DATA), Queue::new("r", RingType::OUT)]);
    set.queues[0].instances = vec![b"q_a".to_vec(), b"q_b".to_vec()];
    set.queues[0].named = true;
    set = set.var(Var::new(2, "x", VarClass::TmpBuf, 4096));
    let mut ids = [0; 3];
    for (number, source) in (0..).zip(BlockSource::ALL) {
        for (queue, instance) in [(0, 1), (0, 0), (1, 0), (0, 1)] {
            let lane = usize::from(queue) * 2 + instance;
            let count = 1 + (number as usize + lane) % 3;
            let mut moves: Vec<_> = (0..count).map(|n| Move::copy(2, 0, 64 + n as u64)).collect();
            moves[0].tiling = number;
            if number == 2 {
                moves.push(Move::compute(DmaOp::Fma, 3));
                moves.push(Move {
                    transpose: Some(([1, 2, 3, 4], 2, b"WZXY".to_vec())),
                    ..Move::copy(2, 0, 8)
                });
            }
            let mut block = DmaBlock::new(ids[lane], queue, moves);
            ids[lane] += 1;
            (block.source, block.instance, block.semaphore) =
                (source, instance as u32, Some(20 + u32::from(number)));
            block.priority_class = number;
            if number == 1 {
                block.function = b"main".to_vec();
                block.remote_semaphores = vec![U32::new(5), U32::new(6), U32::new(7)];
                (block.event, block.section_start) = (Some(0), true);
            }
            set.blocks.push(block);
        }
    }
    set
}

#[test]
fn order_of_sources_does_not_depend_on_the_order_of_files() {
    let mut forward = Working::new(vec![busy()]);
    let mut backward = Working { backwards: true, ..forward.clone() };
    let one = lower_input(&forward.clone(), &mut forward, &Policy::DEFAULT).unwrap();
    let two = lower_input(&backward.clone(), &mut backward, &Policy::DEFAULT).unwrap();
    assert_eq!(one.kbins.head().bytes(), two.kbins.head().bytes());
    let kbin = one.kbins.kbin(0).unwrap();
    let queue = kbin.queue_by_name(b"q").unwrap();
    assert_eq!(queue.instances().map(|one| one.name()).collect::<Vec<_>>(), [b"q_a", b"q_b"]);
    for instance in kbin.queues().flat_map(|queue| queue.instances()) {
        let ids: Vec<_> = instance.blocks().map(|block| block[0].block_id.get()).collect();
        assert_eq!(ids, (0..ids.len() as u32).collect::<Vec<_>>());
        let order: Vec<_> = instance.blocks().map(|block| block[0].priority).collect();
        assert!(order.is_sorted(), "definition, then pe, act, pool, dve, sp: {order:?}");
        for block in instance.blocks() {
            assert_eq!(block[0].n_tile, block[0].priority);
            let end = kbin.block_end(block.last().unwrap()).unwrap();
            assert_eq!(end.semaphore, Some(20 + u32::from(block[0].priority)));
            let special = block[0].priority == 1;
            assert_eq!(
                (end.event, end.remote_semaphores.len()),
                (special.then_some(0), if special { 3 } else { 0 })
            );
            // The function goes on in the files that are read after the one that starts it.
            let function = if block[0].priority >= 1 { &b"main"[..] } else { b"" };
            assert_eq!(kbin.function(&block[0]), function);
        }
    }
}

#[test]
fn a_block_has_a_descriptor_to_end_it() {
    let mut set = moves(2, vec![Move::copy(0, 1, 64)]);
    set.blocks.push(DmaBlock::new(7, 0, vec![Move::copy(0, 1, 64)]));
    assert!(by_hand(set.clone()).is_ok(), "ids in any order, with gaps");
    set.blocks[1].moves.clear();
    assert_eq!(code(by_hand(set)), "L315");
}

#[test]
fn a_function_goes_on_until_the_next_one_of_its_queue() {
    for (target, newer) in [(2, false), (3, true), (4, true)] {
        let mut set = moves(target, vec![Move::copy(0, 1, 64)]);
        set.blocks.clear();
        set.queues.push(Queue::new("z", RingType::DATA));
        let mut block = |queue: u16, id, function: &str, source| {
            let moves = vec![Move::copy(0, 1, 64), Move::copy(0, 1, 64)];
            let function = function.as_bytes().to_vec();
            set.blocks.push(DmaBlock { function, source, ..DmaBlock::new(id, queue, moves) });
        };
        let (act, pool) = (BlockSource::Engine(Engine::Act), BlockSource::Engine(Engine::Pool));
        // The engines are read in their order: act before pool.
        block(0, 0, "", pool);
        block(0, 1, "g", pool);
        block(0, 2, "", pool);
        block(1, 0, "", pool);
        block(0, 3, "", act);
        block(0, 4, "f", act);
        let lowered = by_hand(set).unwrap();
        let kbin = lowered.kbins.kbin(0).unwrap();
        let found: Vec<_> = kbin
            .queues()
            .flat_map(|queue| queue.instances())
            .flat_map(|instance| instance.blocks().collect::<Vec<_>>())
            .map(|block| {
                let name = String::from_utf8(kbin.function(&block[0]).to_vec()).unwrap();
                for desc in block {
                    assert_eq!(kbin.function(desc), name.as_bytes());
                    let robin = desc.flags.has(DescFlags::ROUND_ROBIN);
                    assert_eq!(robin, newer && !name.is_empty(), "{target} {name}");
                }
                (block[0].block_id.get(), name)
            })
            .collect();
        let expected = [(3, ""), (4, "f"), (0, "f"), (1, "g"), (2, "g"), (0, "")];
        assert_eq!(found, expected.map(|(id, name)| (id, name.to_owned())), "{target}");
    }
}

#[test]
fn inputs_that_contradict_themselves_are_internal_errors() {
    let mut set = moves(2, vec![Move::copy(0, 1, 64)]);
    set.lie = 1;
    assert_eq!(code(by_hand(set)), "L901");
    let mut backwards = Working::new(vec![Set::base()]);
    backwards.sets[0].vars.reverse();
    let error = lower_input(&backwards.clone(), &mut backwards, &Policy::DEFAULT).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.status().number()), ("L901", 1));
}

#[test]
fn hardware_queues_and_names_are_bounded() {
    let wide = |n: usize| Queue { num_queues: 16, ..Queue::new(&format!("q{n:02}"), RingType::DATA) };
    let many: Vec<_> = (0..11).map(wide).collect();
    assert!(by_hand(queues(2, many.clone())).is_ok());
    let error = by_hand(queues(2, [many, vec![Queue::new("z", RingType::DATA)]].concat())).unwrap_err();
    assert_eq!((error.id().to_string().as_str(), error.at().a, error.at().b), ("L313", 177, 176));
    let long = "q".repeat(256);
    assert_eq!(code(by_hand(queues(2, vec![Queue::new(&long, RingType::DATA)]))), "L105");
    let mut dynamic = Queue::new("q", RingType::DATA);
    dynamic.needs_scratch = true;
    assert_eq!(code(by_hand(queues(2, vec![dynamic]))), "L307");
    assert_eq!(Engine::from_key(b"pool"), Some(Engine::Pool));
}
