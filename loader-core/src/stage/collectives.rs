//! What a collective load checks beside an ordinary one (container.md §6 check 3, manifests.md §9).

use crate::error::{Error, Stage, StageCode};
use crate::lower::record::Text;
use crate::lower::{KbinView, Kbins};

/// Most topologies of replica groups that have communicators (manifests.md §9.1, Confirmed).
pub const MOST_TOPOLOGIES: usize = 12;
/// Most devices that communicate: more than any known installation has (ours).
pub const MOST_WORLD: u32 = 65_536;
/// Most collective streams (manifests.md §6, Inferred).
const MOST_STREAMS: u64 = 4;

fn fault(code: StageCode) -> Error {
    Error::new(Stage::Register, code)
}

fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// The place of this load among all that communicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    host: Text<256>,
    port: u16,
    rank: u32,
    world: u32,
}

impl Membership {
    /// Rank `rank` of `world` devices that meet at `root`, which is `host:port` as in `NEURON_RT_ROOT_COMM_ID`.
    ///
    /// # Errors
    /// `NoRootComm`, `RootComm`, `WorldSize`.
    pub fn new(root: Option<&str>, rank: u32, world: u32) -> Result<Self, Error> {
        let root = root.filter(|root| !root.is_empty()).ok_or_else(|| fault(StageCode::NoRootComm))?;
        let wrong = || fault(StageCode::RootComm).name(root.as_bytes());
        // The core library's search for the last of a character can panic, for all that its compiler sees.
        let colon = root.bytes().rposition(|byte| byte == b':').ok_or_else(wrong)?;
        let (host, port) = root.split_at_checked(colon).ok_or_else(wrong)?;
        let port = port.strip_prefix(':').ok_or_else(wrong)?;
        let blank = |c: char| c.is_whitespace() || c.is_control();
        if host.is_empty() || host.contains(blank) || !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(wrong());
        }
        let port = port.parse::<u16>().ok().filter(|&port| port > 0).ok_or_else(wrong)?;
        if rank >= world || world > MOST_WORLD {
            return Err(fault(StageCode::WorldSize).numbers(u64::from(rank), u64::from(world)));
        }
        Ok(Self { host: Text::new(host.as_bytes()).map_err(|_| wrong())?, port, rank, world })
    }

    /// Host and port of the root communicator.
    #[must_use]
    pub fn root(&self) -> (&[u8], u16) {
        (self.host.as_bytes(), self.port)
    }

    /// Rank of the logical device, which is the handle's global id.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.rank
    }

    /// Devices in all.
    #[must_use]
    pub const fn world(&self) -> u32 {
        self.world
    }

    /// Checks the replica groups and pairs of every subgraph. Without any, nothing communicates and all is well.
    ///
    /// # Errors
    /// `TooManyTopologies`, `NotInGroups`, `RankOutside`, `RankTwice`, `PairSet`, `TooManyStreams`.
    pub fn check(&self, kbins: &Kbins<'_>) -> Result<(), Error> {
        for (index, kbin) in (0u8..).zip(kbins.iter()) {
            self.check_groups(&kbin)
                .and_then(|()| self.check_pairs(&kbin))
                .map_err(|error| error.subgraph(index))?;
        }
        Ok(())
    }

    fn check_groups(&self, kbin: &KbinView<'_>) -> Result<(), Error> {
        if kbin.num_streams() > MOST_STREAMS {
            return Err(fault(StageCode::TooManyStreams).numbers(kbin.num_streams(), MOST_STREAMS));
        }
        let topologies = kbin.replica_groups().count();
        if topologies > MOST_TOPOLOGIES {
            return Err(fault(StageCode::TooManyTopologies).numbers(wide(topologies), wide(MOST_TOPOLOGIES)));
        }
        for (index, topology) in kbin.replica_groups().enumerate() {
            let ranks = || topology.subgroups().flatten().map(|rank| rank.get());
            if ranks().next().is_none() {
                continue;
            }
            if let Some(outside) = ranks().find(|&rank| rank >= self.world) {
                return Err(fault(StageCode::RankOutside).numbers(u64::from(outside), u64::from(self.world)));
            }
            let mut seen = Ranks::NONE;
            if let Some(twice) = ranks().find(|&rank| !seen.add(u64::from(rank))) {
                return Err(fault(StageCode::RankTwice).numbers(u64::from(twice), wide(index)));
            }
            if !ranks().any(|rank| rank == self.rank) {
                let missing = fault(StageCode::NotInGroups).numbers(wide(index), wide(topologies));
                return Err(missing.third(u64::from(self.rank)));
            }
        }
        Ok(())
    }

    /// Within a set every rank sends at most once and receives at most once.
    fn check_pairs(&self, kbin: &KbinView<'_>) -> Result<(), Error> {
        for (index, set) in kbin.src_target_pairs().enumerate() {
            let (mut sources, mut targets) = (Ranks::NONE, Ranks::NONE);
            for pair in set {
                let (source, target) = (pair.source.get(), pair.target.get());
                if source.max(target) >= u64::from(self.world) {
                    let outside =
                        fault(StageCode::RankOutside).numbers(source.max(target), u64::from(self.world));
                    return Err(outside);
                }
                if !sources.add(source) || !targets.add(target) {
                    return Err(fault(StageCode::PairSet).numbers(wide(index), 0));
                }
            }
        }
        Ok(())
    }
}

/// A set of ranks below [`MOST_WORLD`].
struct Ranks([u64; 1024]);

impl Ranks {
    const NONE: Self = Self([0; 1024]);

    /// Adds a rank; false if it was there, or is too high.
    fn add(&mut self, rank: u64) -> bool {
        let word = usize::try_from(rank / 64).ok().and_then(|at| self.0.get_mut(at));
        let bit = u32::try_from(rank % 64).map_or(0, |at| 1u64.wrapping_shl(at));
        let Some(word) = word else { return false };
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}
