//! Devices for the NEFF loader.
#![no_std]
