//! S4, first half: the place of every variable, table, ring and image (staging.md §7, §8, §10, §11).

pub mod copy;
pub mod expand;
pub mod operand;
pub mod position;
pub mod record;
pub mod ring;
pub mod scratch;
mod show;
pub mod walk;

pub use show::ShowBytes;
