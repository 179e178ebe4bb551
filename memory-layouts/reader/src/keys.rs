//! What a layout may say.

use super::Value;

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A number within bounds, a constant of that Rust type, and a multiple of `step`.
    Number {
        /// Smallest.
        least: u64,
        /// Largest.
        most: u64,
        /// What it must be a multiple of.
        step: u64,
        /// Type of the constant.
        rust: &'static str,
    },
    /// One of these words; any if there are none.
    Name(&'static [&'static str]),
}

/// Who needs a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Every layout.
    Always,
    /// The layout of an image.
    Image,
    /// The layout of an image without an operating system.
    Bare,
    /// Nobody: there is a default.
    Never,
}

/// One key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its section.
    pub section: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Who needs it.
    pub due: Due,
    /// What it is.
    pub what: &'static str,
}

impl Key {
    pub(crate) const fn is_due(&self, image: bool, bare: bool) -> bool {
        match self.due {
            Due::Always => true,
            Due::Image => image,
            Due::Bare => bare,
            Due::Never => false,
        }
    }

    /// Whether a value makes sense for this key.
    pub(crate) fn judge(&self, value: &Value) -> Result<(), String> {
        let name = format!("{}.{}", self.section, self.name);
        match (self.kind, value) {
            (Kind::Number { least, most, step, .. }, Value::Number(number)) => {
                if !(least..=most).contains(number) {
                    return Err(format!("{name} is {number}; it must be {least} to {most}: {}", self.what));
                }
                if number % step != 0 {
                    return Err(format!(
                        "{name} is {number}; it must be a multiple of {step}: {}",
                        self.what
                    ));
                }
                Ok(())
            }
            (Kind::Name(_), Value::Name(word)) if word.is_empty() => {
                Err(format!("{name} is empty: {}", self.what))
            }
            (Kind::Name(words), Value::Name(word)) if words.is_empty() || words.contains(&word.as_str()) => {
                Ok(())
            }
            (Kind::Name(words), Value::Name(word)) => {
                Err(format!("{name} is `{word}`; it must be one of {}", words.join(", ")))
            }
            (Kind::Number { .. }, Value::Name(_)) => Err(format!("{name} must be a number")),
            (Kind::Name(_), Value::Number(_)) => Err(format!("{name} must be a name in quotes")),
        }
    }
}

const fn size(
    section: &'static str,
    name: &'static str,
    bounds: (u64, u64),
    due: Due,
    what: &'static str,
) -> Key {
    let (least, most) = bounds;
    Key { section, name, kind: Kind::Number { least, most, step: 1, rust: "usize" }, due, what }
}

const fn limit(name: &'static str, rust: &'static str, most: u64, what: &'static str) -> Key {
    Key {
        section: "limits",
        name,
        kind: Kind::Number { least: 1, most, step: 1, rust },
        due: Due::Never,
        what,
    }
}

