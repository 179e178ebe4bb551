//! What an input may cost: every loop that a file drives draws on one of these numbers.

/// Upper bounds on what a file may make the loader do. All sizes are bytes.
///
/// The defaults accept every known real file with room to spare; constrained images lower them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Members of the archive, skipped ones included.
    pub members: u32,
    /// Length of one member name (1 MiB is what the reference takes for a long name).
    pub name_bytes: u32,
    /// Sum of all member-name lengths.
    pub names_total: u64,
    /// Length of one pax record block; they are parsed as they come, so a long one costs no memory
    /// (1 GiB is what the reference takes).
    pub pax_bytes: u64,
    /// Inflated size of the payload, of each layer.
    pub inflated_bytes: u64,
    /// Nested gzip layers (the reference's own number, container.md §9.1).
    pub gzip_layers: u8,
    /// Nesting depth of a JSON document (manifests.md §3: at least 64, at most 1024).
    pub json_depth: u16,
    /// Size of one JSON member (manifests.md §3: at most 4294967295).
    pub json_bytes: u64,
    /// Length of one JSON key or string that is kept.
    pub json_string: u32,
    /// The longest JSON value that is looked at as a whole: a string, a short array, a small object.
    pub element_bytes: u32,
    /// Subgraphs (hard cap 256).
    pub subgraphs: u16,
    /// Variables of one subgraph.
    pub variables: u32,
    /// DMA blocks of one subgraph.
    pub blocks: u32,
    /// DMA descriptors of one subgraph.
    pub descriptors: u32,
    /// Ring entries that the descriptors of one subgraph may expand to, both halves counted once.
    pub ring_entries: u64,
    /// Records of one engine's position map; a longer one is lost with a warning (staging.md §2).
    pub position_entries: u32,
    /// Elements of one `list` or `dge-table`.
    pub list_elements: u32,
    /// Groups, members of groups, and pairs, each.
    pub collective_elements: u32,
}

impl Limits {
    /// The documented defaults.
    pub const DEFAULT: Self = Self {
        members: 1 << 20,
        name_bytes: 1 << 20,
        names_total: 64 << 20,
        pax_bytes: 1 << 30,
        inflated_bytes: 64 << 30,
        gzip_layers: 24,
        json_depth: 512,
        json_bytes: 0xFFFF_FFFF,
        json_string: 4096,
        element_bytes: 8192,
        subgraphs: 256,
        variables: 1 << 20,
        blocks: 1 << 22,
        descriptors: 1 << 22,
        ring_entries: 1 << 26,
        position_entries: 1 << 24,
        list_elements: 1 << 20,
        collective_elements: 1 << 16,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A running allowance: take from it, never below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    left: u64,
}

/// The allowance was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

impl Budget {
    /// An allowance of `total` units.
    #[must_use]
    pub const fn new(total: u64) -> Self {
        Self { left: total }
    }

    /// What is left.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.left
    }

    /// Takes `units`.
    ///
    /// # Errors
    /// [`Spent`] if fewer are left; nothing is taken then.
    pub const fn take(&mut self, units: u64) -> Result<(), Spent> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Spent),
        }
    }
}
