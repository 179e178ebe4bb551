//! S3: lowering definitions into kbin records (lowering.md).
//!
//! | module | what it is |
//! |---|---|
//! | [`record`] | every record of the product, with its layout asserted |
//! | [`Kbins`] | the product as typed views |

mod kbins;
pub mod record;

pub use kbins::{
    ActSetView, BlockEnd, DveTables, EngineView, GroupView, InstanceView, KbinView, Kbins, QueueView,
    UcodeLibView, VarView,
};
