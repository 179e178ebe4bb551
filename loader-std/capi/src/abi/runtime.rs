//! The runtime itself: init, close, version, instance, cores, texts.

use super::pointer::{Out, give};
use super::{answer, with_library, with_room};
use crate::failure;
use crate::library::Library;
use crate::settings::Settings;
use crate::status::{self, Number};
use loader_core::arch::Arch;
use std::ffi::{c_char, c_void};

/// Bytes of `nrt_version_t`, of the text and of the hash in it.
const VERSION: (usize, usize, usize) = (224, 128, 64);
/// Bytes of `nrt_instance_info_t`, of the names in it.
const INSTANCE: (usize, usize, usize) = (32, 16, 8);
/// `NRT_INSTANCE_SIZE_UNKNOWN`: a simulated device belongs to no instance, and a real one is not asked for its own.
const SIZE_UNKNOWN: u32 = 9;

/// Initialises the runtime. The two version texts are not looked at; there are callers that do not pass them.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_init(
    framework: u32,
    _fw_version: *const c_char,
    _fal_version: *const c_char,
) -> Number {
    with_room("nrt_init", |library| library.init(framework))
}

/// Closes the runtime: every model, tensor and set is gone. Without a runtime nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_close() {
    with_library("nrt_close", Library::close);
}

/// Text with NUL fill, cut so that a NUL remains.
fn padded(text: &str, size: usize) -> Vec<u8> {
    let mut bytes = text.as_bytes()[..text.len().min(size - 1)].to_vec();
    bytes.resize(size, 0);
    bytes
}

/// The interface's version 2.0, and in the text this library's own and the device. Nobody knows the device if the
/// environment makes no sense.
fn version() -> Vec<u8> {
    let device = Library::of_process()
        .map_or_else(|_| "no device".to_owned(), |library| library.settings.device.to_string());
    let (_, detail, hash) = VERSION;
    let mut bytes: Vec<u8> = [2u64, 0, 0, 0].into_iter().flat_map(u64::to_ne_bytes).collect();
    bytes.extend(padded(&format!("neffload {}, {device}", env!("CARGO_PKG_VERSION")), detail));
    bytes.extend(padded("", hash));
    bytes
}

/// The family that carries an architecture, with its name and its cores' revision (driver-abi.md §16).
fn instance(settings: &Settings) -> Vec<u8> {
    let (family, name, revision) = match settings.device.arch() {
        Arch::Sunda => (2u32, "trn1", "NCv2"),
        Arch::Cayman => (5, "trn2", "NCv3"),
        Arch::Mariana => (14, "trn3", "NCv4"),
    };
    let mut bytes: Vec<u8> = [family, SIZE_UNKNOWN].into_iter().flat_map(u32::to_ne_bytes).collect();
    bytes.extend(padded(name, INSTANCE.1));
    bytes.extend(padded(revision, INSTANCE.2));
    bytes
}

/// The version, as much of it as `size` bytes hold.
///
/// # Safety
/// `version` is null or `size` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_version(version: *mut c_void, size: usize) -> Number {
    answer("nrt_get_version", || {
        failure::room()?;
        let record = self::version();
        debug_assert_eq!(record.len(), VERSION.0);
        // SAFETY: the contract of this function.
        unsafe { give(version, size, &record, "ver") }
    })
}

/// What the device is, as much of it as `size` bytes hold. Needs no runtime.
///
/// # Safety
/// `info` is null or `size` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nrt_get_instance_info(info: *mut c_void, size: usize) -> Number {
    with_room("nrt_get_instance_info", |library| {
        let record = instance(&library.settings);
        debug_assert_eq!(record.len(), INSTANCE.0);
        // SAFETY: the contract of this function.
        unsafe { give(info, size, &record, "info") }
    })
}

/// Functions that give a number of logical cores. They need no runtime.
macro_rules! counts {
    ($($name:ident: $count:expr,)*) => {$(
        /// Counts logical cores.
        ///
        /// # Safety
        /// `count` is null or may be written to.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(count: *mut u32) -> Number {
            with_library(stringify!($name), |library| {
                // SAFETY: the contract of this function.
                let place = unsafe { Out::new(count, "vnc_count") }?;
                let count: fn(&Settings) -> usize = $count;
                place.set(u32::try_from(count(&library.settings)).unwrap_or(u32::MAX));
                Ok(())
            })
        }
    )*};
}

counts! {
    nrt_get_total_vnc_count: |settings| settings.total().into(),
    nrt_get_total_nc_count: |settings| settings.total().into(),
    nrt_get_visible_vnc_count: |settings| settings.visible.len(),
    nrt_get_visible_nc_count: |settings| settings.visible.len(),
}

/// The identifier of a status, `UNKNOWN` for a number that is none. The text lives for ever.
#[unsafe(no_mangle)]
pub extern "C" fn nrt_get_status_as_str(status: Number) -> *const c_char {
    status::name(status).as_ptr()
}

/// Ours: why the last refused call of this thread was refused; empty if none was. The text lives until the
/// thread's next refusal. A thread that ends, in its destructors and exit handlers, gets a fixed text.
#[unsafe(no_mangle)]
pub extern "C" fn neffload_last_error() -> *const c_char {
    failure::last(std::ffi::CStr::as_ptr)
}
