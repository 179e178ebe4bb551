//! S4, first half: the place of every variable, table, ring and image (staging.md §7, §8, §10, §11).

pub mod block;
mod breakdown;
pub mod copy;
pub mod expand;
mod item;
pub mod libraries;
mod notes;
pub mod operand;
pub mod pages;
mod place;
pub mod position;
mod print;
mod programs;
pub mod record;
pub mod ring;
pub mod rings;
mod show;
mod strict;
pub mod translate;
mod triggers;
mod usage;
pub mod vars;
mod view;
pub mod walk;
mod wants;

pub use breakdown::{Breakdown, BreakdownLog};
pub use place::{Plan, Request, place, place_explained};
pub(crate) use programs::overlap;
pub use show::ShowBytes;
pub use usage::{Holder, Shortage, UsageRow, UsageTable};
pub use view::{CoreView, ledger_bytes};
pub use wants::shares_library;
