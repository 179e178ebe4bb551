//! What an image takes: sections, memory, stack, code by stage.

use super::code::Code;
use super::elf::{Elf, Section};
use super::stack::{Path as Deepest, Rules, Walker};
use anyhow::Result;
use memory_layouts::Layout;
use std::fmt;
use std::path::Path;

/// Sizes of one stage.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    /// Bytes of code in the stage's modules.
    pub(crate) code: u64,
    /// Deepest stack of its entry; `None` where it is not known.
    pub(crate) stack: Option<u64>,
    /// The path that is as deep.
    pub(crate) path: Vec<String>,
}

/// Sizes of an image. All are bytes.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) layout: String,
    pub(crate) file: u64,
    pub(crate) text: u64,
    pub(crate) rodata: u64,
    pub(crate) data: u64,
    pub(crate) bss: u64,
    pub(crate) arena: u64,
    /// Room for the simulated device's blocks.
    pub(crate) simulated: u64,
    pub(crate) stages: Vec<Stage>,
    /// Deepest stack of the whole program.
    pub(crate) stack: Option<u64>,
    /// The widest frame on that path.
    pub(crate) widest: String,
    pub(crate) cycles: Vec<Vec<String>>,
}

/// Stages, the modules whose code they are, and the function that enters them.
const STAGES: [(&str, &[&str], &str); 7] = [
    (
        "S1 unpack",
        &["loader_core::container", "miniz_oxide", "sha2", "md5"],
        "neffload_agent::stages::unpack",
    ),
    (
        "S2 parse",
        &["loader_core::manifest", "loader_core::json", "serde_json_core"],
        "neffload_agent::stages::parse",
    ),
    ("S3 lower", &["loader_core::lower"], "neffload_agent::stages::lower"),
    ("S4 place", &["loader_core::plan"], "neffload_agent::stages::place"),
    ("S5 fill", &["loader_core::stage"], "neffload_agent::stages::fill"),
    ("devices", &["neuron_drivers"], "neffload_agent::stages::unload"),
    (
        "report",
        &["core::fmt", "loader_core::error", "neffload_agent::report"],
        "neffload_agent::report::print",
    ),
];

impl Ledger {
    /// Weighs an image; the stack only where the call graph can be read.
    pub(crate) fn of(layout: &Layout, whole: &Path, stripped: &Path, rules: &Rules) -> Result<Self> {
        let elf = Elf::read(whole)?;
        let number = |section, key| layout.number(section, key).unwrap_or(0);
        let named = |part: &str| {
            elf.symbols.iter().filter(|symbol| symbol.name.contains(part)).map(|symbol| symbol.size).sum()
        };
        let text = elf.total(Section::is_code);
        let (data, bss) = (elf.total(Section::is_data), elf.total(Section::is_zeros));
        let constant = |section: &Section| {
            section.is_allocated() && !section.is_code() && !section.is_data() && !section.is_zeros()
        };
        let mut ledger = Self {
            layout: layout.name.clone(),
            file: std::fs::metadata(stripped)?.len(),
            text,
            rodata: elf.total(constant),
            data,
            bss,
            arena: number("memory", "arena") + number("memory", "members"),
            simulated: named("memory::SIMULATED"),
            stages: STAGES.iter().map(|stage| code_of(&elf, stage)).collect(),
            stack: None,
            widest: String::new(),
            cycles: Vec::new(),
        };
        if layout.text("image", "target").is_some_and(|target| target.starts_with("x86_64")) {
            ledger.weigh_stack(&Code::read(whole, &elf)?, rules);
        }
        Ok(ledger)
    }

    fn weigh_stack(&mut self, code: &Code, rules: &Rules) {
        let mut walker = Walker::new(code, rules);
        let named = |path: &Deepest| {
            path.calls.iter().map(|&at| format!("{} {}", code.functions[&at].frame, code.name(at))).collect()
        };
        for (stage, (_, _, entry)) in self.stages.iter_mut().zip(STAGES) {
            let found = code.functions.iter().filter(|(_, function)| function.name.contains(entry));
            let deepest = found.map(|(&address, _)| walker.deepest(address)).max_by_key(|path| path.bytes);
            if let Some(path) = deepest {
                (stage.stack, stage.path) = (Some(path.bytes), named(&path));
            }
        }
        let start = code.functions.iter().find(|(_, function)| function.name == "_start");
        if let Some(path) = start.map(|(&address, _)| walker.deepest(address)) {
            self.stack = Some(path.bytes);
            let widest = path.calls.iter().max_by_key(|at| code.functions[*at].frame);
            self.widest = widest
                .map(|at| format!("{} {}", code.functions[at].frame, code.name(*at)))
                .unwrap_or_default();
        }
        self.cycles = walker
            .cycles
            .iter()
            .map(|cycle| cycle.iter().map(|&at| code.name(at).to_string()).collect())
            .collect();
    }

    /// What takes more than the layout allows, a sentence each with the key that says so.
    pub(crate) fn beyond(&self, layout: &Layout) -> Vec<String> {
        let code = self.text + self.rodata + self.data;
        let file = if layout.is_bare() { code } else { self.file };
        let parts = [
            ("file", file, "most_bytes"),
            ("static memory", self.statics(), "most_static"),
            ("stack", self.stack.unwrap_or(0), "stack"),
        ];
        let most = |key| layout.number("image", key).unwrap_or(u64::MAX);
        let over = parts.iter().filter(|(_, bytes, key)| *bytes > most(key));
        over.map(|(what, bytes, key)| {
            format!("{}: {what} of {bytes} bytes, image.{key} allows {}", layout.name, most(key))
        })
        .collect()
    }

    /// Static memory that is neither arena nor simulated device.
    pub(crate) const fn statics(&self) -> u64 {
        (self.data + self.bss).saturating_sub(self.arena + self.simulated)
    }
}

/// Bytes of functions whose name begins with, or is a method or instance of, a stage's modules.
fn code_of(elf: &Elf, (name, modules, _): &(&'static str, &[&str], &str)) -> Stage {
    let own =
        |symbol: &str| modules.iter().any(|module| symbol.trim_start_matches(['<', '&']).starts_with(module));
    let code = elf.symbols.iter().filter(|symbol| symbol.is_function && own(&symbol.name));
    Stage { name, code: code.map(|symbol| symbol.size).sum(), stack: None, path: Vec::new() }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, file, text, rodata, data, bss, arena, simulated, .. } = self;
        writeln!(f, "{layout}: {file} bytes stripped")?;
        writeln!(f, "  text    {text:>8}")?;
        writeln!(f, "  rodata  {rodata:>8}")?;
        writeln!(f, "  data    {data:>8}")?;
        writeln!(
            f,
            "  bss     {bss:>8}  of it arena {arena}, simulated device {simulated}, the rest {}",
            self.statics()
        )?;
        if let Some(stack) = self.stack {
            writeln!(f, "  stack   {stack:>8}  the deepest path of calls")?;
        }
        writeln!(f, "  stage        code     stack")?;
        for Stage { name, code, stack, .. } in &self.stages {
            let stack = stack.map_or_else(|| "-".to_string(), |bytes| bytes.to_string());
            writeln!(f, "  {name:<10} {code:>7}  {stack:>8}")?;
        }
        Ok(())
    }
}
