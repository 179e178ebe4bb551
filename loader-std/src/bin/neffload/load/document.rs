//! The document of `load --json`.

use crate::output::{Document, verdict};
use loader_core::container::{Header, Lossless, Uuid};
use loader_core::policy::Policy;
use neuron_drivers::sim::Config;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Nanoseconds of each step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub(super) steps: [(&'static str, u64); 7],
    pub(super) total: u64,
}

impl Times {
    /// Steps of a load in their order.
    pub(super) const STEPS: [&'static str; 7] =
        ["guard", "unpack", "manifest", "lower", "plan", "stage", "register"];

    /// The document's object.
    fn json(&self) -> Value {
        let mut map: Map<String, Value> =
            self.steps.iter().map(|(name, nanos)| ((*name).to_owned(), (*nanos).into())).collect();
        map.insert("total".to_owned(), self.total.into());
        Value::Object(map)
    }
}

/// Nanoseconds of a duration.
pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Most memory in use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peak {
    pub(super) arena: u64,
    pub(super) payload: u64,
}

/// A load that worked.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) header: Header,
    pub(super) config: Config,
    pub(super) policy: Policy,
    pub(super) lnc: u32,
    pub(super) cores: Value,
    pub(super) times: Times,
    pub(super) passes: u32,
    pub(super) streamed: bool,
    pub(super) peak: Peak,
    pub(super) warnings: Value,
    pub(super) digest_order: Option<&'static str>,
}

/// A load that was refused: the verdict and what was known.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) verdict: Value,
    pub(super) header: Option<Header>,
    pub(super) warnings: Value,
}

/// How a load ended.
#[derive(Debug)]
pub(super) enum Outcome {
    Loaded(Box<Loaded>),
    Refused(Box<Refused>),
}

impl Outcome {
    /// The document.
    pub(super) fn document(&self) -> Document {
        match self {
            Self::Loaded(loaded) => loaded.document(),
            Self::Refused(refused) => refused.document(),
        }
    }
}

/// First public id and first key (R24).
const FIRST_HANDLE: u32 = 1;

impl Loaded {
    fn document(&self) -> Document {
        let mut document = Document::new("load");
        document
            .set("verdict", verdict::accepted())
            .set("device", device(&self.config))
            .set("model", model(&self.header, Some(FIRST_HANDLE), "ready"))
            .set("profile", self.config.profile.name())
            .set("page_size", self.policy.page_size)
            .set("scratchpad_mode", if self.policy.contiguous_scratchpad { "contiguous" } else { "paged" })
            .set("lnc", self.lnc)
            .set("digest_order", self.digest_order)
            .set("cores", self.cores.clone())
            .set("timing_ns", self.times.json())
            .set("passes", self.passes)
            .set("mode", if self.streamed { "streamed" } else { "resident" })
            .set("strict", self.policy.strict)
            .set(
                "peak",
                json!({
                    "arena_bytes": self.peak.arena, "payload_bytes": self.peak.payload, "rss_bytes": resident_bytes(),
                }),
            )
            .set("warnings", self.warnings.clone());
        document
    }
}

impl Refused {
    fn document(&self) -> Document {
        let mut document = Document::new("load");
        document.set("verdict", self.verdict.clone());
        if let Some(header) = &self.header {
            document.set("model", model(header, None, "refused"));
        }
        document.set("warnings", self.warnings.clone());
        document
    }
}

fn device(config: &Config) -> Value {
    json!({"kind": "sim", "arch": config.arch.name(), "cores": config.cores, "store": config.content.name()})
}

fn model(header: &Header, handle: Option<u32>, state: &str) -> Value {
    json!({
        "name": Lossless(header.name.as_bytes()).to_string(),
        "uuid": Uuid(&header.uuid).to_string(),
        "h_nn": handle,
        "h_model": handle,
        "state": state,
    })
}

/// The most memory this process had resident, as the system counts it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
