//! What a core needs beside the file's own bytes: the semaphore word and pointer cells.

use super::write::write;
use crate::device::Device;
use crate::error::{Error, Stage};
use crate::lower::record::Extra;
use crate::plan::CoreView;
use crate::plan::record::DMem;

/// Writes the semaphore word (R28) and the pointer cells (R17).
#[inline(never)]
pub(super) fn fill<D: Device>(core: &CoreView<'_>, device: &D) -> Result<(), Error> {
    for block in core.allocations() {
        match block.what.get() {
            DMem::SEMAPHORE => write(device, block, 0, &1u32.to_le_bytes())?,
            DMem::POINTER => write(device, block, 0, &cell(core, block.index.get())?.to_le_bytes())?,
            _ => {}
        }
    }
    Ok(())
}

/// Content of a pointer cell: the address of what it points to, or the template of an input or output.
fn cell(core: &CoreView<'_>, pointer: u32) -> Result<u64, Error> {
    match core.kbin.mem_ref(pointer).map(crate::lower::record::MemRef::extra) {
        Some(Extra::Ptr(arm)) => core.word(arm.referenced_var_id.get(), 0, 0),
        _ => Err(Error::internal(Stage::Stage, "pointer cell")),
    }
}
