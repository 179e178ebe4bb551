//! The sections of the page, one function each.

mod chart;
mod head;
mod tables;

pub(super) use chart::{instructions, members, memory};
pub(super) use head::{cards, headline, verdicts};
pub(super) use tables::{queues, tensors, unlisted, warnings};
