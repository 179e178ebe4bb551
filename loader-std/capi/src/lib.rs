//! `libnrt.so.1`: the names and status numbers of the Neuron runtime's C interface over
//! [`loader_std::Loader`], so that a program written for that library links and runs.
//!
//! | module | holds |
//! |---|---|
//! | `abi` | the exported functions: pointers in, pointers out, one status. The only unsafe code |
//! | `library` | what a process has once: settings and the runtime's state |
//! | `session` | what lives from `nrt_init` to `nrt_close`: the device, and the tables of handles |
//! | `model`, `execute` | a loaded model; its operands bound to tensors |
//! | `tensor`, `set` | blocks of device memory and named groups of them |
//!
//! A handle is a number in the clothes of a pointer. No handle is ever dereferenced: it is looked up in a table,
//! numbers are not used twice, and each kind of object has a table of its own. So a handle that was freed, that
//! was made before the last `nrt_close`, or that never was one is answered with status 3 and nothing else happens.
//!
//! There is no engine behind this library. `nrt_execute` binds the tensors as the runtime would, writes their
//! addresses into the instruction images, and then says that it is not implemented; what else is not
//! implemented says so at once. The header has no number of its own for that, so it is `NRT_FAILURE` with the
//! text of `neffload_last_error`. Nothing reports success for what was not done.
//!
//! `README.md` beside this crate lists the environment variables.
#![deny(unsafe_code)]

#[allow(unsafe_code, reason = "the ABI takes pointers")]
pub mod abi;
mod device;
mod execute;
mod failure;
mod handles;
mod library;
mod model;
mod session;
mod set;
mod settings;
mod status;
mod tensor;
mod tensor_info;

#[cfg(test)]
mod tests;
