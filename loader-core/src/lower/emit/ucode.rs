//! Ucode libraries, the host's default one among them by name (lowering.md §5.9).

use super::Emit;
use super::pools::Pool;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode, remark};
use crate::lower::input::{BlobIn, Input, LibraryIn, Subgraph};
use crate::lower::measure::{EXT_ISA_MOST, EXT_ISA_OPCODE, FUNCTIONS_MOST, wide};
use crate::lower::record::{Blob, BlobKind, Counted, UcodeFn, UcodeLib};
use crate::policy::DefaultLibrary;
use crate::source::MemberId;
use zerocopy::little_endian::{U32, U64};

/// Flags of every library that is not an extended-ISA one; also of the default library (Confirmed).
const FLAGS: u32 = 6;

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn libraries(&mut self, subgraph: &Subgraph<'_>) -> Result<(), Error> {
        let subject = self.subject;
        let libs = self.open(Pool::Libraries);
        let mut default = subject.default_library();
        if default.is_none() && subgraph.has_ext_isa {
            remark(self.notes, || subject.fail(LowerCode::NoDefaultLibrary));
        }
        let mut ext_isa = subject.input.ext_isa_count(subject.sg);
        let mut before = None;
        for library in subject.input.libraries(subject.sg) {
            let at = |error: Error| error.element(library.index());
            if !I::CHECKED {
                subject.check_library(&library, before).map_err(at)?;
                before = Some(library.name());
            }
            if let Some(first) = default.filter(|first| first.name.as_bytes() < library.name()) {
                self.default_library(first);
                default = None;
            }
            let functions = self.library(&library).map_err(at)?;
            if EXT_ISA_OPCODE.contains(&library.opcode()) {
                ext_isa = ext_isa.saturating_add(functions);
            }
        }
        if let Some(last) = default {
            self.default_library(last);
        }
        self.kbin.ucode_lib_set = Counted { items: libs, count: U64::new(u64::from(libs.count())) };
        if ext_isa > EXT_ISA_MOST {
            let fault = subject.fail(LowerCode::TooManyExtIsa);
            return Err(fault.numbers(u64::from(ext_isa), u64::from(EXT_ISA_MOST)));
        }
        Ok(())
    }

    fn library(&mut self, library: &I::Library<'_>) -> Result<u32, Error> {
        let subject = self.subject;
        let count = library.functions();
        let places = self.alloc::<UcodeFn>(count);
        for index in 0..count {
            let Some(function) = library.function(index) else { break };
            subject.check_function(&function)?;
            let [opcode, ..] = function.opcode.to_le_bytes();
            let [sub_opcode, ..] = function.sub_opcode.to_le_bytes();
            self.function(places, index, function.name, [opcode, sub_opcode]);
        }
        subject.limit("functions of a library", u64::from(count), FUNCTIONS_MOST)?;
        let flags = if EXT_ISA_OPCODE.contains(&library.opcode()) { 0 } else { FLAGS };
        let cpus = u8::try_from(library.total_cpus()).unwrap_or(0);
        self.record(library.content(), flags, cpus, places);
        Ok(count)
    }

    fn function(&mut self, places: ArenaRef, index: u32, name: &[u8], codes: [u8; 2]) {
        if let Some(record) = self.nth_mut::<UcodeFn>(places, index) {
            record.name.set(name);
            [record.opcode, record.sub_opcode] = codes;
        }
    }

    fn record(&mut self, content: BlobIn, flags: u32, cpus: u8, functions: ArenaRef) {
        let id = self.blob(BlobKind::UCODE, content, 0);
        let Some(record) = self.next::<UcodeLib>(Pool::Libraries) else { return };
        (record.content, record.content_size) = (id, U64::new(content.len));
        record.flags = U32::new(flags);
        record.total_cpus = cpus;
        record.function_set.functions = functions;
        record.function_set.num_functions = u8::try_from(functions.count()).unwrap_or(u8::MAX);
    }

    #[inline(never)]
    fn default_library(&mut self, library: &DefaultLibrary) {
        let subject = self.subject;
        let kept = || library.functions.iter().filter(|function| subject.keeps_default(function.name));
        let count = count(kept());
        if count == 0 {
            let note = || subject.fail(LowerCode::NoDefaultFunctions);
            remark(self.notes, || note().name(library.name.as_bytes()));
        }
        let places = self.alloc::<UcodeFn>(count);
        for (index, function) in (0..).zip(kept()) {
            let codes = [function.opcode, function.sub_opcode];
            self.function(places, index, function.name.as_bytes(), codes);
        }
        let content = BlobIn { member: MemberId(Blob::NOT_A_MEMBER), len: wide(library.content.len()) };
        self.record(content, FLAGS, 0, places);
    }
}

fn count(items: impl Iterator) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}
