//! How much device memory a file will need, from its manifests alone (manifests.md §20).
//!
//! The figures are those of the known analyser, which was compared with the runtime's own: constants
//! exact, code within 0.1 MiB, descriptor rings over-counted by about 40 %. Its quirks are kept: a
//! raw weight counts as code and as constant, `tmp-buf` is not part of the scratchpad. Everything
//! is read in tooling mode, so a file that no loader would take is measured as well.
//!
//! ```
//! use loader_std::memory::{Page, Together};
//!
//! let page = Page::default();
//! let mib = |n: f64| (n * 1048576.0) as u64;
//! assert_eq!(page.rounded([mib(688.29), mib(28.07)]).unwrap(), 768 << 20);
//! assert_eq!(Together::of(&[]).unwrap().total, 0);
//! ```

mod cores;
mod page;
mod rings;
mod variables;

pub use cores::{Core, Tensor};
pub use page::{Mode, Page, contiguous};

use crate::chain::{self, Graph};
use crate::members::Members;
use crate::refusal::Refusal;
use loader_core::error::{Code, ContainerCode, ToolCode};
use serde::Serialize;

/// What the runtime itself takes, whatever is loaded (Confirmed measurement of one installation).
pub const RUNTIME_FIXED: u64 = 72 << 20;
/// What the runtime takes for each loaded file (likewise).
pub const RUNTIME_PER_FILE: u64 = 4 << 20;

/// The estimate for one file. All figures are bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Scratchpad page.
    pub page_bytes: u64,
    /// How the scratchpad is made of pages (R20).
    pub scratchpad_mode: Mode,
    /// One per subgraph, in the descriptor's order.
    pub cores: Vec<Core>,
    /// The scratchpads of all cores, each rounded up to pages.
    pub scratchpad_rounded: u64,
    /// Code, constants and rings of all cores.
    pub persistent_bytes: u64,
    /// The runtime's own, if this is the only file.
    pub runtime_bytes: u64,
    /// Everything, if this is the only file.
    pub total_one_graph: u64,
}

impl Estimate {
    /// Measures a file. Only the JSON members are looked into: see [`Estimate::wants`].
    ///
    /// # Errors
    /// The refusal of the first hop of the chain that fails; N108, N109 or N110 for a member or key
    /// that the figures need; E122 for a variable that is there twice; M105 for a figure above 64 bits.
    pub fn of(members: &impl Members, page: Page) -> Result<Self, Refusal> {
        let core = |graph: Graph| Core::of(members, &graph);
        let cores = chain::graphs(members)?.into_iter().map(core);
        Self::from_cores(cores.collect::<Result<_, _>>()?, page)
    }

    /// True if the estimate looks into a member of that name.
    #[must_use]
    pub fn wants(name: &[u8]) -> bool {
        name.ends_with(b".json")
    }

    fn from_cores(cores: Vec<Core>, page: Page) -> Result<Self, Refusal> {
        let scratchpad_rounded = page.rounded(cores.iter().map(|core| core.scratchpad_bytes))?;
        let persistent_bytes = sum("the resident bytes", cores.iter().map(|core| core.persistent_bytes))?;
        let runtime_bytes = RUNTIME_FIXED + RUNTIME_PER_FILE;
        Ok(Self {
            page_bytes: page.bytes,
            scratchpad_mode: page.mode,
            cores,
            scratchpad_rounded,
            persistent_bytes,
            runtime_bytes,
            total_one_graph: sum("the total", [scratchpad_rounded, persistent_bytes, runtime_bytes])?,
        })
    }
}

/// The estimate for files that are loaded together. All figures are bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Together {
    /// The largest scratchpad: all files share one.
    pub scratchpad: u64,
    /// Code, constants and rings of all files.
    pub resident: u64,
    /// The runtime's own.
    pub runtime: u64,
    /// Everything; 0 for no file.
    pub total: u64,
}

impl Together {
    /// Adds the files up (§20.3).
    ///
    /// # Errors
    /// M105 for a sum above 64 bits.
    pub fn of<'e>(files: impl IntoIterator<Item = &'e Estimate>) -> Result<Self, Refusal> {
        let mut sum = Self::default();
        for file in files {
            let fixed = if sum.runtime == 0 { RUNTIME_FIXED } else { 0 };
            sum.scratchpad = sum.scratchpad.max(file.scratchpad_rounded);
            sum.resident =
                self::sum("the resident bytes of all files", [sum.resident, file.persistent_bytes])?;
            sum.runtime = self::sum("the runtime's bytes", [sum.runtime, fixed, RUNTIME_PER_FILE])?;
        }
        sum.total = self::sum("the total of all files", [sum.scratchpad, sum.resident, sum.runtime])?;
        Ok(sum)
    }
}

/// The line that the known analyser prints for a file that it cannot measure (§20.5).
#[must_use]
pub fn analyser_line(path: &str, refusal: &Refusal) -> String {
    let code = match refusal.error.code() {
        Code::Container(ContainerCode::TooShort | ContainerCode::HeaderSize) => ToolCode::NoHeader,
        Code::Container(_) => ToolCode::UnreadablePayload,
        Code::Tool(code @ (ToolCode::NoHeader | ToolCode::UnreadablePayload)) => code,
        _ => ToolCode::UnexpectedLayout,
    };
    let text = code.info().text.replace("{name}", &cause(refusal));
    format!("{path}: {text}")
}

fn cause(refusal: &Refusal) -> String {
    match &refusal.member {
        Some(member) => format!("{member}: {}", refusal.text()),
        None => refusal.text(),
    }
}

/// A sum that must fit 64 bits (§23: checked arithmetic); `what` names the figure.
fn sum(what: &str, figures: impl IntoIterator<Item = u64>) -> Result<u64, Refusal> {
    let total = figures.into_iter().try_fold(0u64, u64::checked_add);
    total.ok_or_else(|| too_large(what))
}

/// A figure that does not fit 64 bits.
fn too_large(what: &str) -> Refusal {
    Refusal::named(ToolCode::FigureOverflow, what.as_bytes())
}
