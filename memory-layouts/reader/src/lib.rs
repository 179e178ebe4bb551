//! Memory layouts: every size that is fixed when an image is built, each with its reason.
//!
//! A layout is a TOML file of this folder: sections of numbers and names, and behind or above each a comment
//! that says why. [`Layout::parse`] reads one and judges it; what makes no sense is refused with a sentence.
//! [`build`] is the step that build scripts take: it turns the layout named by `NEFFLOAD_LAYOUT` into
//! constants. [`keys`] lists what a layout may say.
//!
//! This is a reader for that subset of TOML only, because the comments count: a number without a reason
//! is an error, and no TOML crate keeps them.

pub mod build;
pub mod keys;
mod text;

use keys::{KEYS, Key, Kind};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A number or a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// A name.
    Name(String),
}

/// A layout that makes sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The file's name without its ending.
    pub name: String,
    /// Folder of the file: names of files in the layout are relative to it.
    pub folder: PathBuf,
    values: BTreeMap<(String, String), Value>,
}

impl Layout {
    /// Reads a layout from its file.
    ///
    /// # Errors
    /// One sentence that names the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let layout = Self::parse(&path.display().to_string(), &text)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Self { name: name.into_owned(), folder, ..layout })
    }

    /// Reads and judges the text of a layout.
    ///
    /// # Errors
    /// One sentence that begins with the layout's name, and names a key if it is about one.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let named = |sentence| format!("{name}: {sentence}");
        let values = text::entries(text).map_err(named)?;
        let layout = Self { name: name.to_string(), folder: PathBuf::new(), values };
        layout.judge().map_err(named)?;
        Ok(layout)
    }

    /// The value of a key that stands in the layout.
    #[must_use]
    pub fn get(&self, section: &str, key: &str) -> Option<&Value> {
        self.values.get(&(section.to_string(), key.to_string()))
    }

    /// A number that stands in the layout.
    #[must_use]
    pub fn number(&self, section: &str, key: &str) -> Option<u64> {
        match self.get(section, key)? {
            Value::Number(number) => Some(*number),
            Value::Name(_) => None,
        }
    }

    /// A name that stands in the layout.
    #[must_use]
    pub fn text(&self, section: &str, key: &str) -> Option<&str> {
        match self.get(section, key)? {
            Value::Name(name) => Some(name),
            Value::Number(_) => None,
        }
    }

    /// True for the layout of an image, false for one of a host program.
    #[must_use]
    pub fn is_image(&self) -> bool {
        self.get("image", "target").is_some()
    }

    /// True where nothing runs but the image.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.text("image", "target").is_some_and(|target| !target.contains("-linux-"))
    }

    fn judge(&self) -> Result<(), String> {
        for ((section, name), value) in &self.values {
            let key = KEYS.iter().find(|key| key.section == section && key.name == name);
            key.ok_or_else(|| format!("there is no key {section}.{name}"))?.judge(value)?;
        }
        let missing = |key: &&Key| {
            key.is_due(self.is_image(), self.is_bare()) && self.get(key.section, key.name).is_none()
        };
        if let Some(key) = KEYS.iter().find(missing) {
            return Err(format!("{}.{} is missing: {}", key.section, key.name, key.what));
        }
        self.together()
    }

    /// What numbers must be to each other.
    fn together(&self) -> Result<(), String> {
        let ram = self.number("image", "ram").unwrap_or(u64::MAX);
        let parts = [("memory", "arena"), ("memory", "members"), ("image", "stack")];
        let taken: u64 = parts.iter().filter_map(|(section, key)| self.number(section, key)).sum();
        if taken >= ram {
            return Err(format!(
                "memory.arena, memory.members and image.stack take {taken} bytes of image.ram {ram}"
            ));
        }
        let small = self.number("core", "small") == Some(1);
        let (section, key) = if small { ("memory", "arena") } else { ("image", "stack") };
        let (room, element) = (self.number(section, key), self.number("core", "json_element"));
        if let (Some(room), Some(element)) = (room, element)
            && element.saturating_add(self.number("core", "json_keys").unwrap_or(0)) > room / 2
        {
            return Err(format!(
                "core.json_element and core.json_keys take more than half of {section}.{key} {room}"
            ));
        }
        Ok(())
    }

    /// The constants of every key of `sections`, as Rust.
    #[must_use]
    pub fn constants(&self, sections: &[&str]) -> String {
        let mut out = String::new();
        for key in KEYS.iter().filter(|key| sections.contains(&key.section)) {
            let Some(value) = self.get(key.section, key.name) else { continue };
            let name = format!("{}_{}", key.section, key.name).to_uppercase();
            let (kind, value) = match (key.kind, value) {
                (Kind::Name(_), Value::Name(text)) => ("&str", format!("{text:?}")),
                (Kind::Number { rust, .. }, Value::Number(number)) => (rust, number.to_string()),
                _ => continue,
            };
            out += &format!("/// {}\npub const {name}: {kind} = {value};\n", key.what);
        }
        out
    }
}

#[cfg(test)]
mod tests;
