//! Everything beside variables and queues: tables, carve-outs, collectives, libraries, engines, target
//! (lowering.md §5.3, §5.6 to §5.11).

use super::Subject;
use crate::arch::{Arch, Engine};
use crate::error::{Error, LowerCode};
use crate::lower::input::{FileIn, FunctionIn, Input, LibraryIn, Subgraph};
use crate::manifest::BlockSource;
use crate::policy::DefaultLibrary;

/// Function sets of a subgraph (lowering.md §11.7).
pub(crate) const ACT_SETS_MOST: u64 = 16;
/// Carve-outs of a subgraph (lowering.md §11.7).
pub(crate) const CARVEOUTS_MOST: u64 = 16;
/// Extended-ISA functions of a subgraph (G-9).
pub(crate) const EXT_ISA_MOST: u32 = 18;
/// Functions of a library.
pub(crate) const FUNCTIONS_MOST: u64 = 255;
/// Base opcode of extended-ISA libraries, whose flags are 0; also as a signed byte.
pub(crate) const EXT_ISA_OPCODE: [i32; 2] = [0x85, -123];
/// Major version of libraries that this format accepts (reference version 1.21.1.0).
const UCODE_MAJOR: u64 = 1;

impl<'a, I: Input> Subject<'a, I> {
    /// The default library, where the host supplies one for this architecture.
    pub(crate) fn default_library(&self) -> Option<&'static DefaultLibrary> {
        self.policy.default_library().filter(|library| Some(library.arch) == self.arch())
    }

    /// Whether the definition keeps a function of the default library.
    pub(crate) fn keeps_default(&self, name: &str) -> bool {
        let listed = self.input.subgraph(self.sg).is_some_and(|subgraph| subgraph.has_ext_isa);
        !listed || self.input.ext_isa(self.sg).any(|function| function.name == name.as_bytes())
    }

    /// Checks the entry of a library that comes behind another.
    pub(crate) fn check_library(&self, library: &I::Library<'a>, before: Option<&[u8]>) -> Result<(), Error> {
        let fault = |code| self.fail(code).name(library.name());
        let default = self.default_library().map(|default| default.name.as_bytes());
        if [before, default].contains(&Some(library.name())) {
            return Err(fault(LowerCode::UcodeDuplicate));
        }
        if before.is_some_and(|before| before > library.name()) {
            return Err(self.broken("libraries come in the order of their names"));
        }
        if library.version().is_empty() {
            return Err(fault(LowerCode::UcodeVersionMissing));
        }
        let major = library.version().split(|&byte| byte == b'.').next().unwrap_or(&[]);
        let major = core::str::from_utf8(major).ok().and_then(|text| text.parse().ok());
        if major != Some(UCODE_MAJOR) {
            return Err(fault(LowerCode::UcodeVersion).numbers(major.unwrap_or(0), UCODE_MAJOR));
        }
        if library.cpu_id() != 0 {
            return Err(fault(LowerCode::UcodeCpuId).numbers(u64::from(library.cpu_id()), 0));
        }
        if !matches!(library.total_cpus(), 0 | 1 | 8) {
            return Err(fault(LowerCode::UcodeCpus).numbers(u64::from(library.total_cpus()), 0));
        }
        Ok(())
    }

    /// Opcode and sub-opcode of a function are bytes, or their signed spelling.
    #[inline(never)]
    pub(crate) fn check_function(&self, function: &FunctionIn<'_>) -> Result<(), Error> {
        self.short_name(function.name)?;
        let both = [function.opcode, function.sub_opcode];
        if both.iter().all(|number| (-128..=255).contains(number)) {
            return Ok(());
        }
        let [a, b] = both.map(|number| u64::from(number.cast_unsigned()));
        Err(self.fail(LowerCode::UcodeFunction).name(function.name).numbers(a, b))
    }

    pub(crate) fn check_carveouts(&self, subgraph: &Subgraph<'_>) -> Result<(), Error> {
        let cayman = self.arch() == Some(Arch::Cayman);
        if !subgraph.has_carveouts && cayman && !self.policy.allow_legacy() {
            return Err(self.fail(LowerCode::CarveoutMissing));
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn check_engines(&self) -> Result<(), Error> {
        for &engine in &Engine::ALL {
            if let Some((one, other)) = self.input.two_programs(self.sg, engine) {
                let file = FileIn::Part(BlockSource::Engine(engine));
                return Err(self.fail_in(LowerCode::TwoPrograms, file).name(one).name2(other));
            }
            if I::CHECKED {
                continue;
            }
            let most = u64::from(u32::MAX);
            if let Some(blob) = self.input.engine(self.sg, engine).filter(|blob| blob.len > most) {
                let fault = self.fail(LowerCode::InstrTooLarge).member(blob.member);
                return Err(fault.name(engine.key().as_bytes()).numbers(blob.len, most));
            }
        }
        Ok(())
    }

    /// The last check (lowering.md §5.11), and the gate of S2 again.
    pub(crate) fn check_target(&self) -> Result<(), Error> {
        if I::CHECKED {
            return Ok(());
        }
        let target = self.subgraph()?.target;
        if Arch::from_number(target).is_none() {
            return Err(self.fail_in(LowerCode::InvalidTarget, FileIn::Graph).numbers(u64::from(target), 0));
        }
        match self.policy.host_arch() {
            Some(host) if host.number() != target && !self.policy.allow_legacy() => {
                let fault = self.fail_in(LowerCode::TargetMismatch, FileIn::Graph);
                Err(fault.numbers(u64::from(target), u64::from(host.number())))
            }
            _ => Ok(()),
        }
    }
}
