//! The C interface: what it exports, and programs in C and C++ against it.

mod interface;
mod programs;
