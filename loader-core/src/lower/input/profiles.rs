//! `profile_meta_data` of activation sets (manifests.md §13.4, lowering.md §2.7).
//!
//! The files are optional at run time, so nothing in them refuses a load: what cannot be read stays 0 and is noted.

use super::LowerSink;
use super::manifest::Shared;
use crate::error::{Error, LowerCode, Notes, Stage, remark};
use crate::json::{Cutter, Element, Kind, Memory, Path, Reader, Want};
use crate::limits::Limits;
use crate::lower::record::ActProfile;
use crate::manifest::Manifest;
use crate::source::{MemberId, Visitor};
use crate::words::words;
use core::mem::offset_of;
use zerocopy::IntoBytes;

/// Longest number that is read.
const ELEMENT: usize = 64;
/// Room for the keys of one path.
const KEYS: usize = 512;

/// Bytes that the reader works with.
pub(super) const PROFILE_BYTES: usize = ELEMENT + KEYS;

/// A cutter with its buffers in `memory`, which has [`PROFILE_BYTES`].
pub(super) fn cutter<'b>(memory: &'b mut [u8], limits: &Limits) -> Cutter<'b> {
    let (element, keys) = memory.split_at_mut_checked(ELEMENT).unwrap_or_default();
    Cutter::new(limits, Memory { element, keys })
}

/// Visits the profile files of all activation sets.
pub(super) struct Profiles<'b, 'm, 'n, S> {
    manifest: Manifest<'m>,
    cutter: Cutter<'b>,
    sink: S,
    notes: &'n mut dyn Notes,
    draft: Draft,
    /// The rest of the file is not read.
    broken: bool,
}

/// The profile that is being read.
#[derive(Default)]
struct Draft {
    profile: ActProfile,
    index: u32,
    /// A field whose value its record cannot hold.
    odd: bool,
    complete: bool,
}

impl<'b, 'm, 'n, S> Profiles<'b, 'm, 'n, S> {
    pub(super) fn new(manifest: Manifest<'m>, cutter: Cutter<'b>, sink: S, notes: &'n mut dyn Notes) -> Self {
        Self { manifest, cutter, sink, notes, draft: Draft::default(), broken: false }
    }
}

/// Gives the subgraph and number of each set whose profiles are in that member.
fn each_set(
    manifest: &Manifest<'_>,
    id: MemberId,
    give: &mut dyn FnMut(u32, u32) -> Result<(), Error>,
) -> Result<(), Error> {
    for sg in 0..manifest.graph_count() {
        let Some(definition) = manifest.definition(sg) else { continue };
        for set in 0..definition.act_set_count() {
            if definition.act_set(set).is_some_and(|set| set.profile == Some(id)) {
                give(sg, set)?;
            }
        }
    }
    Ok(())
}

impl<S: LowerSink> Profiles<'_, '_, '_, Shared<'_, '_, S>> {
    fn read(
        &mut self,
        id: MemberId,
        run: impl FnOnce(&mut Cutter<'_>, &mut Reading<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.broken {
            return Ok(());
        }
        let Self { manifest, cutter, sink, draft, .. } = self;
        let mut give = |index: u32, profile: &ActProfile| {
            let mut to = |sg, set| sink.with(|sink| sink.profile(sg, set, index, profile));
            each_set(manifest, id, &mut to)
        };
        match run(cutter, &mut Reading { draft, give: &mut give }) {
            Err(error) if error.stage() != Stage::Lower => self.note(id, Some(&error)),
            other => return other,
        }
        Ok(())
    }

    fn note(&mut self, id: MemberId, error: Option<&Error>) {
        self.broken = true;
        let offset = error.and_then(|error| error.at().offset).unwrap_or(0);
        let note = || Error::new(Stage::Lower, LowerCode::ProfileUnread).member(id);
        remark(self.notes, || note().numbers(offset, 0));
    }
}

impl<S: LowerSink> Visitor for Profiles<'_, '_, '_, Shared<'_, '_, S>> {
    fn wants(&mut self, id: MemberId) -> bool {
        self.cutter.restart(Some(id));
        (self.draft, self.broken) = (Draft::default(), false);
        let mut any = false;
        let mut found = |_, _| {
            any = true;
            Ok(())
        };
        each_set(&self.manifest, id, &mut found).is_ok() && any
    }

    fn data(&mut self, id: MemberId, _: u64, bytes: &[u8]) -> Result<(), Error> {
        self.read(id, |cutter, reading| cutter.feed(bytes, reading))
    }

    fn end(&mut self, id: MemberId) -> Result<(), Error> {
        self.read(id, |cutter, reading| cutter.finish(reading).map(drop))?;
        if self.draft.odd && !self.broken {
            self.note(id, None);
        }
        Ok(())
    }
}

