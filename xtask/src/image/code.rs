//! The call graph of an x86-64 image, from its disassembly.

use super::elf::Elf;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// One function: what it calls, and what it needs of the stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Frame bytes, the return address included.
    pub(crate) frame: u64,
    /// Functions it calls or ends in, by address.
    pub(crate) calls: BTreeSet<u64>,
    /// Calls through a table of methods, by the method's offset in it, and through a bare pointer (`None`).
    pub(crate) indirect: BTreeSet<Option<u64>>,
    /// Functions whose address it takes.
    pub(crate) takes: BTreeSet<u64>,
}

/// All functions by address, and where pointers to functions lie.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) functions: BTreeMap<u64, Function>,
    /// Functions that stand in a table of methods, by their offset in it.
    pub(crate) methods: BTreeMap<u64, BTreeSet<u64>>,
    /// Functions whose address is taken in any other way.
    pub(crate) pointed: BTreeSet<u64>,
}

impl Code {
    /// Disassembles an image with `objdump`.
    pub(crate) fn read(path: &Path, elf: &Elf) -> Result<Self> {
        let output = Command::new("objdump").args(["-d", "--no-show-raw-insn", "-w"]).arg(path).output();
        let output = output.context("objdump, of the binutils")?;
        ensure!(output.status.success(), "objdump: {}", String::from_utf8_lossy(&output.stderr));
        let mut functions = BTreeMap::new();
        for symbol in elf.symbols.iter().filter(|symbol| symbol.is_function && symbol.address != 0) {
            let name = symbol.name.clone();
            functions.insert(symbol.address, Function { name, ..Function::default() });
        }
        let mut code = Self { functions, methods: BTreeMap::new(), pointed: BTreeSet::new() };
        code.scan(&String::from_utf8_lossy(&output.stdout), elf);
        code.frames(&elf.stack_sizes());
        code.tables(elf);
        Ok(code)
    }

    fn scan(&mut self, listing: &str, elf: &Elf) {
        let starts: BTreeSet<u64> = self.functions.keys().copied().collect();
        let (mut at, mut end, mut pushed, mut prologue) = (0, 0, 0, true);
        for line in listing.lines() {
            if let Some((address, _)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
                (at, pushed, prologue) = (u64::from_str_radix(address, 16).unwrap_or(0), 8, true);
                let function = self.functions.entry(at).or_default();
                function.frame = pushed;
                end = starts.range(at + 1..).next().copied().unwrap_or(u64::MAX);
                continue;
            }
            let Some((_, text)) = line.split_once(":\t") else { continue };
            let mut words = text.split_whitespace();
            let operation = words.next().unwrap_or_default();
            let operand = words.next().unwrap_or_default();
            let Some(function) = self.functions.get_mut(&at) else { continue };
            // Frames that the compiler does not tell are read off the first instructions.
            match operation {
                "push" if prologue => pushed += 8,
                "sub" if prologue && operand.ends_with(",%rsp") => {
                    pushed += immediate(operand).unwrap_or(0);
                    prologue = false;
                }
                "call" | "ret" => prologue = false,
                _ => {}
            }
            function.frame = function.frame.max(pushed);
            let target = u64::from_str_radix(operand, 16).ok();
            match (operation, target) {
                ("call", Some(target)) => {
                    function.calls.insert(target);
                }
                ("call" | "jmp", None) if operand.contains("(%rip)") => {
                    function.calls.extend(cell(text, elf));
                }
                // A scaled index goes into a fixed table: of a `match` within this function, or of functions.
                ("call" | "jmp", None) if operand.contains(",8)") => {
                    match entries(operand, at..end, &starts, elf) {
                        Some(functions) => function.calls.extend(functions),
                        None => {
                            function.indirect.insert(None);
                        }
                    }
                }
                ("call", None) => {
                    function.indirect.insert(slot(operand));
                }
                // A jump to the start of another function is a call that ends this one.
                (jump, Some(target)) if jump.starts_with('j') && target != at && starts.contains(&target) => {
                    function.calls.insert(target);
                }
                ("jmp", None) if operand.starts_with('*') => {
                    function.indirect.insert(slot(operand));
                }
                ("lea" | "mov" | "movq" | "movl" | "push", _) => {
                    let named = text
                        .split(['$', '#', ',', ' '])
                        .filter_map(|part| u64::from_str_radix(part.trim_start_matches("0x"), 16).ok());
                    let taken: Vec<u64> = named.filter(|address| starts.contains(address)).collect();
                    function.takes.extend(&taken);
                    self.pointed.extend(taken);
                }
                _ => {}
            }
        }
    }

