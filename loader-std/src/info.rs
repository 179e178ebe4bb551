//! `NeffInfo`: the tooling view of a file, with the reference's getters, selection rule and refusals
//! (manifests.md §19).
//!
//! It reads in *tooling mode*: a getter needs its own member and keys and nothing else, so that it
//! answers also for a file that no loader would take.

mod aliases;
mod getter;
mod select;
mod tensors;
mod value;
mod world;

pub use aliases::Aliases;
pub use getter::{Answer, GETTERS};
pub use select::{Selected, Selector};
pub use tensors::{TensorMap, TensorUse};
pub(crate) use value::characters;
pub use world::{WorldSize, WorldSizeRule, WorldSource};

use crate::chain;
use crate::members::Members;
use crate::refusal::{Refusal, required, string};
use loader_core::error::{Error, ToolCode};
use loader_core::json::Element;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The pattern that selects `def.json` (§19.2).
const DEFINITION: &str = r"sg\d+/def.json";
/// The pattern that selects `tensor_map.json` (§17.2).
pub(crate) const TENSOR_MAP: &str = r"sg\d+/tensor_map.json";
/// The descriptor by its literal name: no `kelf-a.json`, whatever the graph says (§19.2, Confirmed).
const KELF: &str = "kelf-0.json";

/// The tooling view over a set of members.
///
/// ```
/// use loader_std::NeffInfo;
/// use std::collections::BTreeMap;
///
/// let kelf = br#"{"version": "0.5", "target": "cayman", "graphs": []}"#.to_vec();
/// let def = br##"{"replica_groups": [[[0, 4], [1, 5]]], "#rank_world_size": 8}"##.to_vec();
/// let members = BTreeMap::from([
///     (b"kelf-0.json".to_vec(), kelf),
///     (b"sg00/def.json".to_vec(), def),
/// ]);
/// let info = NeffInfo::new(&members);
/// assert_eq!(info.get_arch_type().unwrap(), "cayman");
/// assert_eq!(info.get_cc_rank_world_size().unwrap().world_size, 8);
/// assert_eq!(info.get_info_json().unwrap_err().text(), "info.json not found");
/// ```
#[derive(Clone, Debug)]
pub struct NeffInfo<M> {
    members: M,
    path: Option<PathBuf>,
    strict: bool,
    rule: WorldSizeRule,
}

impl<M: Members> NeffInfo<M> {
    /// A view over members that were unpacked elsewhere.
    #[must_use]
    pub const fn new(members: M) -> Self {
        Self { members, path: None, strict: false, rule: WorldSizeRule::LargestGroup }
    }

    /// `parseFile`: opens a file with `open` and remembers its path.
    ///
    /// # Errors
    /// N101 if there is no such file; the refusal of `open`.
    pub fn parse_file(path: &Path, open: impl FnOnce(&Path) -> Result<M, Refusal>) -> Result<Self, Refusal> {
        if !path.exists() {
            return Err(Refusal::new(ToolCode::NoFile));
        }
        Ok(Self { path: Some(path.to_path_buf()), ..Self::new(open(path)?) })
    }

    /// Selects members by patterns that end where the name ends (§19.1).
    #[must_use]
    pub const fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Which quantity of a topology `getCCRankWorldSize` counts (§21, contradiction X1).
    #[must_use]
    pub const fn world_size_rule(mut self, rule: WorldSizeRule) -> Self {
        self.rule = rule;
        self
    }

    /// The members.
    #[must_use]
    pub const fn members(&self) -> &M {
        &self.members
    }

    /// `getNeffFile`: the path, if the view was made from one. One source calls it a member
    /// extractor instead (Open); [`NeffInfo::find_in_neff`] is that.
    #[must_use]
    pub fn get_neff_file(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// `findInNeff`: the first member, in byte order, in whose name `pattern` is found.
    ///
    /// # Errors
    /// N111 or N114 for a bad pattern, N108 if no name matches.
    pub fn find_in_neff(&self, pattern: &str) -> Result<Selected<'_>, Refusal> {
        select::first(&self.members, pattern, self.strict)
    }

    /// `getKelf`: the descriptor, parsed. Here and in the other parsed documents, a number that a [`Value`] cannot
    /// hold exactly, an integer of more than 64 bits or one as large as `1e400`, is a string with its digits;
    /// [`NeffInfo::text`] has it as the file has it.
    ///
    /// # Errors
    /// N108 if `kelf-0.json` is absent, E121 if it is no JSON object.
    pub fn get_kelf(&self) -> Result<Value, Refusal> {
        self.exactly(KELF).map(value::of)
    }

    /// `getInfoJson`.
    ///
    /// # Errors
    /// As [`NeffInfo::get_kelf`], for `info.json`.
    pub fn get_info_json(&self) -> Result<Value, Refusal> {
        self.exactly("info.json").map(value::of)
    }

    /// `getNeffJson`. There is no fallback to `kelp.json` (Inferred).
    ///
    /// # Errors
    /// As [`NeffInfo::get_kelf`], for `neff.json`.
    pub fn get_neff_json(&self) -> Result<Value, Refusal> {
        self.exactly("neff.json").map(value::of)
    }

    /// `getDefJson`: the definition of the first subgraph.
    ///
    /// # Errors
    /// N108 if there is none, E121 if it is no JSON object.
    pub fn get_def_json(&self) -> Result<Value, Refusal> {
        self.definition().map(|(_, root)| value::of(root))
    }

