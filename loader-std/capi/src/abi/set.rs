//! Tensor sets.

use super::pointer::{Out, handle, take, text};
use super::{with_library, with_room};
use crate::failure::Failure;
use crate::status::Number;
use std::ffi::{c_char, c_void};

/// A new, empty set.
///
/// # Safety
/// `result` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_allocate_tensor_set(result: *mut *mut c_void) -> Number {
    with_room("nrt_allocate_tensor_set", |library| {
        // SAFETY: the contract of this function.
        let place = unsafe { Out::new(result, "result") }?;
        place.set_handle(library.session()?.new_set());
        Ok(())
    })
}

/// Frees a set and makes the caller's variable null. Its tensors stay.
///
/// # Safety
/// `set` is null or may be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_destroy_tensor_set(set: *mut *mut c_void) {
    // SAFETY: the contract of this function.
    if let Some(set) = unsafe { take(set) } {
        with_library("nrt_destroy_tensor_set", |library| library.session()?.destroy_set(set));
    }
}

/// Adds a tensor to a set, or replaces the one of that name.
///
/// # Safety
/// `name` is null or points to a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_add_tensor_to_tensor_set(
    set: *mut c_void,
    name: *const c_char,
    tensor: *mut c_void,
) -> Number {
    with_room("nrt_add_tensor_to_tensor_set", |library| {
        let session = library.session()?;
        let set = session.set(handle(set))?;
        session.tensor(handle(tensor))?;
        // SAFETY: the contract of this function.
        set.add(unsafe { text(name, "tensor_name") }?, handle(tensor));
        Ok(())
    })
}

/// Gives the tensor of that name.
///
/// # Safety
/// `name` is null or points to a NUL-terminated string; `tensor` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_tensor_from_tensor_set(
    set: *mut c_void,
    name: *const c_char,
    tensor: *mut *mut c_void,
) -> Number {
    with_library("nrt_get_tensor_from_tensor_set", |library| {
        // SAFETY: the contract of this function.
        let place = unsafe { Out::new(tensor, "tensor") }?;
        let session = library.session()?;
        let set = session.set(handle(set))?;
        // SAFETY: the contract of this function.
        let name = unsafe { text(name, "tensor_name") }?;
        let absent = || {
            let name = String::from_utf8_lossy(name);
            Failure::invalid(format_args!("the set has no tensor `{name}`"))
        };
        let found = set.get(name).ok_or_else(absent)?;
        session.tensor(found)?;
        place.set_handle(found);
        Ok(())
    })
}
