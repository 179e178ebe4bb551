//! The project's own promises: fixtures, documents, dependencies, golden files.

mod dependencies;
mod documents;
mod fixtures;
mod layouts;
mod pack_golden;