const fn word(
    section: &'static str,
    name: &'static str,
    words: &'static [&'static str],
    due: Due,
    what: &'static str,
) -> Key {
    Key { section, name, kind: Kind::Name(words), due, what }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const U32: u64 = 0xFFFF_FFFF;

/// Every key there is.
pub const KEYS: &[Key] = &[
    size(
        "core",
        "json_element",
        (512, 64 * KIB),
        Due::Always,
        "Bytes of the buffer for one JSON value: on the stack of S2 and S3, in the arena where `small` is 1.",
    ),
    size(
        "core",
        "json_keys",
        (512, 64 * KIB),
        Due::Always,
        "Bytes of the keys of one JSON path, in the same place.",
    ),
    size(
        "core",
        "sources",
        (1, 32),
        Due::Always,
        "Sources of one DMA transfer; each takes 80 bytes of the stack of S2 and S3 and 128 of that of S5.",
    ),
    Key {
        section: "core",
        name: "small",
        kind: Kind::Number { least: 0, most: 1, step: 1, rust: "usize" },
        due: Due::Always,
        what: "1: one copy of each parser for all its users, small tables, errors of four bytes, refusals without words; 0: a copy for each, fast tables, whole refusals.",
    },
    size(
        "memory",
        "total",
        (64 * KIB, 4 * GIB),
        Due::Never,
        "Bytes of a host's streamed load, everything together.",
    ),
    Key {
        section: "memory",
        name: "arena",
        kind: Kind::Number { least: 4 * KIB, most: 4 * GIB - 8, step: 8, rust: "usize" },
        due: Due::Image,
        what: "Bytes of the arena of records and manifest tables.",
    },
    Key {
        section: "memory",
        name: "members",
        kind: Kind::Number { least: KIB, most: 4 * GIB - 8, step: 8, rust: "usize" },
        due: Due::Image,
        what: "Bytes of the arena of the member table and of members that are kept.",
    },
    Key {
        section: "memory",
        name: "keep",
        kind: Kind::Number { least: 0, most: 64 * KIB, step: 1, rust: "u64" },
        due: Due::Image,
        what: "Members up to this size are kept from the first pass on; 0 keeps none and costs passes.",
    },
    size("memory", "input", (512, 16 << 20), Due::Image, "Bytes of the file that are read at a time."),
    size(
        "memory",
        "name",
        (100, 1 << 20),
        Due::Image,
        "Bytes of the longest name of an extension record; there is room for three.",
    ),
    size(
        "memory",
        "gzip_layers",
        (1, 24),
        Due::Image,
        "Nested gzip layers; each takes a 32 KiB window and a decoder.",
    ),
    size("memory", "extents", (0, 4096), Due::Image, "Extents of one sparse member."),
    Key {
        section: "memory",
        name: "scratch",
        kind: Kind::Number { least: KIB, most: GIB, step: 64, rust: "usize" },
        due: Due::Image,
        what: "Bytes in which rings are built; fewer mean more passes over the descriptors.",
    },
    size("memory", "pages", (1, 4096), Due::Image, "Scratchpad pages of the device."),
    limit("inflated_bytes", "u64", 1 << 40, "Bytes of the inflated payload."),
    limit("members", "u32", U32, "Members of the archive."),
    limit("name_bytes", "u32", U32, "Bytes of one member name."),
    limit("json_bytes", "u64", U32, "Bytes of one JSON member."),
    limit("json_depth", "u16", 1024, "Nesting of a JSON document."),
    limit("variables", "u32", U32, "Variables of one subgraph."),
    limit("descriptors", "u32", U32, "DMA descriptors of one subgraph."),
    limit("ring_entries", "u64", 1 << 40, "Ring entries that the descriptors of one subgraph expand to."),
    word("device", "kind", &["sim", "neuron"], Due::Always, "The device unless the command line names one."),
    word(
        "device",
        "profile",
        &["FLAT", "DRIVER"],
        Due::Always,
        "How the simulated device lays out its memory.",
    ),
    size("device", "blocks", (16, 1 << 20), Due::Image, "Device blocks that may live at once."),
    word(
        "image",
        "target",
        &["x86_64-unknown-linux-gnu", "thumbv7em-none-eabihf"],
        Due::Never,
        "What the image runs on.",
    ),
    size(
        "image",
        "stack",
        (4 * KIB, MIB),
        Due::Image,
        "Bytes that the deepest path of calls may take; systems give a program a few MiB.",
    ),
    size("image", "most_bytes", (16 * KIB, GIB), Due::Image, "Bytes of the stripped image."),
    size(
        "image",
        "most_static",
        (16 * KIB, GIB),
        Due::Image,
        "Bytes of static memory without arenas and without the simulated device.",
    ),
    word("image", "linker", &[], Due::Bare, "The linker script, where the target has no loader."),
    size("image", "ram", (16 * KIB, 4 * GIB), Due::Bare, "Bytes of memory that the machine has."),
    word("image", "machine", &[], Due::Never, "The QEMU machine that runs the image."),
    word("image", "embed", &[], Due::Bare, "The file that an image without a file system carries."),
];
