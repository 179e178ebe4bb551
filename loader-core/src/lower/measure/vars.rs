//! Variables: class rules, extents, density (lowering.md §5.5, §6).

use super::{Subject, wide};
use crate::error::{Error, LowerCode};
use crate::lower::input::{DetailIn, Input, VarIn};
use crate::lower::record::Blob;
use crate::lower::scratchpad::{Area, Marks, extent};
use crate::manifest::VarClass;

/// Characters of a device-print dtype.
const DTYPE_MOST: u64 = 15;
/// Dimensions of a device-print shape.
const SHAPE_MOST: u64 = 8;
/// Bytes of a pointer.
const POINTER_SIZE: u64 = 8;
/// Most bytes of a variable: an address shares its 8 bytes with an operand's marker byte (R1), so no device
/// memory lies above.
const SIZE_MOST: u64 = 1 << 56;

/// What the table of variables has shown so far.
#[derive(Default)]
pub(crate) struct Vars<'a> {
    before: Option<&'a [u8]>,
    count: u64,
    highest: u32,
    outputs: u64,
}

impl<'a, I: Input> Subject<'a, I> {
    /// How many there are, which is limited.
    pub(crate) fn var_count(&self) -> Result<u32, Error> {
        let count = self.input.var_count(self.sg);
        if !I::CHECKED {
            self.limit("variables", u64::from(count), u64::from(self.limits.variables))?;
        }
        Ok(count)
    }

    #[inline(never)]
    pub(crate) fn check_var(&self, var: &I::Var<'a>, table: &mut Vars<'a>) -> Result<(), Error> {
        if !I::CHECKED {
            self.check_var_order(var, table)?;
            self.check_var_entry(var)?;
        }
        if let Some(size) = var.size().filter(|&size| size > SIZE_MOST) {
            return Err(self.var_fault(LowerCode::SizeTooLarge, var).numbers(size, SIZE_MOST));
        }
        if !I::CHECKED {
            self.check_detail(var)?;
        }
        self.check_area(var)
    }

    /// Names come in order, each once.
    fn check_var_order(&self, var: &I::Var<'a>, table: &mut Vars<'a>) -> Result<(), Error> {
        if table.before.is_some_and(|before| before >= var.name()) {
            return Err(self.out_of_order(var, table.before));
        }
        table.before = Some(var.name());
        table.count = table.count.saturating_add(1);
        table.highest = var.id().max(table.highest);
        table.outputs = table.outputs.saturating_add(u64::from(var.class() == VarClass::Output));
        Ok(())
    }

    /// Ids are dense, and there is an output.
    pub(crate) fn check_var_table(&self, table: &Vars<'_>, subgraph: &[u8]) -> Result<(), Error> {
        if I::CHECKED {
            return Ok(());
        }
        let count = table.count;
        if count != u64::from(self.input.var_count(self.sg)) {
            return Err(self.broken("variables differ from their count"));
        }
        let highest = u64::from(table.highest);
        if count > 0 && highest.checked_add(1) != Some(count) {
            let fault = self.fail(LowerCode::VarIdsNotDense).element(table.highest);
            return Err(fault.numbers(highest, count));
        }
        if table.outputs == 0 {
            return Err(self.fail(LowerCode::NoOutputs).name(subgraph));
        }
        Ok(())
    }

    fn out_of_order(&self, var: &I::Var<'_>, before: Option<&[u8]>) -> Error {
        if before == Some(var.name()) {
            return self.var_fault(LowerCode::DuplicateVar, var).numbers(u64::from(var.id()), 0);
        }
        self.broken("variables come in the order of their names")
    }

    pub(crate) fn var_fault(&self, code: LowerCode, var: &I::Var<'_>) -> Error {
        self.fail(code).name(var.name()).element(var.id())
    }

    fn check_var_entry(&self, var: &I::Var<'_>) -> Result<(), Error> {
        let fault = |code| self.var_fault(code, var);
        if var.alignment() != 0 && !var.alignment().is_power_of_two() {
            return Err(fault(LowerCode::AlignmentNotPow2).numbers(u64::from(var.alignment()), 0));
        }
        let dtype = wide(var.dtype().len());
        if dtype > DTYPE_MOST {
            return Err(fault(LowerCode::DtypeTooLong).name(var.dtype()).numbers(dtype, DTYPE_MOST));
        }
        let rank = wide(var.shape().len());
        if rank > SHAPE_MOST {
            return Err(fault(LowerCode::ShapeTooDeep).numbers(rank, SHAPE_MOST));
        }
        if var.class().needs_size() && var.size().is_none() {
            return Err(fault(LowerCode::MissingSize));
        }
        Ok(())
    }

