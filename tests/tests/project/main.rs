//! The project's own promises: fixtures, documents, dependencies, golden files.

mod dependencies;
mod documents;
mod fixtures;
mod fuzz_replay;
mod pack_golden;
