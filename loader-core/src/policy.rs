//! Choices that the specification leaves to the host, each with the ruling that set its default.

use crate::arch::Arch;

/// Values that replace those of a file's `fp8_conversion_config` (manifests.md §12.1): the reference reads them
/// from the environment, a caller of the core states them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fp8Overrides {
    /// Range extension.
    pub fp8_range_extension: Option<bool>,
    /// Largest exponent of e4m3.
    pub emax_fp8_e4m3: Option<u32>,
    /// Largest exponent of e5m2.
    pub emax_fp8_e5m2: Option<u32>,
    /// OCP saturation.
    pub ocp_sat: Option<bool>,
    /// `fp8_sis`.
    pub fp8_sis: Option<bool>,
    /// `fp8_sns`.
    pub fp8_sns: Option<bool>,
}

impl Fp8Overrides {
    /// The file's own values.
    pub const NONE: Self = Self {
        fp8_range_extension: None,
        emax_fp8_e4m3: None,
        emax_fp8_e5m2: None,
        ocp_sat: None,
        fp8_sis: None,
        fp8_sns: None,
    };
}

/// One function of the default library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultFunction {
    /// Function name.
    pub name: &'static str,
    /// Opcode.
    pub opcode: u8,
    /// Sub-opcode.
    pub sub_opcode: u8,
}

/// The extended-ISA library that the reference carries in its own bytes and adds to every file of one
/// architecture. This loader ships no firmware; a host that has it hands it in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultLibrary {
    /// Architecture that gets it: sunda by code, mariana by another reading (lowering.md X-11, Open).
    pub arch: Arch,
    /// Its name; `all` in the reference.
    pub name: &'static str,
    /// The firmware.
    pub content: &'static [u8],
    /// Its functions.
    pub functions: &'static [DefaultFunction],
}

/// How a load behaves where the evidence ends. `Default` follows `rulings.md`.
///
/// Where small code goes before speed, the choices that only hosts, tools and tests make are not there, and the rules of the
/// defaults are all that is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Architecture of the host's devices; `None` takes the file's own (nothing to compare with).
    #[cfg(not(small))]
    pub host_arch: Option<Arch>,
    /// Logical-core size of the host; `None` takes the file's (R24).
    pub lnc: Option<u32>,
    /// `NEURON_RT_ALLOW_LEGACY_NEFF`: relaxes the architecture gate and the missing carve-out, in every stage;
    /// a load then goes on with the file's architecture, not the device's (manifests.md §5.4).
    #[cfg(not(small))]
    pub allow_legacy: bool,
    /// Verify the payload digest (R23: on here, off in the reference).
    pub verify_digest: bool,
    /// Compute the payload digest and report it, even where it is not verified (tools).
    #[cfg(not(small))]
    pub report_digest: bool,
    /// Accept only the plainly stored digest, not the word-swapped one.
    #[cfg(not(small))]
    pub strict_digest: bool,
    /// Feature bits that are understood when the major version is 2 (container.md §5.1).
    pub supported_features: u64,
    /// Accept `local` and `shared` as variable types (manifests.md §7.10, Open; off).
    #[cfg(not(small))]
    pub accept_area_classes: bool,
    /// Place the area `alt` of virtual variables behind the area `main` instead of refusing it (lowering.md §7.1,
    /// Open; off).
    #[cfg(not(small))]
    pub append_alt_area: bool,
    /// Values that replace the file's FP8 conversion.
    #[cfg(not(small))]
    pub fp8: Fp8Overrides,
    /// The host's extended-ISA library (lowering.md §5.9).
    #[cfg(not(small))]
    pub default_library: Option<&'static DefaultLibrary>,
    /// Analysis only: read what a load would refuse for reasons that do not keep it from being read
    /// (a NeuronCore-v1 file, R22; `var_id`s with holes, manifests.md §7.3). Off for a load.
    #[cfg(not(small))]
    pub tooling: bool,
    /// Refuse a key that any object of any manifest has twice, where else the first counts and only the tables
    /// `var` and `dma_queue` are checked (manifests.md §3, "strict mode": E122).
    #[cfg(not(small))]
    pub unique_keys: bool,
    /// Refuse everything that is opaque or approximate instead of reporting it (R6, R40).
    #[cfg(not(small))]
    pub strict: bool,
    /// Let what is opaque or approximate onto a device that would run it (R6). A simulated one takes it in any case.
    pub allow_opaque: bool,
    /// Scratchpad page size in bytes (R20).
    #[cfg(not(small))]
    pub page_size: u64,
    /// Scratchpad pages are one adjacent range (R20, R41).
    #[cfg(not(small))]
    pub contiguous_scratchpad: bool,
    /// Slots of the opaque preamble of every engine (R30).
    #[cfg(not(small))]
    pub preamble_slots: u32,
    /// Slots of the opaque postamble of every engine (R30).
    #[cfg(not(small))]
    pub postamble_slots: u32,
    /// Block size of the engines' instruction memory in bytes, a power of two (staging.md §11.6).
    #[cfg(not(small))]
    pub engine_block: u32,
    /// Blank slots before the branch of a call, which stand for its frame (staging.md §11.3: a frame exists,
    /// its content and length are Open).
    #[cfg(not(small))]
    pub call_frame_slots: u32,
    /// Lower a `d4` with a kind of 1 to 3 and its `da` to one slot `bb`, `bd` or `f1` instead of keeping both
    /// as opaque (R38; for hand-made input).
    #[cfg(not(small))]
    pub lower_dge_kinds: bool,
}

