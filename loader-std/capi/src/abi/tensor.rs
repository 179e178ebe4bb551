//! Tensors.

use super::pointer::{Buffer, Out, handle, take};
use super::{with_library, with_room};
use crate::status::Number;
use std::ffi::{c_char, c_int, c_void};

/// A new tensor. Its name is not looked at.
///
/// # Safety
/// `tensor` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_allocate(
    placement: u32,
    vnc: c_int,
    size: usize,
    _name: *const c_char,
    tensor: *mut *mut c_void,
) -> Number {
    with_room("nrt_tensor_allocate", |library| {
        // SAFETY: the contract of this function.
        let place = unsafe { Out::new(tensor, "tensor") }?;
        let session = library.session()?;
        place.set_handle(session.allocate(&library.settings, placement, vnc, size as u64)?);
        Ok(())
    })
}

/// A tensor that is part of another one, in the same memory. Its name is not looked at.
///
/// # Safety
/// `slice` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_allocate_slice(
    source: *const c_void,
    offset: usize,
    size: usize,
    _name: *const c_char,
    slice: *mut *mut c_void,
) -> Number {
    with_room("nrt_tensor_allocate_slice", |library| {
        // SAFETY: the contract of this function.
        let place = unsafe { Out::new(slice, "tensor_slice") }?;
        place.set_handle(library.session()?.slice(handle(source), offset as u64, size as u64)?);
        Ok(())
    })
}

/// Frees a tensor and makes the caller's variable null. The memory goes with the last slice of it.
///
/// # Safety
/// `tensor` is null or may be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_free(tensor: *mut *mut c_void) {
    // SAFETY: the contract of this function.
    if let Some(tensor) = unsafe { take(tensor) } {
        with_library("nrt_tensor_free", |library| library.session()?.free_tensor(tensor));
    }
}

/// Bytes of a tensor; 0 for a handle that is none.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_tensor_get_size(tensor: *const c_void) -> usize {
    let mut size = 0;
    with_library("nrt_tensor_get_size", |library| {
        size = library.session()?.tensor(handle(tensor))?.size();
        Ok(())
    });
    usize::try_from(size).unwrap_or(0)
}

/// Copies bytes of a tensor to the caller.
///
/// # Safety
/// `buffer` is null or `size` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_read(
    tensor: *const c_void,
    buffer: *mut c_void,
    offset: usize,
    size: usize,
) -> Number {
    with_library("nrt_tensor_read", |library| {
        let session = library.session()?;
        let tensor = session.tensor(handle(tensor))?;
        // SAFETY: the contract of this function.
        let buffer = unsafe { Buffer::new(buffer, size, "buf") }?;
        tensor.read(offset as u64, size as u64, |at, piece| buffer.put(at, piece))
    })
}

/// Copies the caller's bytes to a tensor.
///
/// # Safety
/// `buffer` is null or `size` bytes may be read there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_tensor_write(
    tensor: *mut c_void,
    buffer: *const c_void,
    offset: usize,
    size: usize,
) -> Number {
    with_library("nrt_tensor_write", |library| {
        let session = library.session()?;
        let tensor = session.tensor(handle(tensor))?;
        // SAFETY: the contract of this function; the buffer is only read from below.
        let buffer = unsafe { Buffer::new(buffer.cast_mut(), size, "buf") }?;
        tensor.write(offset as u64, size as u64, |at, piece| buffer.take(at, piece))
    })
}

/// Copies bytes from one tensor to another. Two tensors in device memory must lie at the same core.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_tensor_copy(
    source: *const c_void,
    source_offset: usize,
    target: *mut c_void,
    target_offset: usize,
    size: usize,
) -> Number {
    with_library("nrt_tensor_copy", |library| {
        let session = library.session()?;
        let (source, target) = (session.tensor(handle(source))?, session.tensor(handle(target))?);
        source.copy(source_offset as u64, &target, target_offset as u64, size as u64)
    })
}

/// Sets bytes of a tensor to the low eight bits of `value`.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_tensor_memset(tensor: *mut c_void, offset: u64, value: c_int, size: usize) -> Number {
    with_library("nrt_tensor_memset", |library| {
        let [byte, ..] = value.to_le_bytes();
        let session = library.session()?;
        let tensor = session.tensor(handle(tensor))?;
        tensor.write(offset, size as u64, |_, piece| piece.fill(byte))
    })
}
