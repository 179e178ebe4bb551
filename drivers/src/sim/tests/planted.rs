//! Every invariant, broken on purpose: the judge must name it, and nothing else.

use super::{memory, spec, start};
use crate::sim::claim::{
    BlockClaim, CastClaim, Claims, ContentClaim, CoreClaim, HalfClaim, ImageClaim, ModelClaim, OpaqueClaim,
    OperandClaim, PageClaim, PatchClaim, PatchKind, Place, RangeClaim, RingClaim, Section, SharedClaim,
    VariableClaim,
};
use crate::sim::{Content, INVARIANTS, LocalSim, Profile, Violation};
use loader_core::arch::Engine;
use loader_core::device::{AllocSpec, CoreId, Device, MemHandle, Usage};
use loader_core::plan::ring::{Entry, FIRST_LAP, META_COPY, Marks, control_word, template};
use std::vec::Vec;
use zerocopy::IntoBytes;

const CONSTANT: &[u8] = b"sixty-four bytes of a constant, which the file has and the device";

/// A small model by hand: a constant, a ring of one copy and one padding entry, a program of five slots, a page.
struct Model<'a> {
    sim: LocalSim<'a>,
    blocks: Vec<BlockClaim>,
    page: PageClaim,
    pages: u32,
    library: SharedClaim,
    uses: Vec<MemHandle>,
    variables: Vec<VariableClaim>,
    content: (u64, Vec<u8>),
    casts: Vec<CastClaim>,
    ring: (HalfClaim<'static>, HalfClaim<'static>),
    /// What was written to each block, for the store that keeps a digest alone.
    written: [Vec<u8>; 4],
    unsettled: bool,
    io: bool,
    image: ImageClaim<'static>,
    opaque: Vec<OpaqueClaim>,
    operands: Vec<OperandClaim>,
    patches: Vec<PatchClaim>,
    ranges: Vec<RangeClaim>,
}

/// Index of each block.
const WEIGHT: usize = 0;
const TX: usize = 1;
const RX: usize = 2;
const IMAGE: usize = 3;

fn claim(sim: &LocalSim<'_>, size: u64, align: u64, usage: Usage) -> (BlockClaim, u64) {
    let granted = sim.alloc(&AllocSpec { usage, ..spec(size, align) }).unwrap();
    (BlockClaim { handle: granted.handle, skip: 0, size, align }, granted.base.0)
}

fn entry(bytes: u32, meta: u32, address: u64) -> Entry {
    let marks = Marks { first: true, last: true, ..Marks::default() };
    let control = control_word(bytes, FIRST_LAP, marks).unwrap();
    Entry { control: control.into(), meta: meta.into(), address: address.into() }
}

fn slot(opcode: u8, at: usize, bytes: &[u8]) -> [u8; 64] {
    let mut slot = [0; 64];
    (slot[0], slot[1]) = (opcode, 0x10);
    slot[at..at + bytes.len()].copy_from_slice(bytes);
    slot
}

impl<'a> Model<'a> {
    fn new(sim: LocalSim<'a>) -> Self {
        let (weight, address) = claim(&sim, CONSTANT.len() as u64, 64, Usage::Weight);
        let (tx, tx_at) = claim(&sim, 2048, 0, Usage::DmaRingSpill);
        let (rx, rx_at) = claim(&sim, 2048, 0, Usage::DmaRingSpill);
        let (image, image_at) = claim(&sim, 320, 0x8000, Usage::InstrPe);
        let (page, _) = claim(&sim, 4096, 0x1000, Usage::Scratchpad);
        let (library, _) = claim(&sim, 96, 0, Usage::UcodeLib);
        let half = |address| HalfClaim { address, entries: 1, padded: 2, capacity: 64, written: &[] };
        let mut model = Self {
            blocks: [weight, tx, rx, image].to_vec(),
            page: PageClaim { block: page, core: CoreId(0), index: 0, refs: 1 },
            pages: 1,
            library: SharedClaim { block: library, refs: 1 },
            uses: [library.handle].to_vec(),
            variables: [
                VariableClaim { id: 2, size: CONSTANT.len() as u64, place: Place::At(address) },
                VariableClaim { id: 5, size: 64, place: Place::Bound },
                VariableClaim { id: 9, size: 64, place: Place::Nowhere },
            ]
            .to_vec(),
            content: (address, CONSTANT.to_vec()),
            casts: Vec::new(),
            ring: (half(tx_at), half(rx_at)),
            written: Default::default(),
            unsettled: false,
            io: true,
            image: ImageClaim {
                engine: Engine::Pe,
                address: image_at,
                bytes: 320,
                written: &[],
                slots: [1, 3, 1, 0],
                source: [4, 0],
                opaque: &[],
                operands: &[],
                patches: &[],
                ranges: &[],
            },
            opaque: [OpaqueClaim { slot: 2, count: 1 }].to_vec(),
            operands: [OperandClaim { at: 64 + 16, var: 2, off: 4 }].to_vec(),
            patches: maps(),
            ranges: [(64, 1), (128, 0), (128, 1), (192, 1)]
                .map(|(at, slots)| RangeClaim { at, slots })
                .to_vec(),
            sim,
        };
        model.fill(address);
        model
    }

