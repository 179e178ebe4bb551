//! The command as a user runs it.

mod attacks;
mod container;
mod diff;
mod disasm;
mod dumps;
mod facts;
mod inspect;
mod load;
mod pack;
mod plan;
mod rules;
mod shortage;
mod streams;
mod together;
mod tools;
mod walks;
