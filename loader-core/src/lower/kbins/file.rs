//! Which members a kbin comes from: the place of later refusals.

use super::KbinView;
use crate::arch::Engine;
use crate::lower::record::Desc;
use crate::source::MemberId;
use zerocopy::little_endian::U32;

fn member(plus_one: U32) -> Option<MemberId> {
    plus_one.get().checked_sub(1).map(MemberId)
}

impl KbinView<'_> {
    /// Member of the subgraph's definition; `None` for a working set that comes from no file.
    #[must_use]
    pub fn definition_file(&self) -> Option<MemberId> {
        member(self.first_hdr()?.definition_plus_one)
    }

    /// Member of an engine's file.
    #[must_use]
    pub fn engine_file(&self, engine: Engine) -> Option<MemberId> {
        member(self.engine_hdr(engine)?.file_plus_one)
    }

    /// Member that holds a descriptor's block.
    #[must_use]
    pub fn block_file(&self, desc: &Desc) -> Option<MemberId> {
        let engine = Engine::from_number(u32::from(desc.file));
        engine.map_or_else(|| self.definition_file(), |engine| self.engine_file(engine))
    }

    /// Member with an engine's instructions, else the one that would name it.
    #[must_use]
    pub fn program_file(&self, engine: Engine) -> Option<MemberId> {
        let blob = self.engine(engine).and_then(|engine| engine.blob);
        let named = || self.engine_file(engine).or_else(|| self.definition_file());
        blob.and_then(super::Blob::member_id).or_else(named)
    }
}
