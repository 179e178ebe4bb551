//! `load --dump`: everything a load left on a device, as files.
//!
//! | file | holds |
//! |---|---|
//! | `<core>-<address>.bin` | one live allocation of a physical core, read back from the device |
//! | `kbin-<core>.bin`, `model-<core>.bin` | the records of 424 and 7744 bytes |
//! | `kbin-<core>.txt`, `model-<core>.txt` | every record behind those two, under its arena address, field by field with its offset |
//! | `product.bin` | the arena's head with all records |
//!
//! The files are the same for every thread count and chunking.

use crate::report::address;
use loader_core::device::{Device, DeviceError};
use loader_core::error::Stage;
use loader_core::plan::record::DMem;
use loader_core::plan::{CoreView, Plan};
use serde_json::Value;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use zerocopy::IntoBytes;

/// Bytes read from the device at a time.
const PIECE: u64 = 1 << 20;

/// Why a dump could not be written.
#[derive(Debug)]
pub enum DumpError {
    /// The system refused a file.
    Io(PathBuf, io::Error),
    /// The device refused to be read.
    Device(DeviceError),
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Device(error) => write!(f, "{}", error.at(Stage::Tool)),
        }
    }
}

impl std::error::Error for DumpError {}

/// Takes the files of an earlier dump out of a folder: what its `report.json` lists, and that report. Other files stay,
/// and so does everything in a folder without a report, or with one that is none of a load.
///
/// # Errors
/// The system's refusal to take a file away.
pub fn clear(folder: &Path) -> io::Result<()> {
    let path = folder.join("report.json");
    let Ok(text) = fs::read(&path) else { return Ok(()) };
    let report: Value = serde_json::from_slice(&text).unwrap_or(Value::Null);
    if report["schema"] != "neffload.load/1" {
        return Ok(());
    }
    for name in listed(&report) {
        gone(fs::remove_file(folder.join(name)))?;
    }
    gone(fs::remove_file(path))
}

/// That a file was not there is as good.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Names of the files that belong to a report. They are made of numbers alone, whatever the report says.
fn listed(report: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let hex = |text: &str| text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    for core in list(&report["cores"]) {
        let Some(number) = core["core"].as_u64() else { continue };
        for block in list(&core["allocations"]) {
            let Some(at) = block["address"].as_str().and_then(hex) else { continue };
            let owner = block["core"].as_u64().unwrap_or(number);
            names.push(format!("{owner}-{at:#x}.bin"));
        }
        for kind in ["kbin", "model"] {
            names.extend(["bin", "txt"].map(|ending| format!("{kind}-{number}.{ending}")));
        }
    }
    if !names.is_empty() {
        names.push("product.bin".to_owned());
    }
    names
}

/// Writes all files except `report.json` into an existing folder.
///
/// # Errors
/// [`DumpError`]; files written before stay.
pub fn dump<D: Device>(plan: &Plan<'_>, device: &D, folder: &Path) -> Result<(), DumpError> {
    for core in plan.cores() {
        for block in core.allocations() {
            let name = format!("{}-{}.bin", block.core.get(), address(block.address()));
            dump_block(block, device, &folder.join(name))?;
        }
        records(&core, folder)?;
    }
    let product = [plan.kbins().head().bytes(), plan.head().bytes()].concat();
    write(&folder.join("product.bin"), &product)
}

fn records(core: &CoreView<'_>, folder: &Path) -> Result<(), DumpError> {
    let file = |name: &str, ending: &str| folder.join(format!("{name}-{}.{ending}", core.core().0));
    write(&file("kbin", "bin"), core.kbin.record().as_bytes())?;
    write(&file("model", "bin"), core.model.as_bytes())?;
    write(&file("kbin", "txt"), core.kbin.to_string().as_bytes())?;
    write(&file("model", "txt"), core.to_string().as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), DumpError> {
    fs::write(path, bytes).map_err(|error| DumpError::Io(path.to_path_buf(), error))
}

/// One block, read back from its effective address on.
fn dump_block<D: Device>(block: &DMem, device: &D, path: &Path) -> Result<(), DumpError> {
    let refused = |error| DumpError::Io(path.to_path_buf(), error);
    let mut file = File::create(path).map_err(refused)?;
    let size = block.size.get();
    let mut piece = vec![0; usize::try_from(size.min(PIECE)).unwrap_or(0)];
    let mut at = 0;
    while at < size {
        let count = usize::try_from((size - at).min(PIECE)).unwrap_or(0);
        device.read(block.handle(), block.skip.get() + at, &mut piece[..count]).map_err(DumpError::Device)?;
        file.write_all(&piece[..count]).map_err(refused)?;
        at += count as u64;
    }
    Ok(())
}
