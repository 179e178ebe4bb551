//! Everything beside variables and queues: tables, carve-outs, collectives, libraries, engines, target
//! (lowering.md §5.3, §5.6 to §5.11).

use super::{Subject, wide};
use crate::arch::{Arch, Engine};
use crate::error::{Error, LowerCode};
use crate::lower::dims::{Counts, add, function_bytes, one_more};
use crate::lower::input::{ActSetIn, BlobIn, FileIn, FunctionIn, Input, LibraryIn, RankStep};
use crate::lower::record::CarveoutType;
use crate::manifest::BlockSource;
use crate::policy::DefaultLibrary;

/// Function sets of a subgraph (lowering.md §11.7).
const ACT_SETS_MOST: u64 = 16;
/// Carve-outs of a subgraph (lowering.md §11.7).
const CARVEOUTS_MOST: u64 = 16;
/// Extended-ISA functions of a subgraph (G-9).
const EXT_ISA_MOST: u64 = 18;
/// Base opcode of extended-ISA libraries, whose flags are 0; also as a signed byte.
pub(crate) const EXT_ISA_OPCODE: [i32; 2] = [0x85, -123];
/// Major version of libraries that this format accepts (reference version 1.21.1.0).
const UCODE_MAJOR: u64 = 1;

impl<'a, I: Input> Subject<'a, I> {
    #[inline(never)]
    pub(super) fn count_sections(&self, counts: &mut Counts) -> Result<(), Error> {
        self.count_collectives(counts)?;
        self.count_libraries(counts)?;
        self.count_carveouts(counts)?;
        self.count_tables(counts)
    }

    fn count_collectives(&self, counts: &mut Counts) -> Result<(), Error> {
        let mut ranks = 0;
        for step in self.input.replica_groups(self.sg) {
            match step {
                // Lists of ranks start on multiples of 8: the first, the third, … takes eight bytes.
                RankStep::Rank(_) => {
                    add(&mut counts.participants, if ranks & 1 == 0 { 8 } else { 0 });
                    one_more(&mut ranks);
                }
                RankStep::Group => one_more(&mut counts.groups),
                RankStep::Subgroup => {
                    ranks = 0;
                    one_more(&mut counts.subgroups);
                }
            }
        }
        for step in self.input.src_target_pairs(self.sg) {
            match step {
                RankStep::Group => one_more(&mut counts.pair_sets),
                RankStep::Subgroup => one_more(&mut counts.pairs),
                RankStep::Rank(_) => {}
            }
        }
        if I::CHECKED {
            return Ok(());
        }
        let most = u64::from(self.limits.collective_elements);
        self.limit("replica groups", counts.groups, most)?;
        self.limit("replica subgroups", counts.subgroups, most)?;
        self.limit("bytes of replica group members", counts.participants, most.saturating_mul(8))?;
        self.limit("sets of source-target pairs", counts.pair_sets, most)?;
        self.limit("source-target pairs", counts.pairs, most)
    }

