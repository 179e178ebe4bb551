//! Pointers of a caller. A null pointer is refused; more cannot be known about one, so each function says what it
//! relies on.

use crate::failure::{Answer, Failure};
use crate::handles::Handle;
use crate::model::names::LONGEST;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// A handle as it came in.
pub(super) fn handle<T>(pointer: *const T) -> Handle {
    pointer.addr()
}

fn not_null(is_null: bool, what: &str) -> Answer {
    if is_null { Err(Failure::invalid(format_args!("`{what}` is a null pointer"))) } else { Ok(()) }
}

/// Where a result goes; refused before any work is done if it is null.
#[derive(Clone, Copy)]
pub(super) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// # Safety
    /// `place` is null or may be written to while the call lasts.
    pub(super) unsafe fn new(place: *mut T, what: &str) -> Answer<Self> {
        not_null(place.is_null(), what)?;
        Ok(Self(place))
    }

    /// Stores a result.
    pub(super) fn set(self, value: T) {
        // SAFETY: `new` was promised that the place may be written to, and that it is not null was checked. The
        // alignment is not relied on.
        unsafe { self.0.write_unaligned(value) }
    }
}

impl<T> Out<*mut T> {
    /// Stores a handle or an address.
    pub(super) fn set_handle(self, handle: Handle) {
        self.set(ptr::with_exposed_provenance_mut(handle));
    }
}

/// The caller's bytes; `None` for a null pointer.
///
/// # Safety
/// `bytes` is null or `size` bytes may be read there while the result lives.
pub(super) unsafe fn bytes<'a>(bytes: *const c_void, size: usize) -> Answer<Option<&'a [u8]>> {
    if isize::try_from(size).is_err() {
        return Err(Failure::invalid(format_args!("a buffer of {size} bytes cannot exist")));
    }
    if bytes.is_null() {
        return Ok(None);
    }
    // SAFETY: promised by the caller for a pointer that is not null; bytes need no alignment, and the size was
    // checked against the largest one a slice may have.
    Ok(Some(unsafe { std::slice::from_raw_parts(bytes.cast(), size) }))
}

/// The caller's text, at most 255 bytes of it before the NUL.
///
/// # Safety
/// `text` is null or points to a NUL-terminated string that stays as it is while the result lives.
pub(super) unsafe fn text<'a>(text: *const c_char, what: &str) -> Answer<&'a [u8]> {
    not_null(text.is_null(), what)?;
    // SAFETY: promised by the caller for a pointer that is not null.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    if text.len() > LONGEST {
        return Err(Failure::invalid(format_args!("`{what}` is longer than {LONGEST} bytes")));
    }
    Ok(text)
}

/// A caller's buffer that bytes go into, piece by piece.
#[derive(Clone, Copy)]
pub(super) struct Buffer {
    start: *mut u8,
    size: usize,
}

impl Buffer {
    /// # Safety
    /// `start` is null or `size` bytes may be read and written there while the call lasts.
    pub(super) unsafe fn new(start: *mut c_void, size: usize, what: &str) -> Answer<Self> {
        not_null(start.is_null() && size > 0, what)?;
        Ok(Self { start: start.cast(), size })
    }

    fn holds(&self, at: u64, count: usize) -> Option<usize> {
        let at = usize::try_from(at).ok()?;
        at.checked_add(count).filter(|end| *end <= self.size).map(|_| at)
    }

    /// Copies a piece to its place; what does not fit is left out.
    pub(super) fn put(&self, at: u64, piece: &[u8]) {
        if let Some(at) = self.holds(at, piece.len()) {
            // SAFETY: the range lies in the buffer, which `new` was promised is writable; the piece is ours, so
            // the two do not overlap.
            unsafe { ptr::copy_nonoverlapping(piece.as_ptr(), self.start.add(at), piece.len()) }
        }
    }

    /// Fills a piece from its place.
    pub(super) fn take(&self, at: u64, piece: &mut [u8]) {
        if let Some(at) = self.holds(at, piece.len()) {
            // SAFETY: as in `put`, the other way round.
            unsafe { ptr::copy_nonoverlapping(self.start.add(at), piece.as_mut_ptr(), piece.len()) }
        }
    }
}

/// Takes the object out of the caller's variable: gives its handle and makes the variable null, so that a second
/// call finds nothing there. `None` if either pointer is null already.
///
/// # Safety
/// `place` is null or may be read and written while the call lasts.
pub(super) unsafe fn take<T>(place: *mut *mut T) -> Option<Handle> {
    if place.is_null() {
        return None;
    }
    // SAFETY: promised by the caller for a pointer that is not null; alignment is not relied on.
    let object = unsafe { place.read_unaligned() };
    // SAFETY: as above.
    unsafe { place.write_unaligned(ptr::null_mut()) };
    Some(object.addr()).filter(|handle| *handle != 0)
}

/// Gives the first `size` bytes of a record, or all of it; `what` is the parameter's name.
///
/// # Safety
/// `place` is null or `size` bytes may be written there.
pub(super) unsafe fn give(place: *mut c_void, size: usize, record: &[u8], what: &str) -> Answer {
    if size == 0 {
        return Err(Failure::invalid(format_args!("the size of `{what}` is 0")));
    }
    // SAFETY: promised by the caller.
    let buffer = unsafe { Buffer::new(place, size, what) }?;
    buffer.put(0, &record[..record.len().min(size)]);
    Ok(())
}
