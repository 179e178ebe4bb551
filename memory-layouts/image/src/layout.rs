//! The layout's constants.
#![allow(dead_code, reason = "no image needs every key")]

use loader_core::limits::Limits;
use loader_core::policy::Policy;
use neffload_agent::Options;
use neuron_drivers::sim::Profile;

include!(concat!(env!("OUT_DIR"), "/layout.rs"));

/// What the layout's profile is called in the simulator.
pub fn profile() -> Profile {
    if DEVICE_PROFILE == "DRIVER" { Profile::Driver } else { Profile::Flat }
}

/// The options that the layout fixes.
pub fn options() -> Options {
    let limits = Limits {
        inflated_bytes: LIMITS_INFLATED_BYTES,
        members: LIMITS_MEMBERS,
        json_depth: LIMITS_JSON_DEPTH,
        ..Limits::DEFAULT
    };
    Options { limits, policy: Policy::DEFAULT, keep: MEMORY_KEEP, core: 0 }
}