/// Takes a finished profile and its number.
type Give<'x> = dyn FnMut(u32, &ActProfile) -> Result<(), Error> + 'x;

struct Reading<'x> {
    draft: &'x mut Draft,
    give: &'x mut Give<'x>,
}

impl Reader for Reading<'_> {
    fn value(&mut self, path: &Path<'_>, kind: Kind, _: u64) -> Result<Want, Error> {
        Ok(match path.depth() {
            0 => Want::Enter,
            1 if path.key(0) == b"profile_meta_data" && kind == Kind::Array => Want::Enter,
            2 if kind == Kind::Object => {
                (self.draft.profile, self.draft.complete) = (ActProfile::default(), true);
                Want::Enter
            }
            3 if Field::of(path.key(2)) != Field::Other => Want::Take,
            _ => Want::Skip,
        })
    }

    fn taken(&mut self, path: &Path<'_>, value: Element<'_>) -> Result<(), Error> {
        let set = set(&mut self.draft.profile, path.key(2), value);
        self.draft.odd |= set.is_none();
        Ok(())
    }

    fn leave(&mut self, path: &Path<'_>, _: u32, _: u64) -> Result<(), Error> {
        if path.depth() != 2 || !core::mem::take(&mut self.draft.complete) {
            return Ok(());
        }
        let index = self.draft.index;
        self.draft.index = index.saturating_add(1);
        (self.give)(index, &self.draft.profile)
    }
}

words! {
    /// Keys that have a place in the record. The thresholds have none that is known (lowering.md O-09).
    Field {
        FuncId = b"func_id",
        SymmetryPoint = b"symmetry_point",
        SymInvertSignPoint = b"sym_invert_sign_point",
        SymmetryOptEn = b"symmetry_opt_en",
        SymmetryOptUseNegRegion = b"symmetry_opt_use_neg_region",
        SymOptUseNegRegion = b"sym_opt_use_neg_region",
        ExpOffset = b"exp_offset",
        PwlControlBasePos = b"pwl_control_base_pos",
        PwlControlBaseNeg = b"pwl_control_base_neg",
        FnanResult = b"fnan_result",
        FpinfResult = b"fpinf_result",
        FninfResult = b"fninf_result",
        FzeroResult = b"fzero_result",
        FmaConst0 = b"fma_const_0",
        FmaConst1 = b"fma_const_1",
        FmaIndirectionSrcSel = b"fma_indirection_src_sel",
        ImmBias = b"imm_bias",
    }
}

/// Where the value of each key goes: first byte in the record, and how many.
const PLACES: [(u8, u8); Field::ALL.len()] = {
    /// A field of that many bytes.
    macro_rules! field {
        ($field:ident: $bytes:literal) => {{
            assert!(offset_of!(ActProfile, $field) < 256);
            let [at, ..] = offset_of!(ActProfile, $field).to_le_bytes();
            (at, $bytes)
        }};
    }
    [
        field!(func_id: 4),
        field!(symmetry_point: 4),
        field!(sym_invert_sign_point: 1),
        field!(symmetry_opt_en: 1),
        field!(sym_opt_use_neg_region: 1),
        field!(sym_opt_use_neg_region: 1),
        field!(exp_offset: 4),
        field!(pwl_control_base_pos: 4),
        field!(pwl_control_base_neg: 4),
        field!(fnan_result: 4),
        field!(fpinf_result: 4),
        field!(fninf_result: 4),
        field!(fzero_result: 4),
        field!(fma_const_0: 4),
        field!(fma_const_1: 4),
        field!(fma_indirection_src_sel: 1),
        field!(imm_bias: 1),
    ]
};

/// Puts a value into its field; `None` if the field cannot hold it.
fn set(profile: &mut ActProfile, key: &[u8], value: Element<'_>) -> Option<()> {
    let &(at, bytes) = PLACES.get(Field::of(key).place())?;
    let number = match bytes {
        1 => value.as_u8()?.into(),
        _ => value.as_u32().or_else(|| value.as_i32().map(i32::cast_unsigned))?,
    };
    let field = profile.as_mut_bytes().get_mut(usize::from(at)..)?.get_mut(..usize::from(bytes))?;
    crate::bytes::copy(field, &number.to_le_bytes());
    Some(())
}
