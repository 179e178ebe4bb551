//! Storage that grows, for hosts with a heap.

use super::event::Event;
use super::lock::Sim;
use super::state::SimState;
use super::storage::{PAGE_BYTES, Page, Slot, Storage};
use core::fmt;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::vec::Vec;

/// Block table, pages and event log on the heap.
#[derive(Default)]
pub struct Growing {
    slots: Vec<Slot>,
    pages: BTreeMap<u64, Box<Page>>,
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

impl Storage for Growing {
    fn slots(&self) -> &[Slot] {
        &self.slots
    }

    fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    fn grow_slots(&mut self) -> bool {
        let len = (self.slots.len() * 2).max(64);
        self.slots.resize(len, Slot::EMPTY);
        true
    }

    fn push_event(&mut self, event: Event) -> bool {
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
        self.pages.get(&number).map(|page| &**page)
    }

    fn page_mut(&mut self, number: u64, fill: u8) -> Option<&mut Page> {
        Some(self.pages.entry(number).or_insert_with(|| Box::new([fill; PAGE_BYTES])))
    }

    fn drop_pages(&mut self, first: u64, last: u64) {
        while let Some((&number, _)) = self.pages.range(first..last).next() {
            self.pages.remove(&number);
        }
    }
}