impl Policy {
    /// 64 MiB, the page of the contiguous mode (R20).
    pub const CONTIGUOUS_PAGE: u64 = 64 << 20;
    /// 512 MiB, the page of the paged mode (R20).
    pub const PAGED_PAGE: u64 = 512 << 20;
    /// Execution timeout in seconds where NEURON_RT_EXEC_TIMEOUT is not set (driver-abi.md §13.3, one page says 2).
    pub const EXEC_TIMEOUT: u64 = 30;
    /// Bits 0 to 26, what runtime 2.31 supports (container.md §5.1, Confirmed).
    pub const SUPPORTED_FEATURES: u64 = 0x07FF_FFFF;

    /// The documented defaults.
    pub const DEFAULT: Self = Self {
        #[cfg(not(small))]
        host_arch: None,
        lnc: None,
        #[cfg(not(small))]
        allow_legacy: false,
        verify_digest: true,
        #[cfg(not(small))]
        report_digest: false,
        #[cfg(not(small))]
        strict_digest: false,
        supported_features: Self::SUPPORTED_FEATURES,
        #[cfg(not(small))]
        accept_area_classes: false,
        #[cfg(not(small))]
        append_alt_area: false,
        #[cfg(not(small))]
        fp8: Fp8Overrides::NONE,
        #[cfg(not(small))]
        default_library: None,
        #[cfg(not(small))]
        tooling: false,
        #[cfg(not(small))]
        unique_keys: false,
        #[cfg(not(small))]
        strict: false,
        allow_opaque: false,
        #[cfg(not(small))]
        page_size: Self::CONTIGUOUS_PAGE,
        #[cfg(not(small))]
        contiguous_scratchpad: true,
        #[cfg(not(small))]
        preamble_slots: 1,
        #[cfg(not(small))]
        postamble_slots: 1,
        #[cfg(not(small))]
        engine_block: 0x4000,
        #[cfg(not(small))]
        call_frame_slots: 0,
        #[cfg(not(small))]
        lower_dge_kinds: false,
    };
}

impl Policy {
    /// The same with the host's logical-core size stated: where nobody named it, the file's, of which 0 means 1
    /// (R24). A load judges by this one, so that a file with more subgraphs than cores is refused by S2.
    #[must_use]
    pub fn of_file(self, lnc_size: u32) -> Self {
        Self { lnc: Some(self.lnc.unwrap_or(lnc_size).max(1)), ..self }
    }
}

/// Choices that small code has no room for: what is asked of a policy, instead of its field.
macro_rules! settled {
    ($($choice:ident: $kind:ty = $default:expr;)*) => {
        impl Policy {
            $(
                /// What the policy says, or where small code goes before speed, what the defaults say.
                #[must_use]
                #[cfg(not(small))]
                pub const fn $choice(&self) -> $kind {
                    self.$choice
                }

                /// What the defaults say: where small code goes before speed, there is no choice.
                #[must_use]
                #[cfg(small)]
                #[allow(clippy::unused_self, reason = "elsewhere it is a choice")]
                pub const fn $choice(&self) -> $kind {
                    $default
                }
            )*
        }

        #[test]
        #[cfg(not(small))]
        fn small_code_settles_for_the_defaults() {
            $(assert_eq!(Policy::DEFAULT.$choice, $default, stringify!($choice));)*
        }
    };
}
settled! {
    strict_digest: bool = false;
    report_digest: bool = false;
    accept_area_classes: bool = false;
    append_alt_area: bool = false;
    fp8: Fp8Overrides = Fp8Overrides::NONE;
    default_library: Option<&'static DefaultLibrary> = None;
    tooling: bool = false;
    unique_keys: bool = false;
    strict: bool = false;
    host_arch: Option<Arch> = None;
    allow_legacy: bool = false;
    page_size: u64 = Policy::CONTIGUOUS_PAGE;
    contiguous_scratchpad: bool = true;
    preamble_slots: u32 = 1;
    postamble_slots: u32 = 1;
    engine_block: u32 = 0x4000;
    call_frame_slots: u32 = 0;
    lower_dge_kinds: bool = false;
}

impl Default for Policy {
    fn default() -> Self {
        Self::DEFAULT
    }
}
