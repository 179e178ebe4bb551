//! What to do, where many codes have the same answer.

/// The end of the file is missing.
pub(super) const CUT: &str = "The file was cut: fetch it again, or make it again if its source is as short.";
/// Bytes are not what they were.
pub(super) const DAMAGED: &str =
    "The file is damaged: fetch it again and compare its digest with its source's.";
/// The digest does not fit.
pub(super) const CHANGED: &str = "The file was changed after it was written: fetch it again, or, if the change was \
     meant, make it anew with `neffload pack FILE OUT`.";
/// The archive has a form that the reader does not take.
pub(super) const REPACK: &str = "Unpack the archive with the tool that wrote it and make the file anew with \
     `neffload pack DIR OUT`.";
/// A manifest contradicts the format.
pub(super) const COMPILE: &str = "Compile the model again; in a tree made by hand, correct it there and make the file \
     anew with `neffload pack DIR OUT`.";
/// A member is not there.
pub(super) const MEMBER: &str = "Compile the model again, or add the member to the tree and make the file anew with \
     `neffload pack DIR OUT`.";
/// A model asks for more than a device has.
pub(super) const FEWER: &str =
    "The device has room for no more: compile a smaller model, or split it into several.";
/// The loader or a driver broke a promise.
pub(super) const REPORT: &str = "Please report this with the file.";
/// The process ran out of memory.
pub(super) const HOST: &str =
    "Free memory, or let the process have more of it: `ulimit -v` prints its limit in KiB.";
/// The kernel driver refused.
pub(super) const DRIVER: &str =
    "The kernel's log (`dmesg`) has the driver's own words; reload its module if this goes on.";
/// A remark about instructions that start blocks.
pub(super) const TRIGGERS: &str = "Nothing needs doing if the model is meant so; otherwise compile it again.";
/// A load met something whose translation is not known to the last bit.
pub(super) const OPAQUE: &str = "Load without --strict; onto a real device with --allow-opaque, or \
     NEFFLOAD_ALLOW_OPAQUE=1 for a program of the C interface.";
