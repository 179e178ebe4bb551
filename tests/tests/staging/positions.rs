//! Conformance cases of staging.md §21: the instruction-position map (T57 to T59), both ways.

use super::code::{base, image, load_on, patches};
use loader_core::arch::{Arch, Engine};
use loader_core::limits::Limits;
use loader_core::lower::record::{PatchEntry, PatchSection, PatchType};
use loader_core::plan::position::{device_range, source_position};
use loader_std::{LoadOptions, Loader, Memory};
use neffload_tests::fixture;
use neffload_tests::staging::Rig;
use neffload_tests::staging::model::slot::{plain, with};
use neuron_drivers::sim::{Config, Growing, HostSim};

fn patch(kind: PatchType, count: u32, offset: u32, section: PatchSection) -> PatchEntry {
    PatchEntry { offset: offset.into(), count: count.into(), kind, section }
}

#[test]
fn a_call_adds_its_frame() {
    let named = |opcode, name: &str| with(plain(opcode), 12, name.as_bytes());
    let stream =
        [plain(0xA0), named(0xD3, "f"), plain(0xA2), named(0xD1, "f"), named(0xD3, "f"), plain(0xD2)];
    let mut rig = Rig::new(Arch::Cayman);
    rig.policy.call_frame_slots = 3;
    let (loaded, slots) = image(&mut rig, base().stream(Engine::Pe, &stream), Engine::Pe);
    let core = loaded.plan.core(0).unwrap();
    // preamble 0, a0 1, frame 2 to 4, branch 5, a2 6, postamble 7, frame 8 to 10, branch 11, return 12.
    assert_eq!((slots.len(), slots[5][0], slots[11][0]), (13, 0xA9, 0xA9));
    let expected = [
        (PatchType::INSERT, 1, 0, PatchSection::PREAMBLE),
        (PatchType::INSERT, 3, 128, PatchSection::MAIN),
        (PatchType::MODIFY, 1, 320, PatchSection::MAIN),
        (PatchType::INSERT, 1, 448, PatchSection::POSTAMBLE),
        (PatchType::DELETE, 1, 0, PatchSection::FUNCTION),
        (PatchType::INSERT, 3, 0, PatchSection::FUNCTION),
        (PatchType::MODIFY, 1, 192, PatchSection::FUNCTION),
    ];
    assert_eq!(patches(&core, Engine::Pe), expected);
    for (position, range) in
        [(1, (64, 1)), (2, (128, 4)), (3, (384, 1)), (4, (512, 0)), (5, (512, 4)), (6, (768, 1))]
    {
        assert_eq!(core.device_range(Engine::Pe, position), Some(range), "position {position}");
        for slot in 0..range.1 {
            assert_eq!(core.source_position(Engine::Pe, range.0 + slot * 64), Some(position));
        }
    }
}

#[test]
fn staging_t57() {
    let patches = [
        patch(PatchType::INSERT, 10, 0, PatchSection::PREAMBLE),
        patch(PatchType::INSERT, 5, 704, PatchSection::MAIN),
        patch(PatchType::DELETE, 1, 1088, PatchSection::MAIN),
        patch(PatchType::INSERT, 7, 1152, PatchSection::POSTAMBLE),
    ];
    let at = |target| source_position(&patches, PatchSection::MAIN, 640, 1, target);
    assert_eq!([640, 704, 768, 1024, 1088, 700].map(at), [Some(1), Some(2), Some(2), Some(2), Some(4), None]);
    let range = |position| device_range(&patches, PatchSection::MAIN, 640, 1, position);
    assert_eq!([1, 2, 3, 4].map(range), [Some((640, 1)), Some((704, 6)), Some((1088, 0)), Some((1088, 1))]);
}

#[test]
fn staging_t58() {
    let patches = [
        patch(PatchType::DELETE, 1, 64, PatchSection::MAIN),
        patch(PatchType::DELETE, 1, 64, PatchSection::MAIN),
        patch(PatchType::INSERT, 2, 64, PatchSection::MAIN),
    ];
    let at = |target| source_position(&patches, PatchSection::MAIN, 0, 1, target);
    assert_eq!([0, 64, 128, 192, 256].map(at), [Some(1), Some(4), Some(4), Some(4), Some(5)]);
    let range = |position| device_range(&patches, PatchSection::MAIN, 0, 1, position);
    let expected = [Some((0, 1)), Some((64, 0)), Some((64, 0)), Some((64, 3)), Some((256, 1))];
    assert_eq!([1, 2, 3, 4, 5].map(range), expected);
}

#[test]
fn staging_t59() {
    let stream = [plain(0xA0), plain(0xCC), plain(0xA0)];
    let mut rig = Rig::new(Arch::Cayman);
    rig.limits.position_entries = 2;
    let hand = base().stream(Engine::Pe, &stream);
    let loaded = load_on(&mut rig, hand).unwrap();
    let core = loaded.plan.core(0).unwrap();
    // Three records of pe do not fit; the two of every other engine do.
    assert!(core.positions_lost(Engine::Pe) && !core.positions_lost(Engine::Act));
    assert_eq!(core.source_position(Engine::Pe, 64), None, "unknown");
    assert_eq!(core.device_range(Engine::Pe, 1), None, "unknown");
    assert_eq!(rig.read(core.image(Engine::Pe).unwrap().1)[64..192], [stream[0], stream[2]].concat());
    assert!(patches(&core, Engine::Pe).is_empty());
    // The shell turns it into a remark.
    let file = std::fs::read(fixture("cayman-2core")).unwrap();
    let loader = Loader::new(HostSim::new(Config::flat(Arch::Cayman), Growing::new(false)));
    let limits = Limits { position_entries: 1, ..Limits::DEFAULT };
    let mut memory = Memory::with_arena(16 << 20);
    let options = LoadOptions { limits, ..LoadOptions::default() };
    let model = loader.load(&file, &mut memory, &options).unwrap();
    let warned = model.notes().iter().filter(|note| note.id().to_string() == "W804").count();
    assert_eq!(warned, 10, "five engines of two cores");
}
