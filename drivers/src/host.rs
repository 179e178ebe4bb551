//! What a process asks of its host beside a device.

pub mod file_limit;
pub mod heap;
pub mod streams;
