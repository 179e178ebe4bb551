//! Names that every stage shares: chip architectures and the five engines of a NeuronCore.

use core::fmt;

/// NeuronCore architecture, on the loader's own scale (manifests.md §5.3, Confirmed).
///
/// This is not the hardware's chip-id scale nor the compiler's level scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Arch {
    /// Trn1, Inf2: `sunda`, `v2`, and the empty target string.
    Sunda = 2,
    /// Trn2: `cayman`, `v3`.
    Cayman = 3,
    /// Trn3: `mariana`, `v4`.
    Mariana = 4,
}

impl Arch {
    /// All architectures that can be loaded.
    pub const ALL: [Self; 3] = [Self::Sunda, Self::Cayman, Self::Mariana];

    /// The number stored in a kbin's `target` field.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Sunda => 2,
            Self::Cayman => 3,
            Self::Mariana => 4,
        }
    }

    /// The architecture with that number.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            2 => Some(Self::Sunda),
            3 => Some(Self::Cayman),
            4 => Some(Self::Mariana),
            _ => None,
        }
    }

    /// The architecture of a name as people write it: the long one, or `v2`, `v3`, `v4`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "sunda" | "v2" => Some(Self::Sunda),
            "cayman" | "v3" => Some(Self::Cayman),
            "mariana" | "v4" => Some(Self::Mariana),
            _ => None,
        }
    }

    /// Long name, as the compiler writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sunda => "sunda",
            Self::Cayman => "cayman",
            Self::Mariana => "mariana",
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One of the five instruction streams of a core (lowering.md §3.2, Confirmed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Engine {
    /// Tensor engine.
    Pe = 0,
    /// Scalar (activation) engine.
    Act = 1,
    /// General-purpose (GPSIMD) engine.
    Pool = 2,
    /// Vector engine.
    Dve = 3,
    /// Sync engine.
    Sp = 4,
}

impl Engine {
    /// All engines by type number, which is also the order in which a definition names them.
    pub const ALL: [Self; 5] = [Self::Pe, Self::Act, Self::Pool, Self::Dve, Self::Sp];

    /// All engines in kbin slot order: alphabetical by key (lowering.md §5.3).
    pub const BY_NAME: [Self; 5] = [Self::Act, Self::Dve, Self::Pe, Self::Pool, Self::Sp];

    /// Type number, 0 to 4.
    #[must_use]
    #[allow(clippy::as_conversions, reason = "the number of a variant")]
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// Position in [`Engine::ALL`].
    #[must_use]
    #[allow(clippy::as_conversions, reason = "the number of a variant, from 0")]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The engine with that type number.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Pe),
            1 => Some(Self::Act),
            2 => Some(Self::Pool),
            3 => Some(Self::Dve),
            4 => Some(Self::Sp),
            _ => None,
        }
    }

    /// Key in `def.json`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Pe => "pe",
            Self::Act => "act",
            Self::Pool => "pool",
            Self::Dve => "dve",
            Self::Sp => "sp",
        }
    }

    /// The engine with that `def.json` key.
    #[must_use]
    pub fn from_key(key: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.key().as_bytes() == key)
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}
