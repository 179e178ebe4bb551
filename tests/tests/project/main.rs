//! The project's own promises: fixtures, documents, dependencies, golden files.

mod conformance;
mod dependencies;
mod documents;
mod fixtures;
mod fuzz_replay;
mod layouts;
mod pack_golden;
mod pages;
mod unsafe_code;
