//! The command as a user runs it.

mod container;
mod inspect;
mod load;
mod pack;
mod plan;
mod rules;
mod streams;
mod tools;
