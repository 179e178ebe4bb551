//! The runtime's status numbers (container.md §13.2, Confirmed).

use core::fmt;

/// `NRT_STATUS` values that a loader can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, zerocopy::TryFromBytes)]
#[repr(u8)]
pub enum Status {
    /// The load succeeded.
    Success = 0,
    /// Failed without a better word.
    Failure = 1,
    /// The file or a parameter is not valid.
    Invalid = 2,
    /// A handle is not valid.
    InvalidHandle = 3,
    /// Memory or another resource ran out.
    Resource = 4,
    /// Time ran out.
    Timeout = 5,
    /// The hardware failed.
    HwError = 6,
    /// A queue has no room.
    QueueFull = 7,
    /// Fewer cores than the model needs.
    LoadNotEnoughNc = 9,
    /// The file's format version or features are newer than the loader.
    UnsupportedNeffVersion = 10,
    /// Host memory ran out.
    FailHostMemAlloc = 11,
    /// The runtime is not initialised.
    Uninitialized = 13,
    /// The runtime is closed.
    Closed = 14,
}

impl Status {
    /// The number, as programs see it.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Invalid => 2,
            Self::InvalidHandle => 3,
            Self::Resource => 4,
            Self::Timeout => 5,
            Self::HwError => 6,
            Self::QueueFull => 7,
            Self::LoadNotEnoughNc => 9,
            Self::UnsupportedNeffVersion => 10,
            Self::FailHostMemAlloc => 11,
            Self::Uninitialized => 13,
            Self::Closed => 14,
        }
    }

    /// The status of that number.
    pub(super) fn of_number(number: u8) -> Option<Self> {
        zerocopy::TryFromBytes::try_read_from_bytes(&[number]).ok()
    }

    /// The bare identifier that the runtime's status-to-string function returns.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "NRT_SUCCESS",
            Self::Failure => "NRT_FAILURE",
            Self::Invalid => "NRT_INVALID",
            Self::InvalidHandle => "NRT_INVALID_HANDLE",
            Self::Resource => "NRT_RESOURCE",
            Self::Timeout => "NRT_TIMEOUT",
            Self::HwError => "NRT_HW_ERROR",
            Self::QueueFull => "NRT_QUEUE_FULL",
            Self::LoadNotEnoughNc => "NRT_LOAD_NOT_ENOUGH_NC",
            Self::UnsupportedNeffVersion => "NRT_UNSUPPORTED_NEFF_VERSION",
            Self::FailHostMemAlloc => "NRT_FAIL_HOST_MEM_ALLOC",
            Self::Uninitialized => "NRT_UNINITIALIZED",
            Self::Closed => "NRT_CLOSED",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name(), self.number())
    }
}
