//! What `load` and `plan` are asked alike.

use super::device::{self, DeviceSpec};
use crate::arguments::number;
use crate::trouble::Trouble;
use clap::Args;
use clap::builder::RangedU64ValueParser;
use loader_core::policy::Policy;
use loader_std::LoadOptions;
use loader_std::environment;
use loader_std::memory::Page;

/// A device, and how a file gets onto it.
#[derive(Args, Debug)]
pub(crate) struct Asked {
    /// `/dev/neuronN`, or `sim[:ARCH[:CORES]][,store=full|digest|discard][,profile=P]`; ARCH defaults to the
    /// file's target, P is FLAT, FLAT_GUARD, DRIVER, NO_ALIGN or TINY:BYTES (of every memory channel)
    #[arg(long, default_value = "sim", value_parser = device::parse)]
    pub(crate) device: DeviceSpec,
    /// First physical core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) core: u16,
    /// Logical-core size of the host; the file's by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=2))]
    lnc: Option<u32>,
    /// Scratchpad page; 64M lies in one range, other sizes are paged. NEURON_SCRATCHPAD_PAGE_SIZE or
    /// NEURON_RT_ONE_TMPBUF_PAGE_SIZE_MB by default, else 64M. NEURON_RT_CONTIGUOUS_SCRATCHPAD=0 has all sizes paged,
    /// 512M by default. Images are aligned to 32 KiB, or to
    /// NEURON_RT_DBG_SEQ_IRAM_BLOCK_SIZES_KB if that is more
    #[arg(long, value_name = "N", value_parser = number)]
    page_size: Option<u64>,
    /// Do not check the payload digest
    #[arg(long)]
    no_verify: bool,
    /// Refuse what is not understood to the last bit instead of reporting it, and a key twice in any object of a
    /// manifest (neff.json, the KELF, definitions, engine files); sidecars such as hlo_stats.json only make remarks
    #[arg(long, conflicts_with = "allow_opaque")]
    strict: bool,
    /// Load opaque slots onto a real device; a simulated one always takes them
    #[arg(long)]
    allow_opaque: bool,
    /// Take a file of another architecture, or without the carve-outs its own asks for, as
    /// NEURON_RT_ALLOW_LEGACY_NEFF=1 does
    #[arg(long)]
    allow_legacy: bool,
    /// Threads that fill cores; one per core by default, one when the file is streamed
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    threads: Option<usize>,
}

/// Refuses an environment that no load can go by.
pub(crate) fn check_environment() -> Result<(), Trouble> {
    let asked = || {
        environment::engine_block()?;
        environment::fp8()?;
        environment::exec_timeout()
    };
    asked().map(drop).map_err(|refusal| Trouble::Usage(refusal.to_string()))
}

impl Asked {
    /// The scratchpad page: the command line's, else the environment's.
    fn page(&self) -> Result<Page, Trouble> {
        let stated = |bytes| environment::page_of(Page::of_any(bytes));
        let page = self.page_size.map_or_else(environment::page, stated);
        page.map_err(|refusal| Trouble::Usage(refusal.to_string()))
    }

    /// Refuses an environment that makes no sense, before anything is read.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        self.page()?;
        check_environment()
    }

    pub(super) fn policy(&self) -> Policy {
        let environment = environment::policy();
        let policy = Policy {
            host_arch: self.device.arch(),
            lnc: self.lnc,
            verify_digest: !self.no_verify,
            report_digest: true,
            strict: self.strict,
            unique_keys: self.strict,
            allow_legacy: self.allow_legacy || environment.allow_legacy,
            allow_opaque: self.allow_opaque,
            ..environment
        };
        self.page().unwrap_or_default().of_policy(policy)
    }

    pub(crate) fn options(&self) -> LoadOptions {
        LoadOptions {
            core: self.core,
            policy: self.policy(),
            timeout: environment::exec_timeout().unwrap_or(Policy::EXEC_TIMEOUT),
            threads: self.threads.unwrap_or(0),
            ..LoadOptions::default()
        }
    }
}
