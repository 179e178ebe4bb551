//! S3: the cases of lowering.md §14, layouts, products and arenas.

mod arena;
mod bytes;
mod checked;
mod cores;
mod engines;
mod fuzz;
mod layout;
mod places;
mod queues;
mod real;
mod sample;
mod sections;
mod vars;
mod whole;
