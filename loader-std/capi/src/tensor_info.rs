//! The array that `nrt_get_model_tensor_info` gives: one allocation with a count, the records, then all shapes.

use crate::failure::{Answer, Failure};
use crate::model::IoTensor;
use crate::model::names::{self, FIELD as NAME};
use loader_core::error::Stage;
use loader_std::room::{self, Full};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of one record.
pub(crate) const RECORD: usize = NAME + 40;
/// Bytes before the first record.
pub(crate) const HEAD: usize = 8;

/// Arrays that programs hold. They outlive a close, because a program may still read them.
static LENT: Mutex<BTreeMap<usize, Vec<u64>>> = Mutex::new(BTreeMap::new());

fn lent() -> MutexGuard<'static, BTreeMap<usize, Vec<u64>>> {
    LENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the array of a model's inputs and outputs and gives its address. A name that does not fit is refused: cut, it
/// would be that of no tensor, or of another one.
pub(crate) fn lend(tensors: &[IoTensor]) -> Answer<usize> {
    for tensor in tensors {
        names::carried(&tensor.name, tensor.kind())?;
    }
    let records = HEAD + RECORD * tensors.len();
    let extents: usize = tensors.iter().map(|tensor| tensor.shape.len()).sum();
    let count = records / 8 + extents.div_ceil(2);
    let refused = |full: Full| Failure::call(&full.error(Stage::Register, "the tensor information"));
    // Words, because the records hold 64-bit fields; the buffer of a vector does not move with it.
    let mut words: Vec<u64> = room::zeroed(count).map_err(refused)?;
    let address = words.as_mut_ptr().expose_provenance();
    let mut bytes = Vec::new();
    room::grow(&mut bytes, 8 * count).map_err(refused)?;
    image(tensors, address + records, &mut bytes);
    for (word, eight) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut full = [0; 8];
        full[..eight.len()].copy_from_slice(eight);
        *word = u64::from_ne_bytes(full);
    }
    lent().insert(address, words);
    Ok(address)
}

/// Frees an array; false if there is none at that address.
pub(crate) fn take_back(address: usize) -> bool {
    lent().remove(&address).is_some()
}

/// Appends the bytes of the whole array; shapes begin at `shapes`.
fn image(tensors: &[IoTensor], mut shapes: usize, bytes: &mut Vec<u8>) {
    bytes.extend((tensors.len() as u64).to_ne_bytes());
    for tensor in tensors {
        let mut name = [0; NAME];
        for (place, byte) in name.iter_mut().zip(&tensor.name) {
            *place = *byte;
        }
        bytes.extend(name);
        bytes.extend(u32::from(tensor.output).to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend(tensor.size.to_ne_bytes());
        bytes.extend(tensor.dtype.to_ne_bytes());
        bytes.extend([0; 4]);
        bytes.extend((if tensor.shape.is_empty() { 0 } else { shapes as u64 }).to_ne_bytes());
        bytes.extend((tensor.shape.len() as u32).to_ne_bytes());
        bytes.extend([0; 4]);
        shapes += 4 * tensor.shape.len();
    }
    for extent in tensors.iter().flat_map(|tensor| &tensor.shape) {
        bytes.extend(extent.to_ne_bytes());
    }
}