    /// The default library, where the host supplies one for this architecture.
    pub(crate) fn default_library(&self) -> Option<&'static DefaultLibrary> {
        self.policy.default_library().filter(|library| Some(library.arch) == self.arch())
    }

    /// Whether the definition keeps a function of the default library.
    pub(crate) fn keeps_default(&self, name: &str) -> bool {
        let listed = self.input.subgraph(self.sg).is_some_and(|subgraph| subgraph.has_ext_isa);
        !listed || self.input.ext_isa(self.sg).any(|function| function.name == name.as_bytes())
    }

    fn count_libraries(&self, counts: &mut Counts) -> Result<(), Error> {
        let mut ext_isa = wide(self.input.ext_isa(self.sg).count());
        if let Some(library) = self.default_library() {
            let kept = library.functions.iter().filter(|function| self.keeps_default(function.name));
            add(&mut counts.functions, function_bytes(wide(kept.count())));
            one_more(&mut counts.libraries);
            add(&mut counts.blobs, u64::from(!library.content.is_empty()));
        }
        let mut before = None;
        for library in self.input.libraries(self.sg) {
            let at = |error: Error| error.element(library.index);
            let functions = self.check_library(&library, before).map_err(at)?;
            before = Some(library.name);
            if EXT_ISA_OPCODE.contains(&library.opcode) {
                add(&mut ext_isa, functions);
            }
            add(&mut counts.functions, function_bytes(functions));
            one_more(&mut counts.libraries);
            add(&mut counts.blobs, u64::from(library.content.len > 0));
        }
        if ext_isa > EXT_ISA_MOST {
            return Err(self.fail(LowerCode::TooManyExtIsa).numbers(ext_isa, EXT_ISA_MOST));
        }
        Ok(())
    }

    fn check_library(&self, library: &LibraryIn<'a>, before: Option<&[u8]>) -> Result<u64, Error> {
        if !I::CHECKED {
            self.check_library_entry(library, before)?;
        }
        let mut functions = 0;
        for function in self.input.functions(self.sg, library.index) {
            one_more(&mut functions);
            self.function_bytes(&function)?;
        }
        self.limit("functions of a library", functions, 255)?;
        Ok(functions)
    }

    fn check_library_entry(&self, library: &LibraryIn<'a>, before: Option<&[u8]>) -> Result<(), Error> {
        let fault = |code| self.fail(code).name(library.name);
        let default = self.default_library().map(|default| default.name.as_bytes());
        if [before, default].contains(&Some(library.name)) {
            return Err(fault(LowerCode::UcodeDuplicate));
        }
        if before.is_some_and(|before| before > library.name) {
            return Err(self.broken("libraries come in the order of their names"));
        }
        if library.version.is_empty() {
            return Err(fault(LowerCode::UcodeVersionMissing));
        }
        let major = library.version.split(|&byte| byte == b'.').next().unwrap_or(&[]);
        let major = core::str::from_utf8(major).ok().and_then(|text| text.parse().ok());
        if major != Some(UCODE_MAJOR) {
            return Err(fault(LowerCode::UcodeVersion).numbers(major.unwrap_or(0), UCODE_MAJOR));
        }
        if library.cpu_id != 0 {
            return Err(fault(LowerCode::UcodeCpuId).numbers(u64::from(library.cpu_id), 0));
        }
        if !matches!(library.total_cpus, 0 | 1 | 8) {
            return Err(fault(LowerCode::UcodeCpus).numbers(u64::from(library.total_cpus), 0));
        }
        Ok(())
    }

    /// Opcode and sub-opcode of a function as the bytes of its record.
    pub(crate) fn function_bytes(&self, function: &FunctionIn<'_>) -> Result<(u8, u8), Error> {
        self.short_name(function.name)?;
        let byte = |number: i32| {
            let signed = i8::try_from(number).map(i8::cast_unsigned);
            u8::try_from(number).or(signed).ok()
        };
        let both = byte(function.opcode).zip(byte(function.sub_opcode));
        both.ok_or_else(|| {
            let number = |n: i32| u64::from(n.cast_unsigned());
            let fault = self.fail(LowerCode::UcodeFunction).name(function.name);
            fault.numbers(number(function.opcode), number(function.sub_opcode))
        })
    }

    fn count_carveouts(&self, counts: &mut Counts) -> Result<(), Error> {
        let present = self.subgraph()?.has_carveouts;
        counts.carveout_key = u64::from(present);
        if !I::CHECKED && !present && self.arch() == Some(Arch::Cayman) && !self.policy.allow_legacy() {
            return Err(self.fail(LowerCode::CarveoutMissing));
        }
        for carveout in self.input.carveouts(self.sg) {
            let index = position(counts.carveouts);
            one_more(&mut counts.carveouts);
            if !I::CHECKED && carveout.kind != CarveoutType::EVTACCEL {
                let fault = self.fail(LowerCode::CarveoutType).element(index);
                return Err(fault.numbers(u64::from(carveout.kind.get()), 1));
            }
        }
        self.limit("carve-outs", counts.carveouts, CARVEOUTS_MOST)
    }

    fn count_act_set(&self, set: &ActSetIn<'_>, counts: &mut Counts) -> Result<(), Error> {
        one_more(&mut counts.act_sets);
        self.short_name(set.name)?;
        for len in [set.bkt.len, set.ctl.len] {
            self.limit("bytes of an activation table", len, u64::from(u32::MAX))?;
            add(&mut counts.blobs, u64::from(len > 0));
        }
        self.limit("activation function sets", counts.act_sets, ACT_SETS_MOST)
    }

    fn count_tables(&self, counts: &mut Counts) -> Result<(), Error> {
        let act = FileIn::Part(BlockSource::Engine(Engine::Act));
        for set in self.input.act_sets(self.sg) {
            let index = position(counts.act_sets);
            self.count_act_set(&set, counts).map_err(|error| self.within(error, act, index))?;
        }
        let Some(dve) = self.input.dve(self.sg) else { return Ok(()) };
        if dve.unplaced_control {
            let dve = FileIn::Part(BlockSource::Engine(Engine::Dve));
            return Err(self.fail_in(LowerCode::DveControlTable, dve));
        }
        one_more(&mut counts.dve);
        let full = dve.tables.into_iter().flatten().filter(|table: &BlobIn| table.len > 0);
        add(&mut counts.blobs, wide(full.count()));
        Ok(())
    }

    #[inline(never)]
    pub(super) fn count_engines(&self, counts: &mut Counts) -> Result<(), Error> {
        for engine in Engine::ALL {
            if let Some((one, other)) = self.input.two_programs(self.sg, engine) {
                let file = FileIn::Part(BlockSource::Engine(engine));
                return Err(self.fail_in(LowerCode::TwoPrograms, file).name(one).name2(other));
            }
            let Some(blob) = self.input.engine(self.sg, engine) else { continue };
            let most = u64::from(u32::MAX);
            if !I::CHECKED && blob.len > most {
                let fault = self.fail(LowerCode::InstrTooLarge).member(blob.member);
                return Err(fault.name(engine.key().as_bytes()).numbers(blob.len, most));
            }
            add(&mut counts.blobs, u64::from(blob.len > 0));
        }
        Ok(())
    }

    /// The last check (lowering.md §5.11), and the gate of S2 again.
    pub(super) fn check_target(&self) -> Result<(), Error> {
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

/// The position of what comes behind so many.
fn position(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
