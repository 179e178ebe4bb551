//! Storage that grows, for hosts with a heap.

use super::event::Event;
use super::lock::Sim;
use super::state::SimState;
use super::storage::{PAGE_BYTES, Page, Slot, Storage};
use crate::host::heap::{MARGIN, left};
use core::fmt;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Mutex;
use std::vec::Vec;

/// New pages between two looks at what the host has left.
const LOOK: u32 = 64;

/// Block table, pages and event log on the heap. What the host refuses is not there, and the operation that needs it fails.
#[derive(Default)]
pub struct Growing {
    slots: Vec<Slot>,
    /// One page each; a slice, because a box of one page cannot be asked for with care.
    pages: BTreeMap<u64, Box<[Page]>>,
    /// Pages that may be made before the next look.
    unchecked: u32,
    events: Vec<Event>,
    logs: bool,
}

impl fmt::Debug for Growing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (slots, pages, events) = (self.slots.len(), self.pages.len(), self.events.len());
        write!(f, "Growing {{ slots: {slots}, pages: {pages}, events: {events} }}")
    }
}

/// A simulated accelerator that several threads can stage onto.
pub type HostSim = Sim<Growing, Mutex<SimState<Growing>>>;

impl Growing {
    /// Empty storage; with `logs` every operation leaves a line.
    #[must_use]
    pub fn new(logs: bool) -> Self {
        Self { logs, ..Self::default() }
    }
}

/// A page, if the host has one; `unchecked` more may be made before the next look at what it has.
fn new_page(unchecked: &mut u32, fill: u8) -> Option<Box<[Page]>> {
    if *unchecked == 0 {
        if !left(MARGIN) {
            return None;
        }
        *unchecked = LOOK;
    }
    let mut page = Vec::new();
    page.try_reserve_exact(1).ok()?;
    page.push([fill; PAGE_BYTES]);
    *unchecked -= 1;
    Some(page.into_boxed_slice())
}

impl Storage for Growing {
    fn slots(&self) -> &[Slot] {
        &self.slots
    }

    fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    fn grow_slots(&mut self) -> bool {
        let more = self.slots.len().max(64);
        if self.slots.try_reserve_exact(more).is_err() || !left(MARGIN) {
            return false;
        }
        self.slots.resize(self.slots.len() + more, Slot::EMPTY);
        true
    }

    fn push_event(&mut self, event: Event) -> bool {
        let full = self.events.len() == self.events.capacity();
        if full && (self.events.try_reserve(1).is_err() || !left(MARGIN)) {
            return false;
        }
        self.events.push(event);
        true
    }

    fn events(&self) -> &[Event] {
        &self.events
    }

    fn clear_events(&mut self) {
        self.events.clear();
    }

    fn logs(&self) -> bool {
        self.logs
    }

    fn page(&self, number: u64) -> Option<&Page> {
        self.pages.get(&number)?.first()
    }

    fn page_mut(&mut self, number: u64, fill: u8) -> Option<&mut Page> {
        let page = match self.pages.entry(number) {
            Entry::Occupied(page) => page.into_mut(),
            Entry::Vacant(place) => place.insert(new_page(&mut self.unchecked, fill)?),
        };
        page.first_mut()
    }

    fn drop_pages(&mut self, first: u64, last: u64) {
        while let Some((&number, _)) = self.pages.range(first..last).next() {
            self.pages.remove(&number);
        }
    }
}
