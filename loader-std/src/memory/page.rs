//! Scratchpad pages (manifests.md §20.3, rulings.md R20).

use crate::refusal::Refusal;
use loader_core::error::ToolCode;
use loader_core::policy::Policy;
use serde::Serialize;

/// How the scratchpad is made of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One range of adjacent pages.
    Contiguous,
    /// Pages anywhere.
    Paged,
}

/// The page that scratchpads are rounded to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Bytes, above 0.
    pub bytes: u64,
    /// The mode that such pages belong to.
    pub mode: Mode,
}

/// The two variables that set the page, in MiB; the first that is set counts (§20.3, X19). The first one takes
/// multiples of 512 only (staging.md §8.4), the second any number (Z15).
const VARIABLES: [(&str, u64); 2] =
    [("NEURON_SCRATCHPAD_PAGE_SIZE", 512), ("NEURON_RT_ONE_TMPBUF_PAGE_SIZE_MB", 1)];

/// The variable that says whether the pages are one range (§20.3, driver-abi.md §13.3).
const CONTIGUOUS: &str = "NEURON_RT_CONTIGUOUS_SCRATCHPAD";

/// Whether the environment asks for one range of pages, or for pages anywhere; `None` if it says nothing.
///
/// # Errors
/// M109 if the variable is neither `0` nor `1`, `false` nor `true`.
pub fn contiguous(look_up: impl Fn(&str) -> Option<String>) -> Result<Option<bool>, Refusal> {
    let text = look_up(CONTIGUOUS).unwrap_or_default();
    match text.trim().to_ascii_lowercase().as_str() {
        "" => Ok(None),
        "0" | "false" => Ok(Some(false)),
        "1" | "true" => Ok(Some(true)),
        _ => Err(Refusal::named(ToolCode::BadContiguous, text.as_bytes())),
    }
}

impl Default for Page {
    /// 64 MiB, contiguous (R20).
    fn default() -> Self {
        Self { bytes: Policy::CONTIGUOUS_PAGE, mode: Mode::Contiguous }
    }
}

impl Page {
    /// Pages of that many bytes. The mode is contiguous for the default size, else paged, since
    /// the contiguous mode ignores the page-size variable (§20.3, Confirmed).
    ///
    /// # Errors
    /// M104 for anything but whole MiB, and for 4 GiB and more (lowering.md §7.4).
    pub fn of(bytes: u64) -> Result<Self, Refusal> {
        if bytes == 0 || !bytes.is_multiple_of(1 << 20) || bytes > u64::from(u32::MAX) {
            return Err(Refusal::named(ToolCode::BadPageSize, bytes.to_string().as_bytes()));
        }
        Ok(Self::of_any(bytes))
    }

    /// The same for any number: what a load makes of an odd one is its own affair.
    #[must_use]
    pub const fn of_any(bytes: u64) -> Self {
        let contiguous = bytes == Policy::CONTIGUOUS_PAGE;
        Self { bytes, mode: if contiguous { Mode::Contiguous } else { Mode::Paged } }
    }

    /// The same in the mode that [`contiguous`] found, if it found one that such pages can be in.
    #[must_use]
    pub const fn in_mode(self, contiguous: Option<bool>) -> Self {
        match contiguous {
            Some(false) => Self { mode: Mode::Paged, ..self },
            _ => self,
        }
    }

    /// A policy with this page.
    #[must_use]
    pub const fn of_policy(self, policy: Policy) -> Policy {
        let contiguous_scratchpad = matches!(self.mode, Mode::Contiguous);
        Policy { page_size: self.bytes, contiguous_scratchpad, ..policy }
    }

    /// The page that the environment asks for; `look_up` gives a variable's value. An empty one is not set. The
    /// contiguous mode, where it is asked for by name, ignores the page-size variables; without it pages have 512 MiB
    /// unless one is set (§20.3, staging.md §8.4).
    ///
    /// # Errors
    /// M104 if the variable is no number of MiB that it takes; as [`contiguous`].
    pub fn from_environment(look_up: impl Fn(&str) -> Option<String>) -> Result<Self, Refusal> {
        let contiguous = contiguous(&look_up)?;
        if contiguous == Some(true) {
            return Ok(Self::default());
        }
        let set = |&(name, step): &(&str, u64)| {
            let text = look_up(name).filter(|text| !text.trim().is_empty())?;
            Some((text, step))
        };
        let Some((text, step)) = VARIABLES.iter().find_map(set) else {
            let paged = Self { bytes: Policy::PAGED_PAGE, mode: Mode::Paged };
            return Ok(if contiguous.is_some() { paged } else { Self::default() });
        };
        let mib = text.trim().parse::<u64>().ok().filter(|mib| mib.is_multiple_of(step));
        let mib = mib.and_then(|mib| mib.checked_mul(1 << 20));
        let bad = || Refusal::named(ToolCode::BadPageSize, text.as_bytes());
        Ok(Self::of(mib.unwrap_or(0)).map_err(|_| bad())?.in_mode(contiguous))
    }

    /// The sum of scratchpads, each rounded up to whole pages.
    ///
    /// # Errors
    /// M105 for a sum above 64 bits.
    pub fn rounded(self, scratchpads: impl IntoIterator<Item = u64>) -> Result<u64, Refusal> {
        const WHAT: &str = "the scratchpad in pages";
        let page = self.bytes.max(1);
        let one = |bytes: u64| bytes.div_ceil(page).checked_mul(page);
        let pages: Option<Vec<u64>> = scratchpads.into_iter().map(one).collect();
        super::sum(WHAT, pages.ok_or_else(|| super::too_large(WHAT))?)
    }
}
