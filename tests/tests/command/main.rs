//! The command as a user runs it.

mod attacks;
mod container;
mod diff;
mod inspect;
mod load;
mod pack;
mod plan;
mod shortage;
mod streams;
mod tools;
