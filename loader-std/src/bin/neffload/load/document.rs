//! The document of `load --json`.

use crate::output::{Document, verdict};
use loader_core::container::{Header, Lossless, Uuid};
use loader_core::policy::Policy;
use loader_std::LoadError;
use loader_std::inspect::warnings_json;
use loader_std::loader::{Facts, LoadTimes};
use neuron_drivers::sim::Config;
use serde_json::{Value, json};
use std::time::Duration;

/// Nanoseconds of each step.
fn times(times: &LoadTimes) -> Value {
    json!({
        "guard": nanos(times.guard),
        "unpack": nanos(times.unpack),
        "manifest": nanos(times.manifest),
        "lower": nanos(times.lower),
        "plan": nanos(times.plan),
        "stage": nanos(times.stage),
        "register": nanos(times.register),
        "total": nanos(times.total),
    })
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A load that worked.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) facts: Facts,
    /// `h_nn` and `h_model`.
    pub(super) handles: (u32, u32),
    pub(super) state: &'static str,
    pub(super) config: Config,
    pub(super) policy: Policy,
    pub(super) lnc: u32,
    pub(super) cores: Value,
}

/// How a load ended.
#[derive(Debug)]
pub(super) enum Outcome {
    Loaded(Box<Loaded>),
    Refused(LoadError),
}

impl Outcome {
    /// The document.
    pub(super) fn document(&self) -> Document {
        match self {
            Self::Loaded(loaded) => loaded.document(),
            Self::Refused(refused) => refusal(refused),
        }
    }
}

impl Loaded {
    fn document(&self) -> Document {
        let facts = &self.facts;
        let mut document = Document::new("load");
        document
            .set("verdict", verdict::accepted())
            .set("device", device(&self.config))
            .set("model", model(&facts.header, Some(self.handles), self.state));
        surroundings(&mut document, &self.config, &self.policy, self.lnc);
        document
            .set("digest_order", facts.digest.order.map(|order| order.name()))
            .set("cores", self.cores.clone())
            .set("timing_ns", times(&facts.times))
            .set("passes", facts.passes)
            .set("mode", if facts.streamed { "streamed" } else { "resident" })
            .set("strict", self.policy.strict)
            .set("mac_count", facts.mac_count)
            .set("trace_id", format!("{:#018x}", facts.trace_id))
            .set(
                "peak",
                json!({
                    "arena_bytes": facts.arena_bytes(), "payload_bytes": facts.payload_bytes, "rss_bytes": resident_bytes(),
                }),
            )
            .set("warnings", warnings_json(&facts.notes));
        document
    }
}

/// What the result depends on beside the file.
pub(crate) fn surroundings(document: &mut Document, config: &Config, policy: &Policy, lnc: u32) {
    document
        .set("profile", config.profile.name())
        .set("page_size", policy.page_size)
        .set("scratchpad_mode", if policy.contiguous_scratchpad { "contiguous" } else { "paged" })
        .set("lnc", lnc);
}

fn refusal(refused: &LoadError) -> Document {
    let mut document = Document::new("load");
    document.set("verdict", verdict::refused(refused, refused));
    if let Some(header) = refused.header() {
        document.set("model", model(header, None, "refused"));
    }
    document.set("warnings", warnings_json(refused.notes()));
    document
}

pub(crate) fn device(config: &Config) -> Value {
    json!({"kind": "sim", "arch": config.arch.name(), "cores": config.cores, "store": config.content.name()})
}

fn model(header: &Header, handles: Option<(u32, u32)>, state: &str) -> Value {
    json!({
        "name": Lossless(header.name.as_bytes()).to_string(),
        "uuid": Uuid(&header.uuid).to_string(),
        "h_nn": handles.map(|(h_nn, _)| h_nn),
        "h_model": handles.map(|(_, h_model)| h_model),
        "state": state,
    })
}

/// The most memory this process had resident, as the system counts it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
