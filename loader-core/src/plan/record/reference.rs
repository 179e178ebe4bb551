//! Records that the reference keeps and this loader has no use for (staging.md §5, §22): their layouts, for
//! readers of dumps. Fields that no source places are padding, and say so.

use super::program::Span;
use crate::arena::ArenaRef;
use crate::lower::record::layout::records;
use crate::lower::record::{Pad, Text};
use zerocopy::little_endian::{U16, U32, U64};

records! {
    /// The registry of models: the hash map and its lock (Confirmed).
    ModelSet: 120 {
        /// Hash map by `h_nn`.
        0 map: Pad<56>,
        /// Reader-writer lock.
        56 lock: Pad<56>,
        /// Next public id.
        112 last_nn_id: U32,
        /// Padding.
        116 pad: Pad<4>,
    }

    /// Head of a hash table; its buckets follow (Confirmed).
    HashTable: 32 {
        /// Buckets, a power of two.
        0 buckets: U64,
        /// Buckets minus 1.
        8 mask: U64,
        /// Nodes.
        16 live: U64,
        /// Called for a node that is dropped.
        24 free: U64,
    }

    /// Node of a hash table (Confirmed).
    HashNode: 48 {
        /// Key, or where it is.
        0 key: U64,
        /// Value, or where it is.
        8 value: U64,
        /// Bytes of the value.
        16 value_bytes: U64,
        /// Bucket.
        24 bucket: U64,
        /// How the key is compared.
        32 key_type: U32,
        /// Padding.
        36 pad: Pad<4>,
        /// Next node of the bucket.
        40 next: U64,
    }

    /// The per-core parts of a plan that move into a model (Confirmed).
    PlanSlot: 32 {
        /// Variables.
        0 variables: ArenaRef,
        /// Allocator of class MODEL.
        8 allocator: ArenaRef,
        /// Garbage list.
        16 garbage: ArenaRef,
        /// Scratchpad cleanup record.
        24 cleanup: ArenaRef,
    }

    /// An allocator and its list of blocks (Confirmed).
    Allocator: 512 {
        /// 0 GLOBAL, 1 MODEL.
        0 class: U32,
        /// Padding.
        4 pad: Pad<4>,
        /// Core.
        8 core: U64,
        /// Mutex.
        16 mutex: Pad<48>,
        /// Head of the list: a block that is never used.
        64 head: Pad<192>,
        /// Its tail.
        256 tail: Pad<192>,
        /// Largest virtual variable that had no page.
        448 largest_oversized: U64,
        /// Unknown.
        456 unknown: Pad<56>,
    }

    /// Node of a garbage list (Confirmed).
    GarbageNode: 16 {
        /// Block to free.
        0 block: ArenaRef,
        /// Next node.
        8 next: ArenaRef,
    }

    /// One page of a scratchpad (Confirmed).
    ScratchPage: 16 {
        /// Its block.
        0 block: ArenaRef,
        /// Models that use it.
        8 refs: U32,
        /// Padding.
        12 pad: Pad<4>,
    }

    /// The scratchpad of a core (Confirmed).
    ScratchArena: 16440 {
        /// Mutex.
        0 mutex: Pad<40>,
        /// Bytes of a page.
        40 page_size: U64,
        /// Pages.
        48 page_count: U32,
        /// 1: adjacent pages.
        52 contiguous: u8,
        /// Padding.
        53 pad: Pad<3>,
        /// The pages.
        56 pages: ScratchPages,
    }

    /// The page table of a [`ScratchArena`].
    ScratchPages: 16384 {
        /// 1024 [`ScratchPage`] records.
        0 all: [ScratchPage; 1024],
    }

    /// A physical core of the reference (offsets Confirmed; the rest unknown).
    CoreObject: 39320 {
        /// Unknown.
        0 unknown0: Pad<17024>,
        /// Allocator of class GLOBAL.
        17024 allocator: ArenaRef,
        /// Per architecture.
        17032 arch: Pad<2904>,
        /// Shared microcode libraries.
        19936 ucode: ArenaRef,
        /// Their lock.
        19944 ucode_lock: Pad<48>,
        /// Lock of the model table.
        19992 model_lock: Pad<40>,
        /// Model table by `h_model`.
        20032 models: ArenaRef,
        /// Model that runs.
        20040 running: U32,
        /// Unknown.
        20044 unknown1: Pad<2156>,
        /// Scratchpad.
        22200 scratchpad: ScratchArena,
        /// Hardware execution queue.
        38640 exec_queue: Pad<224>,
        /// Unknown.
        38864 unknown2: Pad<456>,
    }

    /// A device of the reference (offset Confirmed; the rest unknown, eight cores among it).
    DeviceObject: 590008 {
        /// Unknown.
        0 unknown: Pad<576768>,
        /// Memory log: counters by core and usage, and a ring of events.
        576768 memory_log: Pad<13240>,
    }

    /// A physical core of a logical one (order Inferred).
    PhysicalCore: 24 {
        /// Device.
        0 device: U32,
        /// Core on the device.
        4 core: U32,
        /// Unknown.
        8 unknown: Pad<8>,
        /// Its logical core.
        16 logical: U64,
    }

    /// A logical core; slot 0 owns it (order Inferred).
    LogicalCore: 64 {
        /// Index.
        0 index: U32,
        /// Object.
        4 object: U32,
        /// Device number in collectives.
        8 collective_device: U32,
        /// Physical cores.
        12 cores: U32,
        /// They.
        16 physical: [PhysicalCore; 2],
    }

    /// A hardware queue of a bundle (offsets Confirmed; the rest unknown).
    QueueInfo: 360 {
        /// Core, queue, engine, semaphore.
        0 unknown0: Pad<320>,
        /// Virtual ring.
        320 vring: ArenaRef,
        /// Unknown.
        328 unknown1: Pad<8>,
        /// Static ring that writes.
        336 static_rx: ArenaRef,
        /// Static ring that reads.
        344 static_tx: ArenaRef,
        /// Unknown.
        352 unknown2: Pad<8>,
    }

    /// An instance of a queue bundle (offsets Confirmed; place of the queues Inferred).
    BundleInstance: 6096 {
        /// Name and more.
        0 unknown0: Pad<288>,
        /// Ids of the inputs and outputs it moves.
        288 tensors: ArenaRef,
        /// Their number.
        296 tensor_count: U64,
        /// Unknown.
        304 unknown1: Pad<8>,
        /// Virtual rings with template addresses.
        312 template: ArenaRef,
        /// Ring cache.
        320 ring_cache: ArenaRef,
        /// Unknown.
        328 unknown2: Pad<8>,
        /// Hardware queues.
        336 queues: [QueueInfo; 16],
    }

    /// Key of the block-to-descriptor-count table (Confirmed).
    BlockKey: 260 {
        /// Block.
        0 block: U32,
        /// Function.
        4 function: Text<256>,
    }

    /// Value of that table (size Confirmed, widths Open).
    BlockCounts: 240 {
        /// Increments of 16 queues, tx then rx, and their packets.
        0 counts: Pad<240>,
    }

    /// A buffer of instructions (Confirmed).
    InstructionBlock: 96 {
        /// Name.
        0 name: Text<32>,
        /// Room in bytes.
        32 capacity: U64,
        /// Bytes.
        40 length: U64,
        /// Core.
        48 core: U64,
        /// Allocator.
        56 allocator: ArenaRef,
        /// Engine.
        64 engine: U32,
        /// Padding.
        68 pad: Pad<4>,
        /// Block on the device.
        72 block: ArenaRef,
        /// Effective address.
        80 start: U64,
        /// Garbage list; the bytes follow.
        88 garbage: ArenaRef,
    }

    /// Ranges of an engine's program on the host (Confirmed).
    CodeRanges: 56 {
        /// Buffer.
        0 code: ArenaRef,
        /// Preamble.
        8 preamble: Span,
        /// Model switch.
        24 model_switch: Span,
        /// Main code.
        40 main: Span,
    }

    /// A function of an engine (Confirmed).
    FunctionRecord: 352 {
        /// Name.
        0 name: Text<256>,
        /// Number; 0 is the main code.
        256 id: U32,
        /// Registers that a return branches through.
        260 return_registers: [u8; 2],
        /// 1: semaphores are reset.
        262 reset_semaphores: u8,
        /// Padding.
        263 pad: u8,
        /// Blocks.
        264 blocks: Pad<24>,
        /// Copy queues.
        288 copy_queues: ArenaRef,
        /// Index of the queue instance.
        296 instance: U64,
        /// Hash link.
        304 node: Pad<48>,
    }

    /// A block of a function (Confirmed).
    CodeBlock: 200 {
        /// Function.
        0 function: U32,
        /// Block.
        4 block: U32,
        /// Block in collectives.
        8 collective_block: U32,
        /// Padding.
        12 pad: Pad<4>,
        /// First byte in the source.
        16 source_begin: U64,
        /// End in the source.
        24 source_end: U64,
        /// Bytes after translation.
        32 expanded: Pad<24>,
        /// Slots to fix up.
        56 fix_ups: Pad<24>,
        /// Position map.
        80 patches: Pad<80>,
        /// Preamble.
        160 preamble: Span,
        /// Place in the image.
        176 placed: Span,
        /// 1: it has collectives.
        192 has_collectives: u8,
        /// 1: it begins on a cache line.
        193 cache_aligned: u8,
        /// Padding.
        194 pad1: U16,
        /// Padding.
        196 pad2: Pad<4>,
    }

    /// The union of a variable that is a pointer (Confirmed).
    PointerArm: 40 {
        /// Address of the cell.
        0 slot: U64,
        /// Variable it points to.
        8 var_id: U32,
        /// Padding.
        12 pad: Pad<4>,
        /// 1: an input or output.
        16 is_io: u8,
        /// Padding.
        17 pad1: Pad<23>,
    }

    /// The union of a variable that is a list (Confirmed).
    ListArm: 40 {
        /// Elements.
        0 len: U32,
        /// Padding.
        4 pad: Pad<4>,
        /// Their ids.
        8 ids: ArenaRef,
        /// Padding.
        16 pad1: Pad<24>,
    }

    /// The union of a variable that is a pointer table (Confirmed).
    TableArm: 40 {
        /// Elements.
        0 len: U32,
        /// Padding.
        4 pad: Pad<4>,
        /// Their ids.
        8 ids: ArenaRef,
        /// Which of them need a translation.
        16 flags: ArenaRef,
        /// Their addresses.
        24 addresses: ArenaRef,
        /// Index of the table.
        32 index: U64,
    }
}
