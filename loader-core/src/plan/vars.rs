//! Which variables have an address at load, and where an access to one leads (staging.md §8).

use super::ring::template;
use crate::error::{Error, Stage, StageCode};
use crate::layout::SMALL;
use crate::lower::KbinView;
use crate::lower::record::{Extra, MemRef, MrType};
use zerocopy::little_endian::U32;

/// Bytes of the window that a state-buffer variable stands for (staging.md §22, Confirmed).
pub const STATE_BUFFER_BYTES: u64 = 0x200_0000;
/// Bytes of a pointer cell (R17).
pub const POINTER_BYTES: u64 = 8;

/// Where an access leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To a byte of a variable that has an address at load.
    Placed {
        /// The variable.
        var: u32,
        /// Bytes from its start.
        off: u64,
    },
    /// To an input or output: the template word (R2).
    Bound(u64),
}

fn fault(code: StageCode) -> Error {
    Error::new(Stage::Plan, code)
}

/// The variable with that id.
///
/// # Errors
/// `UnknownVariable`.
pub fn variable<'m>(kbin: &KbinView<'m>, var: u32) -> Result<&'m MemRef, Error> {
    let all = kbin.mem_refs().len();
    kbin.mem_ref(var).ok_or_else(|| {
        let all = u64::try_from(all).unwrap_or(u64::MAX);
        fault(StageCode::UnknownVariable).element(var).numbers(u64::from(var), all)
    })
}

/// Bytes that may be addressed: the window for a state buffer and for a remote one that is not sized.
#[must_use]
pub fn size_of(var: &MemRef) -> u64 {
    match var.mr_type {
        MrType::SB => STATE_BUFFER_BYTES,
        MrType::REMOTE if var.size.get() == 0 => STATE_BUFFER_BYTES,
        MrType::PTR => POINTER_BYTES,
        _ => var.size.get(),
    }
}

/// True for a state buffer, this core's or the other one's.
#[must_use]
pub fn is_state_buffer(var: &MemRef) -> bool {
    var.mr_type == MrType::SB || (var.mr_type == MrType::REMOTE && var.size.get() == 0)
}

/// Whether a class gets an address at load (staging.md §8.1, X11), pointers and remote ones included.
#[must_use]
pub const fn is_placed(class: MrType) -> bool {
    matches!(
        class,
        MrType::SB
            | MrType::BUFFER
            | MrType::TMP_BUF
            | MrType::VIRTUAL_TMP_BUF
            | MrType::PTR
            | MrType::REMOTE
    )
}

/// Resolves an access of `len` bytes (staging.md §8.3). No side effect.
///
/// # Errors
/// `OutOfVariable`, `PointerOffset`, `NotPlaced`, `TemplateLimit`, `UnknownVariable`.
pub fn access(kbin: &KbinView<'_>, var: u32, off: u64, len: u64) -> Result<Access, Error> {
    let record = variable(kbin, var)?;
    let fault = |code| fault(code).element(var);
    let name = kbin.name(record);
    let size = size_of(record);
    if off.checked_add(len).is_none_or(|end| end > size) {
        return Err(fault(StageCode::OutOfVariable).name(name).numbers(size, off).third(len));
    }
    if record.mr_type == MrType::PTR && off != 0 {
        return Err(fault(StageCode::PointerOffset).name(name).numbers(0, off));
    }
    if record.mr_type.is_io() {
        let limit = || fault(StageCode::TemplateLimit).numbers(u64::from(var), off);
        return template(var, off).map(Access::Bound).ok_or_else(limit);
    }
    if !is_placed(record.mr_type) {
        return Err(fault(StageCode::NotPlaced).name(name));
    }
    Ok(Access::Placed { var, off })
}

/// Checks the variables of a kbin before anything is allocated: ids, alignments, constants, pointers, and that
/// there is one `dge-table` at most (R42). Small code leaves to S2 and S3 what they refuse as well: other ids than the
/// places of the variables (E303, E321), alignments (E313), and constants, whose length S3 takes from the member.
///
/// # Errors
/// The first fault by id.
pub fn check(kbin: &KbinView<'_>) -> Result<(), Error> {
    let mut tables = false;
    for (index, var) in kbin.mem_refs().iter().enumerate() {
        if !SMALL {
            check_entry(kbin, index, var)?;
        }
        let (code, number) = match var.extra() {
            Extra::Ptr(arm) => {
                let target = arm.referenced_var_id.get();
                let class = variable(kbin, target)?.mr_type;
                if (is_placed(class) || class.is_io()) && class != MrType::PTR {
                    continue;
                }
                (StageCode::PointerTarget, target)
            }
            Extra::PtrTable(_) if core::mem::replace(&mut tables, true) => (StageCode::SeveralTables, 0),
            _ => continue,
        };
        let error = fault(code).numbers(u64::from(number), 0);
        return Err(error.element(var.var_id.get()).name(kbin.name(var)));
    }
    Ok(())
}

/// The elements of the first `dge-table`; a checked kbin has no second one (R42).
pub(crate) fn table<'m>(kbin: &KbinView<'m>) -> Option<&'m [U32]> {
    kbin.mem_refs().iter().find(|var| var.mr_type == MrType::PTR_TABLE).map(|var| kbin.list(var))
}

fn check_entry(kbin: &KbinView<'_>, index: usize, var: &MemRef) -> Result<(), Error> {
    let fault = |code| fault(code).element(var.var_id.get()).name(kbin.name(var));
    let id = u64::from(var.var_id.get());
    if u64::try_from(index).ok() != Some(id) {
        return Err(fault(StageCode::DuplicateVariable).numbers(id, 0));
    }
    let align = var.alignment.get();
    if align != 0 && !align.is_power_of_two() {
        return Err(fault(StageCode::Alignment).numbers(align, 0));
    }
    if var.mr_type != MrType::BUFFER {
        return Ok(());
    }
    let (held, size) = (kbin.blob(var.buffer).map_or(0, |blob| blob.len.get()), var.size.get());
    if held == size { Ok(()) } else { Err(fault(StageCode::ConstantLength).numbers(held, size)) }
}
