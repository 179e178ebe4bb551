//! The checks that need no memory, and the exact size of everything.
//!
//! After the measuring pass, the emitting one cannot run out of arena.

mod blocks;
mod queues;
mod sections;
mod vars;

pub(crate) use blocks::has_tail;
pub(crate) use queues::{INSTANCES_MOST, QUEUES};
pub(crate) use sections::{ACT_SETS_MOST, CARVEOUTS_MOST, EXT_ISA_MOST, EXT_ISA_OPCODE, FUNCTIONS_MOST};

use super::dims::Dims;
use super::emit::{self, Found, scratch_bytes};
use super::input::{FileIn, Input, Subgraph};
use crate::arch::Arch;
use crate::arena::NULL_AREA;
use crate::error::{Error, LowerCode, Stage};
use crate::limits::Limits;
use crate::policy::Policy;

/// One subgraph of an input, with what bounds it.
pub(crate) struct Subject<'a, I> {
    pub(crate) input: &'a I,
    pub(crate) limits: &'a Limits,
    pub(crate) policy: &'a Policy,
    pub(crate) sg: u32,
}

impl<I> Clone for Subject<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Subject<'_, I> {}

impl<'a, I: Input> Subject<'a, I> {
    /// A refusal with its subgraph and the definition.
    pub(crate) fn fail(&self, code: LowerCode) -> Error {
        self.fail_in(code, FileIn::DEFINITION)
    }

    /// A refusal with its subgraph and the manifest that it is about.
    pub(crate) fn fail_in(&self, code: LowerCode, file: FileIn) -> Error {
        let error = Error::new(Stage::Lower, code).subgraph(u8::try_from(self.sg).unwrap_or(u8::MAX));
        let definition = || self.input.file(self.sg, FileIn::DEFINITION);
        self.input.file(self.sg, file).or_else(definition).map_or(error, |member| error.member(member))
    }

    /// The same refusal, about another manifest and one element of it.
    pub(crate) fn within(&self, error: Error, file: FileIn, element: u32) -> Error {
        let error = error.element(element);
        self.input.file(self.sg, file).map_or(error, |member| error.member(member))
    }

    /// A limit of the loader that the file exceeds.
    pub(crate) fn limit(&self, what: &str, found: u64, most: u64) -> Result<(), Error> {
        if found > most {
            return Err(self.fail(LowerCode::CountLimit).name(what.as_bytes()).numbers(found, most));
        }
        Ok(())
    }

    /// A broken promise of ours. Made before it is known to be needed, so it looks no member up.
    #[inline(always)]
    pub(crate) fn broken(&self, what: &'static str) -> Error {
        self.of_subgraph(Error::internal(Stage::Lower, what))
    }

    #[cold]
    #[inline(never)]
    fn of_subgraph(&self, error: Error) -> Error {
        error.subgraph(u8::try_from(self.sg).unwrap_or(u8::MAX))
    }

    pub(crate) fn subgraph(&self) -> Result<Subgraph<'a>, Error> {
        self.input.subgraph(self.sg).ok_or_else(|| self.broken("the input lacks a subgraph"))
    }

    /// The architecture, if it is a known one; an unknown one is the last thing refused.
    pub(crate) fn arch(&self) -> Option<Arch> {
        self.input.subgraph(self.sg).and_then(|subgraph| Arch::from_number(subgraph.target))
    }

    /// A name that a record keeps in 256 bytes.
    pub(crate) fn short_name(&self, name: &[u8]) -> Result<(), Error> {
        const MOST: u64 = 255;
        let len = wide(name.len());
        if len > MOST {
            return Err(self.fail(LowerCode::NameTooLong).name(name).numbers(len, MOST));
        }
        Ok(())
    }
}

pub(crate) fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// What lowering `input` will take, found without touching an arena.
///
/// # Errors
/// Every refusal of lowering that depends on one subgraph's tables alone; see [`LowerCode`].
#[inline(never)]
pub fn measure<I: Input>(input: &I, limits: &Limits, policy: &Policy) -> Result<Dims, Error> {
    let count = input.subgraphs();
    if !I::CHECKED {
        check_graphs(&Subject { input, limits, policy, sg: 0 })?;
    }
    let (mut product, mut instances, mut found) = (wide(NULL_AREA), 0u64, Found::default());
    for sg in 0..count {
        emit::count(Subject { input, limits, policy, sg }, &mut found)?;
        product = product.saturating_add(found.bytes);
        instances = instances.saturating_add(u64::from(found.instances));
    }
    Ok(Dims::new(product, scratch_bytes(count, instances)))
}

/// Graph-level rules: at least one subgraph, names unique (lowering.md §5.0).
fn check_graphs<I: Input>(file: &Subject<'_, I>) -> Result<(), Error> {
    /// Fan-out slots of the reference (lowering.md §9.5).
    const HARD_CAP: u32 = 256;
    let count = file.input.subgraphs();
    let most = u32::from(file.limits.subgraphs).min(HARD_CAP);
    if count > most || count == 0 {
        let error = file.fail_in(LowerCode::CountLimit, FileIn::Graph).name(b"subgraphs").element(count);
        return Err(error.numbers(u64::from(count), u64::from(most)));
    }
    let name = |sg| file.input.subgraph(sg).map_or(&[][..], |subgraph| subgraph.name);
    for sg in 1..count {
        if (0..sg).any(|other| name(other) == name(sg)) {
            let twice = Subject { sg, ..*file }.fail_in(LowerCode::DuplicateSubgraph, FileIn::Graph);
            return Err(twice.name(name(sg)).element(sg));
        }
    }
    Ok(())
}