    /// The bytes of a sound load: a copy to input 5, its padding, and real, opaque and branch slots.
    fn fill(&mut self, address: u64) {
        self.write(WEIGHT, 0, CONSTANT);
        let still = [entry(4, META_COPY, address), entry(4, 0, address)];
        self.write(TX, 0, entry(32, META_COPY, template(5, 32).unwrap()).as_bytes());
        self.write(RX, 0, entry(32, 0, address + 8).as_bytes());
        self.write(TX, 16, still[0].as_bytes());
        self.write(RX, 16, still[1].as_bytes());
        let back = (-64i32).to_le_bytes();
        let slots = [
            [0; 64],
            slot(0xB8, 16, &(address + 4).to_le_bytes()),
            slot(0xCE, 0, &[]),
            slot(0xA9, 48, &back),
            [0; 64],
        ];
        self.write(IMAGE, 0, slots.as_flattened());
    }

    fn write(&mut self, block: usize, at: u64, bytes: &[u8]) {
        if self.sim.config().content == Content::Digest {
            return self.record(block, at as usize, bytes);
        }
        self.sim.write(self.blocks[block].handle, at, bytes).unwrap();
    }

    /// Notes what is written: a digest cannot forget, so the device gets everything when the model is judged.
    fn record(&mut self, block: usize, at: usize, bytes: &[u8]) {
        self.unsettled = true;
        let written = &mut self.written[block];
        written.resize(written.len().max(at + bytes.len()), 0);
        written[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Hands what was noted to the device.
    fn settle(&mut self) {
        if !core::mem::take(&mut self.unsettled) {
            return;
        }
        for (block, written) in self.blocks.iter().zip(&self.written) {
            self.sim.with(|state| {
                let slots = crate::sim::Storage::slots_mut(&mut state.storage);
                slots[block.handle.slot as usize].digest = 0;
            });
            if !written.is_empty() {
                self.sim.write(block.handle, 0, written).unwrap();
            }
        }
    }

    fn judged<R>(&self, action: impl FnOnce(&Claims<'_>) -> R) -> R {
        let contents = [ContentClaim { address: self.content.0, bytes: &self.content.1 }];
        let half =
            |half: &HalfClaim<'static>, block: usize| HalfClaim { written: &self.written[block], ..*half };
        let rings = [RingClaim {
            tx: half(&self.ring.0, TX),
            rx: half(&self.ring.1, RX),
            io: self.io,
            wraps: false,
            casts: &self.casts,
        }];
        let images = [ImageClaim {
            opaque: &self.opaque,
            operands: &self.operands,
            patches: &self.patches,
            ranges: &self.ranges,
            written: &self.written[IMAGE],
            ..self.image
        }];
        let cores = [CoreClaim {
            core: CoreId(0),
            blocks: &self.blocks,
            shared: &self.uses,
            variables: &self.variables,
            contents: &contents,
            rings: &rings,
            images: &images,
        }];
        let models = [ModelClaim { cores: &cores, scratchpad: (CoreId(0), self.pages) }];
        action(&Claims { baseline: &[], pages: &[self.page], shared: &[self.library], models: &models })
    }

    fn judge(&self) -> Result<(), Violation> {
        self.judged(|claims| self.sim.judge(claims))
    }
}

/// Preamble of one slot, the second slot of the file deleted, postamble of one slot.
fn maps() -> Vec<PatchClaim> {
    use PatchKind::{Delete, Insert};
    let patch = |offset, kind, section| PatchClaim { offset, count: 1, kind, section };
    [
        patch(0, Insert, Section::Preamble),
        patch(128, Delete, Section::Main),
        patch(256, Insert, Section::Postamble),
    ]
    .to_vec()
}

/// Plants something in a sound model and gives the invariant that the judge then names.
fn planted(plant: impl Fn(&mut Model<'_>)) -> u8 {
    let found = planted_on(Profile::Flat, Content::Full, &plant);
    assert_eq!(planted_on(Profile::Flat, Content::Digest, plant), found, "the digest proves what is claimed");
    found
}

fn planted_on(profile: Profile, content: Content, plant: impl FnOnce(&mut Model<'_>)) -> u8 {
    let mut memory = memory();
    let mut model = Model::new(start(&mut memory, profile, content));
    model.settle();
    model.judge().unwrap();
    plant(&mut model);
    model.settle();
    model.judge().map_or_else(|violation| violation.invariant, |()| 0)
}

fn change(model: &Model<'_>, block: usize, change: impl FnOnce(&mut crate::sim::Slot)) {
    let slot = model.blocks[block].handle.slot as usize;
    model.sim.with(|state| change(&mut crate::sim::Storage::slots_mut(&mut state.storage)[slot]));
}

#[test]
fn a_sound_model_passes_on_every_store_and_profile() {
    for content in [Content::Full, Content::Digest, Content::Discard] {
        for profile in [Profile::Flat, Profile::FlatGuard, Profile::Driver] {
            assert_eq!(planted_on(profile, content, |_| {}), 0, "{profile:?} {content:?}");
        }
    }
}

#[test]
fn i1_overlap_and_reserve() {
    assert_eq!(planted(|model| change(model, TX, |slot| slot.base -= 4096)), 1);
    assert_eq!(planted(|model| change(model, WEIGHT, |slot| slot.base = 4096)), 1);
}

#[test]
fn i2_leaks_and_missing_blocks() {
    assert_eq!(planted(|model| _ = claim(&model.sim, 1, 0, Usage::Generic)), 2);
    assert_eq!(planted(|model| model.sim.free(model.blocks[WEIGHT].handle).unwrap()), 2);
    assert_eq!(planted(|model| model.blocks.push(model.blocks[WEIGHT])), 2);
    assert_eq!(planted(|model| model.blocks[WEIGHT].handle = MemHandle { slot: 60, generation: 0 }), 2);
    assert_eq!(planted(|model| model.blocks[WEIGHT].skip = 8), 2);
}

#[test]
fn i3_stale_handles_and_ranges() {
    let stale = MemHandle { slot: 0, generation: 77 };
    assert_eq!(planted(|model| assert!(model.sim.free(stale).is_err())), 3);
    assert_eq!(planted(|model| assert!(model.sim.write(stale, 0, &[1]).is_err())), 3);
    assert_eq!(
        planted(|model| assert!(model.sim.read(model.blocks[WEIGHT].handle, 4090, &mut [0; 7]).is_err())),
        3
    );
}

#[test]
fn i4_ledger() {
    assert_eq!(planted(|model| change(model, WEIGHT, |slot| slot.core = CoreId(1))), 4);
    assert_eq!(planted(|model| change(model, WEIGHT, |slot| slot.usage = Usage::Tensor)), 4);
}

#[test]
fn i5_usage_in_the_wrong_place() {
    let host = loader_core::device::Place::Host;
    let plant = |model: &mut Model<'_>| {
        let spec = AllocSpec { usage: Usage::Cc, place: host, ..spec(1, 0) };
        model.sim.alloc(&spec).unwrap();
    };
    assert_eq!(planted(plant), 5);
}

#[test]
fn i6_alignment() {
    assert_eq!(planted(|model| change(model, WEIGHT, |slot| slot.align = 1 << 30)), 6);
    assert_eq!(planted(|model| (model.blocks[WEIGHT].skip, model.blocks[WEIGHT].size) = (1, 1)), 6);
}

#[test]
fn i7_constants() {
    let flip = |model: &mut Model<'_>| model.write(WEIGHT, 63, &[CONSTANT[63] ^ 1]);
    assert_eq!(planted(flip), 7);
    assert_eq!(planted(|model| model.content.1.push(0)), 7, "one byte more than the file has");
}

/// Zeros that were written are not the same as nothing that was.
#[test]
fn a_constant_of_zeros_that_was_never_written() {
    let written = |count: usize| {
        let mut memory = memory();
        let mut model = Model::new(start(&mut memory, Profile::Flat, Content::Digest));
        let zeros = [0; CONSTANT.len()];
        model.written[WEIGHT] = zeros[..count].to_vec();
        model.content.1 = zeros.to_vec();
        model.settle();
        model.judge().map_or_else(|violation| violation.invariant, |()| 0)
    };
    assert_eq!((written(CONSTANT.len()), written(0), written(CONSTANT.len() - 1)), (0, 7, 7));
}

/// On a store that keeps a digest alone, what a loader says that it wrote must be what it wrote.
#[test]
fn other_bytes_than_were_written_prove_nothing() {
    let other = |block: usize, at: usize| {
        let mut memory = memory();
        let mut model = Model::new(start(&mut memory, Profile::Flat, Content::Digest));
        model.settle();
        model.judge().unwrap();
        model.written[block][at] ^= 1;
        model.judge().unwrap_err().invariant
    };
    assert_eq!((other(TX, 30), other(RX, 0), other(IMAGE, 5)), (11, 11, 13));
}

#[test]
fn i8_stray_writes() {
    assert_eq!(planted(|model| model.write(WEIGHT, CONSTANT.len() as u64, &[0])), 8);
}

#[test]
fn i9_descriptors_into_nowhere() {
    let to = |address: u64| {
        planted(|model| {
            let found = model.content.0;
            let address = if address == 0 { found + CONSTANT.len() as u64 - 31 } else { address };
            model.write(RX, 0, entry(32, 0, address).as_bytes());
        })
    };
    assert_eq!((to(0), to(0x7000_0000_0000), to(1 << 36)), (9, 9, 9));
    // The windows and the semaphores of every core are fine, to their last byte.
    assert_eq!((to(0x8000_0000_0000), to(0x8000_1000_0000 - 32), to(0xA000_0270_1800)), (0, 0, 0));
    assert_eq!(to(0x8000_1000_0000 - 31), 9);
}

#[test]
fn i10_templates() {
    let with = |io: bool, id: u32, off: u64| {
        planted(|model| {
            model.io = io;
            model.write(TX, 0, entry(32, META_COPY, template(id, off).unwrap()).as_bytes());
        })
    };
    assert_eq!(with(true, 5, 0), 0);
    assert_eq!([with(false, 5, 0), with(true, 5, 33), with(true, 2, 0), with(true, 6, 0)], [10; 4]);
}

#[test]
fn i11_pairs_and_packets() {
    assert_eq!(planted(|model| model.ring.1.entries = 2), 11);
    assert_eq!(planted(|model| model.write(RX, 0, entry(16, 0, model.content.0).as_bytes())), 11);
    let open = Marks { first: true, ..Marks::default() };
    let control = control_word(32, FIRST_LAP, open).unwrap();
    assert_eq!(planted(|model| model.write(TX, 0, &control.to_le_bytes())), 11, "a packet stays open");
    let control = control_word(32, FIRST_LAP, Marks::default()).unwrap();
    assert_eq!(planted(|model| model.write(RX, 0, &control.to_le_bytes())), 11, "a packet never opens");
    // A cast from two bytes to one counts elements.
    let cast = |count| {
        planted(|model| {
            model.casts = [CastClaim { first: 0, count, bytes: (2, 1) }].to_vec();
            model.write(RX, 0, entry(16, 0, model.content.0).as_bytes());
        })
    };
    assert_eq!((cast(1), cast(0)), (0, 11));
}

#[test]
fn i11_packet_limit() {
    // 61 entries in one packet: too many for the destination side of this architecture, not for the source side.
    let fill = |most: u32| {
        planted(|model| {
            let address = model.content.0;
            for at in 0..most {
                let marks = Marks { first: at == 0, last: at == most - 1, ..Marks::default() };
                let control = control_word(1, FIRST_LAP, marks).unwrap();
                let entry = Entry { control: control.into(), meta: 0.into(), address: address.into() };
                model.write(TX, u64::from(at) * 16, entry.as_bytes());
                model.write(RX, u64::from(at) * 16, entry.as_bytes());
            }
            for half in [&mut model.ring.0, &mut model.ring.1] {
                (half.entries, half.padded, half.capacity) = (most, most, (most + 16).next_multiple_of(16));
            }
        })
    };
    assert_eq!((fill(60), fill(61)), (0, 11));
}

#[test]
fn i12_capacity_and_padding() {
    assert_eq!(planted(|model| model.ring.0.capacity = 48), 12);
    assert_eq!(planted(|model| model.ring.0.capacity = 0), 12);
    assert_eq!(planted(|model| model.ring.1.padded = 1), 12);
    assert_eq!(planted(|model| model.ring.0.address += 1040), 12, "the ring leaves its block");
    assert_eq!(planted(|model| model.write(RX, 16, entry(8, 0, model.content.0).as_bytes())), 12);
    assert_eq!(planted(|model| model.write(RX, 16, entry(4, 0, model.content.0 + 4).as_bytes())), 12);
}

#[test]
fn i13_images() {
    assert_eq!(planted(|model| model.image.bytes -= 1), 13);
    assert_eq!(planted(|model| model.image.address += 64), 13);
    assert_eq!(planted(|model| model.image.slots[1] += 1), 13);
    assert_eq!(planted(|model| model.opaque.clear()), 13);
    assert_eq!(planted(|model| model.write(IMAGE, 64, &[0xC1])), 13);
}

#[test]
fn i14_branches() {
    let by = |distance: i32| planted(|model| model.write(IMAGE, 3 * 64 + 48, &distance.to_le_bytes()));
    assert_eq!((by(64), by(-192)), (0, 0));
    assert_eq!((by(128), by(-256), by(32)), (14, 14, 14));
}

#[test]
fn i15_operands() {
    assert_eq!(planted(|model| model.write(IMAGE, 64 + 16, &[7])), 15);
    assert_eq!(planted(|model| model.operands[0].off = CONSTANT.len() as u64), 15);
    assert_eq!(planted(|model| model.operands[0].var = 9), 15);
    let bound = planted(|model| {
        model.operands[0] = OperandClaim { at: 64 + 16, var: 5, off: 8 };
        model.write(IMAGE, 64 + 16, &template(5, 8).unwrap().to_le_bytes());
    });
    assert_eq!(bound, 0);
}

#[test]
fn i16_sums_of_the_position_map() {
    assert_eq!(planted(|model| model.patches[1].count = 2), 16);
    assert_eq!(planted(|model| model.patches[1].offset = 320), 16);
    assert_eq!(planted(|model| _ = model.patches.remove(0)), 16);
    assert_eq!(planted(|model| model.patches[2].offset = 0), 16);
    let modify = |offset| PatchClaim { offset, count: 1, kind: PatchKind::Modify, section: Section::Main };
    assert_eq!(planted(|model| model.patches.insert(1, modify(192))), 16, "not in order");
}

#[test]
fn i17_the_way_back() {
    assert_eq!(planted(|model| model.ranges[1].at = 64), 17);
    assert_eq!(planted(|model| model.ranges[3].slots = 2), 17);
    assert_eq!(planted(|model| model.ranges.swap(1, 2)), 17);
    assert_eq!(planted(|model| _ = model.ranges.pop()), 17);
}

#[test]
fn i18_page_references() {
    assert_eq!(planted(|model| model.page.refs = 2), 18);
    assert_eq!(planted(|model| model.pages = 0), 18);
    assert_eq!(planted(|model| model.library.refs = 2), 18);
    assert_eq!(planted(|model| model.uses.clear()), 18);
    assert_eq!(planted(|model| model.library.block.handle.slot += 1), 2);
}

#[test]
fn i19_a_refused_load_leaves_nothing() {
    let mut memory = memory();
    let mut model = Model::new(start(&mut memory, Profile::Flat, Content::Full));
    let before = model.sim.checkpoint();
    let (block, _) = claim(&model.sim, 8, 0, Usage::Generic);
    assert_eq!(model.sim.judge_unchanged(&before).unwrap_err().invariant, 19);
    model.sim.free(block.handle).unwrap();
    model.sim.judge_unchanged(&before).unwrap();
    model.write(WEIGHT, 0, b"S");
    assert_eq!(model.sim.judge_unchanged(&before).unwrap_err().invariant, 19, "a byte of somebody else");
}

#[test]
fn i20_idle() {
    let mut memory = memory();
    let sim = start(&mut memory, Profile::Flat, Content::Full);
    let (own, _) = claim(&sim, 0x440, 0x800, Usage::PoolStdio);
    let baseline = [own];
    let idle = Claims { baseline: &baseline, ..Claims::default() };
    sim.judge_idle(&idle).unwrap();
    let (left, _) = claim(&sim, 8, 0, Usage::Generic);
    assert_eq!(sim.judge_idle(&idle).unwrap_err().invariant, 20);
    sim.free(left.handle).unwrap();
    sim.judge_idle(&idle).unwrap();
    sim.free(own.handle).unwrap();
    assert_eq!(sim.judge_idle(&idle).unwrap_err().invariant, 2, "the core's own block is gone");
}

#[test]
fn the_invariants_have_texts() {
    assert!(INVARIANTS.iter().all(|text| text.len() > 20));
}
