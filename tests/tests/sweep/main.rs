//! Loads that fail at every point, in every order, and many loads at once: on the simulated device, which judges them.
//!
//! A sample runs always; `cargo xtask test --full` runs everything. The longer form prints what it covered.

mod case;
mod churn;
mod faults;
mod growth;
mod order;
mod scale;
mod stores;
