//! S4 and S5: the cases of staging.md §21 and the real files on the simulated device.

mod bounds;
mod code;
mod copies;
mod functions;
mod libraries;
mod life;
mod memory;
mod places;
mod positions;
mod real;
mod records;
mod register;
mod remarks;
mod rings;
mod scratchpad;
mod strict;
mod threads;
