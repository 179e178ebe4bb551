//! The records of the FUSE protocol, as the kernel lays them out (its public header `fuse.h`, protocol 7.40).

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident: $size:literal { $($field:ident: $kind:ty),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
            #[repr(C)]
            pub(super) struct $name {
                $(pub(super) $field: $kind,)*
            }

            const _: () = assert!(size_of::<$name>() == $size);
        )*
    };
}

records! {
    /// Before every request.
    InHeader: 40 {
        len: u32, opcode: u32, unique: u64, node: u64, uid: u32, gid: u32, pid: u32, extension: u32,
    }
    /// Before every answer.
    OutHeader: 16 { len: u32, error: i32, unique: u64 }
    /// The first request; what later protocols append is not needed.
    InitIn: 16 { major: u32, minor: u32, readahead: u32, flags: u32 }
    /// Its answer.
    InitOut: 64 {
        major: u32, minor: u32, readahead: u32, flags: u32, background: u16, congestion: u16,
        max_write: u32, granularity: u32, max_pages: u16, map_alignment: u16, flags2: u32, stack_depth: u32,
        rest: [u16; 12],
    }
    /// Attributes of a file.
    Attr: 88 {
        ino: u64, size: u64, blocks: u64, times: [u64; 3], nanoseconds: [u32; 3],
        mode: u32, nlink: u32, uid: u32, gid: u32, rdev: u32, blksize: u32, flags: u32,
    }
    /// Answer to a look-up.
    EntryOut: 128 {
        node: u64, generation: u64, entry_valid: u64, attr_valid: u64, entry_nsec: u32, attr_nsec: u32,
        attr: Attr,
    }
    /// Answer to a question for attributes.
    AttrOut: 104 { valid: u64, nsec: u32, dummy: u32, attr: Attr }
    /// A file is opened.
    OpenIn: 8 { flags: u32, open_flags: u32 }
    /// Answer to it.
    OpenOut: 16 { handle: u64, flags: u32, backing: i32 }
    /// A descriptor was closed; of the last reference, too.
    CloseIn: 24 { handle: u64, first: u32, second: u32, owner: u64 }
    /// A request to the driver.
    IoctlIn: 32 { handle: u64, flags: u32, request: u32, argument: u64, in_size: u32, out_size: u32 }
    /// Answer to it.
    IoctlOut: 16 { result: i32, flags: u32, in_vectors: u32, out_vectors: u32 }
    /// A caller was hit by a signal.
    InterruptIn: 8 { unique: u64 }
    /// Argument of [`BACKING_OPEN`].
    BackingMap: 16 { fd: i32, flags: u32, padding: u64 }
}

/// Operations that are answered.
pub(super) mod op {
    pub(crate) const LOOKUP: u32 = 1;
    pub(crate) const FORGET: u32 = 2;
    pub(crate) const GETATTR: u32 = 3;
    pub(crate) const OPEN: u32 = 14;
    pub(crate) const RELEASE: u32 = 18;
    pub(crate) const FLUSH: u32 = 25;
    pub(crate) const INIT: u32 = 26;
    pub(crate) const INTERRUPT: u32 = 36;
    pub(crate) const IOCTL: u32 = 39;
    pub(crate) const BATCH_FORGET: u32 = 42;
}

/// `FUSE_INIT_EXT`: `flags2` counts.
pub(super) const INIT_EXT: u32 = 1 << 30;
/// `FUSE_PASSTHROUGH`, in `flags2`.
pub(super) const PASSTHROUGH: u32 = 1 << 5;
/// `FOPEN_PASSTHROUGH`: reads, writes and mappings go to the backing file.
pub(super) const OPEN_PASSTHROUGH: u32 = 1 << 7;
/// `FUSE_DEV_IOC_BACKING_OPEN`.
pub(super) const BACKING_OPEN: u32 = 0x4010_E501;
/// Bytes that the longest message needs: the kernel refuses to hand out messages to less.
pub(super) const BUFFER: usize = 160 << 10;
/// Bytes of the longest write, which nobody issues.
pub(super) const MAX_WRITE: u32 = 64 << 10;
/// The mounted folder.
pub(super) const ROOT: u64 = 1;
