//! The file, read with `pread64`.

use super::system;
use core::ffi::CStr;
use loader_core::error::{ContainerCode, Error, Stage};
use loader_core::source::Source;
use neuron_drivers::neuron::{Access, Bare, Sys};

/// EISDIR: a folder can be opened, but not read.
const IS_FOLDER: i32 = 21;

/// An open file.
pub struct File {
    fd: i32,
    length: Option<u64>,
}

impl File {
    /// Opens a file to read.
    pub fn open(path: &CStr) -> Result<Self, i32> {
        let fd = Bare.open(path, Access::Read)?.0;
        if system::read_at(fd, 0, &mut [0]) == Err(IS_FOLDER) {
            return Err(IS_FOLDER);
        }
        Ok(Self { fd, length: system::length(fd).ok() })
    }
}

impl Source for File {
    fn len(&self) -> Option<u64> {
        self.length
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        loop {
            match system::read_at(self.fd, offset, out) {
                Err(system::INTERRUPTED) => {}
                Err(errno) => {
                    let error = Error::new(Stage::Unpack, ContainerCode::Read);
                    return Err(error.numbers(u64::from(errno.unsigned_abs()), 0).offset(offset));
                }
                Ok(count) => return Ok(count),
            }
        }
    }
}
