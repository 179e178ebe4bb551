//! Small objects of `def.json`, typed as a whole: carve-outs and the FP8 configuration.

use super::super::build::{Build, fault, full, shown};
use super::super::record::{CarveoutRecord, DefRecord, Fp8Record, def_flag};
use crate::error::{Error, ManifestCode, Name, Stage};
use crate::json::{self, Element, Repeats, Shape, Type, Unbound};
use serde::Deserialize;
use zerocopy::little_endian::{U32, U64};

/// Bytes to rewrite an object in that the binder would misread.
const SCRATCH: usize = 512;

#[derive(Deserialize, Default)]
#[serde(default)]
struct Fp8Entry {
    fp8_range_extension: bool,
    emax_fp8_e4m3: u32,
    emax_fp8_e5m2: u32,
    ocp_sat: bool,
    fp8_sis: bool,
    fp8_sns: bool,
}

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
    if error.at.name.as_bytes().is_empty() { error.name(whole.as_bytes()) } else { error }
}

/// Reads `fp8_conversion_config`; a single missing key is 0 (manifests.md §12.1).
#[inline(never)]
pub(super) fn fp8(def: &mut DefRecord, value: Element<'_>) -> Result<(), Error> {
    let mut scratch = [0u8; SCRATCH];
    let entry: Fp8Entry = value
        .bind(&FP8, &mut scratch)
        .map_err(|unbound| named(unbound, ManifestCode::DefinitionMalformed, "fp8_conversion_config"))?;
    def.fp8 = Fp8Record {
        emax_e4m3: U32::new(entry.emax_fp8_e4m3),
        emax_e5m2: U32::new(entry.emax_fp8_e5m2),
        range_extension: u8::from(entry.fp8_range_extension),
        ocp_sat: u8::from(entry.ocp_sat),
        sis: u8::from(entry.fp8_sis),
        sns: u8::from(entry.fp8_sns),
    };
    def.flags.set(def.flags.get() | def_flag::FP8);
    Ok(())
}

#[derive(Deserialize)]
struct CarveoutEntry<'a> {
    #[serde(borrow)]
    r#type: Option<json::Text<'a>>,
    offset: Option<u64>,
    size: Option<u64>,
    base_partition: Option<u64>,
    partitions: Option<u64>,
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
    let mut scratch = [0u8; SCRATCH];
    let entry: CarveoutEntry<'_> = value
        .bind(&CARVEOUT, &mut scratch)
        .map_err(|unbound| named(unbound, ManifestCode::CarveoutField, "an object"))?;
    let missing = |key: &str| fault(ManifestCode::CarveoutField).name(key.as_bytes()).offset(value.offset());
    let kind = entry.r#type.ok_or_else(|| missing("type"))?;
    if !kind.is(b"evtaccel") {
        let shown: Name<32> = shown(kind);
        return Err(fault(ManifestCode::CarveoutType).name(shown.as_bytes()).offset(value.offset()));
    }
    let field = |field: Option<u64>, key| field.map(U64::new).ok_or_else(|| missing(key));
    Ok(CarveoutRecord {
        offset: field(entry.offset, "offset")?,
        size: field(entry.size, "size")?,
        start_partition: field(entry.base_partition, "base_partition")?,
        num_partitions: field(entry.partitions, "partitions")?,
    })
}
