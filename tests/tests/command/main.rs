//! The command as a user runs it.

mod asked;
mod attacks;
mod container;
mod diff;
mod disasm;
mod dumps;
mod facts;
mod inspect;
mod load;
mod outputs;
mod pack;
mod pipes;
mod plan;
mod repack;
mod replaced;
mod rules;
mod samples;
mod shell;
mod shortage;
mod streams;
mod terminal;
mod together;
mod tools;
mod walks;
mod words;
