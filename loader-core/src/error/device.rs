//! Codes of the device boundary.

use super::table::codes;

codes! {
    /// Codes of the device boundary (staging.md §4).
    DeviceCode {
        OutOfMemory = 'D' 101, Resource, "device memory is exhausted: {a} bytes asked for, alignment {b}, usage {name}", "", "Unload another model or use a device with more memory.";
        BadRequest = 'D' 102, Failure, "the device refused the request", "", "";
        BadHandle = 'D' 103, Failure, "the device does not know this memory handle", "", "";
        OutOfRange = 'D' 104, Failure, "an access lies outside its device block", "", "";
        AlignmentUnsupported = 'D' 105, Failure, "the device cannot align an allocation to {b} bytes", "", "";
        Io = 'D' 106, Failure, "the device driver failed with errno {a}", "", "";
        ReadRefused = 'D' 107, Failure, "the device's store does not keep bytes to read back", "", "";
    }
}
