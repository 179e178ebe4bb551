//! S0 and S1: the cases of container.md §18, and the container against independent readers.

mod chunking;
mod differential;
mod documents;
mod guard;
mod gzip;
mod header;
mod inflaters;
mod members;
mod preflight;
mod streamed;
mod tar;
mod tools;
