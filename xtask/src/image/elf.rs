//! As much of ELF as the ledger and the audit need: sections, function symbols, emitted stack sizes.

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A section.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) size: u64,
    address: u64,
    offset: u64,
    flags: u64,
    kind: u32,
    link: u32,
}

impl Section {
    const NO_BITS: u32 = 8;
    const ALLOCATED: u64 = 2;
    const WRITE: u64 = 1;
    const EXECUTE: u64 = 4;

    pub(crate) const fn is_allocated(&self) -> bool {
        self.flags & Self::ALLOCATED != 0
    }

    pub(crate) const fn is_code(&self) -> bool {
        self.is_allocated() && self.flags & Self::EXECUTE != 0
    }

    /// Memory without bytes in the file.
    pub(crate) const fn is_zeros(&self) -> bool {
        self.kind == Self::NO_BITS && self.is_allocated() && self.flags & Self::WRITE != 0
    }

    pub(crate) const fn is_data(&self) -> bool {
        self.is_allocated() && self.flags & Self::WRITE != 0 && self.kind != Self::NO_BITS
    }
}

/// A symbol with a size.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    /// Demangled, without the hash.
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) is_function: bool,
}

/// An executable.
#[derive(Debug)]
pub(crate) struct Elf {
    bytes: Vec<u8>,
    wide: bool,
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<Symbol>,
}

impl Elf {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        ensure!(bytes.starts_with(b"\x7fELF") && bytes.get(5) == Some(&1), "not a little-endian ELF file");
        let wide = bytes[4] == 2;
        let mut elf = Self { bytes, wide, sections: Vec::new(), symbols: Vec::new() };
        elf.read_sections()?;
        elf.read_symbols()?;
        Ok(elf)
    }

    fn number(&self, at: u64, width: usize) -> Result<u64> {
        let at = usize::try_from(at)?;
        let bytes = self.bytes.get(at..at + width).context("the file is cut")?;
        let mut all = [0; 8];
        all[..width].copy_from_slice(bytes);
        Ok(u64::from_le_bytes(all))
    }

    /// Fields at offsets of the 64-bit and of the 32-bit form; the width is that of an address.
    fn word(&self, base: u64, wide: u64, narrow: u64) -> Result<u64> {
        if self.wide { self.number(base + wide, 8) } else { self.number(base + narrow, 4) }
    }

    fn text(&self, at: u64) -> Result<String> {
        let from = self.bytes.get(usize::try_from(at)?..).context("the file is cut")?;
        let end = from.iter().position(|&byte| byte == 0).unwrap_or(0);
        Ok(String::from_utf8_lossy(&from[..end]).into_owned())
    }

    fn read_sections(&mut self) -> Result<()> {
        let table = self.word(0, 0x28, 0x20)?;
        let (entry, count, names) = if self.wide { (0x3A, 0x3C, 0x3E) } else { (0x2E, 0x30, 0x32) };
        let (entry, count, names) = (self.number(entry, 2)?, self.number(count, 2)?, self.number(names, 2)?);
        let mut sections = Vec::new();
        let mut name_offsets = Vec::new();
        for index in 0..count {
            let at = table + index * entry;
            name_offsets.push(self.number(at, 4)?);
            sections.push(Section {
                name: String::new(),
                kind: u32::try_from(self.number(at + 4, 4)?)?,
                flags: self.word(at, 8, 8)?,
                address: self.word(at, 0x10, 0xC)?,
                offset: self.word(at, 0x18, 0x10)?,
                size: self.word(at, 0x20, 0x14)?,
                link: u32::try_from(self.number(at + if self.wide { 0x28 } else { 0x18 }, 4)?)?,
            });
        }
        let base = sections.get(usize::try_from(names)?).context("no section names")?.offset;
        for (section, offset) in sections.iter_mut().zip(name_offsets) {
            section.name = self.text(base + offset)?;
        }
        self.sections = sections;
        Ok(())
    }

    fn read_symbols(&mut self) -> Result<()> {
        const TABLE: u32 = 2;
        let Some(table) = self.sections.iter().find(|section| section.kind == TABLE) else {
            bail!("the file has no symbols");
        };
        let names = self.sections.get(table.link as usize).context("no symbol names")?.offset;
        let entry = if self.wide { 24 } else { 16 };
        let mut symbols = Vec::new();
        for at in (table.offset..table.offset + table.size).step_by(entry) {
            let info = self.number(at + if self.wide { 4 } else { 12 }, 1)?;
            let name = self.text(names + self.number(at, 4)?)?;
            let name = format!("{:#}", rustc_demangle::demangle(&name));
            let (address, size) = (self.word(at, 8, 4)?, self.word(at, 16, 8)?);
            symbols.push(Symbol { name, address, size, is_function: info & 15 == 2 });
        }
        self.symbols = symbols;
        Ok(())
    }

    pub(crate) fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Bytes of all sections that are so.
    pub(crate) fn total(&self, of: impl Fn(&Section) -> bool) -> u64 {
        self.sections.iter().filter(|section| of(section)).map(|section| section.size).sum()
    }

    /// The eight bytes at an address.
    pub(crate) fn word_at(&self, address: u64) -> Option<u64> {
        let holds = |section: &&Section| {
            section.is_allocated() && (section.address..section.address + section.size).contains(&address)
        };
        let section = self.sections.iter().find(holds)?;
        let at = usize::try_from(address - section.address).ok()?;
        let bytes = self.content(section).get(at..at + 8)?;
        bytes.try_into().ok().map(u64::from_le_bytes)
    }

    /// Bytes of a section.
    pub(crate) fn content(&self, section: &Section) -> &[u8] {
        let from = usize::try_from(section.offset).unwrap_or(usize::MAX);
        let to = from.saturating_add(usize::try_from(section.size).unwrap_or(usize::MAX));
        if section.kind == Section::NO_BITS { &[] } else { self.bytes.get(from..to).unwrap_or(&[]) }
    }

    /// Frame bytes of every function that the compiler told them for, by address.
    pub(crate) fn stack_sizes(&self) -> BTreeMap<u64, u64> {
        let mut sizes = BTreeMap::new();
        let Some(section) = self.section(".stack_sizes") else { return sizes };
        let mut rest = self.content(section);
        let width = if self.wide { 8 } else { 4 };
        while let Some((address, after)) = rest.split_at_checked(width) {
            let mut whole = [0; 8];
            whole[..width].copy_from_slice(address);
            let Some((size, used)) = leb128(after) else { break };
            rest = &after[used..];
            sizes.insert(u64::from_le_bytes(whole), size);
        }
        sizes
    }
}

/// A number of seven bits a byte, and how many bytes it took.
fn leb128(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (at, &byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}
