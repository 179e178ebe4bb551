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
    cutter: Cutter<'b>,
    notes: &'n mut dyn Notes,
    reading: Reading<'m, S>,
    /// The rest of the file is not read.
    broken: bool,
}

/// The file that is being read.
struct Reading<'m, S> {
    manifest: Manifest<'m>,
    sink: S,
    draft: Draft,
}

/// The profile that is being read.
#[derive(Default)]
struct Draft {
    profile: ActProfile,
    /// Its file.
    member: Option<MemberId>,
    index: u32,
    /// A field whose value its record cannot hold.
    odd: bool,
    complete: bool,
}

impl<'b, 'm, 'n, S> Profiles<'b, 'm, 'n, S> {
    pub(super) fn new(manifest: Manifest<'m>, cutter: Cutter<'b>, sink: S, notes: &'n mut dyn Notes) -> Self {
        Self { cutter, notes, reading: Reading { manifest, sink, draft: Draft::default() }, broken: false }
    }
}

/// Gives the subgraph and number of each set whose profiles are in that member.
fn each_set(
    manifest: &Manifest<'_>,
    member: Option<MemberId>,
    give: &mut dyn FnMut(u32, u32) -> Result<(), Error>,
) -> Result<(), Error> {
    for sg in 0..manifest.graph_count() {
        let Some(definition) = manifest.definition(sg) else { continue };
        for set in 0..definition.act_set_count() {
            let record = definition.act_set_record(set);
            if record.is_some_and(|record| Some(MemberId(record.profile.get())) == member) {
                give(sg, set)?;
            }
        }
    }
    Ok(())
}

impl<S> Profiles<'_, '_, '_, S> {
    /// What cannot be read refuses nothing; what the sink refuses does.
    fn outcome(&mut self, id: MemberId, result: Result<(), Error>) -> Result<(), Error> {
        match result {
            Err(error) if error.stage() != Stage::Lower => {
                self.note(id, error.at().offset);
                Ok(())
            }
            other => other,
        }
    }

    fn note(&mut self, id: MemberId, offset: Option<u64>) {
        self.broken = true;
        let note = || Error::new(Stage::Lower, LowerCode::ProfileUnread).member(id);
        remark(self.notes, || note().numbers(offset.unwrap_or(0), 0));
    }
}

impl<S: LowerSink> Visitor for Profiles<'_, '_, '_, Shared<'_, '_, S>> {
    fn wants(&mut self, id: MemberId) -> bool {
        self.cutter.restart(Some(id));
        let Self { reading, broken, .. } = self;
        (reading.draft, *broken) = (Draft { member: Some(id), ..Draft::default() }, false);
        let mut any = false;
        let mut found = |_, _| {
            any = true;
            Ok(())
        };
        each_set(&reading.manifest, Some(id), &mut found).is_ok() && any
    }

    fn data(&mut self, id: MemberId, _: u64, bytes: &[u8]) -> Result<(), Error> {
        if self.broken {
            return Ok(());
        }
        let result = self.cutter.feed(bytes, &mut self.reading);
        self.outcome(id, result)
    }

    fn end(&mut self, id: MemberId) -> Result<(), Error> {
        if !self.broken {
            let result = self.cutter.finish(&mut self.reading);
            self.outcome(id, result.map(drop))?;
        }
        if self.reading.draft.odd && !self.broken {
            self.note(id, None);
        }
        Ok(())
    }
}

impl<S: LowerSink> Reader for Reading<'_, Shared<'_, '_, S>> {
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
        let Self { manifest, sink, draft } = self;
        if path.depth() != 2 || !core::mem::take(&mut draft.complete) {
            return Ok(());
        }
        let index = draft.index;
        draft.index = index.saturating_add(1);
        let mut give = |sg, set| sink.with(|sink| sink.profile(sg, set, index, &draft.profile));
        each_set(manifest, draft.member, &mut give)
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
