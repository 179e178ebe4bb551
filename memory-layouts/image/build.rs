//! Constants from the layout, the linker's arguments, and the file that a bare-metal image carries.

use memory_layouts::build::{constants, refuse};
use std::path::Path;
use std::{env, fs};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let layout =
        constants(&here.join("../agent-256k.toml"), &["core", "memory", "limits", "device", "image"]);
    let target = env::var("TARGET").unwrap_or_default();
    if !layout.is_image() {
        refuse(&format!("{}: image.target is missing: this layout is not one of an image", layout.name));
    }
    let wanted = layout.text("image", "target").unwrap_or_default();
    if wanted != target {
        refuse(&format!("{}: image.target is {wanted}, but the build is for {target}", layout.name));
    }
    if let Some(script) = layout.text("image", "linker") {
        let script = layout.folder.join(script);
        if !script.is_file() {
            refuse(&format!("{}: image.linker: there is no {}", layout.name, script.display()));
        }
        println!("cargo::rerun-if-changed={}", script.display());
        println!("cargo::rustc-link-arg-bins=-T{}", script.display());
    }
    let stack = layout.number("image", "stack").unwrap_or_default();
    let arguments: &[&str] = if target.ends_with("-linux-gnu") {
        &[
            "-nostartfiles",
            "-nodefaultlibs",
            "-static",
            "-no-pie",
            "-Wl,--gc-sections,--build-id=none,-z,norelro,-z,noexecstack",
        ]
    } else {
        println!("cargo::rustc-link-arg-bins=--defsym=image_stack={stack}");
        &["--gc-sections"]
    };
    for argument in arguments {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    embed(&layout);
}

/// Makes the carried file a constant.
fn embed(layout: &memory_layouts::Layout) {
    let out = env::var("OUT_DIR").unwrap_or_default();
    let carried = layout.text("image", "embed").map(|file| layout.folder.join(file));
    let text = match carried {
        Some(file) => {
            println!("cargo::rerun-if-changed={}", file.display());
            let whole = fs::canonicalize(&file).unwrap_or_else(|error| {
                refuse(&format!("{}: image.embed: {}: {error}", layout.name, file.display()))
            });
            format!(
                "/// The file that this image carries.\npub static CARRIED: &[u8] = include_bytes!({whole:?});\n"
            )
        }
        None => String::new(),
    };
    fs::write(Path::new(&out).join("carried.rs"), text).unwrap_or_else(|error| refuse(&error.to_string()));
}
