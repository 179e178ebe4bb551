//! 64-byte instruction slots (real-files.md §5, staging.md §11).

/// Bytes of a slot.
pub const SLOT: usize = 64;

/// One slot.
pub type Slot = [u8; SLOT];

/// The first eight bytes of an address operand (rulings.md R1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Kind 0x10: a variable and a byte offset.
    Var {
        /// `var_id`.
        id: u32,
        /// Bytes.
        offset: u32,
    },
    /// Kind 0x20: an entry of the subgraph's `dge-table` and a byte offset.
    Table {
        /// Index into the table's `list`.
        index: u32,
        /// Bytes.
        offset: u32,
    },
    /// Kind 0x28: an entry of the table, with the offset in a register.
    TableRegister {
        /// Index into the table's `list`.
        index: u32,
        /// Register number.
        register: u32,
    },
}

impl Operand {
    fn bytes(self) -> [u8; 8] {
        let (low, id, kind) = match self {
            Self::Var { id, offset } => (offset, id, 0x10),
            Self::Table { index, offset } => (offset, index, 0x20),
            Self::TableRegister { index, register } => (register, index, 0x28),
        };
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&low.to_le_bytes());
        bytes[4..].copy_from_slice(&(id | kind << 24).to_le_bytes());
        bytes
    }
}

/// Rows of a descriptor-generation request: `rows` times `bytes`, `stride` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Distance of rows in bytes.
    pub stride: u32,
    /// Rows.
    pub rows: u16,
    /// Bytes of a row.
    pub bytes: u16,
}

impl Rows {
    fn put(self, slot: &mut Slot, at: usize) {
        put(slot, at, &self.stride.to_le_bytes());
        put(slot, at + 4, &1u32.to_le_bytes());
        put(slot, at + 8, &self.rows.to_le_bytes());
        put(slot, at + 10, &1u16.to_le_bytes());
        put(slot, at + 12, &self.bytes.to_le_bytes());
    }
}

fn put(slot: &mut Slot, at: usize, bytes: &[u8]) {
    slot[at..at + bytes.len()].copy_from_slice(bytes);
}

/// A slot with an opcode and nothing else.
#[must_use]
pub const fn bare(opcode: u8) -> Slot {
    let mut slot = [0; SLOT];
    slot[0] = opcode;
    slot[1] = 0x10;
    slot
}

/// A real instruction: opcode, no event, operand bytes without meaning.
#[must_use]
pub fn real(opcode: u8, seed: u32) -> Slot {
    let mut slot = bare(opcode);
    put(&mut slot, 12, &super::filler(seed, SLOT - 12));
    slot
}

/// What every stream of a current compiler starts with.
pub const START: Slot = bare(0xB1);

/// `cc`: a branch label; cayman and mariana streams have one after [`START`].
pub const LABEL: Slot = bare(0xCC);

/// `c1`: starts block `id` of `queue`.
///
/// # Panics
/// If the name is longer than 31 bytes.
#[must_use]
pub fn trigger(queue: &str, id: u32) -> Slot {
    assert!(queue.len() < 32, "{queue}: too long to be triggered");
    let mut slot = bare(0xC1);
    put(&mut slot, 0x0C, queue.as_bytes());
    put(&mut slot, 0x30, &id.to_le_bytes());
    slot
}

/// `d4`: a descriptor-generation request, completion on `semaphore`.
#[must_use]
pub fn generate(semaphore: u8, from: (Operand, Rows), to: (Operand, Rows)) -> Slot {
    let mut slot = bare(0xD4);
    put(&mut slot, 0x0D, &[semaphore, 0x10, 0]);
    put(&mut slot, 0x10, &from.0.bytes());
    from.1.put(&mut slot, 0x18);
    put(&mut slot, 0x28, &to.0.bytes());
    to.1.put(&mut slot, 0x30);
    put(&mut slot, 0x3E, &[6, 6]);
    slot
}

/// `ce`: loads a register from state-buffer offset `from`.
#[must_use]
pub fn load_register(from: u32, register: u32) -> Slot {
    let mut slot = bare(0xCE);
    put(&mut slot, 0x0C, &0x0101_0009u32.to_le_bytes());
    put(&mut slot, 0x14, &from.to_le_bytes());
    put(&mut slot, 0x18, &1u32.to_le_bytes());
    put(&mut slot, 0x20, &register.to_le_bytes());
    slot
}

/// `a8`: register arithmetic, a real instruction.
#[must_use]
pub fn arithmetic(operation: u8, source: u32, target: u32, immediate: u64) -> Slot {
    let mut slot = bare(0xA8);
    put(&mut slot, 0x0C, &[operation, 9, 1, 0]);
    put(&mut slot, 0x10, &source.to_le_bytes());
    put(&mut slot, 0x14, &target.to_le_bytes());
    put(&mut slot, 0x18, &immediate.to_le_bytes());
    slot
}

/// `da`: continuation data of the request before it; the one slot whose byte 1 is 0.
#[must_use]
pub const fn continuation() -> Slot {
    let mut slot = bare(0xDA);
    slot[1] = 0;
    slot[0x0F] = 0x10;
    slot
}

/// `d8`: a barrier between the cores of a logical core.
#[must_use]
pub const fn core_barrier(number: u8) -> Slot {
    let mut slot = bare(0xD8);
    slot[8] = number;
    slot[0x10] = 9;
    slot
}

/// `c4`: an indirect copy; the words at +0x38 and +0x3A are left as they are by the loader (R6).
#[must_use]
pub fn indirect_copy(rows: u16, bytes: u32, state_buffer: u32, word: u16) -> Slot {
    let mut slot = bare(0xC4);
    put(&mut slot, 0x0C, &8u32.to_le_bytes());
    put(&mut slot, 0x10, &1u32.to_le_bytes());
    put(&mut slot, 0x18, &1u32.to_le_bytes());
    put(&mut slot, 0x1C, &bytes.to_le_bytes());
    put(&mut slot, 0x20, &state_buffer.to_le_bytes());
    put(&mut slot, 0x2A, &4u16.to_le_bytes());
    put(&mut slot, 0x2C, &1u32.to_le_bytes());
    put(&mut slot, 0x30, &rows.to_le_bytes());
    put(&mut slot, 0x3A, &word.to_le_bytes());
    slot
}
