//! The std shell of the NEFF loader.
