//! S3: lowering definitions into kbin records (lowering.md).
//!
//! A kbin is built, never read: everything but the instruction bytes follows from the manifests. [`lower`] makes one
//! per subgraph at the arena's head, in two passes: the measuring one ([`measure`]) makes every check that needs no
//! memory and finds the exact size; the emitting one writes records and then reads the engine files once to fill in
//! their transfers. The bytes depend on the manifests alone, not on member order, chunking or how the payload is held.
//!
//! | module | what it is |
//! |---|---|
//! | [`record`] | every record of the product, with its layout asserted |
//! | [`Kbins`], [`KbinView`] | the product as typed views: what later stages read |
//! | [`input`] | what lowering reads; S2's manifests, or working sets made by hand |
//! | [`scratchpad`], [`Placement`], [`resolve`] | the static memory plan: sizes, areas, pages, bounds; no addresses |
//! | [`patch`] | the log of what relocation did, and the way back |
//! | [`print`] | records field by field |

mod dims;
mod emit;
mod export;
pub mod input;
mod kbins;
mod link;
mod measure;
pub mod patch;
mod placement;
pub mod print;
pub mod record;
mod resolve;
pub mod scratchpad;

pub use dims::Dims;
pub use emit::{lower, lower_from};
pub use kbins::{
    ActSetView, BlockEnd, DveTables, EngineView, GroupView, InstanceView, KbinView, Kbins, QueueView,
    UcodeLibView, VarView,
};
pub use measure::measure;
pub use placement::{Own, POINTER_CELL, Placement, STATE_BUFFER_WINDOW};
pub use resolve::{Placed, resolve};
