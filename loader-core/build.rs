//! Sizes that are fixed when an image is built, from its memory layout.

fn main() {
    let host = concat!(env!("CARGO_MANIFEST_DIR"), "/../memory-layouts/host.toml");
    let layout = memory_layouts::build::constants(host.as_ref(), &["core"]);
    // Where an error keeps its place is a matter of types.
    println!("cargo::rustc-check-cfg=cfg(small)");
    if layout.number("core", "small") == Some(1) {
        println!("cargo::rustc-cfg=small");
    }
}
