//! S2 and the tooling view: the cases of manifests.md §24, the sample trees and the real files.

mod load;
mod owners;
mod real;
mod refusals;
mod rules;
mod scale;
mod second_reader;
mod small;
mod stress;
mod strict;
mod texts;
mod tools;
