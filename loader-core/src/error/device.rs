//! Codes of the device boundary.

use super::remedy;
use super::table::codes;

codes! {
    /// Codes of the device boundary (staging.md §4).
    DeviceCode {
        OutOfMemory = 'D' 101, Resource, "device memory is exhausted: {a} bytes asked for, alignment {b}, usage {name}", "a free block of that size", "Unload another model or use a device with more memory.";
        BadRequest = 'D' 102, Failure, "the device refused the request", "a request that the driver takes", remedy::DRIVER;
        BadHandle = 'D' 103, Failure, "the device does not know this memory handle", "a handle of this device that was not freed", remedy::REPORT;
        OutOfRange = 'D' 104, Failure, "an access lies outside its device block", "an access inside the block", remedy::REPORT;
        AlignmentUnsupported = 'D' 105, Failure, "the device cannot align an allocation to {b} bytes", "an alignment that the driver grants", remedy::DRIVER;
        Io = 'D' 106, Failure, "the device driver failed with errno {a}", "a request that the driver grants", remedy::DRIVER;
        ReadRefused = 'D' 107, Failure, "the device's store does not keep bytes to read back", "a store that keeps bytes", "Load with `--device sim:ARCH:CORES,store=full`.";
        Positive = 'D' 108, Failure, "the driver returned the positive number {a}: part of an argument was not copied, or a request is still open", "0", remedy::DRIVER;
        TimeoutOrRing = 'D' 109, Failure, "device timeout or bad ring", "an answer in time", "Reset the device's cores and load again.";
        HostExhausted = 'D' 110, FailHostMemAlloc, "the device's host memory is exhausted: {a} bytes asked for, usage {name}", "a free block of that size", "Free what the device holds in host memory, or ask for less.";
        HostRecord = 'D' 111, Resource, "the host has no memory for what it keeps of the device", "memory of the host for that", remedy::HOST;
        HandleTable = 'D' 112, Failure, "the driver's table of memory handles is full or closed: {a} bytes asked for, usage {name}", "a free handle", "Unload other models; if the driver has closed the table, reload the kernel module.";
        NoDevice = 'D' 201, Failure, "there is no device {name}", "a device node of the kernel driver", "Load the kernel module, or name another device: with --device, or with NEFFLOAD_DEVICE for a program of the C interface.";
        OpenFailed = 'D' 202, Failure, "device {name} cannot be opened: errno {a}", "a node that this user may open", "Check the node's permissions.";
        DeviceDead = 'D' 203, HwError, "device {name} is not usable: its reset failed", "a device that resets", "Reset the device or reload the kernel module.";
        DeviceCrowded = 'D' 204, Resource, "device {name} is open in 16 processes", "at most 15 others", "End one of them.";
        Interrupted = 'D' 205, Failure, "a signal ended the wait for the device", "no signal until the device answers", "Load it again.";
        DriverRange = 'D' 206, Failure, "the driver accepts runtime interfaces {a} to {b}", "a range that meets 5 to 11", "Use a driver that matches this loader.";
        UnknownDevice = 'D' 207, Failure, "the device has architecture {a}", "2, 3 or 4", "Use a newer loader, or a device of architecture 2, 3 or 4.";
        CoresBusy = 'D' 208, LoadNotEnoughNc, "cores {a} to {b} are not free; the longest free run seen is {c}", "a run of free cores", "Unload what runs there, or choose other cores: with --core, or with NEURON_RT_VISIBLE_CORES for a program of the C interface.";
        ResetFailed = 'D' 209, HwError, "the cores could not be reset: result {a}", "0", "Reset the device or reload the kernel module.";
        Initialiser = 'D' 210, Timeout, "core {a} is being initialised by somebody who does not finish", "a core that is ready", "Reset the core.";
        PodElection = 'D' 211, Timeout, "the pod's election does not finish", "an election that ends", "Try again later.";
        Driver = 'D' 212, Failure, "the driver refused {name}: errno {a}", "a request that the driver grants", remedy::DRIVER;
        NotFreed = 'D' 213, Failure, "blocks that the driver did not take back at unload: {a}; of the first it said: {name}", "a driver that takes every block back", "The kernel frees them when the process ends.";
    }
}
