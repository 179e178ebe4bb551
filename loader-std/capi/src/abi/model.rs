//! Models.

use super::pointer::{Out, bytes, give, handle};
use super::{answer, with_library, with_room};
use crate::execute;
use crate::failure::{Answer, Failure};
use crate::model::{self, Ranks};
use crate::status::Number;
use crate::tensor_info;
use std::ffi::c_void;

/// Loads a file and gives the model's handle.
///
/// # Safety
/// `neff` is null or `size` bytes may be read there; `model` is null or may be written to.
unsafe fn load(
    function: &str,
    (neff, size): (*const c_void, usize),
    (vnc, vnc_count): (i32, i32),
    ranks: Ranks,
    model: *mut *mut c_void,
) -> Number {
    with_room(function, |library| {
        // SAFETY: the contract of this function.
        let place = unsafe { Out::new(model, "model") }?;
        // SAFETY: the contract of this function.
        let neff = unsafe { bytes(neff, size) }?;
        place.set_handle(model::load(library, neff, vnc, vnc_count, ranks)?);
        Ok(())
    })
}

/// Loads a NEFF onto a logical core, -1 for the first free one.
///
/// # Safety
/// `neff` is null or `size` bytes may be read there; `model` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_load(
    neff: *const c_void,
    size: usize,
    vnc: i32,
    vnc_count: i32,
    model: *mut *mut c_void,
) -> Number {
    // SAFETY: the contract of this function.
    unsafe { load("nrt_load", (neff, size), (vnc, vnc_count), None, model) }
}

/// Loads a NEFF with collectives as one of several workers.
///
/// # Safety
/// As [`nrt_load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_load_collectives(
    neff: *const c_void,
    size: usize,
    vnc: i32,
    vnc_count: i32,
    device_id: u32,
    device_count: u32,
    model: *mut *mut c_void,
) -> Number {
    let ranks = Some((device_id, device_count));
    // SAFETY: the contract of this function.
    unsafe { load("nrt_load_collectives", (neff, size), (vnc, vnc_count), ranks, model) }
}

/// Unloads a model.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_unload(model: *mut c_void) -> Number {
    with_library("nrt_unload", |library| library.session()?.unload(handle(model)))
}

/// Gives the number of logical cores of a model: always 1, a NEFF takes one.
///
/// # Safety
/// `count` is null or may be written to.
unsafe fn cores(function: &str, model: *const c_void, count: *mut u32) -> Number {
    with_library(function, |library| {
        // SAFETY: the contract of this function.
        let place = unsafe { Out::new(count, "vnc_count") }?;
        library.session()?.model(handle(model))?;
        place.set(1);
        Ok(())
    })
}

/// Logical cores of a model.
///
/// # Safety
/// `count` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_model_vnc_count(model: *const c_void, count: *mut u32) -> Number {
    // SAFETY: the contract of this function.
    unsafe { cores("nrt_get_model_vnc_count", model, count) }
}

/// The older name of [`nrt_get_model_vnc_count`].
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_model_nc_count(model: *const c_void, count: *mut u32) -> Number {
    // SAFETY: the contract of this function.
    unsafe { cores("nrt_get_model_nc_count", model, count) }
}

/// The record `nrt_model_info_t`, as much of it as `size` bytes hold: the index of the model's logical core.
///
/// # Safety
/// `info` is null or `size` bytes may be written there; `written` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_model_info(
    model: *const c_void,
    info: *mut c_void,
    size: usize,
    written: *mut usize,
) -> Number {
    with_library("nrt_get_model_info", |library| {
        // SAFETY: the contract of this function.
        let place = unsafe { Out::new(written, "info_size_out") }?;
        let session = library.session()?;
        let record = session.model(handle(model))?.vnc.to_ne_bytes();
        // SAFETY: the contract of this function.
        unsafe { give(info, size, &record, "info") }?;
        place.set(size.min(record.len()));
        Ok(())
    })
}

/// Inputs and outputs of a model, to be freed with [`nrt_free_model_tensor_info`].
///
/// # Safety
/// `info` is null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_model_tensor_info(model: *mut c_void, info: *mut *mut c_void) -> Number {
    with_room("nrt_get_model_tensor_info", |library| {
        // SAFETY: the contract of this function.
        let place = unsafe { Out::new(info, "tensor_info") }?;
        let session = library.session()?;
        let model = session.model(handle(model))?;
        place.set_handle(tensor_info::lend(&model.io)?);
        Ok(())
    })
}

/// Frees what [`nrt_get_model_tensor_info`] gave, also after a close.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_free_model_tensor_info(info: *mut c_void) -> Number {
    answer("nrt_free_model_tensor_info", || {
        let freed = tensor_info::take_back(handle(info));
        freed.then_some(()).ok_or_else(|| Failure::handle("tensor info array"))
    })
}

/// Binds the sets, then says that there is no engine.
fn execute(function: &str, model: *mut c_void, sets: [*const c_void; 2], repeat: i32) -> Number {
    with_room(function, |library| -> Answer {
        if repeat < 1 {
            return Err(Failure::invalid(format_args!("a model cannot run {repeat} times")));
        }
        let session = library.session()?;
        let model = session.model(handle(model))?;
        let [inputs, outputs] = sets.map(|set| session.set(handle(set)));
        execute::bind(&session, &model, &*inputs?, &*outputs?)?;
        Err(execute::no_engine())
    })
}

/// Binds the tensors of both sets to the model; never succeeds, because there is no engine to run it.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_execute(model: *mut c_void, inputs: *const c_void, outputs: *mut c_void) -> Number {
    execute("nrt_execute", model, [inputs, outputs], 1)
}

/// As [`nrt_execute`].
#[unsafe(no_mangle)]
pub extern "C" fn nrt_execute_repeat(
    model: *mut c_void,
    inputs: *const c_void,
    outputs: *mut c_void,
    repeat: i32,
) -> Number {
    execute("nrt_execute_repeat", model, [inputs, outputs], repeat)
}
