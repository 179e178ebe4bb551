//! Ucode libraries, the host's default one among them by name (lowering.md §5.9).

use super::Emit;
use crate::arena::ArenaRef;
use crate::error::{Error, LowerCode};
use crate::lower::input::{BlobIn, Input, LibraryIn};
use crate::lower::measure::EXT_ISA_OPCODE;
use crate::lower::record::{Blob, BlobKind, Counted, Kbin, Text, UcodeFn, UcodeFns, UcodeLib};
use crate::policy::DefaultLibrary;
use crate::source::MemberId;
use zerocopy::little_endian::{U32, U64};

/// Flags of every library that is not an extended-ISA one; also of the default library (Confirmed).
const FLAGS: u32 = 6;

impl<I: Input> Emit<'_, '_, I> {
    #[inline(never)]
    pub(super) fn libraries(&mut self, kbin: &mut Kbin) -> Result<(), Error> {
        let subject = self.subject;
        let libs = self.alloc::<UcodeLib>(self.counts.libraries)?;
        let mut default = subject.default_library();
        if default.is_none() && subject.subgraph()?.has_ext_isa {
            self.notes.note(subject.fail(LowerCode::NoDefaultLibrary));
        }
        let mut index = 0;
        for library in subject.input.libraries(subject.sg) {
            if let Some(first) = default.filter(|first| first.name.as_bytes() < library.name) {
                self.default_library(libs, &mut index, first)?;
                default = None;
            }
            let record = self.library(&library)?;
            self.put_nth(libs, index, record)?;
            index = index.saturating_add(1);
        }
        if let Some(last) = default {
            self.default_library(libs, &mut index, last)?;
        }
        kbin.ucode_lib_set = Counted { items: libs, count: U64::new(self.counts.libraries) };
        Ok(())
    }

    fn library(&mut self, library: &LibraryIn<'_>) -> Result<UcodeLib, Error> {
        let subject = self.subject;
        let functions = || subject.input.functions(subject.sg, library.index);
        let count = functions().count();
        let places = self.alloc::<UcodeFn>(u64::try_from(count).unwrap_or(u64::MAX))?;
        for (index, function) in (0..).zip(functions()) {
            let (opcode, sub_opcode) = subject.function_bytes(&function)?;
            self.function(places, index, function.name, (opcode, sub_opcode))?;
        }
        Ok(UcodeLib {
            content: self.blob(BlobKind::UCODE, Some(library.content), 0)?,
            content_size: U64::new(library.content.len),
            flags: U32::new(if EXT_ISA_OPCODE.contains(&library.opcode) { 0 } else { FLAGS }),
            total_cpus: u8::try_from(library.total_cpus).unwrap_or(0),
            function_set: fns(places, count),
            ..UcodeLib::default()
        })
    }

    fn function(&mut self, places: ArenaRef, index: u32, name: &[u8], codes: (u8, u8)) -> Result<(), Error> {
        let name = Text::new(name).map_err(|_| self.subject.broken("a function name is too long"))?;
        self.put_nth(places, index, UcodeFn { name, opcode: codes.0, sub_opcode: codes.1 })
    }

    #[inline(never)]
    fn default_library(
        &mut self,
        libs: ArenaRef,
        index: &mut u32,
        library: &DefaultLibrary,
    ) -> Result<(), Error> {
        let subject = self.subject;
        let kept = || library.functions.iter().filter(|function| subject.keeps_default(function.name));
        let count = kept().count();
        if count == 0 {
            let note = subject.fail(LowerCode::NoDefaultFunctions).name(library.name.as_bytes());
            self.notes.note(note);
        }
        let places = self.alloc::<UcodeFn>(u64::try_from(count).unwrap_or(u64::MAX))?;
        for (index, function) in (0..).zip(kept()) {
            self.function(places, index, function.name.as_bytes(), (function.opcode, function.sub_opcode))?;
        }
        let len = u64::try_from(library.content.len()).unwrap_or(u64::MAX);
        let content = BlobIn { member: MemberId(Blob::NOT_A_MEMBER), len };
        let record = UcodeLib {
            content: self.blob(BlobKind::UCODE, Some(content), 0)?,
            content_size: U64::new(len),
            flags: U32::new(FLAGS),
            function_set: fns(places, count),
            ..UcodeLib::default()
        };
        self.put_nth(libs, *index, record)?;
        *index = index.saturating_add(1);
        Ok(())
    }
}

fn fns(functions: ArenaRef, count: usize) -> UcodeFns {
    UcodeFns { functions, num_functions: u8::try_from(count).unwrap_or(u8::MAX), ..UcodeFns::default() }
}