    fn check_detail(&self, var: &I::Var<'_>) -> Result<(), Error> {
        let fault = |code| self.var_fault(code, var);
        let size = var.size().unwrap_or(0);
        match var.detail() {
            DetailIn::Pointer { .. } if size != POINTER_SIZE => {
                Err(fault(LowerCode::PointerSize).numbers(size, 8))
            }
            DetailIn::Pointer { referenced } => self.check_reference(var, referenced),
            DetailIn::List { len } | DetailIn::DgeTable { len } => self.check_list(var, len),
            DetailIn::Virtual { offset } if offset.checked_add(size).is_none() => {
                Err(fault(LowerCode::ExtentOverflow).numbers(offset, size))
            }
            DetailIn::File { member, .. } if member.0 == Blob::NOT_A_MEMBER => {
                Err(fault(LowerCode::MemberMissing))
            }
            DetailIn::File { member, payload_offset, payload_len } => {
                match payload_offset.checked_add(payload_len) {
                    Some(_) => Ok(()),
                    None => Err(fault(LowerCode::NumpyHeader).member(member)),
                }
            }
            DetailIn::Virtual { .. } | DetailIn::Remote { .. } | DetailIn::None => Ok(()),
        }
    }

    fn check_list(&self, var: &I::Var<'_>, len: u32) -> Result<(), Error> {
        self.limit("list elements", u64::from(len), u64::from(self.limits.list_elements))?;
        let mut found = 0u32;
        while let Some(id) = var.element(found) {
            found = found.saturating_add(1);
            self.check_reference(var, id)?;
        }
        if found == len { Ok(()) } else { Err(self.broken("a list differs from its length")) }
    }

    fn check_reference(&self, var: &I::Var<'_>, id: u32) -> Result<(), Error> {
        let count = self.input.var_count(self.sg);
        if id >= count {
            let fault = self.var_fault(LowerCode::BadVarReference, var);
            return Err(fault.numbers(u64::from(id), u64::from(count)));
        }
        Ok(())
    }

    /// A virtual variable lies in an area that is placed.
    fn check_area(&self, var: &I::Var<'_>) -> Result<(), Error> {
        let placed = match Area::of(var) {
            Some(Area::Alt) => self.policy.append_alt_area(),
            Some(_) => true,
            None => false,
        };
        if matches!(var.detail(), DetailIn::Virtual { .. }) && !placed {
            return Err(self.var_fault(LowerCode::UnsupportedArea, var).name2(area_name(var).as_bytes()));
        }
        Ok(())
    }

    /// A refusal about the virtual variable that ends highest in its area.
    #[cold]
    #[inline(never)]
    fn furthest(&self, a: u64, b: u64) -> Error {
        let (mut fault, mut highest) = (self.fail(LowerCode::ExtentOverflow), 0);
        for var in self.input.vars(self.sg) {
            if let Some((_, end)) = extent(&var).filter(|(_, end)| *end >= highest) {
                (fault, highest) = (self.var_fault(LowerCode::ExtentOverflow, &var), end);
            }
        }
        fault.numbers(a, b)
    }

    /// The area `alt` begins on the page behind main; sums of areas must not overflow (lowering.md §7.1). Gives where
    /// `alt` begins, and the sizes of the local and the shared scratchpad.
    pub(crate) fn place_areas(&self, mut marks: Marks) -> Result<(u64, u64, u64), Error> {
        let overflow = |a, b| self.furthest(a, b);
        let (main, alt, mut alt_base) = (marks.mark(Area::Main), marks.mark(Area::Alt), 0);
        // Without that policy no variable lies there.
        if self.policy.append_alt_area() && alt > 0 {
            let page = self.policy.page_size().max(1);
            alt_base = main.checked_next_multiple_of(page).ok_or_else(|| overflow(main, page))?;
            marks.reach(Area::Main, alt_base.checked_add(alt).ok_or_else(|| overflow(alt_base, alt))?);
        }
        let sum =
            |size: Option<u64>, one, other| size.ok_or_else(|| overflow(marks.mark(one), marks.mark(other)));
        let local = sum(marks.local_size(), Area::Main, Area::Local)?;
        let shared = sum(marks.shared_size(), Area::Shared, Area::Sharded)?;
        Ok((alt_base, local, shared))
    }
}

/// The words of the entry that name its area.
fn area_name<'a>(var: &impl VarIn<'a>) -> &'static str {
    match (var.fabric(), var.backing()) {
        (Some(fabric), _) => fabric.name(),
        (None, Some(backing)) => backing.name(),
        (None, None) => "main",
    }
}