    /// `getTensorMapJson`: the first tensor map, as it stands.
    ///
    /// # Errors
    /// N108 if there is none, E121 if it is no JSON object.
    pub fn get_tensor_map_json(&self) -> Result<Value, Refusal> {
        self.tensor_map().map(|(_, root)| value::of(root))
    }

    /// `getTensorMap`: the first tensor map, read.
    ///
    /// # Errors
    /// N108 if there is none, E121 if it is no JSON object, N109 and N110 for its keys.
    pub fn get_tensor_map(&self) -> Result<TensorMap, Refusal> {
        let (selected, root) = self.tensor_map()?;
        tensors::read(root).map_err(|refusal| refusal.of(selected.name))
    }

    /// `getAliasInfo`: which output takes the buffer of which input.
    ///
    /// # Errors
    /// As [`NeffInfo::get_tensor_map`]; N107 if one input has two outputs.
    pub fn get_alias_info(&self) -> Result<Aliases, Refusal> {
        let (selected, root) = self.tensor_map()?;
        aliases::read(root).map_err(|refusal| refusal.of(selected.name))
    }

    /// Remarks on what `getAliasInfo` answers: outputs with several inputs (§17.2).
    ///
    /// # Errors
    /// N108 if there is no tensor map, E121 if it is no JSON object.
    pub fn alias_remarks(&self) -> Result<Vec<Error>, Refusal> {
        self.tensor_map().map(|(_, root)| crate::sidecars::aliases(root))
    }

    /// `hasMustAlias`: some alias is required, not only allowed.
    ///
    /// # Errors
    /// As [`NeffInfo::get_tensor_map`].
    pub fn has_must_alias(&self) -> Result<bool, Refusal> {
        let (selected, root) = self.tensor_map()?;
        aliases::must(root).map_err(|refusal| refusal.of(selected.name))
    }

    /// `getArchType`: the target as the descriptor spells it.
    ///
    /// # Errors
    /// N108 if `kelf-0.json` is absent, N109 or N110 if it has no such string.
    pub fn get_arch_type(&self) -> Result<String, Refusal> {
        let target = required(self.exactly(KELF)?, "target");
        let text = target.and_then(|target| string("target", target));
        text.map_err(|refusal| refusal.of(KELF.as_bytes()))
    }

    /// `hasCC`: the first subgraph has collectives.
    ///
    /// # Errors
    /// As [`NeffInfo::get_def_json`]; N110 for a key of the wrong type.
    pub fn has_cc(&self) -> Result<bool, Refusal> {
        let (selected, root) = self.definition()?;
        world::has_collectives(root).map_err(|refusal| refusal.of(selected.name))
    }

    /// `getCCRankWorldSize`: how many workers the collectives need, by all sources together.
    ///
    /// # Errors
    /// As [`NeffInfo::has_cc`]; N102 without collectives, N105 and N106 for topologies that look
    /// like several programs.
    pub fn get_cc_rank_world_size(&self) -> Result<WorldSize, Refusal> {
        let (selected, root) = self.definition()?;
        world::size(root, self.rule).map_err(|refusal| refusal.of(selected.name))
    }

    /// The same, asking one source alone.
    ///
    /// # Errors
    /// As [`NeffInfo::get_cc_rank_world_size`]; N103 or N104 if that source is an empty list.
    pub fn get_cc_rank_world_size_from(&self, source: WorldSource) -> Result<u64, Refusal> {
        let (selected, root) = self.definition()?;
        world::size_from(root, source, self.rule).map_err(|refusal| refusal.of(selected.name))
    }

    /// `getNumNc`: the number of subgraphs in the descriptor that the graph manifest names
    /// (§19.2; Open, ruled by Q10).
    ///
    /// # Errors
    /// The refusal of the first hop of the chain that fails.
    pub fn get_num_nc(&self) -> Result<usize, Refusal> {
        chain::graphs(&self.members).map(|graphs| graphs.len())
    }

    /// `getNumNeuronCores`: another name of [`NeffInfo::get_num_nc`].
    ///
    /// # Errors
    /// As there.
    pub fn get_num_neuron_cores(&self) -> Result<usize, Refusal> {
        self.get_num_nc()
    }

    /// How many executable nodes the graph manifest has: the other reading of `getNumNc`.
    ///
    /// # Errors
    /// E101 without a graph manifest, E121 if it is no JSON object.
    pub fn kelf_nodes(&self) -> Result<usize, Refusal> {
        chain::manifest(&self.members).map(|(_, root)| chain::kelf_nodes(root).count())
    }

    fn exactly(&self, name: &str) -> Result<Element<'_>, Refusal> {
        chain::document(&self.members, name.as_bytes())
    }

    fn definition(&self) -> Result<(Selected<'_>, Element<'_>), Refusal> {
        self.selected(DEFINITION)
    }

    fn tensor_map(&self) -> Result<(Selected<'_>, Element<'_>), Refusal> {
        self.selected(TENSOR_MAP)
    }

    fn selected(&self, pattern: &str) -> Result<(Selected<'_>, Element<'_>), Refusal> {
        let selected = self.find_in_neff(pattern)?;
        let root = chain::parse(selected.name, selected.content);
        Ok((selected, root.map_err(|refusal| refusal.of(selected.name))?))
    }
}