    fn frames(&mut self, told: &BTreeMap<u64, u64>) {
        for (address, size) in told {
            if let Some(function) = self.functions.get_mut(address) {
                function.frame = size + 8;
            }
        }
    }

    /// Finds tables of methods: a destructor or nothing, a size, an alignment, then functions.
    fn tables(&mut self, elf: &Elf) {
        let constants = elf.sections.iter().filter(|section| section.is_allocated() && !section.is_code());
        for section in constants {
            let words: Vec<u64> = elf
                .content(section)
                .chunks_exact(8)
                .map(|chunk| chunk.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)))
                .collect();
            let is_function = |word: u64| self.functions.contains_key(&word);
            let mut at = 0;
            while at < words.len() {
                let head = |at: usize| words.get(at).copied();
                let begins = head(at).is_some_and(|drop| drop == 0 || is_function(drop))
                    && head(at + 1).is_some_and(|size| size < 1 << 24)
                    && head(at + 2).is_some_and(|align| align.is_power_of_two() && align <= 4096)
                    && head(at + 3).is_some_and(is_function);
                if begins {
                    let first = at;
                    at += 3;
                    while head(at).is_some_and(is_function) {
                        let offset = 8 * (at - first) as u64;
                        self.methods.entry(offset).or_default().insert(words[at]);
                        at += 1;
                    }
                } else {
                    if is_function(words[at]) {
                        self.pointed.insert(words[at]);
                    }
                    at += 1;
                }
            }
        }
    }

    pub(crate) fn name(&self, address: u64) -> &str {
        self.functions.get(&address).map_or("?", |function| &function.name)
    }
}

/// `$0x18,%rsp`: 24.
fn immediate(operand: &str) -> Option<u64> {
    let (number, _) = operand.strip_prefix('$')?.split_once(',')?;
    u64::from_str_radix(number.trim_start_matches("0x"), 16).ok()
}

/// Where a call through a fixed cell leads: the disassembler names the cell behind a `#`.
fn cell(text: &str, elf: &Elf) -> Option<u64> {
    let (_, cell) = text.split_once('#')?;
    let address = u64::from_str_radix(cell.split_whitespace().next()?.trim_start_matches("0x"), 16).ok()?;
    elf.word_at(address)
}

/// `*0x18(%rax)`: offset 24 in a table; `*%rax` and `*0x8(%rsp)`: a bare pointer.
fn slot(operand: &str) -> Option<u64> {
    let inner = operand.strip_prefix('*')?;
    let (offset, register) = inner.split_once('(')?;
    let offset = u64::from_str_radix(offset.trim_start_matches("0x"), 16).unwrap_or(0);
    (offset >= 0x18 && !register.contains("%rsp")).then_some(offset)
}

/// Functions of the fixed table that a scaled operand indexes, `*0x401200(,%rax,8)`: none where its entries lie within
/// `own`, the function that jumps there. `None` where the table is not known.
fn entries(operand: &str, own: Range<u64>, starts: &BTreeSet<u64>, elf: &Elf) -> Option<Vec<u64>> {
    let (table, _) = operand.strip_prefix('*')?.split_once("(,")?;
    let table = u64::from_str_radix(table.trim_start_matches("0x"), 16).ok()?;
    let words = (0..).map_while(|index: u64| elf.word_at(table + 8 * index));
    let is_case = |word: &u64| (own.start + 1..own.end).contains(word);
    let found: Vec<u64> = words.take_while(|word| is_case(word) || starts.contains(word)).collect();
    let functions: Vec<u64> = found.iter().copied().filter(|word| !is_case(word)).collect();
    match found.first() {
        None => None,
        // Behind the cases of a `match` there may be a table of something else.
        Some(first) if is_case(first) => Some(Vec::new()),
        Some(_) => Some(functions),
    }
}
