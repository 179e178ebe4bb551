//! S0 and S1: from bytes to a header, a digest verdict and a member table (container.md).

mod table;

pub use table::{Member, MemberTable};
