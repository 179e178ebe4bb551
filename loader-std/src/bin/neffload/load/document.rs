//! The document of `load --json`.

use super::Asked;
use crate::output::{Document, verdict};
use loader_core::arch::Arch;
use loader_core::container::{Header, Lossless, Uuid};
use loader_std::LoadError;
use loader_std::inspect::warnings_json;
use loader_std::loader::{Facts, LoadTimes};
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
    /// What is known of a real device.
    pub(super) device: Option<Value>,
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
    /// Takes the times of another round if it was faster, or its refusal. All else stays that of the first round, which
    /// is also the one that is dumped.
    pub(super) fn improve(&mut self, new: Self) {
        match (&mut *self, new) {
            (Self::Loaded(best), Self::Loaded(new)) => {
                if new.facts.times.total < best.facts.times.total {
                    best.facts.times = new.facts.times;
                }
            }
            (_, new) => *self = new,
        }
    }

    /// The document.
    pub(super) fn document(&self, asked: &Asked) -> Document {
        match self {
            Self::Loaded(loaded) => loaded.document(asked),
            Self::Refused(refused) => refusal("load", refused, asked),
        }
    }
}

impl Loaded {
    fn document(&self, asked: &Asked) -> Document {
        let facts = &self.facts;
        let mut document = Document::new("load");
        document.set("verdict", verdict::accepted());
        surroundings(&mut document, asked, Some(facts.arch), Some(self.lnc));
        if let Some(device) = &self.device {
            document.set("device", device.clone());
        }
        document
            .set("model", model(&facts.header, Some(self.handles), self.state))
            .set("digest_order", facts.digest.order.map(|order| order.name()))
            .set("cores", self.cores.clone())
            .set("timing_ns", times(&facts.times))
            .set("passes", facts.passes)
            .set("mode", if facts.streamed { "streamed" } else { "resident" })
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

/// What the result depends on beside the file, as far as it is known.
pub(crate) fn surroundings(document: &mut Document, asked: &Asked, arch: Option<Arch>, lnc: Option<u32>) {
    let policy = asked.policy();
    document
        .set("device", asked.device.json(arch))
        .set("profile", asked.device.profile())
        .set("page_size", policy.page_size)
        .set("scratchpad_mode", if policy.contiguous_scratchpad { "contiguous" } else { "paged" })
        .set("lnc", policy.lnc.or(lnc))
        .set("strict", policy.strict);
}

/// The document of a refused `load` or `plan`.
pub(crate) fn refusal(subcommand: &str, refused: &LoadError, asked: &Asked) -> Document {
    let mut document = Document::new(subcommand);
    document.set("verdict", verdict::refused(refused, refused));
    let lnc = refused.header().map(|header| header.lnc_size.max(1));
    surroundings(&mut document, asked, None, lnc);
    if let Some(header) = refused.header() {
        document.set("model", model(header, None, "refused"));
    }
    document.set("warnings", warnings_json(refused.notes()));
    document
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
