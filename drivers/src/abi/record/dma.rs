//! DMA engines, queues and their state (driver-abi.md §5).

use super::records;
use zerocopy::little_endian::{U32, U64};

records! {
    "`dma_copy_descriptors`, 32 bytes."
    DmaCopyDescriptors: 32 {
        mem_handle: U64, "In, +0.";
        buffer: U64, "In, +8, user address of bytes.";
        num_descs: U32, "In, +16.";
        offset: U32, "In, +20.";
        queue_type: U32, "In, +24, an enumeration.";
        pad: [u8; 4], "Padding.";
    }
    "`dma_copy_descriptors64`, 40 bytes."
    DmaCopyDescriptors64: 40 {
        mem_handle: U64, "In, +0.";
        buffer: U64, "In, +8, user address of bytes.";
        num_descs: U32, "In, +16.";
        pad: [u8; 4], "Padding.";
        offset: U64, "In, +24.";
        queue_type: U32, "In, +32, an enumeration.";
        pad1: [u8; 4], "Padding.";
    }
    "`dma_queue_init`, 48 bytes."
    DmaQueueInit: 48 {
        eng_id: U32, "In, +0.";
        qid: U32, "In, +4.";
        tx_desc_count: U32, "In, +8.";
        rx_desc_count: U32, "In, +12.";
        tx_handle: U64, "In, +16.";
        rx_handle: U64, "In, +24.";
        rxc_handle: U64, "In, +32.";
        axi_port: U32, "In, +40.";
        pad: [u8; 4], "Padding.";
    }
    "`dma_queue_init_batch`, 12296 bytes."
    DmaQueueInitBatch: 12296 {
        count: U32, "Field, +0.";
        pad: [u8; 4], "Padding.";
        entries: [DmaQueueInit; 256], "Field, +8.";
    }
    "`dma_queue_release`, 8 bytes."
    DmaQueueRelease: 8 {
        eng_id: U32, "In, +0.";
        qid: U32, "In, +4.";
    }
    "`dma_quiesce_queues`, 264 bytes."
    DmaQuiesceQueues: 264 {
        nc_id: U32, "In, +0.";
        engine_count: U32, "In, +4.";
        queue_mask: [U32; 64], "In, +8.";
    }
    "`dma_ack_completed`, 12 bytes."
    DmaAckCompleted: 12 {
        eng_id: U32, "In, +0.";
        qid: U32, "In, +4.";
        count: U32, "In, +8.";
    }
    "`dma_queue_copy_start`, 16 bytes."
    DmaQueueCopyStart: 16 {
        eng_id: U32, "In, +0.";
        qid: U32, "In, +4.";
        tx_desc_count: U32, "In, +8.";
        rx_desc_count: U32, "In, +12.";
    }
    "`dma_eng_init`, 4 bytes."
    DmaEngInit: 4 {
        eng_id: U32, "In, +0.";
    }
    "`dma_eng_set_state`, 8 bytes."
    DmaEngSetState: 8 {
        eng_id: U32, "In, +0.";
        state: U32, "In, +4.";
    }
    "`dma_eng_get_state`, 16 bytes."
    DmaEngGetState: 16 {
        eng_id: U32, "In, +0.";
        pad: [u8; 4], "Padding.";
        state: U64, "Out, +8, user address of `dma_eng_state`.";
    }
    "`dma_queue_get_state`, 24 bytes."
    DmaQueueGetState: 24 {
        eng_id: U32, "In, +0.";
        qid: U32, "In, +4.";
        tx: U64, "Out, +8, user address of `dma_queue_state`.";
        rx: U64, "Out, +16, user address of `dma_queue_state`.";
    }
    "`dma_descriptor_copyout`, 32 bytes."
    DmaDescriptorCopyout: 32 {
        eng_id: U32, "In, +0.";
        qid: U32, "In, +4.";
        kind: U32, "In, +8, an enumeration.";
        start_index: U32, "In, +12.";
        count: U32, "In, +16.";
        pad: [u8; 4], "Padding.";
        buffer: U64, "Out, +24, user address of bytes.";
    }
    "`neuron_dma_eng_state`, 20 bytes."
    DmaEngState: 20 {
        revision_id: U32, "Field, +0.";
        max_queues: U32, "Field, +4.";
        num_queues: U32, "Field, +8.";
        tx_state: U32, "Field, +12.";
        rx_state: U32, "Field, +16.";
    }
    "`neuron_dma_queue_state`, 48 bytes."
    DmaQueueState: 48 {
        hw_status: U32, "Field, +0.";
        sw_status: U32, "Field, +4.";
        base_addr: U64, "Field, +8.";
        length: U32, "Field, +16.";
        head_pointer: U32, "Field, +20.";
        tail_pointer: U32, "Field, +24.";
        pad: [u8; 4], "Padding.";
        completion_base_addr: U64, "Field, +32.";
        completion_head: U32, "Field, +40.";
        pad1: [u8; 4], "Padding.";
    }
}
