#![allow(clippy::unwrap_used)]

use super::*;
use core::mem::{offset_of, size_of};

macro_rules! layout {
    ($name:ident, $size:literal, $($field:ident @ $offset:literal),*) => {
        assert_eq!(size_of::<$name>(), $size, stringify!($name));
        $(assert_eq!(offset_of!($name, $field), $offset, concat!(stringify!($name), ".", stringify!($field)));)*
    };
}

/// driver-abi.md §16.
#[test]
#[rustfmt::skip]
fn later_layouts_are_the_written_ones() {
    layout!(MemCopy64Sequence, 56, src_mem_handle @ 0, dst_mem_handle @ 8, size @ 16, src_offset @ 24, dst_offset @ 32, sequence_num @ 40, context @ 48);
    layout!(MemAllocV2MemType64Pa, 64, size @ 0, align @ 8, host_memory @ 16, dram_channel @ 20, nc_id @ 28, mem_type @ 32, mem_handle @ 40, pa @ 56);
    layout!(ZeroCopy48, 48, mem_handle @ 0, buffer @ 8, size @ 16, offset @ 24, is_copy_to_device @ 32, bar4_wr_threshold @ 36, h2t_qid @ 40);
    layout!(ZeroCopy64, 64, mem_handle @ 0, h2t_qid @ 40, sequence_num @ 48, context @ 56);
    layout!(ZeroCopyBatches, 32, sequence_num @ 0, batches @ 8, count @ 16, is_copy_to_device @ 20, h2t_qid @ 24, flags @ 28);
    layout!(ZeroCopyBatch, 40, mem_handle @ 0, mem_handle_offset @ 8, ops @ 16, op_count @ 24, bar4_wr_threshold @ 28, flags @ 30, context @ 32);
    layout!(ZeroCopyOp, 24, offset @ 0, size @ 8, buffer @ 16);
    layout!(H2tAllocQueues, 20, sz @ 0, nc_id @ 2, copy_count @ 4, service_count @ 6, copy_bitmap @ 8, service_bitmap @ 12, default_queue @ 16);
    layout!(H2tFreeQueues, 8, sz @ 0, nc_id @ 2, bitmap @ 4);
    layout!(Profile, 8, sz @ 0, control @ 2, profile @ 4);
    layout!(VaPlacement, 16, va @ 0, device @ 8, hbm @ 12);
    layout!(AvailableProfiles, 36, feature @ 0, count @ 2, bitmap @ 3);
    layout!(CompletionQueue, 16, mmap_offset @ 0, mmap_size @ 8);
    layout!(CompletionQueues, 264, nc_id @ 0, bitmap @ 4, queues @ 8);
    layout!(HostMemPin, 24, va @ 0, size @ 8, pa @ 16);
    layout!(HostMemUnpin, 8, va @ 0);
    layout!(DmabufFdV2, 32, va @ 0, size @ 8, fd @ 16, offset @ 24);
    layout!(BarInfo, 200, query @ 0, count @ 4, kinds @ 8, bars @ 72);
}

#[test]
fn fields_are_little_endian() {
    let mut raw = [0u8; 8];
    raw[0] = 11;
    raw[4] = 10;
    let version = CompatibleVersion::from_bytes(&raw).unwrap();
    assert_eq!((version.max.get(), version.min.get()), (11, 10));
}
