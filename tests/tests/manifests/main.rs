//! S2 and the tooling view: the cases of manifests.md §24, the sample trees and the real files.

mod load;
mod real;
mod rules;
mod scale;
mod second_reader;
mod tools;
