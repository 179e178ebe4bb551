//! The memory a simulated device lives in.

use super::event::{Event, Tag};
use super::index::{NO_ROOM, Rooms};
use loader_core::device::{CoreId, Place, Usage};

/// Bytes of a page of simulated memory.
pub const PAGE_BYTES: usize = 4096;

/// One page of simulated memory.
pub type Page = [u8; PAGE_BYTES];

/// One entry of the block table.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub(super) live: bool,
    pub(super) generation: u32,
    /// Next live slot of the region by address, or next free slot.
    pub(super) next: u32,
    /// Previous live slot of the region by address.
    pub(super) prev: u32,
    /// Nodes below this one in the region's [`super::index::Index`].
    pub(super) left: u32,
    pub(super) right: u32,
    /// The node above.
    pub(super) up: u32,
    /// Free bytes before the block, and what the best gap at and below this node takes.
    pub(super) gap: u64,
    pub(super) rooms: Rooms,
    /// The last judgement in which somebody claimed the block.
    pub(super) claimed: u32,
    pub(super) region: u8,
    pub(super) core: CoreId,
    pub(super) place: Place,
    pub(super) usage: Usage,
    pub(super) base: u64,
    pub(super) size: u64,
    pub(super) reserved: u64,
    pub(super) align: u64,
    pub(super) digest: u64,
    pub(super) tag: Tag,
}

/// No slot.
pub(super) const NIL: u32 = u32::MAX;

impl Slot {
    /// A place holder for table storage.
    pub const EMPTY: Self = Self {
        live: false,
        generation: 0,
        next: NIL,
        prev: NIL,
        left: NIL,
        right: NIL,
        up: NIL,
        gap: 0,
        rooms: NO_ROOM,
        claimed: 0,
        region: 0,
        core: CoreId(0),
        place: Place::Host,
        usage: Usage::Generic,
        base: 0,
        size: 0,
        reserved: 0,
        align: 0,
        digest: 0,
        tag: Tag::EMPTY,
    };
}

/// What a simulated device keeps its state in.
pub trait Storage {
    /// Whether operations can be made to fail or to wait, and are logged. If not, a program has no code for it.
    const TRIALS: bool = true;

    /// Whether memory can keep the bytes that are written to it; else the contents are digests, or discarded.
    const PAGES: bool = true;

    /// Whether there may be many blocks, so that finding places among them needs a tree.
    const TREE: bool = true;

    /// The block table.
    fn slots(&self) -> &[Slot];

    /// The block table, to change.
    fn slots_mut(&mut self) -> &mut [Slot];

    /// Makes the block table longer, with empty slots. False if it cannot.
    fn grow_slots(&mut self) -> bool;

    /// Appends a line to the event log. False if there is no room.
    fn push_event(&mut self, event: Event) -> bool;

    /// The event log so far.
    fn events(&self) -> &[Event];

    /// Empties the event log.
    fn clear_events(&mut self);

    /// Whether events are wanted at all.
    fn logs(&self) -> bool;

    /// The page of that number, if bytes were ever written to it.
    fn page(&self, number: u64) -> Option<&Page>;

    /// The page of that number, made with all bytes `fill` if it was not there. `None` if there is no room.
    fn page_mut(&mut self, number: u64, fill: u8) -> Option<&mut Page>;

    /// Forgets the pages `first..last`.
    fn drop_pages(&mut self, first: u64, last: u64);
}

/// A page and the place it stands for.
#[derive(Clone, Debug)]
pub struct Frame {
    number: Option<u64>,
    bytes: Page,
}

impl Frame {
    /// A frame that stands for nothing yet.
    pub const EMPTY: Self = Self { number: None, bytes: [0; PAGE_BYTES] };
}

/// Storage in slices of fixed length: at most so many live blocks, pages and log lines.
///
/// Without frames only the digest and discard contents work; without events nothing is logged.
#[derive(Debug)]
pub struct Fixed<'s> {
    slots: &'s mut [Slot],
    frames: &'s mut [Frame],
    events: &'s mut [Event],
    logged: usize,
    last: usize,
}

impl<'s> Fixed<'s> {
    /// Uses these slices.
    pub fn new(slots: &'s mut [Slot], frames: &'s mut [Frame], events: &'s mut [Event]) -> Self {
        slots.fill(Slot::EMPTY);
        for frame in frames.iter_mut() {
            frame.number = None;
        }
        Self { slots, frames, events, logged: 0, last: 0 }
    }

    fn find(&self, number: u64) -> Option<usize> {
        // Writes go forward, so the frame used last or the one after it is nearly always the one.
        let near = self.frames.get(self.last).is_some_and(|frame| frame.number == Some(number));
        if near {
            return Some(self.last);
        }
        self.frames.iter().position(|frame| frame.number == Some(number))
    }
}

impl Storage for Fixed<'_> {
    fn slots(&self) -> &[Slot] {
        self.slots
    }

    fn slots_mut(&mut self) -> &mut [Slot] {
        self.slots
    }

    fn grow_slots(&mut self) -> bool {
        false
    }

    fn push_event(&mut self, event: Event) -> bool {
        match self.events.get_mut(self.logged) {
            Some(free) => {
                *free = event;
                self.logged += 1;
                true
            }
            None => false,
        }
    }

    fn events(&self) -> &[Event] {
        self.events.get(..self.logged).unwrap_or(&[])
    }

    fn clear_events(&mut self) {
        self.logged = 0;
    }

    fn logs(&self) -> bool {
        !self.events.is_empty()
    }

    fn page(&self, number: u64) -> Option<&Page> {
        self.frames.get(self.find(number)?).map(|frame| &frame.bytes)
    }

    fn page_mut(&mut self, number: u64, fill: u8) -> Option<&mut Page> {
        let at = match self.find(number) {
            Some(at) => at,
            None => {
                let at = self.frames.iter().position(|frame| frame.number.is_none())?;
                let frame = self.frames.get_mut(at)?;
                frame.number = Some(number);
                frame.bytes.fill(fill);
                at
            }
        };
        self.last = at;
        self.frames.get_mut(at).map(|frame| &mut frame.bytes)
    }

    fn drop_pages(&mut self, first: u64, last: u64) {
        for frame in self.frames.iter_mut() {
            if frame.number.is_some_and(|number| (first..last).contains(&number)) {
                frame.number = None;
            }
        }
    }
}

/// A block table in a slice, and nothing else: what a program needs that only loads, some hundred blocks.
#[derive(Debug)]
pub struct Plain<'s> {
    slots: &'s mut [Slot],
}

impl<'s> Plain<'s> {
    /// Uses these slots.
    pub fn new(slots: &'s mut [Slot]) -> Self {
        slots.fill(Slot::EMPTY);
        Self { slots }
    }
}

impl Storage for Plain<'_> {
    const TRIALS: bool = false;
    const PAGES: bool = false;
    const TREE: bool = false;

    fn slots(&self) -> &[Slot] {
        self.slots
    }

    fn slots_mut(&mut self) -> &mut [Slot] {
        self.slots
    }

    fn grow_slots(&mut self) -> bool {
        false
    }

    fn push_event(&mut self, _: Event) -> bool {
        false
    }

    fn events(&self) -> &[Event] {
        &[]
    }

    fn clear_events(&mut self) {}

    fn logs(&self) -> bool {
        false
    }

    fn page(&self, _: u64) -> Option<&Page> {
        None
    }

    fn page_mut(&mut self, _: u64, _: u8) -> Option<&mut Page> {
        None
    }

    fn drop_pages(&mut self, _: u64, _: u64) {}
}
