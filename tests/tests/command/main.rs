//! The command as a user runs it.

mod container;
mod inspect;
mod load;
mod pack;
mod plan;
mod streams;
mod together;
mod tools;
