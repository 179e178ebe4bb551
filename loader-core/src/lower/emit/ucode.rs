//! Ucode libraries, the host's default one among them by name (lowering.md §5.9).

use super::Emit;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode, remark};
use crate::lower::input::{BlobIn, Input, LibraryIn};
use crate::lower::measure::{EXT_ISA_OPCODE, wide};
use crate::lower::record::{Blob, BlobKind, Counted, UcodeFn, UcodeLib};
use crate::policy::DefaultLibrary;
use crate::source::MemberId;
use zerocopy::little_endian::{U32, U64};

/// Flags of every library that is not an extended-ISA one; also of the default library (Confirmed).
const FLAGS: u32 = 6;

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn libraries(&mut self, has_ext_isa: bool) -> Result<(), Error> {
        let subject = self.subject;
        let libs = self.alloc::<UcodeLib>(self.counts.libraries);
        let mut default = subject.default_library();
        if default.is_none() && has_ext_isa {
            remark(self.notes, || subject.fail(LowerCode::NoDefaultLibrary));
        }
        let mut rest = libs;
        for library in subject.input.libraries(subject.sg) {
            if let Some(first) = default.filter(|first| first.name.as_bytes() < library.name()) {
                self.default_library(&mut rest, first);
                default = None;
            }
            self.library(&mut rest, &library)?;
        }
        if let Some(last) = default {
            self.default_library(&mut rest, last);
        }
        self.kbin.ucode_lib_set = Counted { items: libs, count: U64::new(self.counts.libraries) };
        Ok(())
    }

    fn library(&mut self, rest: &mut ArenaRef, library: &I::Library<'_>) -> Result<(), Error> {
        let subject = self.subject;
        let functions = || (0..).map_while(|at| library.function(at));
        let count = wide(functions().count());
        let places = self.alloc::<UcodeFn>(count);
        let mut left = places;
        for function in functions() {
            let codes = subject.function_bytes(&function)?;
            self.function(&mut left, function.name, codes);
        }
        let flags = if EXT_ISA_OPCODE.contains(&library.opcode()) { 0 } else { FLAGS };
        let cpus = u8::try_from(library.total_cpus()).unwrap_or(0);
        let place = self.next::<UcodeLib>(rest);
        self.record(place, library.content(), flags, cpus, places);
        Ok(())
    }

    fn function(&mut self, rest: &mut ArenaRef, name: &[u8], (opcode, sub_opcode): (u8, u8)) {
        let place = self.next::<UcodeFn>(rest);
        if let Some(record) = self.get_mut::<UcodeFn>(place) {
            record.name.set(name);
            (record.opcode, record.sub_opcode) = (opcode, sub_opcode);
        }
    }

    fn record(&mut self, place: ArenaRef, content: BlobIn, flags: u32, cpus: u8, functions: ArenaRef) {
        let id = self.blob(BlobKind::UCODE, Some(content), 0);
        let Some(record) = self.get_mut::<UcodeLib>(place) else { return };
        (record.content, record.content_size) = (id, U64::new(content.len));
        record.flags = U32::new(flags);
        record.total_cpus = cpus;
        record.function_set.functions = functions;
        record.function_set.num_functions = u8::try_from(functions.count()).unwrap_or(u8::MAX);
    }

    #[inline(never)]
    fn default_library(&mut self, rest: &mut ArenaRef, library: &DefaultLibrary) {
        let subject = self.subject;
        let kept = || library.functions.iter().filter(|function| subject.keeps_default(function.name));
        let count = wide(kept().count());
        if count == 0 {
            let note = || subject.fail(LowerCode::NoDefaultFunctions);
            remark(self.notes, || note().name(library.name.as_bytes()));
        }
        let places = self.alloc::<UcodeFn>(count);
        let mut left = places;
        for function in kept() {
            self.function(&mut left, function.name.as_bytes(), (function.opcode, function.sub_opcode));
        }
        let content = BlobIn { member: MemberId(Blob::NOT_A_MEMBER), len: wide(library.content.len()) };
        let place = self.next::<UcodeLib>(rest);
        self.record(place, content, FLAGS, 0, places);
    }
}
