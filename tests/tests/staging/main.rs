//! S4 and S5: the cases of staging.md §21 and the real files on the simulated device.

mod code;
mod life;
mod memory;
mod places;
mod real;
mod remarks;
mod rings;
mod threads;
