//! Small objects of `def.json`, held against their shapes as a whole: carve-outs and the FP8 configuration.

use super::super::build::{Build, fault, full, shown};
use super::super::record::{CarveoutRecord, DefRecord, Fp8Record, def_flag};
use crate::error::{Error, ManifestCode, Stage};
use crate::json::{self, Element, Repeats, Shape, Type, Unbound};
use zerocopy::little_endian::{U32, U64};

const FP8: Shape = Shape {
    fields: &[
        ("fp8_range_extension", Type::Flag),
        ("emax_fp8_e4m3", json::U32),
        ("emax_fp8_e5m2", json::U32),
        ("ocp_sat", Type::Flag),
        ("fp8_sis", Type::Flag),
        ("fp8_sns", Type::Flag),
    ],
    repeats: Repeats::FirstCounts,
};

/// The refusal of an object, which is called `whole` where no key of it is at fault.
fn named(unbound: Unbound, code: ManifestCode, whole: &str) -> Error {
    let error = unbound.error(Stage::Manifest, code);
    if error.at().name.as_bytes().is_empty() { error.name(whole.as_bytes()) } else { error }
}

/// Reads `fp8_conversion_config`; a single missing key is 0 (manifests.md §12.1).
#[inline(never)]
pub(super) fn fp8(def: &mut DefRecord, value: Element<'_>) -> Result<(), Error> {
    value
        .shaped(&FP8)
        .map_err(|unbound| named(unbound, ManifestCode::DefinitionMalformed, "fp8_conversion_config"))?;
    let flag = |key| u8::from(value.get(key).is_some_and(|field| field.as_flag() == Some(true)));
    let number = |key| U32::new(value.get(key).and_then(|field| field.as_u32()).unwrap_or(0));
    def.fp8 = Fp8Record {
        emax_e4m3: number("emax_fp8_e4m3"),
        emax_e5m2: number("emax_fp8_e5m2"),
        range_extension: flag("fp8_range_extension"),
        ocp_sat: flag("ocp_sat"),
        sis: flag("fp8_sis"),
        sns: flag("fp8_sns"),
    };
    def.flags.set(def.flags.get() | def_flag::FP8);
    Ok(())
}

const CARVEOUT: Shape = Shape {
    fields: &[
        ("type", Type::Text),
        ("offset", json::U64),
        ("size", json::U64),
        ("base_partition", json::U64),
        ("partitions", json::U64),
    ],
    repeats: Repeats::FirstCounts,
};

/// Reads one carve-out (manifests.md §10). A refusal is for the verdict; the outer error ends S2.
#[inline(never)]
pub(super) fn carveout(
    build: &mut Build<'_, '_>,
    def: &mut DefRecord,
    value: Element<'_>,
) -> Result<Result<(), Error>, Error> {
    match read_carveout(value) {
        Ok(record) => def.carveouts.push(build.arena, record).map(|_| Ok(())).map_err(full),
        Err(error) => Ok(Err(error)),
    }
}

fn read_carveout(value: Element<'_>) -> Result<CarveoutRecord, Error> {
    value.shaped(&CARVEOUT).map_err(|unbound| named(unbound, ManifestCode::CarveoutField, "an object"))?;
    let missing = |key: &str| fault(ManifestCode::CarveoutField).name(key.as_bytes()).offset(value.offset());
    let kind = value.get("type").and_then(|field| field.as_text()).ok_or_else(|| missing("type"))?;
    if !kind.is(b"evtaccel") {
        return Err(fault(ManifestCode::CarveoutType).name(shown(kind).as_bytes()).offset(value.offset()));
    }
    let field = |key| {
        let field = value.get(key).and_then(|field| field.as_u64());
        field.map(U64::new).ok_or_else(|| missing(key))
    };
    Ok(CarveoutRecord {
        offset: field("offset")?,
        size: field("size")?,
        start_partition: field("base_partition")?,
        num_partitions: field("partitions")?,
    })
}
