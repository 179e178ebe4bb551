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
        Positive = 'D' 108, Failure, "the driver returned the positive number {a}: part of an argument was not copied, or a request is still open", "0", "";
        TimeoutOrRing = 'D' 109, HwError, "device timeout or bad ring", "", "Reset the device's cores and load again.";
        NoDevice = 'D' 201, Failure, "there is no device {name}", "a device node of the kernel driver", "Load the kernel module, or name another device with --device.";
        OpenFailed = 'D' 202, Failure, "device {name} cannot be opened: errno {a}", "", "Check the node's permissions.";
        DeviceDead = 'D' 203, HwError, "device {name} is not usable: its reset failed", "", "Reset the device or reload the kernel module.";
        DeviceCrowded = 'D' 204, Resource, "device {name} is open in 16 processes", "at most 15 others", "End one of them.";
        Interrupted = 'D' 205, Failure, "a signal ended the wait for the device", "", "";
        DriverRange = 'D' 206, Failure, "the driver accepts runtime interfaces {a} to {b}", "a range that meets 5 to 11", "Use a driver that matches this loader.";
        UnknownDevice = 'D' 207, Failure, "the device has architecture {a}", "2, 3 or 4", "";
        CoresBusy = 'D' 208, LoadNotEnoughNc, "cores {a} to {b} are not free; the longest free run seen is {c}", "", "Unload what runs there, or choose other cores with --core.";
        ResetFailed = 'D' 209, HwError, "the cores could not be reset: result {a}", "0", "Reset the device or reload the kernel module.";
        Initialiser = 'D' 210, Timeout, "core {a} is being initialised by somebody who does not finish", "", "Reset the core.";
        PodElection = 'D' 211, Timeout, "the pod's election does not finish", "", "Try again later.";
        Driver = 'D' 212, Failure, "the driver refused {name}: errno {a}", "", "";
        NotFreed = 'D' 213, Failure, "blocks that the driver did not take back at unload: {a}; of the first it said: {name}", "", "The kernel frees them when the process ends.";
    }
}
