//! The `neffload` command.

fn main() {}
