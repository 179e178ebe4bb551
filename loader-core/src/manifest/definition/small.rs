//! Small objects of `def.json`, read as a whole: carve-outs and the FP8 configuration.

use super::super::build::{Build, fault, shown};
use super::super::fields::Type::{Flag, Own, U32, U64};
use super::super::fields::{Fields, Wrong, fields};
use super::super::record::{CarveoutRecord, DefRecord, Fp8Record, def_flag};
use crate::error::{Error, ManifestCode};
use crate::json::Element;
use zerocopy::FromZeros;

fields! {
    /// Keys of `fp8_conversion_config` (manifests.md §12.1).
    Fp8Key for Fp8Record {
        RangeExtension = b"fp8_range_extension": Flag => range_extension,
        EmaxE4m3 = b"emax_fp8_e4m3": U32 => emax_e4m3,
        EmaxE5m2 = b"emax_fp8_e5m2": U32 => emax_e5m2,
        OcpSat = b"ocp_sat": Flag => ocp_sat,
        Sis = b"fp8_sis": Flag => sis,
        Sns = b"fp8_sns": Flag => sns,
    }
}

/// The refusal of an object, which is called `whole` where no key of it is at fault.
fn named(wrong: &Wrong, code: ManifestCode, whole: &'static [u8]) -> Error {
    let key = if wrong.key.is_empty() { whole } else { wrong.key };
    fault(code).name(key).name2(wrong.found.name().as_bytes()).offset(wrong.offset)
}

/// Reads `fp8_conversion_config`; a single missing key is 0 (manifests.md §12.1).
pub(super) fn fp8(def: &mut DefRecord, value: Element<'_>) -> Result<(), Error> {
    let mut said = Fields::<Fp8Key>::NONE;
    if let Some(wrong) = said.object(value, &mut |_| None) {
        return Err(named(&wrong, ManifestCode::DefinitionMalformed, b"fp8_conversion_config"));
    }
    said.place(&mut def.fp8);
    def.flags.set(def.flags.get() | def_flag::FP8);
    Ok(())
}

fields! {
    /// Keys of a carve-out (manifests.md §10).
    CarveoutKey for CarveoutRecord {
        Type = b"type": Own,
        Offset = b"offset": U64 => offset,
        Size = b"size": U64 => size,
        BasePartition = b"base_partition": U64 => start_partition,
        Partitions = b"partitions": U64 => num_partitions,
    }
}

/// Reads one carve-out (manifests.md §10). A refusal is for the verdict; the outer error ends S2.
pub(super) fn carveout(
    build: &mut Build<'_, '_>,
    def: &mut DefRecord,
    value: Element<'_>,
) -> Result<Result<(), Error>, Error> {
    let mut record = CarveoutRecord::new_zeroed();
    match read_carveout(value, &mut record) {
        Ok(()) => build.push(&mut def.carveouts, &record).map(Ok),
        Err(error) => Ok(Err(error)),
    }
}

fn read_carveout(value: Element<'_>, record: &mut CarveoutRecord) -> Result<(), Error> {
    let mut said = Fields::<CarveoutKey>::NONE;
    let mut other = None;
    let wrong = said.object(value, &mut |kind| {
        let kind = kind.as_text()?;
        other = (!kind.is(b"evtaccel")).then(|| shown(kind));
        Some(0)
    });
    let refused = |code: ManifestCode, name: &[u8]| Err(fault(code).name(name).offset(value.offset()));
    match (wrong, other) {
        (Some(wrong), _) => return Err(named(&wrong, ManifestCode::CarveoutField, b"an object")),
        (None, Some(other)) => return refused(ManifestCode::CarveoutType, other.as_bytes()),
        (None, None) => {}
    }
    if let Some(key) = said.first_absent(CarveoutKey::Type, CarveoutKey::Partitions) {
        return refused(ManifestCode::CarveoutField, key);
    }
    said.place(record);
    Ok(())
}
