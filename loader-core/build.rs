//! Sizes that are fixed when an image is built, from its memory layout.

fn main() {
    let host = concat!(env!("CARGO_MANIFEST_DIR"), "/../memory-layouts/host.toml");
    let _ = memory_layouts::build::constants(host.as_ref(), &["core"]);
}
